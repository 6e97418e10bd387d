"""Calls of compiled functions by their addresses."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic  # type: ignore[untyped-decorator]
def call_at(typing_context: Any, function: Any, task: Any, view: Any, numbers: Any, decision: Any) -> Any:
    """Call a function of entries.SIGNATURE."""
    signature = types.int64(*(types.int64,) * 5)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(word, (word,) * 4)
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    return signature, build


@intrinsic  # type: ignore[untyped-decorator]
def address_of(typing_context: Any, array: Any) -> Any:
    """The address of an array's first element."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        return builder.ptrtoint(found.data, ir.IntType(64))

    return types.int64(array), build
