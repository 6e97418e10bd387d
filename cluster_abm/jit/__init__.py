"""Compilation of the kernels.

Compiled code is kept on the disk (`kept`) by all that it can come from (`reach`): an edit compiles what it concerns.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.ccallback import CFunc
from numba.extending import register_jitable

from cluster_abm.errors import InputError
from cluster_abm.jit.kept import KeptCode, cache_folder, sources, stamp_of, stamp_of_kernels, start_of
from cluster_abm.jit.outlines import bare
from cluster_abm.jit.parts import PartCompiler, part_of_kernels

__all__ = [
    "allocating_kernel",
    "bare",
    "cache_folder",
    "callback",
    "called",
    "entry",
    "inlinable",
    "inlined",
    "is_inlinable",
    "kernel",
    "native_address",
    "stamp_of",
    "stamp_of_kernels",
    "start_of",
]

Function = TypeVar("Function", bound=Callable[..., object])

# Without numba's counting of references to arrays, which costs more than the arithmetic where a kernel hands a tuple of
# tables on to its parts. What is compiled so cannot allocate; the caller's references keep its arguments alive.
NO_COUNTS: dict[str, Any] = {"_nrt": False}
# A part of a kernel is called from compiled code alone: what would make it callable from elsewhere takes a quarter of
# the time of compiling it.
NO_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
PART: dict[str, Any] = {**NO_COUNTS, **NO_WRAPPERS, "pipeline_class": PartCompiler}
# Compiled code by kernel, for `entry`.
_ENTRIES: dict[object, object] = {}
_ADDRESSES: dict[object, int] = {}
_INLINABLE: set[object] = set()

if cast(Any, numba.config).DISABLE_JIT:
    # The kernels count on the arithmetic of compiled code, such as 64-bit integers that wrap around.
    where = "NUMBA_DISABLE_JIT" if os.environ.get("NUMBA_DISABLE_JIT") else "disable_jit in .numba_config.yaml"
    raise InputError(f"{where} is set: cluster_abm runs compiled only; unset it")


def kernel(function: Function) -> Function:
    """Compile `function` in nopython mode, cached on disk where that is possible; it must not allocate memory."""
    return _compiled(function, **NO_COUNTS)


def allocating_kernel(function: Function) -> Function:
    """Compile a kernel that makes arrays of its own."""
    return _compiled(function)


def _compiled(function: Function, **options: Any) -> Function:
    options |= {"nogil": True, "error_model": "numpy"}
    compiled: Any = numba.njit(**options)(function)
    # What code from elsewhere can come from is not known.
    if sources().have(function.__module__, function.__qualname__):
        start = start_of(function)
        compiled._cache = KeptCode(start.replace(":", "."), lambda: stamp_of(start), options)
    return cast(Function, compiled)


def callback(function: Function, signature: Any, name: str, stamp: str, key: str, options: dict[str, Any]) -> Any:
    """Compile a function to be called at an address (numba's cfunc), or take it from what is kept.

    Args:
        function: the function.
        signature: types of its arguments and of its result.
        name, stamp, key: as of `kept.KeptCode`.
        options: of numba.
    """
    made: Any = CFunc(function, (signature.args, signature.return_type), {}, options)
    made._cache = KeptCode(name, lambda: stamp, options, key)
    made.compile()
    return made


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
    """The address of a kernel's compiled code (jit.calls), for arguments that always have such types: `entry`."""
    if function not in _ADDRESSES:
        dispatcher = cast(Any, function)
        signature = tuple(map(numba.typeof, arguments))
        dispatcher.compile(signature)
        found = dispatcher.overloads[signature]
        _ADDRESSES[function] = int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))
    return _ADDRESSES[function]


def inlinable(function: Function) -> Function:
    """A plain Python function that kernels may call too; they compile the same source."""
    marked: Function = register_jitable(pipeline_class=PartCompiler)(function)
    _INLINABLE.add(function)
    return marked


def is_inlinable(function: object) -> bool:
    """Whether compiled code may call a plain Python function, because it is `inlinable`."""
    return function in _INLINABLE


def inlined(function: Function) -> Function:
    """A part of a kernel: one rule, one function, joined by the compiler at no cost of a call.

    LLVM joins it: joined by numba, its intermediate code would be copied and typed again wherever it stands.
    """
    return cast(Function, part_of_kernels(function, forceinline=True, error_model="numpy", **PART))


def called(function: Function) -> Function:
    """A rare part of a kernel: compiled once and called, so that kernels do not grow by it wherever it stands."""
    return cast(Function, part_of_kernels(function, error_model="numpy", **PART))
