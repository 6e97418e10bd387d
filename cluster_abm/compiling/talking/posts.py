"""The post of a manager (policy.talking.Post), as compiled policies have it.

What changes anything outside the notes is a kernel of model.talking.compiled, called by its address.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from typing import Any

from numba import types
from numba.extending import overload

from cluster_abm.compiling.operations import as_float, as_node, as_text
from cluster_abm.compiling.tables import TEXT, unlike_view_of, view_of
from cluster_abm.compiling.talking.blocks import allocate, size_for, take_arena
from cluster_abm.compiling.talking.loops import OF_POST_VIEW
from cluster_abm.compiling.talking.messages import in_arena, put_in_arena, row_of_task
from cluster_abm.compiling.talking.notes import NotesLayout, notes_type, queue_type
from cluster_abm.compiling.talking.tables import AT_NS, NODES, NONE, i8, nodes_in, talk_of, tasks_in
from cluster_abm.compiling.values import JIT_OPTIONS, ValueType, attribute, give_typed_method, method, value_type
from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.jit import called, inlined
from cluster_abm.jit.calls import native_call

# Kernels of the model, by their addresses. All but `draw` return 0 where Python would raise.
post_at = native_call(types.int64, "at", "me")
draw_at = native_call(types.float64, "at", "me")
on_task_at = native_call(types.int64, "at", "me", "row")
nodes_at = native_call(types.int64, "at", "me", "count", "only_homes", "first", "stop", "excluded_at", "excluded")


@called
def put_waiting_in_arena(at: int, me: int) -> int:
    """Put the tasks that wait at a manager into the arena, in their order: where they begin."""
    first = take_arena(at, talk_of(at).managers[me].waiting)
    talk = talk_of(at)
    row, place = talk.managers[me].first, first
    while row != NONE:
        talk.arena[place] = row
        row, place = talk.links[row].next, place + 1
    return int(first)


@inlined
def waiting_at(at: int, me: int) -> int:
    """How many tasks wait at a manager."""
    return int(talk_of(at).managers[me].waiting)


@inlined
def nodes_of(at: int) -> int:
    """How many nodes there are."""
    return int(talk_of(at).up.shape[0])


@inlined
def head_of(at: int) -> int:
    """The head node."""
    return int(talk_of(at).head)


@inlined
def now_ns(at: int) -> int:
    """The instant of the event that is told [ns]."""
    return int(talk_of(at).counts[AT_NS])


@inlined
def tasks_on(at: int, node: int) -> int:
    """Tasks of jobs on a node, and on their way to it (Surroundings.tasks_on)."""
    row = talk_of(at).nodes[node]
    return int(row.tasks + row.in_transit - row.background)


@inlined
def cores_on(at: int, node: int) -> int:
    """Cores of a node."""
    return int(talk_of(at).hardware[node].cores)


@inlined
def slice_ms_of(at: int) -> float:
    """Length of a slice [ms]."""
    return float(talk_of(at).slice_ms)


@inlined
def meets_at_barriers(at: int, job: int) -> bool:
    """Whether tasks of a job wait for each other at barriers (Surroundings.meets_at_barriers)."""
    row = talk_of(at).jobs[job]
    return bool(row.barrier_ms > 0.0 and row.tasks > 1)


@inlined
def view_at(at: int, me: int) -> int:
    """The address of a manager's view, brought up to date."""
    talk = talk_of(at)
    post_at(talk.look, at, me)
    return int(talk.views_at)


@inlined
def say(at: int, node: int, topic: int, value: float, about: int) -> None:
    """Fill in what a message says."""
    said = talk_of(at).said[0]
    said.node, said.topic, said.about, said.value, said.first, said.count = node, topic, about, value, NONE, 0


@called
def send_nodes(at: int, me: int, first: int, count: int) -> bool:
    """Send the message that has been filled in, with nodes in the arena; False: it is not right."""
    if count > 0:
        block = allocate(at, size_for(count))
        talk = talk_of(at)
        for place in range(count):
            talk.blocks[block + place] = float(talk.arena[first + place])
        talk.said[0].first, talk.said[0].count = block, count
    return bool(post_at(talk_of(at).send, at, me) != 0)


@inlined
def remind_me(at: int, me: int) -> bool:
    """Have a manager be reminded as has been filled in; False: it is not right."""
    return bool(post_at(talk_of(at).remind, at, me) != 0)


@inlined
def hand_on(at: int, me: int, row: int) -> bool:
    """Hand a task on as has been filled in; False: it is not right."""
    return bool(on_task_at(talk_of(at).hand, at, me, row) != 0)


@inlined
def start_on(at: int, me: int, row: int, node: int, rule: int, index: int, here: float, there: float) -> bool:
    """Start a task; False: it is not right."""
    talk = talk_of(at)
    said = talk.said[0]
    said.node, said.rule, said.index, said.here, said.there = node, rule, index, here, there
    return bool(on_task_at(talk.start, at, me, row) != 0)


@inlined
def draw_of(at: int, me: int) -> float:
    """A number of a manager's own stream."""
    return float(draw_at(talk_of(at).draw, at, me))


@inlined
def drawn(
    at: int, me: int, count: int, only_homes: bool, first: int, stop: int, excluded_at: int, excluded: int
) -> int:
    """Draw nodes: where their number stands in the arena, and behind it they."""
    return int(nodes_at(talk_of(at).draw_nodes, at, me, count, only_homes, first, stop, excluded_at, excluded))


def as_nodes(at: int, nodes: Any) -> Any:
    """Nodes in the arena."""


