"""What the values of compiled policies can do, as far as Python writes it with operators: `load["queue"]`, `node in
view.refused`, `len(view.loads)`."""

from __future__ import annotations

import operator
from typing import Any

from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from cluster_abm.compiling.tables import (
    FIELDS,
    FLOAT,
    LOAD_ROW,
    LOADS,
    NO_NOTE,
    NODE_SET,
    NOTES,
    TASK,
    TEXT,
    TRUTH,
    WHOLE,
    load_row_of,
    text_at,
)
from cluster_abm.compiling.texts import COMPLETED, INDICES, MOST, number_of
from cluster_abm.compiling.values import JIT_OPTIONS, attribute, give_typed_method
from cluster_abm.native_arrays import array_of

# Whole numbers up to this are exact as floats.
LARGEST = 2**53


def array_at(kind: types.Array) -> Any:
    """The function by which compiled code takes an address, and lengths, for an array of that type."""

    def make(typing_context: Any, address: Any, shape: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            lengths = cgutils.unpack_tuple(builder, arguments[1]) if kind.ndim > 1 else [arguments[1]]
            return array_of(context, builder, kind, arguments[0], lengths)

        wanted = types.UniTuple(types.intp, kind.ndim) if kind.ndim > 1 else types.intp
        return kind(types.int64, wanted), build

    return intrinsic(make)


floats_at = array_at(types.Array(types.float64, 1, "C"))
integers_at = array_at(types.Array(types.int64, 1, "C"))


def overloaded(function: Any) -> Any:
    """Compile a function for values of ours."""
    return overload(function, jit_options=JIT_OPTIONS, strict=False)


@attribute(LOADS, "shape")
def _shape(loads: Any) -> Any:
    return (loads.row.nodes,)


@overloaded(len)
def _length(value: Any) -> Any:
    if value is LOADS:
        return lambda value: value.row.nodes
    if value is NODE_SET:
        return lambda value: value.count
    return None


@overloaded(bool)
def _truth(value: Any) -> Any:
    if value is TEXT:
        return lambda value: value.number != 0
    return (lambda value: value.count > 0) if value is NODE_SET else None


@overloaded(operator.eq)
def _equal(value: Any, other: Any) -> Any:
    return (lambda value, other: value.number == other.number) if value is TEXT and other is TEXT else None


@overloaded(operator.ne)
def _unequal(value: Any, other: Any) -> Any:
    return (lambda value, other: value.number != other.number) if value is TEXT and other is TEXT else None


@register_jitable(**JIT_OPTIONS)
def row_of(index: Any) -> int:
    """The row of the load table that a text names; KeyError: it names none."""
    if index.number < 1 or index.number > FIELDS:
        raise KeyError("no such load index")
    return int(index.number - 1)


@register_jitable(**JIT_OPTIONS)
def check_node(number: int, count: int) -> None:
    """Raise IndexError for what is no number of a node, or of a file: 0 to count - 1. A truth value has no form."""
    if as_node(number) < 0 or number >= count:
        raise IndexError("no such number")


@overloaded(operator.contains)
def _contains(value: Any, item: Any) -> Any:
    if value is not NODE_SET:
        return None

    def contains(value: Any, item: Any) -> bool:
        check_node(item, len(value.flags))
        return value.count > 0 and value.flags[item]

    return contains


def _of_row(row: int) -> Any:
    """The function that reads one load index from a load row."""
    return register_jitable(**JIT_OPTIONS)(lambda value: value.row.table[row, value.node])


@overloaded(operator.getitem)
def _item(value: Any, item: Any) -> Any:
    if value is LOADS:
        if isinstance(item, types.StringLiteral):
            row = INDICES[item.literal_value] - 1
            return lambda value, item: value.table[row]
        if item is TEXT:
            return lambda value, item: value.table[row_of(item)]
        if isinstance(item, types.Integer):
            return _load_row
        return None
    if value is LOAD_ROW and isinstance(item, types.StringLiteral):
        row = INDICES[item.literal_value] - 1
        return lambda value, item: value.row.table[row, value.node]
    return None


def _load_row(value: Any, item: Any) -> Any:
    check_node(item, value.row.nodes)
    return load_row_of(value.at, item)


for _name, _number in INDICES.items():
    attribute(LOAD_ROW, _name)(_of_row(_number - 1))


def place_of(task: Any) -> int:
    """Place of a task among the candidates; -1: none is given."""
    return -1


@overloaded(place_of)
def _place_of(task: Any) -> Any:
    if task is TASK:
        return _place_of_candidate
    is_none = isinstance(types.unliteral(task), types.NoneType | types.Omitted) or task is None
    return (lambda task: -1) if is_none else None


def _place_of_candidate(task: Any) -> int:
    place = task.row.place
    if place < 0:
        raise TypeError("no task of view.candidates")
    return int(place)


def as_node(target: Any) -> int:
    """The number of a node, which has to be a whole number."""
    return int(target)


@overloaded(as_node)
def _as_node(target: Any) -> Any:
    is_whole = isinstance(target, types.Integer) and not isinstance(target, types.Boolean)
    return (lambda target: int(target)) if is_whole else None


def as_truth(answer: Any) -> bool:
    """An answer, which has to be a truth value."""
    return bool(answer)


@overloaded(as_truth)
def _as_truth(answer: Any) -> Any:
    return (lambda answer: answer) if isinstance(types.unliteral(answer), types.Boolean) else None


def as_float(number: Any) -> float:
    """A number as a float; a truth value is none."""
    return float(number)


@overloaded(as_float)
def _as_float(number: Any) -> Any:
    kind = _plain(number)
    is_number = isinstance(kind, types.Float | types.Integer) and not isinstance(kind, types.Boolean)
    return (lambda number: float(number)) if is_number else None


def as_text(text: Any) -> Any:
    """A text; where none is given the empty one."""
    return text


@overloaded(as_text)
def _as_text(text: Any) -> Any:
    if text is TEXT:
        return lambda text: text
    # Texts that are given are TEXT: any other is the default, which is empty.
    return (lambda text: text_at(0)) if isinstance(text, types.Omitted | types.UnicodeType) else None


def _plain(kind: Any) -> Any:
    """The type of an argument that may have been left out."""
    return typeof(kind.value) if isinstance(kind, types.Omitted) else types.unliteral(kind)


def completed(pattern: Any, number: int) -> Any:
    """A text that a whole number completes; ValueError: the number is too large, or below 0."""
    number = as_node(number)
    if number < 0 or number >= MOST:
        raise ValueError("no text is kept of such a number")
    return text_at(pattern.number + (number + 1) * COMPLETED)


@register_jitable(**JIT_OPTIONS)
def place_of_note(notes: Any, name: int) -> int:
    """Where a note of that name is; -1: nowhere."""
    names = notes.row.note_names
    for place in range(len(names)):
        if names[place] == name:
            return place
    return -1


def _kind_of_note(of: Any) -> int:
    of = types.unliteral(of)
    if isinstance(of, types.Boolean):
        return TRUTH
    if isinstance(of, types.Integer):
        return WHOLE
    return FLOAT if isinstance(of, types.Float) else NO_NOTE


def _get(notes: Any, name: Any, default: Any) -> Any:
    kind = _kind_of_note(default)
    if name is not TEXT or kind == NO_NOTE:
        return None
    make: Any = {WHOLE: int, FLOAT: float, TRUTH: bool}[kind]

    def read(notes: Any, name: Any, default: Any) -> Any:
        place = place_of_note(notes, name.number)
        if place < 0:
            return default
        if notes.row.note_kinds[place] != kind:
            raise TypeError("a note of another type")
        return make(notes.row.note_values[place])

    return read


give_typed_method(NOTES, "get", _get)


@overloaded(operator.setitem)
def _put(value: Any, item: Any, noted: Any) -> Any:
    kind = _kind_of_note(noted)
    if value is not NOTES or not isinstance(item, types.StringLiteral) or kind == NO_NOTE:
        return None
    name = number_of(item.literal_value)

    def write(value: Any, item: Any, noted: Any) -> None:
        if kind == WHOLE and not abs(float(noted)) <= LARGEST:
            raise OverflowError("a whole number above 2^53")
        place = place_of_note(value, name)
        # Of each manager there are as many places as its policy's text has names of notes.
        place = place_of_note(value, 0) if place < 0 else place
        if place < 0:
            raise IndexError("no room for a note")
        value.row.note_names[place] = name
        value.row.note_values[place] = (1.0 if noted else 0.0) if kind == TRUTH else float(noted)
        value.row.note_kinds[place] = kind

    return write
