"""The life of every task as segments: where it was, from when to when, and where that time went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cluster_abm.arrays import Array, Integers
from cluster_abm.columns import ordered_columns, places_in
from cluster_abm.engine.tables import (
    BREAKDOWN,
    ENTERS,
    LOST_NODE,
    MIGRATES,
    NEVER,
    NONE,
    RESTARTS,
    RETURNS,
    SENT_ON,
    STARTS,
    Table,
)

# What a task does in a segment.
WHAT = ("waits", "starts", "asks", "fetches", "runs", "migrates", "returns", "lost", "restarts")
WAITS, SETS_OUT, ASKS, FETCHES, RUNS, MOVES, COMES_BACK, IS_LOST, GOES_ON = range(len(WHAT))
PARTS = tuple(f"{part}_ns" for part in BREAKDOWN)
_OF_KIND = {SENT_ON: SETS_OUT, MIGRATES: MOVES, RETURNS: COMES_BACK, LOST_NODE: IS_LOST, RESTARTS: GOES_ON}


class Ends(NamedTuple):
    """How far tasks have come at their end, or at the end of the recording, ascending by task; shape (tasks,) each."""

    task: Integers  # number of the task
    at_ns: Integers  # when [ns]
    parts: Integers  # its breakdown, shape (tasks, parts of BREAKDOWN) [ns]
    is_open: Array  # whether it goes on after that
    arrival_ns: Integers  # when it was submitted [ns]
    home: Integers  # where


class TaskDepartures(NamedTuple):
    """The rows of a journal by task, times of entry filled in; shape (departures,) each."""

    rows: Mapping[str, Array]  # columns, fields.JOURNAL_FIELDS, in the order of the tasks, then of time
    is_first: Array  # whether a row is the first one of its task
    is_last: Array  # whether it is the last one
    end: Integers  # place of its task among the ends
    until_ns: Integers  # when the next one is, or the task's end [ns]


def departures_of(journal: Table, ends: Ends) -> TaskDepartures:
    """Order a journal (fields.JOURNAL_FIELDS) by task; every one of its tasks has to be among the ends."""
    task = np.ascontiguousarray(journal["task"])
    order = np.flatnonzero(places_in(ends.task, task)[1])
    rows = ordered_columns(journal, order[np.argsort(task[order], kind="stable")])
    places = np.arange(len(order))
    says_when = rows["kind"] == ENTERS
    # The departure that a time of entry is about is the one before it; the last time counts.
    about = np.maximum.accumulate(np.where(says_when, 0, places)) if len(order) else places
    rows["enter_ns"][about[says_when]] = rows["enter_ns"][says_when]
    if says_when.any():
        rows = {name: values[~says_when] for name, values in rows.items()}
    task, at_ns = rows["task"], rows["at_ns"]
    changes = task[1:] != task[:-1]
    is_first, is_last = np.append(True, changes)[: len(task)], np.append(changes, True)[: len(task)]
    end, _ = places_in(ends.task, task)
    until_ns = np.where(is_last, ends.at_ns[end], np.append(at_ns[1:], 0)[: len(task)])
    return TaskDepartures(rows, is_first, is_last, end, until_ns)


def segments_of(departures: TaskDepartures, ends: Ends, needs_files: bool) -> dict[str, Array]:
    """The segments of all tasks that have been submitted, by (task, time), as columns.

    Those of a task follow each other without a gap from its submission to its end, and their parts add up to its
    breakdown. Of a task that goes on after the recording's end the last one is open, and what it does then is booked
    up to its last event.

    Args:
        departures: those of all tasks (`departures_of`).
        ends: of all tasks that have been submitted.
        needs_files: whether jobs need files, which a task fetches before it enters its home.

    Returns:
        task, node, origin, from_ns, to_ns, what (WHAT), departure (its place, NONE: none), is_open, and PARTS [ns]
    """
    rows, end, count = departures.rows, departures.end, len(departures.end)
    kind, at_ns = rows["kind"], rows["at_ns"]
    booked = np.stack([rows[part] for part in PARTS])
    ended = np.ascontiguousarray(ends.parts.T)
    until_ns = departures.until_ns
    travel = BREAKDOWN.index("migration")
    # The way to where a transfer failed is booked with the way back.
    not_yet = np.where(kind == RETURNS, at_ns - np.roll(at_ns, 1), 0)
    booked[travel] += not_yet
    spent = np.empty_like(booked)
    for then, now, last in zip(spent, booked, ended, strict=True):
        then[:-1] = now[1:]
        np.copyto(then, last[end], where=departures.is_last)
        then -= now
    from_ns = np.minimum(at_ns, until_ns)
    arrives_ns = np.minimum(rows["enter_ns"], until_ns)
    arrives_ns = np.maximum(arrives_ns, from_ns)
    what = np.zeros(count, np.int64)
    for row_kind, does in _OF_KIND.items():
        what[kind == row_kind] = does
    starts = kind == STARTS
    what[starts] = np.where(rows["origin"][starts] != rows["node"][starts], SETS_OUT, FETCHES if needs_files else ASKS)
    enters = (rows["enter_ns"] < until_ns) & (rows["enter_ns"] < NEVER)
    on_the_way = np.where(enters, 0, spent)
    np.copyto(on_the_way[travel], arrives_ns - from_ns, where=enters)
    is_open = ends.is_open[end] & departures.is_last
    places = np.arange(count)
    first = departures.is_first
    before = _waits(ends, end[first], from_ns[first], booked[:, first])
    never_started = np.ones(len(ends.task), bool)
    never_started[end] = False
    held = _waits(ends, np.flatnonzero(never_started), ends.at_ns[never_started], ended[:, never_started])
    held["is_open"] = ends.is_open[never_started]
    way = _columns(rows["task"], rows["node"], rows["origin"], from_ns, arrives_ns, what, places, on_the_way)
    way["is_open"] = is_open & ~enters
    visit = _columns(
        rows["task"], rows["node"], rows["node"], arrives_ns, until_ns, np.full(count, RUNS), places,
        spent - on_the_way,
    )  # fmt: skip
    visit["is_open"] = is_open
    # The place of each among those of all departures, between which tasks wait that have none.
    before["follows"], way["follows"], visit["follows"] = 3 * places[first], 3 * places + 1, 3 * places + 2
    held["follows"] = 3 * np.searchsorted(end, np.flatnonzero(never_started)) - 1
    kept = [_lasting(part) for part in (before, held, way, {name: values[enters] for name, values in visit.items()})]
    joined = {name: np.concatenate([part[name] for part in kept]) for name in way}
    # Almost as they follow each other: that is sorted sooner than what is in no order.
    order = np.argsort(joined.pop("follows"), kind="stable")
    order = _in_time(order, *(joined[name][order] for name in ("task", "from_ns", "to_ns")))
    return {name: values[order] for name, values in joined.items()}


def _lasting(columns: dict[str, Array]) -> dict[str, Array]:
    """Those that take time: of no length is a start at home at once; an open one may have begun just now."""
    is_there = (columns["to_ns"] > columns["from_ns"]) | columns["is_open"]
    for part in PARTS:
        is_there |= columns[part] != 0
    return columns if is_there.all() else {name: values[is_there] for name, values in columns.items()}


def _in_time(rows: Integers, task: Integers, from_ns: Integers, to_ns: Integers) -> Integers:
    """Numbers of rows by (task, from, to), of equal ones the lower first."""
    later = (from_ns[1:] > from_ns[:-1]) | ((from_ns[1:] == from_ns[:-1]) & (to_ns[1:] > to_ns[:-1]))
    if ((task[1:] > task[:-1]) | ((task[1:] == task[:-1]) & later)).all():
        return rows
    return rows[np.lexsort((rows, to_ns, from_ns, task))]


def _waits(ends: Ends, end: Integers, until_ns: Integers, parts: Integers) -> dict[str, Array]:
    """Segments of tasks that wait at their home until they start."""
    home = ends.home[end]
    what, none = np.full(len(end), WAITS), np.full(len(end), NONE)
    return _columns(ends.task[end], home, home, ends.arrival_ns[end], until_ns, what, none, parts)


def _columns(
    task: Array, node: Array, origin: Array, from_ns: Array, to_ns: Array, what: Array, departure: Array, parts: Array
) -> dict[str, Any]:
    columns = {
        "task": task.astype(np.int64), "node": node.astype(np.int32), "origin": origin.astype(np.int32),
        "from_ns": from_ns, "to_ns": to_ns, "what": what.astype(np.int8), "departure": departure.astype(np.int64),
        "is_open": np.zeros(len(task), bool),
    }  # fmt: skip
    return columns | {name: parts[place] for place, name in enumerate(PARTS)}
