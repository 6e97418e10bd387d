"""Many jobs from one row: it counts those of each interval, and they are spread evenly over it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import Spread
from cluster_abm.workload.traces.layouts.blocks import Column
from cluster_abm.workload.traces.mapping.sampling import kept_numbers

MOST_AT_ONCE = 2_000_000  # jobs
MOST_OF_A_CELL = 1e9
MOST_INTERVALS = 100_000


def intervals(spread: Spread) -> tuple[Column, ...]:
    """The columns of the intervals. Raises InputError: the first and the last make no range."""
    first, last = spread.first, spread.last
    if isinstance(first, int) and isinstance(last, int) and first <= last:
        return tuple(range(first, last + 1))
    texts = isinstance(first, str) and isinstance(last, str) and first.isdecimal() and last.isdecimal()
    if texts and int(first) <= int(last) < int(first) + MOST_INTERVALS:
        return tuple(map(str, range(int(first), int(last) + 1)))
    raise InputError(
        f"spread: first = {first!r}, last = {last!r}: allowed: two positions, or two names that are whole numbers, the "
        "first not above the last"
    )


class Piece(NamedTuple):
    """Some of the jobs, shape (jobs,)."""

    row: Integers  # of the counts, to which each belongs
    submit_ms: Floats
    left_out: int  # of those beside them, by the sample


def spread_out(counts: Floats, hashes: Integers, each_ms: float, share: float) -> Iterator[Piece]:
    """The jobs of some rows, some at a time.

    Args:
        counts: jobs of each row in each interval, NaN for none, shape (rows, intervals).
        hashes: a number for each row, by which a sample chooses among its jobs, shape (rows,).
        each_ms: how long an interval is.
        share: of the jobs that are kept.
    """
    whole = np.where((counts >= 1) & (counts <= MOST_OF_A_CELL), np.floor(counts), 0.0).astype(np.int64)
    row, interval = np.nonzero(whole)
    jobs = whole[row, interval]
    cell, first = _pieces(jobs)
    size = np.minimum(jobs[cell] - first, MOST_AT_ONCE)
    ends = np.cumsum(size)
    at = 0
    while at < len(cell):
        until = max(int(np.searchsorted(ends, ends[at] - size[at] + MOST_AT_ONCE, "right")), at + 1)
        counted = size[at:until]
        of_cell = np.repeat(cell[at:until], counted)
        place = np.arange(len(of_cell)) - np.repeat(np.cumsum(counted) - counted - first[at:until], counted)
        kept = np.ones(len(of_cell), bool)
        if share < 1:
            kept = kept_numbers(hashes[row[of_cell]] ^ ((interval[of_cell] << 32) + place), share)
        of_cell, place = of_cell[kept], place[kept]
        # Each in the middle of its part of the interval.
        submit = (interval[of_cell] + (place + 0.5) / jobs[of_cell]) * each_ms
        yield Piece(row[of_cell], submit, int((~kept).sum()))
        at = until


def _pieces(jobs: Integers) -> tuple[Integers, Integers]:
    """The cells, those with more than MOST_AT_ONCE jobs several times: the cell, and the first job, of each piece."""
    times = -(-jobs // MOST_AT_ONCE)
    cell = np.repeat(np.arange(len(jobs)), times)
    return cell, (np.arange(len(cell)) - np.repeat(np.cumsum(times) - times, times)) * MOST_AT_ONCE
