"""The life of every task as segments: where it was, from when to when, and where that time went."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Array, Flags, Integers
from cluster_abm.columns import room_for_columns
from cluster_abm.engine.tables import (
    BREAKDOWN,
    JOURNAL,
    LOST_NODE,
    MIGRATES,
    NEVER,
    NONE,
    RESTARTS,
    RETURNS,
    SENT_ON,
    Row,
    Table,
)
from cluster_abm.jit import inlined, kernel
from cluster_abm.recording.departures import Ends, TaskDepartures

# What a task does in a segment.
WHAT = ("waits", "starts", "asks", "fetches", "runs", "migrates", "returns", "lost", "restarts")
WAITS, SETS_OUT, ASKS, FETCHES, RUNS, MOVES, COMES_BACK, IS_LOST, GOES_ON = range(len(WHAT))
PARTS = tuple(f"{part}_ns" for part in BREAKDOWN)
TRAVEL = BREAKDOWN.index("migration")
# A row of a journal as words of 8 bytes: there its breakdown begins.
WORD = 8
BOOKED = JOURNAL.itemsize // WORD - len(PARTS)
# The columns of whole numbers of 8 bytes; behind them are those of the parts.
WIDE = ("task", "from_ns", "to_ns", "departure")
TASK, FROM, TO, DEPARTURE, PART = range(len(WIDE) + 1)


def segments_of(departures: TaskDepartures, ends: Ends, needs_files: bool) -> dict[str, Array]:
    """The segments of all tasks that have been submitted, by (task, time), as columns.

    Those of a task follow each other without a gap from its submission to its end, and their parts add up to its
    breakdown. Of a task that goes on after the recording's end the last one is open, and what it does then is booked
    up to its last event. One that takes no time is left out, as a start at home at once is, unless it is open.

    Args:
        departures: those of all tasks (`departures_of`).
        ends: of all tasks that have been submitted.
        needs_files: whether jobs need files, which a task fetches before it enters its home.

    Returns:
        task, node, origin, from_ns, to_ns, what (WHAT), departure (its place, NONE: none), is_open, and PARTS [ns]
    """
    # A task waits once at most; then it is on its way and on a node by each departure.
    most = len(ends.task) + 2 * len(departures.row)
    wide, nodes = room_for_columns(PART + len(PARTS), most, np.int64), room_for_columns(2, most, np.int32)
    what, is_open = np.empty(most, np.int8), np.empty(most, np.bool_)
    words = departures.journal.view(np.int64).reshape(len(departures.journal), JOURNAL.itemsize // WORD)
    count = _segments(
        *departures, words, ends.task, ends.at_ns, ends.parts, ends.is_open, ends.arrival_ns, ends.home, needs_files,
        wide, nodes, what, is_open,
    )  # fmt: skip
    columns: dict[str, Array] = dict(zip((*WIDE, *PARTS), wide[:, :count], strict=True))
    columns |= {"node": nodes[0, :count], "origin": nodes[1, :count]}
    return columns | {"what": what[:count], "is_open": is_open[:count]}


@kernel
def _segments(
    journal: Table, row: Integers, first: Integers, enter_ns: Integers, until_ns: Integers, words: Integers,
    task: Integers, at_ns: Integers, parts: Integers, goes_on: Flags, arrival_ns: Integers, home: Array,
    needs_files: bool, wide: Integers, nodes: Array, what: Array, is_open: Flags,
) -> int:  # fmt: skip
    """Fill the last four, and say how many segments there are.

    Args:
        journal, row, first, enter_ns, until_ns: of TaskDepartures.
        words: the journal as words.
        task, at_ns, parts, goes_on, arrival_ns, home: of Ends.
        needs_files: of segments_of.
        wide: columns of 8 bytes: WIDE, then PARTS.
        nodes: node, and origin.
    """
    count = 0
    for end in range(task.shape[0]):
        begin, behind = first[end], first[end + 1]
        is_held, number = begin == behind, task[end]
        for part in range(len(PARTS)):
            wide[PART + part, count] = parts[part, end] if is_held else booked(journal, words, row, begin, part)
        to_ns = at_ns[end] if is_held else min(journal[row[begin]].at_ns, until_ns[begin])
        wide[TASK, count], wide[FROM, count], wide[TO, count] = number, arrival_ns[end], to_ns
        wide[DEPARTURE, count], nodes[0, count], nodes[1, count] = NONE, home[end], home[end]
        what[count], is_open[count] = WAITS, is_held and goes_on[end]
        count += is_kept(wide, is_open, count)
        for place in range(begin, behind):
            way, to_ns = journal[row[place]], until_ns[place]
            from_ns = min(way.at_ns, to_ns)
            enters = enter_ns[place] < to_ns and enter_ns[place] < NEVER
            arrives_ns = max(min(enter_ns[place], to_ns), from_ns)
            is_last = place + 1 == behind
            # What it has spent until it enters the node is its time on the way, and all else it spends on the node.
            for part in range(len(PARTS)):
                wide[PART + part, count] = 0 if enters else spent(journal, words, row, parts, end, place, is_last, part)
            if enters:
                wide[PART + TRAVEL, count] = arrives_ns - from_ns
            wide[TASK, count], wide[FROM, count], wide[TO, count] = number, from_ns, arrives_ns
            wide[DEPARTURE, count], nodes[0, count], nodes[1, count] = place, way.node, way.origin
            what[count], is_open[count] = what_of(way, needs_files), is_last and goes_on[end] and not enters
            count += is_kept(wide, is_open, count)
            if not enters:
                continue
            for part in range(len(PARTS)):
                wide[PART + part, count] = spent(journal, words, row, parts, end, place, is_last, part)
            wide[PART + TRAVEL, count] -= arrives_ns - from_ns
            wide[TASK, count], wide[FROM, count], wide[TO, count] = number, arrives_ns, to_ns
            wide[DEPARTURE, count], nodes[0, count], nodes[1, count] = place, way.node, way.node
            what[count], is_open[count] = RUNS, is_last and goes_on[end]
            count += is_kept(wide, is_open, count)
    return count


@inlined
def booked(journal: Table, words: Integers, row: Integers, place: int, part: int) -> int:
    """What a task has spent in a part before a departure [ns]."""
    found = words[row[place], BOOKED + part]
    if part == TRAVEL and journal[row[place]].kind == RETURNS:
        # The way to where a transfer failed is booked with the way back.
        found += journal[row[place]].at_ns - journal[row[place - 1]].at_ns
    return int(found)


@inlined
def spent(
    journal: Table, words: Integers, row: Integers, parts: Integers, end: int, place: int, is_last: bool, part: int
) -> int:
    """What a task spends in a part from a departure to the next one, or to its end [ns]."""
    then = parts[part, end] if is_last else booked(journal, words, row, place + 1, part)
    return int(then - booked(journal, words, row, place, part))


@inlined
def what_of(way: Row, needs_files: bool) -> int:
    """What a task does that has set out."""
    if way.kind == MIGRATES:
        return MOVES
    if way.kind == RETURNS:
        return COMES_BACK
    if way.kind == LOST_NODE:
        return IS_LOST
    if way.kind == RESTARTS:
        return GOES_ON
    if way.kind == SENT_ON or way.origin != way.node:
        return SETS_OUT
    return FETCHES if needs_files else ASKS


@inlined
def is_kept(wide: Integers, is_open: Flags, place: int) -> bool:
    """Whether a segment takes time, or is open: that may have begun just now."""
    found = is_open[place] or wide[TO, place] > wide[FROM, place]
    for part in range(len(PARTS)):
        found |= wide[PART + part, place] != 0
    return bool(found)
