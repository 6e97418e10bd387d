"""How parts of kernels are compiled: to LLVM's code, of which the kernels in which they stand make machine code.

Numba would have LLVM optimise each function together with all that it calls, and make machine code of it: a rule that
stands five calls below a kernel six times, of which only the last is ever carried out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder


class _Nowhere:
    """Where a part lies, of which there is no machine code."""

    def set_env(self, name: str, environment: object) -> None:
        """Nothing: what Python's interpreter would need to know of it is for functions that Python calls."""


class _PartLibrary(JITCodeLibrary):
    """Code that is linked into that of kernels, and never carried out by itself."""

    @property
    def codegen(self) -> Any:
        """Where it lies."""
        return _Nowhere()

    def _optimize_final_module(self) -> None:
        """Nothing: the kernel is optimised, with all its parts in it."""

    def _finalize_final_module(self) -> None:
        """As numba does, but that no machine code is made of it."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No address."""
        return 0


def part_of_kernels(function: Callable[..., object], **options: Any) -> Any:
    """Compile a function as a part of kernels; `options` are numba's.

    Called from Python, as tests do, it is a kernel of its own: of a part there is nothing to call.
    """
    part: Any = numba.njit(**options)(function)
    whole: Any = numba.njit(error_model="numpy")(function)

    def add_overload(compiled: Any) -> None:
        # Numba would also note where it lies, for calls from Python.
        part.overloads[tuple(compiled.signature.args)] = compiled

    def compile_for_args(*given: object, **named: object) -> Any:
        return whole

    part.add_overload, part._compile_for_args = add_overload, compile_for_args
    return part


class PartCompiler(CompilerBase):
    """Numba's compiler, of which the code is linked into that of kernels."""

    def define_pipelines(self) -> list[Any]:
        """The usual passes."""
        state: Any = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return [DefaultPassBuilder.define_nopython_pipeline(state)]
