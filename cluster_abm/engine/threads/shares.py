"""Nodes served by several threads at once: inside a slice every node is alone.

What nodes share inside a window is what tasks leave when they end: a record, a free row, counts. Each thread has its
own of these, and the tables of the run take them over after the window. In which order they do is no part of a result:
records are sorted by the instants at which tasks ended, and the number of a row never reaches one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import perf_counter

import numpy as np

from cluster_abm.engine.admission import Starts, admit
from cluster_abm.engine.loads import measure
from cluster_abm.engine.slice import serve
from cluster_abm.engine.tables import (
    COUNTERS,
    DEPENDENT,
    FREE_TOP,
    LAST_FINISH_NS,
    LIVE,
    RECORD,
    RECORDS,
    Table,
    Tables,
)
from cluster_abm.engine.threads.crew import Crew
from cluster_abm.engine.threads.orders import ADMIT, MEASURE, SERVE
from cluster_abm.jit import entry, kernel

# Each thread must have more to do than it takes to order it, to start on other nodes' rows, and to wait for the end of
# the last block [s].
PAYS_S = 40e-6
# Where one thread does a work it is timed again after so many times; where several do, one is tried again.
RESTS = 32
# The least time that a work has taken so far counts as so many times as long each time that it takes longer.
FORGETTING = 1.02
UNKNOWN = inf
# How long work takes of which nothing is known yet, for each task [s].
TASK_S = 0.3e-6
# Fewer tasks than this are always sent on their way by one thread: it takes less than to find out whether others pay.
FEWEST_STARTS = 256


@kernel
def take_over(tables: Tables, own: Tables) -> None:
    """The tables of the run take over what a thread has of its own: records, free rows and counts.

    Args:
        tables: the tables of the run, changed in place.
        own: those of the thread, empty afterwards.
    """
    counters, counted = tables.counters, own.counters
    for row in range(counted[RECORDS]):
        tables.records[counters[RECORDS] + row] = own.records[row]
    for place in range(counted[FREE_TOP]):
        tables.free[counters[FREE_TOP] + place] = own.free[place]
    for counter in (RECORDS, FREE_TOP, LIVE):
        counters[counter] += counted[counter]
    counters[LAST_FINISH_NS] = max(counters[LAST_FINISH_NS], counted[LAST_FINISH_NS])
    for counter in range(COUNTERS):
        counted[counter] = 0


class Pace:
    """How long a work takes with one thread and with several, by how long it took last: whether several pay.

    Args:
        threads: at most so many.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        # A unit of the work, with one thread and with several.
        self._one_s = self._several_s = UNKNOWN
        self._rests = self._turns = 0

    def rests(self) -> bool:
        """Whether one thread does the work this time, as it did last, without being timed: that takes time, too."""
        self._rests -= 1
        return self._rests >= 0

    def threads(self, amount: float, guess_s: float) -> int:
        """How many threads this amount of the work pays for; `guess_s`: how long it takes, if none was done yet [s]."""
        lasts_s = guess_s if self._one_s == UNKNOWN else self._one_s * amount
        if lasts_s < 2.0 * PAYS_S:
            self._rests = RESTS
            return 1
        self._turns += 1
        # Now and then the other way: what it takes may have changed.
        several = (self._several_s == UNKNOWN or self._several_s < self._one_s) != (self._turns % RESTS == 0)
        return min(self._threads, int(lasts_s / PAYS_S)) if several else 1

    @contextmanager
    def noting(self, amount: float, threads: int) -> Iterator[None]:
        """In the block so many threads do this amount of the work."""
        begun_s = perf_counter()
        yield
        unit_s = (perf_counter() - begun_s) / amount
        # Other work on the machine only adds: the least counts, and is forgotten slowly.
        if threads == 1:
            self._one_s = min(unit_s, FORGETTING * self._one_s)
        else:
            self._several_s = min(unit_s, FORGETTING * self._several_s)


