"""Groups of arrays and numbers that compiled code is handed as one address.

A tuple of many arrays costs its caller, and the compiler, hundreds of arguments. A row of addresses costs one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic
from numba.np import numpy_support
from numba.np.arrayobj import record_getattr

from cluster_abm.compiling.values import ValueType, value_type
from cluster_abm.engine.tables import Table
from cluster_abm.native_arrays import array_of

from_dtype: Any = numpy_support.from_dtype


class Group(NamedTuple):
    """A group of arrays and numbers."""

    row: np.dtype[np.void]  # dtype of the row that says where the arrays are, and what the numbers
    kinds: dict[str, types.Array]  # the arrays' types in compiled code, by name
    type: ValueType  # of the group in compiled code; its attributes are the arrays and the numbers
    at: Callable[[Any], Any]  # makes, in compiled code, a group of the address of its row


def group(name: str, arrays: Mapping[str, Any], numbers: Mapping[str, Any] | None = None) -> Group:
    """Make a kind of groups.

    Args:
        name: what it is called.
        arrays: an array like each of them, by name: contiguous, of its type and number of axes.
        numbers: their types by name, as numpy writes them.
    """
    fields: list[tuple[str, Any]] = list((numbers or {}).items())
    for array, like in arrays.items():
        fields += [(f"{array}_at", "i8"), *((f"{array}_{axis}", "i8") for axis in range(like.ndim))]
    row = np.dtype(fields, align=True)
    kinds = {array: types.Array(from_dtype(like.dtype), like.ndim, "C") for array, like in arrays.items()}
    found, at = value_type(name, {"at": types.int64})
    made = Group(row, kinds, found, at)
    _give_attributes(found, made, {*kinds, *(numbers or {})})
    return made


def part(name: str, of: Group, shown: Iterable[str] = (), *more: str) -> tuple[ValueType, Callable[..., Any]]:
    """Make a type of values that show some arrays and numbers of a group, of which they have the address.

    Args:
        name: what it is called.
        of: the group, which is their attribute `row`.
        shown: what is an attribute of theirs.
        more: names of further whole numbers that a value holds.

    Returns:
        The type, and the function by which compiled code makes such a value of the address, and of these numbers.
    """
    found, at = value_type(name, {"at": types.int64, **dict.fromkeys(more, types.int64)})
    _give_attributes(found, of, set(shown))
    return found, at


def point(row: Table, arrays: Mapping[str, Any]) -> None:
    """Write into a row, shape (1,), where arrays are; they have to be kept as long as the row is used."""
    for name, array in arrays.items():
        assert array.flags.c_contiguous
        row[f"{name}_at"] = array.ctypes.data
        for axis, length in enumerate(array.shape):
            row[f"{name}_{axis}"] = length


def _give_attributes(value: ValueType, of: Group, shown: set[str]) -> None:
    record = from_dtype(of.row)

    class Attributes(AttributeTemplate):
        key = type(value)

        def generic_resolve(self, given: Any, name: str) -> Any:
            if name == "row" and value is not of.type:
                return of.type
            return (of.kinds.get(name) or record.typeof(name)) if name in shown else None

    infer_getattr(Attributes)

    @lower_getattr_generic(type(value))
    def read(context: Any, builder: Any, given: Any, held: Any, name: str) -> Any:
        at = cgutils.create_struct_proxy(value)(context, builder, value=held).at
        if name == "row" and value is not of.type:
            whole = cgutils.create_struct_proxy(of.type)(context, builder)
            whole.at = at
            return whole._getvalue()
        row = builder.inttoptr(at, context.get_value_type(record))

        def field(of_row: str) -> Any:
            return record_getattr(context, builder, record, row, of_row)

        if name not in of.kinds:
            return field(name)
        kind = of.kinds[name]
        shape = [field(f"{name}_{axis}") for axis in range(kind.ndim)]
        return array_of(context, builder, kind, field(f"{name}_at"), shape)
