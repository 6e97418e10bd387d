"""Preceding jobs of an SWF log (fields 17 and 18): which job each comes after, and how long its user then thought.

The standard: a job starts only after its preceding job has ended, and the think time is what passes from that end to
the job's submission. Only a job that stands before another one can precede it: so no jobs wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers, Words
from cluster_abm.workload.parents import Parents, from_pairs
from cluster_abm.workload.traces.table import AFTER, JOB, THINK

ITSELF = "preceding job is the job itself, not followed"
LATER = "preceding job is submitted later, not followed"
SKIPPED = "preceding job is a row that is skipped, not followed"
UNKNOWN = "preceding job is not in the log, not followed"


class Preceding(NamedTuple):
    """What jobs come after."""

    # The preceding job of each, jobs in the order of their submission; None: no job has one that is followed.
    parents: Parents | None
    columns: dict[str, Floats | Words]  # job, after and think_ms of the table, in the log's order, shape (jobs,) each
    noted: dict[str, int]  # remark -> jobs of which the preceding job is not followed


def preceding_jobs(columns: Mapping[str, Floats], usable: Flags, arrival_ms: Floats) -> Preceding:
    """The preceding jobs of the rows that are jobs.

    Args:
        columns: fields of the log, shape (rows,) each: job number, preceding job, think time.
        usable: which rows are jobs.
        arrival_ms: when these are submitted, shape (jobs,).
    """
    order = np.argsort(arrival_ms, kind="stable")
    rows = np.flatnonzero(usable)[order]
    numbers = columns["job number"][rows].tolist()
    wanted = columns["preceding job"][rows].tolist()
    skipped = set(columns["job number"][~usable].tolist())
    noted = dict.fromkeys((ITSELF, LATER, SKIPPED, UNKNOWN), 0)
    parent: Integers = np.full(len(rows), -1, np.int64)
    all_numbers, last = set(numbers), dict[float, int]()
    for row, (own, other) in enumerate(zip(numbers, wanted, strict=True)):
        if other > 0:
            # Of several jobs of that number the last one before it.
            before = last.get(other)
            if other == own:
                noted[ITSELF] += 1
            elif before is not None:
                parent[row] = before
            else:
                noted[LATER if other in all_numbers else SKIPPED if other in skipped else UNKNOWN] += 1
        last[own] = row
    followed = parent >= 0
    ids = _each_once(numbers)
    think_s = columns["think time"][rows]
    found: dict[str, Floats | Words] = {
        JOB: ids,
        AFTER: np.where(followed, ids[np.maximum(parent, 0)], "").astype(object),
        THINK: np.where(followed & (think_s >= 0), np.round(think_s * 1000.0, 6), np.nan),
    }
    waiting = np.flatnonzero(followed)
    parents = from_pairs(len(rows), parent[followed], waiting) if len(waiting) else None
    place = np.argsort(order)
    return Preceding(parents, {name: values[place] for name, values in found.items()}, noted)


def _each_once(numbers: list[float]) -> Words:
    """Job numbers as words; what stands again gets its place behind it: 7, 7_2, 7_3."""
    times: dict[float, int] = {}
    words = []
    for number in numbers:
        times[number] = times.get(number, 0) + 1
        words.append(f"{number:.17g}" + (f"_{times[number]}" if times[number] > 1 else ""))
    return np.array(words, object)
