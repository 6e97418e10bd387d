"""Messages, ends of tasks, and lists of tasks and nodes (policy.talking), as compiled policies have them."""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.extending import overload, register_jitable

from cluster_abm.compiling.tables import TASK_ROW, task_of, text_at
from cluster_abm.compiling.talking.blocks import take_arena
from cluster_abm.compiling.talking.notes import give_length
from cluster_abm.compiling.talking.tables import (
    END,
    ENDED_STRIDE,
    ENDS,
    MESSAGE,
    NODES,
    NONE,
    TASKS,
    end_in,
    nodes_in,
    talk_of,
    tasks_in,
)
from cluster_abm.compiling.values import JIT_OPTIONS, attribute
from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.jit import called, inlined
from cluster_abm.jit.calls import address_of

TASK_SIZE = TASK_ROW.itemsize


# ---- messages --------------------------------------------------------------------------------------------------------


@inlined
def task_at(at: int, row: int) -> int:
    """The address of the row of a waiting task."""
    return int(address_of(talk_of(at).tasks) + row * TASK_SIZE)


@inlined
def row_of_task(at: int, address: int) -> int:
    """The row of a task; NONE: it is none of those that wait."""
    talk = talk_of(at)
    row = (address - address_of(talk.tasks)) // TASK_SIZE
    return int(row) if 0 <= row < talk.tasks.shape[0] else NONE


@called
def put_told_in_arena(at: int) -> int:
    """Put the nodes that have come with a message, or the tasks that have arrived, into the arena: where they begin."""
    count = talk_of(at).told[0].count
    first = take_arena(at, count)
    talk = talk_of(at)
    for place in range(count):
        talk.arena[first + place] = int(talk.blocks[talk.told[0].first + place])
    return int(first)


def _told(name: str) -> Any:
    @inlined
    def told(at: int) -> Any:
        return talk_of(at).told[0][name]

    return lambda message: told(message.at)


for _name in ("source", "target", "about", "value"):
    attribute(MESSAGE, _name)(_told(_name))


@inlined
def topic_of(at: int) -> int:
    """The number of a message's topic."""
    return int(talk_of(at).told[0].topic)


@inlined
def sent_ns(at: int) -> int:
    """When a message was sent [ns]."""
    return int(talk_of(at).told[0].sent_ns)


@inlined
def count_told(at: int) -> int:
    """How many nodes, tasks or ends are told of."""
    return int(talk_of(at).told[0].count)


@inlined
def first_told(at: int) -> int:
    """Where they begin in `blocks`."""
    return int(talk_of(at).told[0].first)


@inlined
def task_told(at: int) -> int:
    """The row of the task that a message brings."""
    return int(talk_of(at).told[0].task)


@attribute(MESSAGE, "topic")
def _topic(message: Any) -> Any:
    return text_at(topic_of(message.at))


@attribute(MESSAGE, "sent_ms")
def _sent_ms(message: Any) -> float:
    return sent_ns(message.at) / NS_PER_MS


@attribute(MESSAGE, "nodes")
def _nodes_of_message(message: Any) -> Any:
    return nodes_in(message.at, put_told_in_arena(message.at), count_told(message.at))


@attribute(MESSAGE, "task")
def _task_of_message(message: Any) -> Any:
    row = task_told(message.at)
    if row == NONE:
        raise LookupError("the message brings no task")
    return task_of(task_at(message.at, row))


# ---- lists -----------------------------------------------------------------------------------------------------------


@inlined
def in_arena(at: int, place: int) -> int:
    """A number in the arena."""
    return int(talk_of(at).arena[place])


@inlined
def put_in_arena(at: int, place: int, number: int) -> None:
    """Put a number into the arena."""
    talk_of(at).arena[place] = number


@register_jitable(**JIT_OPTIONS)
def checked(place: int, count: int) -> int:
    """A place of a list, counted from its end if it is below 0. Raises IndexError."""
    place = place + count if place < 0 else place
    if place < 0 or place >= count:
        raise IndexError("no such place in this list")
    return place


for _list in (TASKS, NODES, ENDS):
    give_length(_list, lambda some: some.count)


def _task_in(some: Any, place: Any) -> Any:
    return task_of(task_at(some.at, in_arena(some.at, some.first + checked(place, some.count))))


def _node_in(some: Any, place: Any) -> int:
    return in_arena(some.at, some.first + checked(place, some.count))


def _end_in(some: Any, place: Any) -> Any:
    return end_in(some.at, some.first + ENDED_STRIDE * checked(place, some.count))


def _tasks_of_slice(some: Any, place: Any) -> Any:
    first, last, step = place.indices(some.count)
    if step != 1:
        raise ValueError("slices of tasks have no step")
    return tasks_in(some.at, some.first + first, max(0, last - first))


def _nodes_of_slice(some: Any, place: Any) -> Any:
    first, last, step = place.indices(some.count)
    if step != 1:
        raise ValueError("slices of nodes have no step")
    return nodes_in(some.at, some.first + first, max(0, last - first))


_ITEM = {TASKS: _task_in, NODES: _node_in, ENDS: _end_in}
_SLICE = {TASKS: _tasks_of_slice, NODES: _nodes_of_slice}


@overload(operator.getitem, jit_options=JIT_OPTIONS, strict=False)
def _getitem(some: Any, place: Any) -> Any:
    if isinstance(place, types.SliceType):
        return _SLICE.get(some)
    return _ITEM.get(some) if isinstance(types.unliteral(place), types.Integer) else None


@overload(operator.contains, jit_options=JIT_OPTIONS, strict=False)
def _contains(some: Any, item: Any) -> Any:
    if some is not NODES or not isinstance(item, types.Integer):
        return None

    def contains(some: Any, item: Any) -> bool:
        for place in range(some.count):
            if in_arena(some.at, some.first + place) == item:
                return True
        return False

    return contains


@inlined
def in_block(at: int, place: int) -> float:
    """A number in a block."""
    return float(talk_of(at).blocks[place])


@attribute(END, "task")
def _task_of_end(end: Any) -> int:
    return int(in_block(end.at, end.first))


@attribute(END, "job")
def _job_of_end(end: Any) -> int:
    return int(in_block(end.at, end.first + 1))


@attribute(END, "here_ms")
def _here_ms(end: Any) -> float:
    return in_block(end.at, end.first + 2)
