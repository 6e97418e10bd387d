"""What the code of a policy can come from: its class and those above it, of the package, a file or a notebook."""

from __future__ import annotations

import ast
import hashlib
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from cluster_abm.compiling.policy_types import constants_of
from cluster_abm.jit import bare, stamp_of, start_of
from cluster_abm.policy.base import Policy

PACKAGE = Path(__file__).resolve().parents[1]
# The methods of views and tasks, which no function names: they are registered when these modules are imported.
OF_VIEWS = tuple(f"cluster_abm.compiling.views.{name}:" for name in ("methods", "noted", "queues"))
# What makes the functions of a policy.
ENTRIES = OF_VIEWS + tuple(
    f"cluster_abm.compiling.entries:_{name}"
    for name in ("place", "accept", "migration", "relieve", "holds", "takes_back", "next_job", "cores_for")
)

# Likewise of a policy that talks.
ENTRIES_OF_TALK = OF_VIEWS + tuple(
    f"cluster_abm.compiling.talking.entries:_{name}"
    for name in ("begins", "arrives", "hears", "came", "ended", "unanswered", "node_failed")
)


def stamp_of_policy(of: type[Policy]) -> str:
    """Hash of all that the compiled code of a class of policies can come from."""
    found = _Found()
    for owner in of.__mro__:
        found.add_class(owner)
    modules = [sys.modules[owner.__module__] for owner in of.__mro__ if owner.__module__ in sys.modules]
    for path in sorted(_files(modules)):
        found.say(path, _tree(Path(path).read_bytes()))
    found.say(stamp_of(*(ENTRIES_OF_TALK if of.talks else ENTRIES), *sorted(found.starts)))
    return found.digest.hexdigest()[:20]


def _tree(source: bytes) -> object:
    try:
        return ast.dump(bare(ast.parse(source)))
    except SyntaxError:
        # Somebody is at work on it.
        return source


class _Found:
    """What functions are made of, as they are now: a method may have been put there by other code, or stand in no file.

    Attributes:
        digest: of all that is found.
        starts: definitions of the package, as `jit.sources` takes them.
    """

    def __init__(self) -> None:
        self.digest, self.starts = hashlib.sha256(), set[str]()
        self._seen: set[object] = set()

    def say(self, *what: object) -> None:
        self.digest.update("".join(f"{one}\0" for one in what).encode("utf-8", "backslashreplace"))

    def add_class(self, of: type) -> None:
        if of in self._seen:
            return
        self._seen.add(of)
        if _is_of_package(of):
            self.starts.add(start_of(of))
        for name, defined in sorted(vars(of).items()):
            function = getattr(defined, "fget", defined)
            if isinstance(function, FunctionType):
                self.say(name)
                self._add_function(function)
            elif isinstance(defined, str | bool | int | float) and not name.startswith("__"):
                self.say(name, repr(defined))
        self.say(constants_of(of))

    def _add_function(self, function: FunctionType) -> None:
        if function in self._seen:
            return
        self._seen.add(function)
        names = _names_of(function.__code__)
        self.say(function.__module__, function.__qualname__, *_plain(function.__code__, function.__doc__))
        self.say(function.__defaults__, sorted((function.__kwdefaults__ or {}).items()))
        if _is_of_package(function):
            self.starts.add(start_of(function))
            return
        for name in sorted(names & function.__globals__.keys()):
            self._add(name, function.__globals__[name], names)

    def _add(self, name: str, value: Any, names: set[str]) -> None:
        """What a name stands for; `names`: those by which the function may read attributes of it."""
        value = getattr(value, "py_func", value)
        if isinstance(value, ModuleType):
            if _is_of_package(value):
                self.starts |= {f"{value.__name__}:{inner}" for inner in names & set(dir(value))}
            elif value not in self._seen and not _is_installed(value):
                self._seen.add(value)
                for inner in sorted(names & vars(value).keys()):
                    self._add(inner, vars(value)[inner], names)
        elif isinstance(value, FunctionType | type) and _is_of_package(value):
            self.starts.add(start_of(value))
        elif isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, type):
            self.add_class(value)
        elif isinstance(value, np.ndarray):
            self.say(name, value.dtype, value.shape, hashlib.sha256(value.tobytes()).hexdigest())
        elif isinstance(value, str | bool | int | float | tuple | None):
            self.say(name, repr(value))


def _is_of_package(of: Any) -> bool:
    name = of.__name__ if isinstance(of, ModuleType) else of.__module__
    return f"{name}.".startswith("cluster_abm.")


def _is_installed(module: ModuleType) -> bool:
    """Whether a module is Python's own, or was installed."""
    file = getattr(module, "__file__", None)
    return file is None or file.startswith(_INSTALLED)


_INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def _names_of(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names_of, inner))


def _plain(code: CodeType, text: str | None = None) -> list[object]:
    """The instructions, constants and names of a function, and of the functions in it, without its docstring."""
    found: list[object] = [code.co_code.hex(), code.co_names, code.co_varnames]
    for one in code.co_consts:
        if isinstance(one, CodeType):
            found += _plain(one)
        else:
            # The order of a set's members is another one in each process.
            found.append(
                None if text and one == text else sorted(map(repr, one)) if isinstance(one, frozenset) else repr(one)
            )
    return found


def _files(modules: list[ModuleType]) -> set[str]:
    """Files of these modules, and of those that they use, unless they are of the package, Python's own, or installed.

    Of an installed package all modules count whose classes the policy's are, and what they use of it.
    """
    found: set[str] = set()
    packages = {module.__name__.partition(".")[0] for module in modules}
    while modules:
        module = modules.pop()
        file = getattr(module, "__file__", None)
        if not file or file in found or _is_of_package(module) or not Path(file).is_file() or not file.endswith(".py"):
            continue
        is_own = module.__name__.partition(".")[0] in packages - sys.stdlib_module_names
        if _is_installed(module) and not is_own:
            continue
        found.add(file)
        for value in list(vars(module).values()):
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            other = sys.modules.get(name) if isinstance(name, str) else None
            if other is not None:
                modules.append(other)
    return found
