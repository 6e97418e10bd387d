"""Compilation of the kernels, with an on-disk cache that cannot go stale.

Numba's cache checks only the file of the cached function, so an edited callee would silently run as it was.
The cache folder is therefore named by a hash of every source that a kernel's code can come from.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs
from numba.extending import register_jitable

from cluster_abm.errors import InputError

Function = TypeVar("Function", bound=Callable[..., object])

# Of caches, so many are kept whatever their age; older ones once no process has used them for a day [s].
CACHES_KEPT, UNUSED_S = 4, 86_400.0
# Without numba's counting of references to arrays, which costs more than the arithmetic where a kernel hands a tuple of
# tables on to its parts. What is compiled so cannot allocate; the caller's references keep its arguments alive.
NO_COUNTS: dict[str, Any] = {"_nrt": False}
# Compiled code by kernel, for `entry`.
_ENTRIES: dict[object, object] = {}
_ADDRESSES: dict[object, int] = {}
_INLINABLE: set[object] = set()
# What a module has in it that compiles, or extends numba; others may call what is compiled.
COMPILES = re.compile(r"^@(kernel|allocating_kernel|inlined|called|inlinable|formula)\b|^from numba", re.MULTILINE)
CACHE_NAME = re.compile(r"[0-9a-f]{16}")

if cast(Any, numba.config).DISABLE_JIT:
    # The kernels count on the arithmetic of compiled code, such as 64-bit integers that wrap around.
    where = "NUMBA_DISABLE_JIT" if os.environ.get("NUMBA_DISABLE_JIT") else "disable_jit in .numba_config.yaml"
    raise InputError(f"{where} is set: cluster_abm runs compiled only; unset it")


@cache
def kernel_sources() -> tuple[Path, ...]:
    """The package's modules that a kernel's code can come from, sorted: those that compile, and all they import.

    So an edited policy or command does not have everything compiled again.
    """
    package = Path(__file__).resolve().parent
    text = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    imports = re.compile(r"^\s*(?:from|import) cluster_abm\.([\w.]+)", re.MULTILINE)
    found = {Path(__file__).resolve()}
    look = [path for path in text if COMPILES.search(text[path])]
    while look:
        path = look.pop()
        if path not in found:
            found.add(path)
            parts = [package.joinpath(*name.split(".")) for name in imports.findall(text[path])]
            look += [one for part in parts for one in (part.with_suffix(".py"), part / "__init__.py") if one in text]
    return tuple(sorted(found))


@cache
def sources_hash() -> str:
    """Hash of the sources of all kernels, their names included: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in kernel_sources():
        digest.update(path.relative_to(Path(__file__).resolve().parent).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def installation_hash() -> str:
    """Hash of where the sources of all kernels lie and when they were written: 16 hexadecimal digits.

    What one installation compiled, numba does not load for another one of the same sources, nor after it was installed
    anew.
    """
    stamps = [(str(path), path.stat().st_mtime_ns) for path in kernel_sources()]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]


@cache
def cache_folder() -> str | None:
    """Where compiled kernels are kept, or None where no folder of the user can be written."""
    root = os.environ.get("CLUSTER_ABM_CACHE_DIR") or platformdirs.user_cache_dir("cluster-abm")
    folder = Path(root) / "kernels" / sources_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The time of its last use, by which `_prune` knows what is still in use.
        os.utime(folder)
    except OSError:
        return None
    _prune(folder)
    return str(folder) if os.access(folder, os.W_OK) else None


def _prune(folder: Path) -> None:
    """Remove caches of other sources beside this one that no process has used for long: each edit leaves one."""
    with suppress(OSError):
        others = [one for one in folder.parent.iterdir() if one != folder and CACHE_NAME.fullmatch(one.name)]
        last_used = {one: one.stat().st_mtime for one in others}
        newest_first = sorted(others, key=lambda one: last_used[one], reverse=True)
        for one in newest_first[CACHES_KEPT - 1 :]:
            if time.time() - last_used[one] > UNUSED_S:
                shutil.rmtree(one, ignore_errors=True)


def kernel(function: Function) -> Function:
    """Compile `function` in nopython mode, cached on disk where that is possible; it must not allocate memory."""
    return _compiled(function, **NO_COUNTS)


def allocating_kernel(function: Function) -> Function:
    """Compile a kernel that makes arrays of its own."""
    return _compiled(function)


@contextmanager
def kept_beside_kernels() -> Iterator[None]:
    """In the block numba keeps what it compiles in the folder of the kernels."""
    # The folder is numba's global setting: put back what other code of this process has set.
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = cache_folder() or before
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def _compiled(function: Function, **options: Any) -> Function:
    with kept_beside_kernels():
        is_kept = cache_folder() is not None
        compiled = numba.njit(cache=is_kept, nogil=True, error_model="numpy", **options)(function)
        return cast(Function, compiled)


def entry(function: Function, *arguments: object) -> Function:
    """The compiled code of a kernel for arguments of such types, to be called in the kernel's place.

    At every call of a kernel numba looks at the types of all arguments, which takes longer (1 to 2 us for the tables of
    a run) than a slice of a small cluster. It is only for calls whose arguments always have these types and are
    contiguous: nothing looks at them again.
    """
    found = _ENTRIES.get(function)
    if found is None:
        found = _ENTRIES[function] = cast(Any, function).compile(tuple(map(numba.typeof, arguments)))
    return cast(Function, found)


def native_address(function: Function, *arguments: object) -> int:
    """The address of a kernel's compiled code (compiling.calls), for arguments that always have such types: `entry`."""
    if function not in _ADDRESSES:
        dispatcher = cast(Any, function)
        signature = tuple(map(numba.typeof, arguments))
        dispatcher.compile(signature)
        found = dispatcher.overloads[signature]
        _ADDRESSES[function] = int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))
    return _ADDRESSES[function]


def inlinable(function: Function) -> Function:
    """A plain Python function that kernels may call too; they compile the same source."""
    marked: Function = register_jitable(function)
    _INLINABLE.add(function)
    return marked


def is_inlinable(function: object) -> bool:
    """Whether compiled code may call a plain Python function, because it is `inlinable`."""
    return function in _INLINABLE


def inlined(function: Function) -> Function:
    """A part of a kernel: one rule, one function, joined by the compiler at no cost of a call."""
    return cast(Function, numba.njit(inline="always", error_model="numpy", **NO_COUNTS)(function))


def called(function: Function) -> Function:
    """A rare part of a kernel: compiled once and called, so that kernels do not grow by it wherever it stands."""
    return cast(Function, numba.njit(error_model="numpy", **NO_COUNTS)(function))