@overload(as_nodes, jit_options=JIT_OPTIONS, strict=False)
def _as_nodes(at: Any, nodes: Any) -> Any:
    if nodes is NODES:
        return lambda at, nodes: nodes
    given = nodes.value if isinstance(nodes, types.Omitted) else None
    if given == () or (isinstance(nodes, types.Tuple) and nodes.count == 0):
        return lambda at, nodes: nodes_in(at, 0, 0)
    item = types.int64 if nodes is queue_type(int)[0] else getattr(nodes, "dtype", None)
    is_list = isinstance(nodes, types.UniTuple | types.List | types.Array | ValueType)
    if not is_list or not isinstance(types.unliteral(item), types.Integer):
        return None

    def put(at: Any, nodes: Any) -> Any:
        count = len(nodes)
        first = take_arena(at, count)
        for place in range(count):
            put_in_arena(at, first + place, nodes[place])
        return nodes_in(at, first, count)

    return put


@cache
def post_type(layout: NotesLayout, has_capacities: bool) -> tuple[ValueType, Any]:
    """The type of posts of managers with such notes, and what makes one of an address and a manager."""
    notes, make_notes = notes_type(layout)
    found, make = value_type(f"PostWith {notes.name} {has_capacities}", {"at": i8, "me": i8})
    attribute(found, "notes")(lambda post: make_notes(post.at, post.me))
    make_view: Any = unlike_view_of if has_capacities else view_of
    attribute(found, OF_POST_VIEW)(lambda post: make_view(view_at(post.at, post.me)))
    for name, read in _OF_POSTS.items():
        attribute(found, name)(read)
    for name, (function, options) in _METHODS.items():
        method(found, name, options)(function)
    give_typed_method(found, "send", _send)
    return found, make


def _send(post: Any, node: Any, topic: Any, value: Any = 0.0, about: Any = -1, nodes: Any = (), note: Any = ()) -> Any:
    has_note = not (isinstance(note, types.Omitted) or note == ())
    if topic is not TEXT or has_note:
        return None

    def send(
        post: Any, node: Any, topic: Any, value: Any = 0.0, about: Any = -1, nodes: Any = (), note: Any = ()
    ) -> None:
        along = as_nodes(post.at, nodes)
        say(post.at, as_node(node), topic.number, as_float(value), as_node(about))
        if not send_nodes(post.at, post.me, along.first, along.count):
            raise ValueError("send: no such node")

    return send


def _remind(post: Any, after_ms: float, topic: Any, value: float = 0.0, about: int = -1) -> None:
    say(post.at, post.me, as_text(topic).number, as_float(value), as_node(about))
    set_after_ms(post.at, as_float(after_ms))
    if not remind_me(post.at, post.me):
        raise ValueError("remind: after_ms is no such time")


@inlined
def set_after_ms(at: int, after_ms: float) -> None:
    """When a reminder is due, from now on [ms]."""
    talk_of(at).said[0].here = after_ms


def _hand(post: Any, task: Any, node: int, topic: Any) -> None:
    say(post.at, as_node(node), as_text(topic).number, 0.0, task.job)
    if not hand_on(post.at, post.me, row_of_task(post.at, task.at)):
        raise ValueError("hand: the task does not wait here, or there is no such node")


def _start(
    post: Any, task: Any, node: int, rule: Any, index: Any = "", here: float = math.nan, there: float = math.nan
) -> None:
    row = row_of_task(post.at, task.at)
    texts = as_text(rule).number, as_text(index).number
    if not start_on(post.at, post.me, row, as_node(node), texts[0], texts[1], as_float(here), as_float(there)):
        raise ValueError("start: the task does not wait here, there is no such node, or the way takes too long")


def _draw(post: Any) -> float:
    return draw_of(post.at, post.me)


def _draw_nodes(post: Any, count: int, excluded: Any = (), first: int = 0, stop: int = sys.maxsize) -> Any:
    closed = as_nodes(post.at, excluded)
    found = drawn(post.at, post.me, as_node(count), False, as_node(first), as_node(stop), closed.first, closed.count)
    return nodes_in(post.at, found + 1, in_arena(post.at, found))


def _draw_homes(post: Any, count: int, excluded: Any = ()) -> Any:
    closed = as_nodes(post.at, excluded)
    found = drawn(post.at, post.me, as_node(count), True, 0, sys.maxsize, closed.first, closed.count)
    return nodes_in(post.at, found + 1, in_arena(post.at, found))


def _meets(post: Any, task: Any) -> bool:
    return meets_at_barriers(post.at, task.job)


def _cores_of(post: Any, node: int) -> int:
    if node < 0 or node >= nodes_of(post.at):
        raise IndexError("no such node")
    return cores_on(post.at, node)


_METHODS: dict[str, Any] = {
    name: (function, JIT_OPTIONS)
    for name, function in {
        "remind": _remind, "hand": _hand, "start": _start, "draw": _draw, "draw_nodes": _draw_nodes,
        "draw_homes": _draw_homes, "meets_at_barriers": _meets, "cores_of": _cores_of,
    }.items()
}  # fmt: skip
_OF_POSTS: dict[str, Any] = {
    "nodes": lambda post: nodes_of(post.at),
    "head": lambda post: head_of(post.at),
    "now_ms": lambda post: now_ns(post.at) / NS_PER_MS,
    "waiting": lambda post: tasks_in(post.at, put_waiting_in_arena(post.at, post.me), waiting_at(post.at, post.me)),
    "tasks_here": lambda post: tasks_on(post.at, post.me),
    "cores": lambda post: cores_on(post.at, post.me),
    "hardware": lambda post: talk_of(post.at).hardware,
    "slice_ms": lambda post: slice_ms_of(post.at),
}
