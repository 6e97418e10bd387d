"""Arrays at addresses, in compiled code."""

from __future__ import annotations

from typing import Any

from numba.core import types


def array_of(context: Any, builder: Any, kind: types.Array, address: Any, shape: list[Any]) -> Any:
    """The array of a shape at an address, which owns nothing."""
    array = context.make_array(kind)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(address, array.data.type)
    context.populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()
