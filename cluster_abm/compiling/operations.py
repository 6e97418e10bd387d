"""What the values of compiled policies can do, as far as Python writes it with operators: `load["queue"]`, `node in
view.refused`, `len(view.loads)`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from cluster_abm.compiling.tables import (
    CAPACITIES,
    COUNTS,
    DATA,
    FIELDS,
    FLAGS,
    FLOATS,
    INTEGERS,
    LOAD_ROW,
    LOADS,
    NODE_SET,
    NOTES,
    TABLE,
    TASK,
    TASK_RECORD,
    UNLIKE_VIEW,
    VIEW,
    VIEW_RECORD,
    load_row_of,
)
from cluster_abm.compiling.texts import COMPLETED, INDICES, number_of
from cluster_abm.compiling.values import JIT_OPTIONS, attribute, give_fields, give_typed_method
from cluster_abm.native_arrays import array_of


def array_at(kind: types.Array) -> Any:
    """The function by which compiled code takes an address, and lengths, for an array of that type."""

    def make(typing_context: Any, address: Any, shape: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            lengths = cgutils.unpack_tuple(builder, arguments[1]) if kind.ndim > 1 else [arguments[1]]
            return array_of(context, builder, kind, arguments[0], lengths)

        wanted = types.UniTuple(types.intp, kind.ndim) if kind.ndim > 1 else types.intp
        return kind(types.int64, wanted), build

    return intrinsic(make)


give_fields(VIEW, VIEW_RECORD)
give_fields(UNLIKE_VIEW, VIEW_RECORD)
give_fields(CAPACITIES, VIEW_RECORD)
give_fields(TASK, TASK_RECORD)
for _pointer in (LOADS, NOTES, LOAD_ROW, DATA):
    give_fields(_pointer, VIEW_RECORD, hidden=True)

floats_at, integers_at, flags_at = array_at(FLOATS), array_at(INTEGERS), array_at(FLAGS)
table_at, counts_at = array_at(TABLE), array_at(COUNTS)


def overloaded(function: Any) -> Any:
    """Compile a function for values of ours."""
    return overload(function, jit_options=JIT_OPTIONS, strict=False)


@attribute(LOADS, "table")
def _table(loads: Any) -> Any:
    return table_at(loads.row.table_at, (FIELDS, loads.row.nodes))


@attribute(LOADS, "least")
def _least(loads: Any) -> Any:
    return table_at(loads.row.least_at, (FIELDS, loads.row.blocks))


@attribute(LOADS, "as_of")
def _as_of(loads: Any) -> Any:
    return counts_at(loads.row.as_of_at, (FIELDS, loads.row.blocks))


@attribute(LOADS, "totals")
def _totals(loads: Any) -> Any:
    return table_at(loads.row.totals_at, (FIELDS, loads.row.blocks))


@attribute(LOADS, "added_as_of")
def _added_as_of(loads: Any) -> Any:
    return counts_at(loads.row.added_as_of_at, (FIELDS, loads.row.blocks))


@attribute(LOADS, "changes")
def _changes(loads: Any) -> Any:
    return integers_at(loads.row.changes_at, loads.row.blocks)


@attribute(LOADS, "shape")
def _shape(loads: Any) -> Any:
    return (loads.row.nodes,)


@attribute(NODE_SET, "flags")
def _flags(nodes: Any) -> Any:
    return flags_at(nodes.address, nodes.nodes)


@overloaded(len)
def _length(value: Any) -> Any:
    if value is LOADS:
        return lambda value: value.row.nodes
    if value is NODE_SET:
        return lambda value: value.count
    return None


@overloaded(bool)
def _truth(value: Any) -> Any:
    return (lambda value: value.count > 0) if value is NODE_SET else None


@overloaded(operator.contains)
def _contains(value: Any, item: Any) -> Any:
    return (lambda value, item: value.count > 0 and value.flags[item] != 0) if value is NODE_SET else None


def _of_row(row: int) -> Any:
    """The function that reads one load index from a load row."""

    def read(value: Any) -> Any:
        return floats_at(value.row.table_at, FIELDS * value.row.nodes)[row * value.row.nodes + value.node]

    return register_jitable(**JIT_OPTIONS)(read)


@overloaded(operator.getitem)
def _item(value: Any, item: Any) -> Any:
    if value is LOADS:
        if isinstance(item, types.StringLiteral):
            row = INDICES[item.literal_value] - 1
            return lambda value, item: value.table[row]
        return lambda value, item: load_row_of(value.at, item)
    if value is LOAD_ROW and isinstance(item, types.StringLiteral):
        row = INDICES[item.literal_value] - 1
        return lambda value, item: floats_at(value.row.table_at, FIELDS * value.row.nodes)[
            row * value.row.nodes + value.node
        ]
    return None


for _name, _number in INDICES.items():
    attribute(LOAD_ROW, _name)(_of_row(_number - 1))


def place_of(task: Any) -> int:
    """Place of a task among the candidates; -1 of none."""
    return -1


@overloaded(place_of)
def _place_of(task: Any) -> Any:
    return (lambda task: task.row.place) if task is TASK else (lambda task: -1)


def completed(pattern: int, number: int) -> int:
    """The number of a text that a number completes."""
    return int(pattern + (number + 1) * COMPLETED)


def _noted(notes: Any, name: int) -> float:
    names = integers_at(notes.row.note_names_at, notes.row.note_count)
    for place in range(len(names)):
        if names[place] == name:
            return floats_at(notes.row.note_values_at, notes.row.note_count)[place]
    return np.nan


noted = register_jitable(**JIT_OPTIONS)(_noted)


def _get(notes: Any, name: Any, default: Any) -> Any:
    kind = int if isinstance(default, types.Integer) else float

    def read(notes: Any, name: Any, default: Any) -> Any:
        value = noted(notes, name)
        return default if np.isnan(value) else kind(value)

    return read


give_typed_method(NOTES, "get", _get)


@overloaded(operator.setitem)
def _put(value: Any, item: Any, noted: Any) -> Any:
    if value is not NOTES or not isinstance(item, types.StringLiteral) or not isinstance(noted, types.Number):
        return None
    name = number_of(item.literal_value)

    def write(value: Any, item: Any, noted: Any) -> None:
        # Of each manager there are as many places as its policy's text has names of notes.
        names = integers_at(value.row.note_names_at, value.row.note_count)
        for place in range(len(names)):
            if names[place] == name or names[place] == 0:
                names[place] = name
                floats_at(value.row.note_values_at, value.row.note_count)[place] = float(noted)
                return

    return write
