"""Numbers and nodes that a manager draws, compiled; the readable form is model.talking.post."""

from __future__ import annotations

from typing import Any

from cluster_abm.compiling.talking.blocks import take_arena
from cluster_abm.compiling.talking.tables import talk_of
from cluster_abm.engine.random_numbers import message_uniform
from cluster_abm.jit import called, kernel
from cluster_abm.model.deciding.compiled.scratch import scratch_group

scratch_of = scratch_group.at


@kernel
def draw(talk_at: int, me: int) -> float:
    """A number in (0, 1) of a manager's own stream."""
    talk = talk_of(talk_at)
    own = talk.managers[me]
    own.drawn += 1
    return float(message_uniform(talk.draw_key, me, own.drawn))


@called
def close(talk: Any, closed: int, node: int) -> int:
    """Put a node among the closed ones, in ascending order; how many they are."""
    place = closed
    while place > 0 and talk.closed[place - 1] >= node:
        place -= 1
    if place < closed and talk.closed[place] == node:
        return closed
    for following in range(closed, place, -1):
        talk.closed[following] = talk.closed[following - 1]
    talk.closed[place] = node
    return closed + 1


@called
def closed_before(talk: Any, closed: int, node: int) -> int:
    """How many of the closed nodes stand before the one that would have this number if none were closed.

    The closed nodes are in ascending order.
    """
    first, last = 0, closed
    while first < last:
        middle = (first + last) // 2
        if talk.closed[middle] - middle <= node:
            first = middle + 1
        else:
            last = middle
    return first


@kernel
def draw_nodes(
    talk_at: int, me: int, count: int, only_homes: bool, first: int, stop: int, excluded_at: int, excluded: int
) -> int:
    """Draw different nodes that accept tasks: the place of the arena at which they stand, their number before them.

    Args:
        count: how many at most.
        only_homes: whether of nodes at which jobs are submitted.
        first, stop: of the nodes from `first` to the one before `stop`.
        excluded_at, excluded: where the numbers of nodes stand in the arena that are left out, and how many they are.
    """
    talk = talk_of(talk_at)
    first, stop = max(0, first), min(len(talk.up), stop)
    closed = 0
    if talk.can_change or only_homes:
        scratch = scratch_of(talk.scratch_at)
        route = scratch.route_at[me]
        for node in range(first, stop):
            is_closed = only_homes and not talk.is_home[node]
            if talk.can_change:
                is_closed = is_closed or not talk.accepting[node]
                if node != me:
                    is_cut_off = scratch.unreachable[me] or scratch.unreachable[node]
                    is_closed = is_closed or is_cut_off or scratch.mb_per_s[route + node] == 0.0
            if is_closed:
                talk.closed[closed] = node
                closed += 1
    for place in range(excluded_at, excluded_at + excluded):
        if first <= talk.arena[place] < stop:
            closed = close(talk, closed, talk.arena[place])
    wanted = max(0, min(count, stop - first - closed))
    found = take_arena(talk_at, wanted + 1)
    talk = talk_of(talk_at)
    for number in range(wanted):
        node = first + int(draw(talk_at, me) * (stop - first - closed))
        node += closed_before(talk, closed, node)
        talk.arena[found + 1 + number] = node
        closed = close(talk, closed, node)
    talk.arena[found] = wanted
    return found
