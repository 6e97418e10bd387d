"""Calls of compiled functions by their addresses."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

types_module: Any = types


@intrinsic
def call_at(typing_context: Any, function: Any, task: Any, view: Any, numbers: Any, decision: Any) -> Any:
    """Call a function of entries.SIGNATURE."""
    signature = types.int64(*(types.int64,) * 5)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(word, (word,) * 4)
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    return signature, build


def native_call(returns: types.Type, *names: str) -> Any:
    """The function by which compiled code calls a kernel by its address (jit.native_address).

    Its arguments have to be of the types that the address is for: nothing looks at them again.

    Args:
        returns: what the kernel returns.
        names: of its arguments.
    """

    def make(typing_context: Any, *given: Any) -> Any:
        kinds = tuple(types_module.unliteral(kind) for kind in given[1:])

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            form = context.call_conv.get_function_type(returns, kinds)
            pointer = builder.inttoptr(arguments[0], form.as_pointer())
            return context.call_conv.call_function(builder, pointer, returns, kinds, arguments[1:])[1]

        return returns(types.int64, *kinds), build

    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("typing_context", "address", *names)]
    make.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return intrinsic(make)


@intrinsic
def address_of(typing_context: Any, array: Any) -> Any:
    """The address of an array's first element."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
        return builder.ptrtoint(found.data, ir.IntType(64))

    return types.int64(array), build
