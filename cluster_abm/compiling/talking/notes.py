"""Notes and queues (policy.notes) as compiled code has them: a row of numbers for each manager."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin

from numba import types
from numba.core.errors import TypingError
from numba.core.imputils import lower_setattr_generic
from numba.extending import overload, register_jitable

from cluster_abm.compiling.operations import as_float, as_node, as_truth
from cluster_abm.compiling.package_names import NotCompilable, hints_of
from cluster_abm.compiling.talking.queues import (
    QUEUE_NUMBERS,
    clear,
    drop,
    drop_first,
    length_of,
    place_of,
    put_first,
    put_last,
)
from cluster_abm.compiling.talking.tables import i8, talk_of
from cluster_abm.compiling.values import JIT_OPTIONS, ValueType, attribute, give_typed_method, method, value_type
from cluster_abm.jit import inlined
from cluster_abm.policy.notes import Queue

# The most fields of an item of a queue.
WIDEST = 8
_NUMBA: dict[Any, Any] = {int: types.int64, float: types.float64, bool: types.boolean}
# What is taken for a number of such a kind, and what a number is read as.
_TAKEN = {int: "float(as_node({}))", float: "as_float({})", bool: "(1.0 if as_truth({}) else 0.0)"}
_READ = {int: "int", float: "float", bool: "bool"}


class Field(NamedTuple):
    """A field of notes."""

    name: str
    kind: Any  # int, float or bool; of a queue what its items are, one of these or a NamedTuple of them
    is_queue: bool
    slot: int  # its first number in a row


class NotesLayout(NamedTuple):
    """How the notes of a policy lie in a row."""

    notes: type  # the policy's Notes
    fields: tuple[Field, ...]
    size: int  # numbers in a row


@cache
def layout_of(notes: type) -> NotesLayout:
    """How the notes of a class lie in a row. Raises NotCompilable: there is something else in them than numbers."""
    if not is_dataclass(notes):
        raise NotCompilable("its notes are a dictionary: compiled are dataclasses of numbers and queues (policy.notes)")
    hints, found, slot = hints_of(notes), [], 0
    for one in fields(notes):
        kind, is_queue = hints[one.name], False
        if get_origin(kind) is Queue:
            (kind,), is_queue = get_args(kind), True
        if kind not in _NUMBA and not (is_queue and _is_record(kind)):
            raise NotCompilable(f"note {one.name!r}: compiled are int, float, bool, and a Queue of them or of records")
        found.append(Field(one.name, kind, is_queue, slot))
        slot += QUEUE_NUMBERS if is_queue else 1
    return NotesLayout(notes, tuple(found), max(1, slot))


def _is_record(kind: Any) -> bool:
    return (
        isinstance(kind, type)
        and issubclass(kind, tuple)
        and hasattr(kind, "_fields")
        and len(kind._fields) <= WIDEST
        and all(of in _NUMBA for of in kinds_of_record(kind))
    )


def kinds_of_record(kind: Any) -> list[Any]:
    """The types of the fields of a named tuple."""
    hints = hints_of(kind)
    return [hints.get(name) for name in kind._fields]


def stride_of(kind: Any) -> int:
    """How many numbers an item of a queue takes: a power of 2."""
    stride, width = 1, 1 if kind in _NUMBA else len(kind._fields)
    while stride < width:
        stride *= 2
    return stride


@inlined
def number_at(at: int, me: int, slot: int) -> float:
    """A number of a manager's notes."""
    return float(talk_of(at).notes[me, slot])


@inlined
def put_number(at: int, me: int, slot: int, number: float) -> None:
    """Note a number."""
    talk_of(at).notes[me, slot] = number


@inlined
def read(at: int, place: int) -> float:
    """A number in a block."""
    return float(talk_of(at).blocks[place])


@inlined
def write(at: int, place: int, number: float) -> None:
    """Put a number into a block."""
    talk_of(at).blocks[place] = number


