"""What load managers' policies note of tasks for a while: rows, which policies in Python and compiled ones share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.jit import kernel

# Entries for which there is room at first.
ROOM = 64


class Remembered(NamedTuple):
    """What a load manager's policy has noted lately, the oldest entry first, shape (entries,) each."""

    task: Integers  # numbers of tasks
    node: Integers  # nodes
    amount: Floats  # what else was noted, in a unit of the policy's


class MemoryRows(NamedTuple):
    """The entries of all load managers; those of each are a chain, the oldest first."""

    noted_ends: Integers  # positions of the oldest and of the newest entry of each manager, (managers, 2); -1: none
    noted_top: Integers  # the first position that was never used, shape (1,)
    noted_task: Integers  # shape (positions,), as all that follow
    noted_node: Integers
    noted_amount: Floats
    noted_ms: Floats  # when it was noted [ms]
    noted_following: Integers  # position of the next entry of the same manager; -1: none


def empty_rows(managers: int, positions: int = ROOM) -> MemoryRows:
    """Rows in which nothing is noted yet."""
    return MemoryRows(
        noted_ends=np.full((managers, 2), -1, np.int64),
        noted_top=np.zeros(1, np.int64),
        noted_task=np.zeros(positions, np.int64),
        noted_node=np.zeros(positions, np.int64),
        noted_amount=np.zeros(positions),
        noted_ms=np.zeros(positions),
        noted_following=np.full(positions, -1, np.int64),
    )


@kernel
def live_entries(rows: MemoryRows) -> int:
    """The number of entries that no manager has forgotten."""
    count = 0
    for manager in range(rows.noted_ends.shape[0]):
        entry = rows.noted_ends[manager, 0]
        while entry >= 0:
            entry = rows.noted_following[entry]
            count += 1
    return count


@kernel
def take_over(rows: MemoryRows, before: MemoryRows) -> None:
    """Fill empty rows with the entries of others that no manager has forgotten."""
    position = 0
    for manager in range(before.noted_ends.shape[0]):
        entry = before.noted_ends[manager, 0]
        if entry >= 0:
            rows.noted_ends[manager, 0] = position
        while entry >= 0:
            rows.noted_task[position], rows.noted_node[position] = before.noted_task[entry], before.noted_node[entry]
            rows.noted_amount[position], rows.noted_ms[position] = before.noted_amount[entry], before.noted_ms[entry]
            rows.noted_ends[manager, 1] = position
            entry = before.noted_following[entry]
            position += 1
            if entry >= 0:
                rows.noted_following[position - 1] = position
    rows.noted_top[0] = position


class Memory:
    """The memory of several load managers.

    Args:
        managers: how many have one of their own.

    Attributes:
        rows: their entries; other arrays once there is no more room in these.
    """

    def __init__(self, managers: int = 1) -> None:
        self.rows = empty_rows(managers)

    def make_room(self, entries: int) -> None:
        """Make room for that many entries: what was forgotten gives way."""
        before = self.rows
        if before.noted_top[0] + entries > len(before.noted_task):
            self.rows = empty_rows(len(before.noted_ends), 2 * (live_entries(before) + entries + ROOM))
            take_over(self.rows, before)

    def note(self, manager: int, task: int, node: int, amount: float, now_ms: float) -> None:
        """Note something about a task."""
        self.make_room(1)
        rows = self.rows
        position, newest = int(rows.noted_top[0]), int(rows.noted_ends[manager, 1])
        rows.noted_task[position], rows.noted_node[position] = task, node
        rows.noted_amount[position], rows.noted_ms[position] = amount, now_ms
        rows.noted_following[position] = -1
        if newest < 0:
            rows.noted_ends[manager, 0] = position
        else:
            rows.noted_following[newest] = position
        rows.noted_ends[manager, 1] = position
        rows.noted_top[0] += 1

    def since(self, manager: int, since_ms: float) -> Remembered:
        """What was noted after a time [ms]; what was noted before is forgotten."""
        rows = self.rows
        entry = int(rows.noted_ends[manager, 0])
        while entry >= 0 and not rows.noted_ms[entry] > since_ms:
            entry = int(rows.noted_following[entry])
        rows.noted_ends[manager, 0] = entry
        if entry < 0:
            rows.noted_ends[manager, 1] = -1
        places = []
        while entry >= 0:
            places.append(entry)
            entry = int(rows.noted_following[entry])
        return Remembered(rows.noted_task[places], rows.noted_node[places], rows.noted_amount[places])
