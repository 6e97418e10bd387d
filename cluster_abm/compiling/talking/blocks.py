"""Blocks of numbers that policies' queues lie in, and what goes along with messages; and an arena for one event.

A block has 1, 2, 4, ... numbers. Blocks that are free are kept by their size, each with the place of the next one.
"""

from __future__ import annotations

from typing import Any

from cluster_abm.compiling.talking.tables import ARENA, BLOCKS, GROW_ARENA, GROW_BLOCKS, NONE, talk_of
from cluster_abm.jit import called, inlined, kernel
from cluster_abm.jit.calls import call_at


@inlined
def size_for(count: int) -> int:
    """The size of the smallest block for that many numbers: a power of 2, by its exponent."""
    size = 0
    while (1 << size) < count:
        size += 1
    return size


@called
def allocate(talk_at: int, size: int) -> int:
    """The place of a block of 2 ** size numbers, of whatever value."""
    talk = talk_of(talk_at)
    place = talk.free[size]
    if place != NONE:
        talk.free[size] = int(talk.blocks[place])
        return int(place)
    place = talk.counts[BLOCKS]
    if place + (1 << size) > talk.blocks.shape[0]:
        call_at(talk.grow, GROW_BLOCKS, place + (1 << size), 0, 0)
    talk.counts[BLOCKS] += 1 << size
    return int(place)


@inlined
def give_back(talk: Any, place: int, size: int) -> None:
    """A block is free again."""
    talk.blocks[place] = float(talk.free[size])
    talk.free[size] = place


@called
def take_arena(talk_at: int, count: int) -> int:
    """Room for that many whole numbers until the event is over: where it begins."""
    talk = talk_of(talk_at)
    first = talk.counts[ARENA]
    if first + count > talk.arena.shape[0]:
        call_at(talk.grow, GROW_ARENA, first + count, 0, 0)
    talk.counts[ARENA] += count
    return int(first)


@kernel
def block_of(talk_at: int, size: int) -> int:
    """The place of a block of 2 ** size numbers, for Python."""
    return allocate(talk_at, size)