_HELPERS = {
    "as_node": as_node, "as_float": as_float, "as_truth": as_truth, "read": read, "write": write, "place_of": place_of,
    "put_first": put_first, "put_last": put_last, "drop": drop, "drop_first": drop_first, "length_of": length_of,
}  # fmt: skip


def _written(text: str, **given: Any) -> Any:
    """The function of a text, which follows from what the items of a queue are."""
    space = _HELPERS | given
    exec(text, space)
    return space["function"]


class Items(NamedTuple):
    """What compiled code does with items of a queue."""

    stride: int
    read: Any  # read(at, place): the item that begins there
    write: Any  # write(at, place, item)
    equals: Any  # equals(at, place, item): whether it is equal to that
    suits: Callable[[Any], bool]  # whether a value of a type in compiled code may be an item


@cache
def items_of(kind: Any) -> Items:
    """What compiled code does with items of a kind."""
    if kind in _NUMBA:
        parts, kinds, item = [("item", 0)], [kind], "{}"
    else:
        kinds = kinds_of_record(kind)
        parts, item = [(f"item[{place}]", place) for place in range(len(kinds))], "Record({})"
    jit: Any = register_jitable(**JIT_OPTIONS)
    values = ", ".join(f"{_READ[of]}(read(at, place + {place}))" for (_, place), of in zip(parts, kinds, strict=True))
    writes = "; ".join(
        f"write(at, place + {place}, {_TAKEN[of].format(part)})" for (part, place), of in zip(parts, kinds, strict=True)
    )
    equal = " and ".join(f"read(at, place + {place}) == {part}" for part, place in parts)
    return Items(
        stride_of(kind),
        jit(_written(f"def function(at, place): return {item.format(values)}", Record=kind)),
        jit(_written(f"def function(at, place, item): {writes}")),
        jit(_written(f"def function(at, place, item): return {equal}")),
        lambda given: _suits(given, kind),
    )


def _suits(given: Any, kind: Any) -> bool:
    if kind in _NUMBA:
        return _is_number(given, kind)
    is_record = isinstance(given, types.NamedTuple | types.NamedUniTuple) and given.instance_class is kind
    return is_record and all(map(_is_number, given.types, kinds_of_record(kind)))


def _is_number(given: Any, kind: Any) -> bool:
    given = types.unliteral(given)
    if kind is bool or isinstance(given, types.Boolean):
        return kind is bool and isinstance(given, types.Boolean)
    return isinstance(given, types.Integer) or (kind is float and isinstance(given, types.Float))


