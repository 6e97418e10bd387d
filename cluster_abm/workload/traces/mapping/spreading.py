"""Many jobs from one row of counts: so many in each interval, spread evenly over it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.scenario.columns import Spread
from cluster_abm.errors import InputError
from cluster_abm.workload.traces.layouts.blocks import Column
from cluster_abm.workload.traces.mapping.sampling import kept_numbers

MOST_AT_ONCE = 2_000_000  # jobs
MOST_OF_A_CELL = 1e9


def intervals(spread: Spread) -> tuple[Column, ...]:
    """The columns of the intervals. Raises InputError: the first and the last make no range."""
    first, last = spread.first, spread.last
    if isinstance(first, int) and isinstance(last, int) and first <= last:
        return tuple(range(first, last + 1))
    if isinstance(first, str) and isinstance(last, str) and first.isdecimal() and last.isdecimal():
        if int(first) <= int(last) < int(first) + 100_000:
            return tuple(map(str, range(int(first), int(last) + 1)))
    raise InputError(
        f"spread: first = {first!r}, last = {last!r}: allowed: two positions, or two names that are whole numbers, the "
        "first not above the last"
    )


def spread_out(counts: Floats, hashes: Integers, each_ms: float, share: float) -> Iterator[tuple[Integers, Floats]]:
    """The jobs of some rows, some at a time: the row of each, and when it is submitted [ms].

    Args:
        counts: jobs of each row in each interval, shape (rows, intervals).
        hashes: a number for each row, by which a sample chooses among its jobs, shape (rows,).
        each_ms: how long an interval is.
        share: of the jobs that are kept.
    """
    whole = np.where((counts >= 1) & (counts <= MOST_OF_A_CELL), np.floor(counts), 0.0).astype(np.int64)
    row, interval = np.nonzero(whole)
    jobs = whole[row, interval]
    # Cells in groups that make up to MOST_AT_ONCE jobs; a larger cell is a group of its own, cut in pieces.
    ends = np.cumsum(jobs)
    at = 0
    while at < len(jobs):
        before = ends[at] - jobs[at]
        until = max(int(np.searchsorted(ends, before + MOST_AT_ONCE, "right")), at + 1)
        cells = slice(at, until)
        for first in range(0, int(jobs[at]) if until == at + 1 else 1, MOST_AT_ONCE):
            counted = jobs[cells] if until > at + 1 else np.array([min(int(jobs[at]) - first, MOST_AT_ONCE)])
            of_cell = np.repeat(np.arange(at, until), counted)
            place = np.arange(len(of_cell)) - np.repeat(np.cumsum(counted) - counted, counted) + first
            numbers = hashes[row[of_cell]] ^ (
                (interval[of_cell].astype(np.uint64) << np.uint64(32)) + place.astype(np.uint64)
            )
            kept = kept_numbers(numbers, share) if share < 1 else np.ones(len(of_cell), bool)
            of_cell, place = of_cell[kept], place[kept]
            submit = (interval[of_cell] + (place + 0.5) / jobs[of_cell]) * each_ms
            yield row[of_cell], submit
        at = until
