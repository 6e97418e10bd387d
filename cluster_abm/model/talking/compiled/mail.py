"""Events in a heap, by instant and number, and messages, compiled; the readable form is model.talking.mail."""

from __future__ import annotations

import math
from typing import Any

from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.compiling.talking.blocks import give_back, size_for
from cluster_abm.compiling.talking.tables import (
    AT_NS,
    EVENTS,
    GROW_EVENTS,
    GROW_MESSAGES,
    HEARS,
    NONE,
    NUMBER,
    SENT,
    UNANSWERED,
    WRITTEN,
    talk_of,
)
from cluster_abm.engine.random_numbers import BETWEEN_MANAGERS, message_uniform
from cluster_abm.engine.tables import NEVER
from cluster_abm.jit import called, inlined, kernel
from cluster_abm.jit.calls import call_at
from cluster_abm.model.deciding.compiled.asking import whole_ns
from cluster_abm.model.deciding.compiled.scratch import scratch_group, settings_group
from cluster_abm.model.observing.happenings import LOST
from cluster_abm.model.talking.compiled.waiting import wait_no_more
from cluster_abm.native_arrays import copy_fields

scratch_of, settings_of = scratch_group.at, settings_group.at


@inlined
def next_ns(talk: Any) -> int:
    """When the next event is due [ns]; NEVER: none is to come."""
    return int(talk.events[0].at_ns) if talk.counts[EVENTS] > 0 else NEVER


@called
def push(talk_at: int, at_ns: int, manager: int, kind: int) -> int:
    """Let a manager be told something at an instant: the event's place in `events`, which has no more in it yet."""
    talk = talk_of(talk_at)
    if talk.counts[EVENTS] == talk.events.shape[0]:
        call_at(talk.grow, GROW_EVENTS, talk.counts[EVENTS] + 1, 0, 0)
        talk = talk_of(talk_at)
    events, counts = talk.events, talk.counts
    counts[NUMBER] += 1
    place = counts[EVENTS]
    counts[EVENTS] += 1
    # Its number is the largest: what is due at the same instant comes before it.
    while place > 0 and events[(place - 1) // 2].at_ns > at_ns:
        copy_fields(events[place], events[(place - 1) // 2])
        place = (place - 1) // 2
    event = events[place]
    event.at_ns, event.number, event.manager, event.kind = at_ns, counts[NUMBER], manager, kind
    event.source = event.target = event.task = event.first = event.about = NONE
    event.topic = event.count = event.sent_ns = 0
    event.value = 0.0
    return int(place)


@inlined
def is_before(one: Any, other: Any) -> bool:
    """Whether one event is told before another one."""
    return bool(one.at_ns < other.at_ns or (one.at_ns == other.at_ns and one.number < other.number))


@called
def pop(talk: Any) -> None:
    """Take the next event out of the heap, into `told`."""
    events, counts = talk.events, talk.counts
    copy_fields(talk.told[0], events[0])
    counts[EVENTS] -= 1
    last = counts[EVENTS]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= last:
            break
        if below + 1 < last and is_before(events[below + 1], events[below]):
            below += 1
        if not is_before(events[below], events[last]):
            break
        copy_fields(events[place], events[below])
        place = below
    if last > 0:
        copy_fields(events[place], events[last])


@inlined
def free_block(talk: Any, event: Any) -> None:
    """What went along with an event is needed no more."""
    if event.count > 0 and event.first != NONE:
        give_back(talk, event.first, size_for(event.count))


@inlined
def latency_ms(scratch: Any, node: int, other: int) -> float:
    """How long a message takes between two nodes [ms]; infinity: no route leads there."""
    # Of routes that nodes share, a row does not say that the way to itself is none.
    if node == other:
        return 0.0
    if scratch.unreachable[node] or scratch.unreachable[other]:
        return math.inf
    return float(scratch.latency_ms[scratch.route_at[node] + other])


@called
def write_down(talk_at: int, me: int, heard_ns: int, task: int) -> None:
    """Of a run that is recorded, note a message."""
    talk = talk_of(talk_at)
    row = talk.counts[WRITTEN]
    if talk.messages.shape[0] == 0:
        return
    if row == talk.messages.shape[0]:
        call_at(talk.grow, GROW_MESSAGES, row + 1, 0, 0)
        talk = talk_of(talk_at)
    said, note = talk.said[0], talk.messages[row]
    note[0], note[1], note[2], note[3], note[4] = talk.counts[AT_NS], heard_ns, me, said.node, said.topic
    note[5] = talk.tasks[task].task if task != NONE else NONE
    talk.counts[WRITTEN] += 1


@called
def post(talk_at: int, me: int, task: int) -> None:
    """Send what is said: it is heard after the latency of its route, or known as unanswered after the timeout."""
    talk = talk_of(talk_at)
    said, now_ns = talk.said[0], talk.counts[AT_NS]
    at_ns, manager, kind = now_ns, said.node, HEARS
    if said.node != me:
        scratch, settings = scratch_of(talk.scratch_at), settings_of(talk.settings_at)
        talk.counts[SENT] += 1
        way_ms = latency_ms(scratch, me, said.node)
        is_lost = not talk.up[said.node] or way_ms == math.inf
        if not is_lost and settings.loss_share > 0.0 and not talk.are_instant:
            drawn = message_uniform(settings.message_key, BETWEEN_MANAGERS, talk.counts[SENT])
            is_lost = drawn < settings.loss_share
        if is_lost:
            at_ns, manager, kind = now_ns + talk.timeout_ns, me, UNANSWERED
        elif not talk.are_instant:
            at_ns += whole_ns(way_ms)
        write_down(talk_at, me, at_ns if kind == HEARS else LOST, task)
    place = push(talk_at, at_ns, manager, kind)
    talk = talk_of(talk_at)
    event, said = talk.events[place], talk.said[0]
    event.source, event.target, event.topic, event.about = me, said.node, said.topic, said.about
    event.value, event.sent_ns, event.task = said.value, now_ns, task
    event.first, event.count = said.first, said.count


@kernel
def send(talk_at: int, me: int) -> int:
    """Send the message that has been filled in; 0: there is no such node."""
    talk = talk_of(talk_at)
    if talk.said[0].node < 0 or talk.said[0].node >= talk.up.shape[0]:
        return 0
    post(talk_at, me, NONE + 0 * me)
    return 1


@kernel
def hand(talk_at: int, me: int, row: int) -> int:
    """Hand a task that waits here to another manager; 0: it does not wait here, or there is no such node."""
    talk = talk_of(talk_at)
    is_node = 0 <= talk.said[0].node < talk.up.shape[0]
    if not is_node or row < 0 or talk.links[row].manager != me:
        return 0
    wait_no_more(talk, row)
    post(talk_at, me, row)
    return 1


@kernel
def remind(talk_at: int, me: int) -> int:
    """Have a manager hear a message of its own; 0: the time is none that it can wait."""
    talk = talk_of(talk_at)
    after_ms, now_ns = talk.said[0].here, talk.counts[AT_NS]
    if not (0.0 <= after_ms <= LONGEST_WAIT_MS):
        return 0
    place = push(talk_at, now_ns + whole_ns(after_ms), me, HEARS + 0 * me)
    talk = talk_of(talk_at)
    event, said = talk.events[place], talk.said[0]
    event.source, event.target, event.topic, event.about = me, me, said.topic, said.about
    event.value, event.sent_ns = said.value, now_ns
    return 1
