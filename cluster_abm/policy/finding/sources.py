"""Where other processes find the policies that this process was given as a file or a class."""

from __future__ import annotations

import hashlib
import importlib
import importlib.abc
import importlib.util
import socket
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Literal, NamedTuple

from cluster_abm.errors import InputError
from cluster_abm.policy.base import Policy
from cluster_abm.policy.finding.files import digest_of, file_of, load_policy
from cluster_abm.policy.finding.source_text import module_text

_FROM_TEXT = "policy_text_"
# By the names of modules that were made from text.
_texts: dict[str, str] = {}


class PolicySource(NamedTuple):
    """Where a policy comes from.

    Attributes:
        name: what it is called.
        kind: a file, a module that can be imported, or the text of a module.
        place: the file's absolute path, the module's name, or the text.
        of_class: its class there.
        digest: of the file (`files.digest_of`) or the text; "" of a module.
    """

    name: str
    kind: Literal["file", "module", "text"]
    place: str
    of_class: str
    digest: str


def source_of(name: str, policy: type[Policy]) -> PolicySource:
    """Where another process finds a policy. Raises InputError: its source is not known, so only this process has it."""
    of_class, file = policy.__qualname__, file_of(policy)
    if file is not None and "." not in of_class:
        return PolicySource(name, "file", str(file.path), of_class, file.digest)
    script = getattr(sys.modules.get(policy.__module__), "__file__", None)
    # A script from standard input has a name, "<stdin>", and no file.
    if policy.__module__ == "__main__" and script and Path(script).is_file() and "." not in of_class:
        path = Path(script).resolve()
        return PolicySource(name, "file", str(path), of_class, digest_of(path))
    if policy.__module__ != "__main__" and policy.__module__ not in _texts and "<locals>" not in of_class:
        return PolicySource(name, "module", policy.__module__, of_class, "")
    text = _texts.get(policy.__module__) or module_text(policy)
    return PolicySource(name, "text", text, policy.__name__, hashlib.sha256(text.encode()).hexdigest()[:16])


def policy_from(source: PolicySource) -> type[Policy]:
    """The policy of a source, in another process than the one that named it.

    Raises InputError: it is not there, or is another one.
    """
    here = f"worker on {socket.gethostname()}"
    try:
        if source.kind == "file":
            return _from_file(source)
        module = _module_of_text(source) if source.kind == "text" else importlib.import_module(source.place)
        found: object = module
        for part in source.of_class.split("."):
            found = getattr(found, part)
    except InputError as problem:
        raise type(problem)([f"{here}: {line}" for line in problem.problems]) from problem
    except Exception as problem:
        words = f"{type(problem).__name__}: {problem}"
        where = f"its module {source.place}" if source.kind == "module" else "its source"
        raise InputError(
            f"{here}: the policy {source.name!r} cannot be had from {where} ({words}): put it into a file that this "
            "machine has too, and name it FILE.py:CLASS"
        ) from problem
    assert isinstance(found, type)
    assert issubclass(found, Policy)
    return found


def _from_file(source: PolicySource) -> type[Policy]:
    if not Path(source.place).is_file():
        raise InputError(f"policy file {source.place}: is not on this machine: put it where all machines see it")
    found = digest_of(Path(source.place))
    if found != source.digest:
        raise InputError(
            f"policy file {source.place}: has another content ({found}) than in the process that sends work "
            f"({source.digest}): it has been edited since; start again"
        )
    return load_policy(f"{source.place}:{source.of_class}")


def _module_of_text(source: PolicySource) -> ModuleType:
    name = f"{_FROM_TEXT}{source.digest}"
    if name not in sys.modules:
        spec = ModuleSpec(name, _TextLoader(source.place))
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        assert spec.loader is not None
        _texts[name] = source.place
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name], _texts[name]
            raise
    return sys.modules[name]


class _TextLoader(importlib.abc.InspectLoader):
    """Loads a module from its text; by a loader that tells it, `inspect` finds the source of its functions."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get_source(self, fullname: str) -> str:
        return self._text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._text, fullname)

    def is_package(self, fullname: str) -> bool:
        return False
