"""Journals, ends and departures of tasks, made by hand: times in ns, small enough to add up in one's head."""

from __future__ import annotations

import numpy as np

from cluster_abm.engine.tables import BREAKDOWN, JOURNAL
from cluster_abm.recording.departures import Ends, departures_of
from cluster_abm.recording.segments import PARTS, WHAT, segments_of


def departure(kind, task, at, enter, origin, node, **parts):
    """A row of a journal; parts of the breakdown are 0 unless given."""
    row = np.zeros(1, JOURNAL)
    row["kind"], row["task"], row["at_ns"], row["enter_ns"] = kind, task, at, enter
    row["origin"], row["node"] = origin, node
    for name, value in parts.items():
        row[f"{name}_ns"] = value
    return row


def end(task, at, is_open=False, arrival=0, home=0, **parts):
    """How far a task has come."""
    return task, at, [parts.get(name, 0) for name in BREAKDOWN], is_open, arrival, home


def ends(*rows):
    task, at_ns, parts, is_open, arrival_ns, home = (np.array(column) for column in zip(*rows, strict=True))
    return Ends(task, at_ns, np.ascontiguousarray(parts.T), is_open.astype(bool), arrival_ns, home.astype(np.int32))


def lives(journal, tasks, needs_files=False):
    """The segments, each as (what, origin, node, from, to, parts that are not 0), an open one with "open" behind."""
    rows = np.concatenate(journal) if journal else np.zeros(0, JOURNAL)
    found = segments_of(departures_of(rows, tasks), tasks, needs_files)
    told = []
    for place in range(len(found["task"])):
        parts = {name[:-3]: int(found[name][place]) for name in PARTS if found[name][place]}
        numbers = [int(found[name][place]) for name in ("origin", "node", "from_ns", "to_ns")]
        told.append((WHAT[found["what"][place]], *numbers, parts, *(["open"] if found["is_open"][place] else [])))
    return told
