"""Nodes served by several threads at once: inside a slice every node is alone.

What nodes share inside a window is what tasks leave when they end: a record, a free row, counts. Each thread has its
own of these, and the tables of the run take them over after the window. In which order they do is no part of a result:
records are sorted by the instants at which tasks ended, and the number of a row never reaches one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np

from cluster_abm.engine.admission import Starts, admit, admit_share
from cluster_abm.engine.loads import measure
from cluster_abm.engine.slice import serve
from cluster_abm.engine.tables import (
    BLOCK,
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
from cluster_abm.jit import entry, kernel

# To hand work over to a thread and to wait for its end takes 20 to 200 us, the latter where a virtual processor has
# fallen asleep: each thread must have more to do than that [s].
PAYS_S = 400e-6
# Where one thread does a work it is timed again after so many times.
RESTS = 32
# How long work takes of which nothing is known yet, for each task [s].
TASK_S = 0.3e-6
# Fewer tasks than this are always sent on their way by one thread: it takes less than to find out whether others pay.
FEWEST_STARTS = 256


@kernel
def serve_share(tables: Tables, share: int, shares: int, end_ns: int) -> None:
    """Let one of several shares of the nodes live until `end_ns` (slice.serve).

    Args:
        tables: the state, changed in place.
        share, shares: which of how many shares.
        end_ns: end of the window [ns].
    """
    count = tables.nodes.shape[0]
    first = share * BLOCK
    while first < count:
        serve(tables, first, min(first + BLOCK, count), end_ns)
        first += shares * BLOCK


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
    """How long a work takes, by how long it took last: whether several threads pay.

    Args:
        threads: at most so many.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._a_unit_s = -1.0
        self._rests = 0

    def rests(self) -> bool:
        """Whether one thread does the work this time, as it did last, without being timed: that takes time, too."""
        self._rests -= 1
        return self._rests >= 0

    def threads(self, amount: float, guess_s: float) -> int:
        """How many threads this amount of the work pays for; `guess_s`: how long it takes, if none was done yet [s]."""
        lasts_s = guess_s if self._a_unit_s < 0.0 else self._a_unit_s * amount
        found = max(1, min(self._threads, int(lasts_s / PAYS_S)))
        self._rests = RESTS if found == 1 else 0
        return found

    def note(self, amount: float, took_s: float) -> None:
        """This amount took so long, the sum of all threads [s]."""
        self._a_unit_s = took_s / amount


class Shares:
    """The threads of a run, and what each of them has of its own.

    Args:
        threads: at most so many serve nodes at once.
    """

    def __init__(self, threads: int) -> None:
        self._crew = Crew()
        self._windows, self._measurements, self._starts = Pace(threads), Pace(threads), Pace(threads)
        self._served_ns = 0
        self._tables: Tables | None = None
        self._own: list[Tables] = []

    def serve(self, tables: Tables, end_ns: int) -> None:
        """Let all nodes live until `end_ns`; no task may depend on another one, nor may memory be limited."""
        serve_nodes = entry(serve_share, tables, 0, 0, 0)
        if self._windows.rests():
            serve_nodes(tables, 0, 1, end_ns)
            self._served_ns = end_ns
            return
        take_back = entry(take_over, tables, tables)
        live = int(tables.counters[LIVE])
        window_ns = max(1, end_ns - self._served_ns)
        threads = self._windows.threads(window_ns, TASK_S * live)
        every = [tables, *self._rooms(tables, threads - 1, live)]
        took_s = [0.0] * threads
        try:
            self._crew.carry_out([
                partial(_timed, took_s, share, serve_nodes, own, share, threads, end_ns)
                for share, own in enumerate(every)
            ])  # fmt: skip
        finally:
            for own in every[1:]:
                take_back(tables, own)
        self._windows.note(window_ns, sum(took_s))
        self._served_ns = end_ns

    def admit(self, tables: Tables, run_key: np.uint64, starts: Starts) -> None:
        """Send tasks to the nodes on which they start (admission.admit)."""
        count = len(starts.job)
        if self._starts.rests():
            entry(admit, tables, run_key, starts)(tables, run_key, starts)
            return
        threads = self._starts.threads(count, TASK_S * count)
        bound, took_s = np.zeros(threads, np.int64), [0.0] * threads
        if threads == 1:
            _timed(took_s, 0, entry(admit, tables, run_key, starts), tables, run_key, starts)
        else:
            compiled = entry(admit_share, tables, run_key, starts, 0, 0, bound)
            self._crew.carry_out([
                partial(_timed, took_s, share, compiled, tables, run_key, starts, share, threads, bound)
                for share in range(threads)
            ])  # fmt: skip
            tables.counters[FREE_TOP] -= count
            tables.counters[LIVE] += count
            tables.counters[DEPENDENT] += bound.sum()
        self._starts.note(count, sum(took_s))

    def measure(self, tables: Tables, now_ns: int, loads: Table, effective_rates: bool) -> None:
        """Measure the loads of all nodes (loads.measure)."""
        nodes, tasks, count = tables.homes, tables.tasks, len(tables.homes)
        compiled = entry(measure, nodes, tasks, 0, loads, 0, 0, False)
        if self._measurements.rests():
            compiled(nodes, tasks, now_ns, loads, 0, count, effective_rates)
            return
        threads = self._measurements.threads(1.0, TASK_S * (count + int(tables.counters[LIVE])))
        took_s = [0.0] * threads
        bounds = [(count * share // threads, count * (share + 1) // threads) for share in range(threads)]
        self._crew.carry_out([
            partial(_timed, took_s, share, compiled, nodes, tasks, now_ns, loads, first, last, effective_rates)
            for share, (first, last) in enumerate(bounds)
        ])  # fmt: skip
        self._measurements.note(1.0, sum(took_s))

    def _rooms(self, tables: Tables, helpers: int, live: int) -> list[Tables]:
        """Tables for so many helping threads: all but what they have of their own are those of the run."""
        if self._tables is not tables:
            self._tables, self._own = tables, [_room(tables, own, live) for own in self._own]
        for helper, own in enumerate(self._own[:helpers]):
            if len(own.records) < live:
                self._own[helper] = _room(tables, own, live)
        while len(self._own) < helpers:
            self._own.append(_room(tables, None, live))
        return self._own[:helpers]


def _room(tables: Tables, old: Tables | None, live: int) -> Tables:
    """Tables for a helping thread, with room for all that can end in a window."""
    records = np.zeros(2 * live, RECORD) if old is None or len(old.records) < live else old.records
    return tables._replace(
        free=np.zeros(len(tables.tasks), np.int64), counters=np.zeros(COUNTERS, np.int64), records=records
    )


def _timed(took_s: list[float], share: int, call: Callable[..., None], *arguments: object) -> None:
    begun = perf_counter()
    call(*arguments)
    took_s[share] = perf_counter() - begun