@cache
def queue_type(kind: Any) -> tuple[ValueType, Any]:
    """The type of queues of such items, and what makes one of address, manager and slot."""
    name = getattr(kind, "__qualname__", str(kind))
    found, make = value_type(f"Queue({kind.__module__}.{name})", {"at": i8, "me": i8, "slot": i8})
    stride, read_item, write_item, equals, suits = items_of(kind)

    def with_item(name: str, function: Any) -> None:
        choose: Any = lambda queue, item: function if suits(item) else None  # noqa: E731
        give_typed_method(found, name, choose)

    def append(queue: Any, item: Any) -> None:
        write_item(queue.at, put_last(queue.at, queue.me, queue.slot, stride), item)

    def appendleft(queue: Any, item: Any) -> None:
        write_item(queue.at, put_first(queue.at, queue.me, queue.slot, stride), item)

    def remove(queue: Any, item: Any) -> None:
        for place in range(length_of(queue.at, queue.me, queue.slot)):
            if equals(queue.at, place_of(queue.at, queue.me, queue.slot, stride, place), item):
                drop(queue.at, queue.me, queue.slot, stride, place)
                return
        raise ValueError("the queue has no such item")

    def count(queue: Any, item: Any) -> int:
        found = 0
        for place in range(length_of(queue.at, queue.me, queue.slot)):
            found += equals(queue.at, place_of(queue.at, queue.me, queue.slot, stride, place), item)
        return found

    for name, function in {"append": append, "appendleft": appendleft, "remove": remove, "count": count}.items():
        with_item(name, function)

    @method(found, "popleft")
    def _popleft(queue: Any) -> Any:
        if length_of(queue.at, queue.me, queue.slot) == 0:
            raise IndexError("the queue is empty")
        item = read_item(queue.at, place_of(queue.at, queue.me, queue.slot, stride, 0))
        drop_first(queue.at, queue.me, queue.slot)
        return item

    @method(found, "clear")
    def _clear(queue: Any) -> None:
        clear(queue.at, queue.me, queue.slot)

    @register_jitable(**JIT_OPTIONS)
    def checked(queue: Any, place: int) -> int:
        length = length_of(queue.at, queue.me, queue.slot)
        place = place + length if place < 0 else place
        if place < 0 or place >= length:
            raise IndexError("no such place in the queue")
        return place_of(queue.at, queue.me, queue.slot, stride, place)

    def item_at(queue: Any, place: Any) -> Any:
        return read_item(queue.at, checked(queue, place))

    def put_at(queue: Any, place: Any, item: Any) -> None:
        write_item(queue.at, checked(queue, place), item)

    def drop_at(queue: Any, place: Any) -> None:
        checked(queue, place)
        drop(queue.at, queue.me, queue.slot, stride, place)

    def contains(queue: Any, item: Any) -> bool:
        for place in range(length_of(queue.at, queue.me, queue.slot)):
            if equals(queue.at, place_of(queue.at, queue.me, queue.slot, stride, place), item):
                return True
        return False

    _overload(operator.getitem, lambda queue, place: item_at if queue is found and _is_number(place, int) else None)
    _overload(operator.delitem, lambda queue, place: drop_at if queue is found and _is_number(place, int) else None)
    _overload(
        operator.setitem,
        lambda queue, place, item: put_at if queue is found and _is_number(place, int) and suits(item) else None,
    )
    _overload(operator.contains, lambda queue, item: contains if queue is found and suits(item) else None)
    give_length(found, lambda queue: length_of(queue.at, queue.me, queue.slot))
    return found, make


def give_length(of: ValueType, function: Any) -> None:
    """Give values of a type a length, and have them be true if it is not 0."""
    of.has_length = True
    _overload(len, lambda value: function if value is of else None)
    length: Any = register_jitable(**JIT_OPTIONS)(function)

    def has_any(value: Any) -> bool:
        return length(value) > 0

    def has_none(value: Any) -> bool:
        return length(value) == 0

    _overload(bool, lambda value: has_any if value is of else None)
    _overload(operator.not_, lambda value: has_none if value is of else None)


def _overload(of: Any, choose: Any) -> None:
    overload(of, jit_options=JIT_OPTIONS, strict=False)(choose)


@cache
def notes_type(layout: NotesLayout) -> tuple[ValueType, Any]:
    """The type of notes of a layout, and what makes them of an address and a manager."""
    of = layout.notes
    described = [(one.name, str(one.kind), one.is_queue) for one in layout.fields]
    found, make = value_type(f"Notes({of.__module__}.{of.__qualname__} {described})", {"at": i8, "me": i8})
    puts = {one.name: _put(one) for one in layout.fields if not one.is_queue}
    kinds = {one.name: one.kind for one in layout.fields}
    for one in layout.fields:
        attribute(found, one.name)(_get(one))

    @lower_setattr_generic(type(found))
    def set_note(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> Any:
        if name not in puts or not _is_number(signature.args[1], kinds[name]):
            raise TypingError(f"note {name!r} of another type than it is declared")
        return context.compile_internal(builder, puts[name], signature, arguments)

    return found, make


def _get(of: Field) -> Any:
    slot = of.slot
    if of.is_queue:
        make = queue_type(of.kind)[1]
        return lambda notes: make(notes.at, notes.me, slot)
    kind = of.kind
    return lambda notes: kind(number_at(notes.at, notes.me, slot))


def _put(of: Field) -> Any:
    text = f"def function(notes, number): put_number(notes.at, notes.me, {of.slot}, {_TAKEN[of.kind].format('number')})"
    return _written(text, put_number=put_number)
