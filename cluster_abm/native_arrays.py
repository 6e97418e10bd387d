"""Arrays at addresses, and rows of the same fields, in compiled code."""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import record_getattr, record_setattr


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


@intrinsic
def copy_fields(typing_context: Any, to: Any, given: Any) -> Any:
    """Put into a row what another row has under the same names."""
    names = [name for name in given.fields if name in to.fields]

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row, values = arguments
        for name in names:
            kind, wanted = given.typeof(name), to.typeof(name)
            value = context.cast(builder, record_getattr(context, builder, given, values, name), kind, wanted)
            record_setattr(context, builder, types.none(to, wanted), (row, value), name)
        return context.get_dummy_value()

    return types.none(to, given), build
