"""The departures of every task in their order: what segments and fates are found from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Array, Flags, Integers
from cluster_abm.columns import places_in
from cluster_abm.engine.tables import ENTERS, Table
from cluster_abm.jit import kernel


class Ends(NamedTuple):
    """How far tasks have come at their end, or at the end of the recording, ascending by task; shape (tasks,) each."""

    task: Integers  # number of the task
    at_ns: Integers  # when [ns]
    parts: Integers  # its breakdown, shape (parts of BREAKDOWN, tasks) [ns]
    is_open: Flags  # whether it goes on after that
    arrival_ns: Integers  # when it was submitted [ns]
    home: Array  # where


class TaskDepartures(NamedTuple):
    """A journal (fields.JOURNAL_FIELDS) by task; shape (departures,) where nothing else is said."""

    journal: Table  # its rows, in the order in which they were written
    row: Integers  # of each departure, by task, then by time
    first: Integers  # the first departure of each task among the ends, and the end of the last one, shape (tasks + 1,)
    enter_ns: Integers  # when it enters the node; NEVER: it does not [ns]
    until_ns: Integers  # when the next one of the task is, or the task's end [ns]


def departures_of(journal: Table, ends: Ends) -> TaskDepartures:
    """The departures of the tasks that are among the ends."""
    end, is_there = places_in(ends.task, np.ascontiguousarray(journal["task"]))
    counts = np.bincount(end[is_there & (journal["kind"] != ENTERS)], minlength=len(ends.task))
    first = np.append(0, np.cumsum(counts))
    row, enter_ns, until_ns = (np.empty(first[-1], np.int64) for _ in range(3))
    _by_task(journal, end, is_there, ends.at_ns, first, first[:-1].copy(), row, enter_ns, until_ns)
    return TaskDepartures(journal, row, first, enter_ns, until_ns)


@kernel
def _by_task(
    journal: Table, end: Integers, is_there: Flags, end_ns: Integers, first: Integers, free: Integers, row: Integers,
    enter_ns: Integers, until_ns: Integers,
) -> None:  # fmt: skip
    """Fill the last three, as of TaskDepartures.

    Args:
        journal: fields.JOURNAL_FIELDS.
        end, is_there: the place of each row's task among the ends, and whether it is there.
        end_ns: when each task ends [ns].
        first: as of TaskDepartures.
        free: at first the first departure of each task; afterwards the place behind its last one.
    """
    for number in range(journal.shape[0]):
        if not is_there[number]:
            continue
        place = free[end[number]]
        if journal[number].kind == ENTERS:
            # It is about the departure before it; the last time counts.
            enter_ns[place - 1] = journal[number].enter_ns
        else:
            row[place], enter_ns[place] = number, journal[number].enter_ns
            free[end[number]] += 1
    for task in range(end_ns.shape[0]):
        for place in range(first[task], first[task + 1]):
            is_last = place + 1 == first[task + 1]
            until_ns[place] = end_ns[task] if is_last else journal[row[place + 1]].at_ns