class Shares:
    """The threads of a run, and what each of them has of its own.

    Args:
        threads: at most so many serve nodes at once.
    """

    def __init__(self, threads: int) -> None:
        self._crew = Crew(threads)
        self._windows, self._measurements, self._starts = Pace(threads), Pace(threads), Pace(threads)
        self._served_ns = 0
        self._tables: Tables | None = None
        self._own: list[Tables] = []

    def serve(self, tables: Tables, end_ns: int) -> None:
        """Let all nodes live until `end_ns`; no task may depend on another one, nor may memory be limited."""
        window_ns, self._served_ns = max(1, end_ns - self._served_ns), end_ns
        serve_nodes = entry(serve, tables, 0, 0, 0)
        if self._windows.rests():
            serve_nodes(tables, 0, len(tables.nodes), end_ns)
            return
        threads = self._windows.threads(window_ns, TASK_S * int(tables.counters[LIVE]))
        with self._windows.noting(window_ns, threads):
            if threads == 1:
                serve_nodes(tables, 0, len(tables.nodes), end_ns)
                return
            every = self._every(tables, threads)
            try:
                self._crew.carry_out(SERVE, every, end_ns)
            finally:
                take_back = entry(take_over, tables, tables)
                for own in every[1:]:
                    take_back(tables, own)

    def admit(self, tables: Tables, run_key: np.uint64, starts: Starts) -> None:
        """Send tasks to the nodes on which they start (admission.admit)."""
        count, admit_all = len(starts.job), entry(admit, tables, run_key, starts)
        if self._starts.rests():
            admit_all(tables, run_key, starts)
            return
        threads = self._starts.threads(count, TASK_S * count)
        with self._starts.noting(count, threads):
            if threads == 1:
                admit_all(tables, run_key, starts)
                return
            depend = self._crew.carry_out(ADMIT, self._every(tables, threads), starts=starts, run_key=run_key)
            tables.counters[FREE_TOP] -= count
            tables.counters[LIVE] += count
            tables.counters[DEPENDENT] += depend

    def measure(self, tables: Tables, now_ns: int, loads: Table, effective_rates: bool) -> None:
        """Measure the loads of all nodes (loads.measure)."""
        nodes, tasks, count = tables.homes, tables.tasks, len(tables.homes)
        measure_nodes = entry(measure, nodes, tasks, 0, loads, 0, 0, False)
        if self._measurements.rests():
            measure_nodes(nodes, tasks, now_ns, loads, 0, count, effective_rates)
            return
        threads = self._measurements.threads(1.0, TASK_S * (count + int(tables.counters[LIVE])))
        with self._measurements.noting(1.0, threads):
            if threads == 1:
                measure_nodes(nodes, tasks, now_ns, loads, 0, count, effective_rates)
                return
            self._crew.carry_out(MEASURE, self._every(tables, threads), now_ns, loads, effective_rates)

    def _every(self, tables: Tables, threads: int) -> list[Tables]:
        """The tables of so many threads, the first those of the run: all but what they have of their own are its."""
        live = int(tables.counters[LIVE])
        if self._tables is not tables:
            self._tables, self._own = tables, [_room(tables, own, live) for own in self._own]
        for helper, own in enumerate(self._own[: threads - 1]):
            if len(own.records) < live:
                self._own[helper] = _room(tables, own, live)
        while len(self._own) < threads - 1:
            self._own.append(_room(tables, None, live))
        return [tables, *self._own[: threads - 1]]


def _room(tables: Tables, old: Tables | None, live: int) -> Tables:
    """Tables for a helping thread, with room for all that can end in a window."""
    records = np.zeros(2 * live, RECORD) if old is None or len(old.records) < live else old.records
    return tables._replace(
        free=np.zeros(len(tables.tasks), np.int64), counters=np.zeros(COUNTERS, np.int64), records=records
    )
