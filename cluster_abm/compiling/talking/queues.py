"""The queues of notes (policy.notes.Queue) in compiled code: each a ring in a block, four numbers in its manager's row.

The kernels here know no type of items: an item is `stride` numbers, of which its type uses some.
"""

from __future__ import annotations

from typing import Any

from cluster_abm.compiling.talking.blocks import allocate, give_back
from cluster_abm.compiling.talking.tables import talk_of
from cluster_abm.jit import called, inlined

# In a row of notes: the block, how many items fit into it, the place of the first one, how many there are.
BLOCK, ROOM, HEAD, LENGTH, QUEUE_NUMBERS = range(5)


@inlined
def length_of(talk_at: int, me: int, slot: int) -> int:
    """How many items a queue has."""
    return int(talk_of(talk_at).notes[me, slot + LENGTH])


@inlined
def place_of(talk_at: int, me: int, slot: int, stride: int, item: int) -> int:
    """Where an item of a queue begins in `blocks`."""
    own = talk_of(talk_at).notes[me]
    ring = (int(own[slot + HEAD]) + item) & (int(own[slot + ROOM]) - 1)
    return int(own[slot + BLOCK]) + ring * stride


@called
def grow(talk_at: int, me: int, slot: int, stride: int) -> None:
    """Twice the room for a queue's items, or for one in place of none."""
    talk = talk_of(talk_at)
    own = talk.notes[me]
    room, size = int(own[slot + ROOM]), 0
    while (1 << size) < max(1, 2 * room) * stride:
        size += 1
    block = allocate(talk_at, size)
    blocks = talk_of(talk_at).blocks
    for item in range(int(own[slot + LENGTH])):
        place = place_of(talk_at, me, slot, stride, item)
        for number in range(stride):
            blocks[block + item * stride + number] = blocks[place + number]
    if room > 0:
        size = 0
        while (1 << size) < room * stride:
            size += 1
        give_back(talk_of(talk_at), int(own[slot + BLOCK]), size)
    own[slot + BLOCK], own[slot + ROOM], own[slot + HEAD] = float(block), float(max(1, 2 * room)), 0.0


@called
def put_last(talk_at: int, me: int, slot: int, stride: int) -> int:
    """An item more at a queue's end: where it begins in `blocks`."""
    own = talk_of(talk_at).notes[me]
    if own[slot + LENGTH] == own[slot + ROOM]:
        grow(talk_at, me, slot, stride)
    own[slot + LENGTH] += 1.0
    return place_of(talk_at, me, slot, stride, int(own[slot + LENGTH]) - 1)


@called
def put_first(talk_at: int, me: int, slot: int, stride: int) -> int:
    """An item more at a queue's head: where it begins in `blocks`."""
    own = talk_of(talk_at).notes[me]
    if own[slot + LENGTH] == own[slot + ROOM]:
        grow(talk_at, me, slot, stride)
    own[slot + LENGTH] += 1.0
    own[slot + HEAD] = float((int(own[slot + HEAD]) - 1) & (int(own[slot + ROOM]) - 1))
    return place_of(talk_at, me, slot, stride, 0)


@inlined
def drop_first(talk_at: int, me: int, slot: int) -> None:
    """A queue's first item is taken out."""
    own = talk_of(talk_at).notes[me]
    own[slot + HEAD] = float((int(own[slot + HEAD]) + 1) & (int(own[slot + ROOM]) - 1))
    own[slot + LENGTH] -= 1.0


@called
def drop(talk_at: int, me: int, slot: int, stride: int, item: int) -> None:
    """An item is taken out of a queue, at whatever place it stands."""
    if item == 0:
        drop_first(talk_at, me, slot)
        return
    talk: Any = talk_of(talk_at)
    last = int(talk.notes[me, slot + LENGTH]) - 1
    for following in range(item, last):
        place = place_of(talk_at, me, slot, stride, following)
        other = place_of(talk_at, me, slot, stride, following + 1)
        for number in range(stride):
            talk.blocks[place + number] = talk.blocks[other + number]
    talk.notes[me, slot + LENGTH] -= 1.0


@inlined
def clear(talk_at: int, me: int, slot: int) -> None:
    """A queue has no item any more."""
    own = talk_of(talk_at).notes[me]
    own[slot + HEAD], own[slot + LENGTH] = 0.0, 0.0
