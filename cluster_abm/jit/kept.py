"""Where compiled code is kept for later processes: one folder a kernel, in it one file a form of its arguments.

Each file is named by the hash of all that the code can come from (`reach`), so that it serves only what is the same.
Numba's own cache goes by the file of the function alone.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import llvmlite
import numba
import numpy as np
import platformdirs
from numba.core import types
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from cluster_abm.jit.reach import Sources, write_whole

# Of each kernel the code of this many sources is kept whatever its age; older code once no process has used it for a
# day, and all code of a kernel once none has used it for two months [s].
GENERATIONS, UNUSED_S, GONE_S = 4, 86_400.0, 60 * 86_400.0
# Folders of versions that kept the code of all kernels together.
FORMER = re.compile(r"[0-9a-f]{16}")
_types: Any = types
# Settings of numba that change the code.
SETTINGS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")


@cache
def cache_folder() -> str | None:
    """Where compiled kernels are kept, or None where no folder of the user can be written."""
    root = os.environ.get("CLUSTER_ABM_CACHE_DIR") or platformdirs.user_cache_dir("cluster-abm")
    folder = Path(root) / "kernels"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


@cache
def sources() -> Sources:
    """The package's sources, as they were when its first kernel was defined."""
    folder = cache_folder()
    return Sources(Path(__file__).resolve().parents[1], None if folder is None else Path(folder, "reach"))


def stamp_of(*starts: str) -> str:
    """Hash of all that the code of these definitions of the package can come from, and of what compiles it.

    Args:
        starts: each as `module:name` (`start_of`).
    """
    return _hash(_compiler(), sources().stamp(*starts))


def stamp_of_kernels(*modules: str) -> str:
    """The same of all kernels in these modules, and in those below them."""
    return stamp_of(*sources().kernels(*modules))


def start_of(definition: Any) -> str:
    """A function or a class as `stamp_of` takes it."""
    return f"{definition.__module__}:{definition.__qualname__.partition('.')[0]}"


class KeptCode:
    """What numba asks for a function's compiled code, and gives it to (`Dispatcher._cache`, of numba's FunctionCache).

    Args:
        name: the function's, one name a function.
        stamp: gives the hash of what its code can come from, when it is first needed: names may be bound later than
            the function.
        options: those that it is compiled with.
        key: what else tells forms of it apart.
    """

    def __init__(self, name: str, stamp: Callable[[], str], options: dict[str, Any], key: str = "") -> None:
        self._name, self._stamp, self._options, self._key = name, stamp, repr(sorted(options.items())), key
        self._found = ""

    @property
    def cache_path(self) -> str | None:
        """Its folder."""
        folder = cache_folder()
        readable = re.sub(r"[^\w.]", "_", self._name, flags=re.ASCII)[-100:]
        return None if folder is None else os.path.join(folder, f"{readable}-{_hash(self._name)[:8]}")

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The code for such arguments, or None."""
        # What is registered since must be known to the target first.
        target.refresh()
        with suppress(OSError):
            path = self._path(signature, target.codegen())
            if path is not None and _are_as_imported(len(sys.modules)):
                data = path.read_bytes()
                # Damaged files, and what names things that are no longer there, are as if they were not there.
                with suppress(Exception):
                    found = cast(Any, CompileResult)._rebuild(target, *pickle.loads(data))
                    with suppress(OSError):
                        os.utime(path)
                    return found
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep code; not what has addresses of this process in it, nor what was written in the meantime."""
        path = self._path(signature, compiled.library.codegen)
        is_lasting = not compiled.library.has_dynamic_globals and all(one.can_cache for one in compiled.lifted)
        if path is not None and is_lasting and sources().are_unchanged():
            write_whole(path, dumps(compiled._reduce()))
            _prune_once()

    def flush(self) -> None:
        """Forget the function's code."""
        if self.cache_path is not None:
            shutil.rmtree(self.cache_path, ignore_errors=True)

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        folder = self.cache_path
        if folder is None:
            return None
        self._found = self._found or _hash(self._stamp(), self._options)
        given = signature.args if hasattr(signature, "args") else signature
        form = _hash(repr(codegen.magic_tuple()), self._key, *map(described, given))
        return Path(folder, f"{self._found}-{form}.code")


def described(kind: Any) -> str:
    """A type of arguments, in words that stand for it in every process, and with the package's code of its methods."""
    if isinstance(kind, _types.BaseNamedTuple):
        of: Any = kind.instance_class
        return f"{of.__module__}.{of.__qualname__}{of._fields}({', '.join(map(described, kind.types))})"
    if isinstance(kind, _types.BaseTuple):
        return f"({', '.join(map(described, kind.types))})"
    members: Any = getattr(kind, "members", None)
    inner = [f"{name}: {described(one)}" for name, one in members.items()] if isinstance(members, dict) else []
    package = __name__.partition(".")[0]
    ours = [start_of(of) for of in type(kind).__mro__ if of.__module__.partition(".")[0] == package]
    return f"{kind} {inner} {stamp_of(*ours) if ours else ''}"


@cache
def _compiler() -> str:
    settings: Any = numba.config
    versions = numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag
    return repr([*versions, getattr(sys, "abiflags", ""), *(getattr(settings, name, None) for name in SETTINGS)])


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:20]


@cache
def _are_as_imported(modules: int) -> bool:
    """Whether the sources have stayed the same while that number of modules was imported."""
    return sources().are_unchanged()


@cache
def _prune_once() -> None:
    folder = cache_folder()
    if folder is not None:
        prune(Path(folder))


def prune(folder: Path) -> None:
    """Remove code that no process has used for long: each edit leaves some."""
    now = time.time()
    for one in _inside(folder):
        unused_s = now - _last_use(one)
        if not one.is_dir() or FORMER.fullmatch(one.name):
            if unused_s > UNUSED_S:
                _remove(one)
            continue
        generations: dict[str, list[Path]] = {}
        for file in _inside(one):
            # What is remembered of the sources is one file a state of them; code one file a form.
            generation = file.name if file.suffix == ".json" else file.name.partition("-")[0]
            generations.setdefault(generation, []).append(file)
        newest_first = sorted(generations.values(), key=lambda files: max(map(_last_use, files)), reverse=True)
        for place, files in enumerate(newest_first):
            unused_s = now - max(map(_last_use, files))
            if unused_s > (GONE_S if place < GENERATIONS else UNUSED_S):
                for file in files:
                    _remove(file)


def _inside(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from list(folder.iterdir())


def _last_use(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
