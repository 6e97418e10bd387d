"""Policies in files of their own, FILE.py:CLASS: imported because a caller names them, never because data does."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

from cluster_abm.bounded_files import opened, shown
from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.policy.base import Policy
from cluster_abm.scenario import nearest
from cluster_abm.scenario.policy_names import split_reference

# The largest source of a policy that is read [bytes].
MOST_BYTES = 4 * 2**20


class PolicyFile(NamedTuple):
    """A file that has been imported: where it is, and a hash of its content and of what it imports from beside it."""

    path: Path
    digest: str


# By the names of their modules.
_IMPORTED: dict[str, PolicyFile] = {}
# The files that are being imported now, the innermost last.
_importing: list[Path] = []


class _AsItLies(SourceFileLoader):
    """Compiles a file from its source each time: cached bytecode is recognised by its second and size alone."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def load_policy(reference: str) -> type[Policy]:
    """The policy that FILE.py:CLASS names, or FILE.py if it has only one.

    The file is imported, and imported again where its content has changed since, or that of a module beside it.

    Raises:
        InputError: no such file or class; no policy in it, or several and no class is named.
        PolicyFault: the file fails on import.
    """
    split = split_reference(reference)
    if split is None:
        raise InputError(f"policy {reference!r}: FILE.py:CLASS is needed")
    try:
        return _chosen(_module_of(Path(split[0]).resolve()), *split)
    except InputError as problem:
        raise type(problem)([f"policy {shown(reference)!r}: {line}" for line in problem.problems]) from problem


def file_of(policy: type[Policy]) -> PolicyFile | None:
    """The file that a policy has been loaded from by `load_policy`; None: from none."""
    return _IMPORTED.get(policy.__module__)


def being_imported() -> Path | None:
    """The file of a policy that is being imported just now, if one is: what it calls then, each process would call."""
    return _importing[-1] if _importing else None


def digest_of(path: Path) -> str:
    """A hash of a file and of the modules beside it that it imports: 16 hexadecimal digits, wherever they lie.

    The file is read and not imported.

    Raises:
        InputError: one of them cannot be read.
    """
    digest = hashlib.sha256()
    for name, text in sorted(_sources(path).items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(text).digest())
    return digest.hexdigest()[:16]


def _chosen(module: ModuleType, file: str, name: str | None) -> type[Policy]:
    policies = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Policy) and value is not Policy
    }
    own = [key for key, value in policies.items() if value.__module__ == module.__name__ and not key.startswith("_")]
    if name is None and len(own) == 1:
        return policies[own[0]]
    if not own and name not in policies:
        raise InputError("has no policy: a class that inherits from cluster_abm.policies.Policy")
    if name is None:
        raise InputError(f"has several policies: name one, as {file}:{own[0]}; allowed: {', '.join(own)}")
    if name not in policies:
        raise InputError(f"has no policy {name!r}; {nearest(name, own)}")
    return policies[name]


def _module_of(path: Path) -> ModuleType:
    """The module of a file as it is now."""
    sources = _sources(path)
    digest = digest_of(path)
    # Of the same name in every process, for by it numba tells kept code apart.
    name = f"policy_file_{hashlib.sha256(f'{path} {digest}'.encode()).hexdigest()[:16]}"
    if name in _IMPORTED:
        return sys.modules[name]
    beside = {Path(source).parts[0].removesuffix(".py") for source in sources} - {path.stem}
    _forget(path.parent, beside)
    # At the end: no file beside it stands in for a module of Python's own, or for an installed one.
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    importlib.invalidate_caches()
    spec = importlib.util.spec_from_file_location(name, path, loader=_AsItLies(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    _IMPORTED[name] = PolicyFile(path, digest)
    _importing.append(path)
    try:
        # stdout is for results.
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
        _check_beside(path.parent, beside)
    except BaseException as problem:
        del sys.modules[name], _IMPORTED[name]
        if isinstance(problem, InputError | KeyboardInterrupt):
            raise
        raise PolicyFault(f"cannot be imported: {_told(problem, path)}") from problem
    finally:
        _importing.pop()
    return module


def _told(problem: BaseException, path: Path) -> str:
    """What an import has raised, with the last line of the file that led there."""
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(path)]
    line = lines[-1] if lines else None
    words = f"{type(problem).__name__}: {problem}"
    if isinstance(problem, SyntaxError):
        line = problem.lineno if problem.filename == str(path) else line
        words = f"{type(problem).__name__}: {problem if line != problem.lineno else problem.msg}"
    return f"{'' if line is None else f'line {line}: '}{' '.join(words.split())[:300]}"


def _sources(path: Path) -> dict[str, bytes]:
    """The source of a file and of the modules and packages beside it that it imports, by their place in its folder.

    The standard library's ModuleFinder would do, but fails where a folder is named as an installed package is.
    """
    found: dict[str, bytes] = {}
    to_read = [path]
    while to_read:
        one = to_read.pop()
        name = one.relative_to(path.parent).as_posix()
        if name not in found:
            found[name] = _read(one)
            to_read += [other for top in _imports(found[name]) for other in _beside(path.parent, top)]
    return found


def _read(path: Path) -> bytes:
    with opened(path) as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise InputError(f"{shown(path)}: more than {MOST_BYTES // 2**20} MB: no source of a policy")
    return text


def _imports(source: bytes) -> set[str]:
    """The first parts of the names of all modules that a source imports, inside functions too."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # The import itself says so.
        return set()
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"cluster_abm"}


def _beside(folder: Path, name: str) -> list[Path]:
    module, package = folder / f"{name}.py", folder / name
    files = sorted(package.rglob("*.py")) if (package / "__init__.py").is_file() else []
    return [*files, module] if module.is_file() else files


def _forget(folder: Path, names: Iterable[str]) -> None:
    """Have modules beside a file imported anew: they may have changed since they were."""
    for module in [one for one in sys.modules if one.partition(".")[0] in names]:
        if _is_in(folder, module):
            del sys.modules[module]


def _check_beside(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError if a module of another place was taken for one beside the file."""
    for name in sorted(names):
        if name in sys.modules and not _is_in(folder, name):
            other = getattr(sys.modules[name], "__file__", None) or "Python's own"
            raise InputError(f"imports {name!r}, which is {shown(other)} here and not the one beside it: rename that")


def _is_in(folder: Path, module: str) -> bool:
    file = getattr(sys.modules[module], "__file__", None)
    return file is not None and folder in Path(file).resolve().parents
