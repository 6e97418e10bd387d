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

from cluster_abm.engine.crew import Crew
from cluster_abm.engine.loads import measure
from cluster_abm.engine.slice import serve
from cluster_abm.engine.tables import (
    COUNTERS,
    FREE_TOP,
    LAST_FINISH_NS,
    LIVE,
    RECORD,
    RECORDS,
    Table,
    Tables,
)
from cluster_abm.jit import entry, kernel

# A thread gets so many nodes that follow each other, then the next thread does: busy nodes that stand together are
# dealt out, and few nodes share a line of the cache with another thread's.
BLOCK = 16
# To hand work over to a thread and to wait for its end takes 20 to 50 us: each thread must have as much to do [s].
PAYS_S = 60e-6
# How long a window takes of which nothing is known yet, for each task that lives [s].
TASK_S = 0.3e-6


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

    def threads(self, amount: float, guess_s: float) -> int:
        """How many threads this amount of the work pays for; `guess_s`: how long it takes, if none was done yet [s]."""
        lasts_s = guess_s if self._a_unit_s < 0.0 else self._a_unit_s * amount
        return max(1, min(self._threads, int(lasts_s / PAYS_S)))

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
        self._windows, self._measurements = Pace(threads), Pace(threads)
        self._served_ns = 0
        self._tables: Tables | None = None
        self._own: list[Tables] = []
        self._serve: Callable[[Tables, int, int, int], None] | None = None
        self._take_over: Callable[[Tables, Tables], None] | None = None

    def serve(self, tables: Tables, end_ns: int) -> None:
        """Let all nodes live until `end_ns`; no task may depend on another one, nor may memory be limited."""
        if self._serve is None or self._take_over is None:
            self._serve = entry(serve_share, tables, 0, 0, 0)
            self._take_over = entry(take_over, tables, tables)
        live = int(tables.counters[LIVE])
        window_ns = max(1, end_ns - self._served_ns)
        threads = self._windows.threads(window_ns, TASK_S * live)
        every = [tables, *self._rooms(tables, threads - 1, live)]
        took_s = [0.0] * threads
        calls = [
            partial(_timed, took_s, share, self._serve, own, share, threads, end_ns) for share, own in enumerate(every)
        ]
        try:
            self._crew.carry_out(calls)
        finally:
            for own in every[1:]:
                self._take_over(tables, own)
        self._windows.note(window_ns, sum(took_s))
        self._served_ns = end_ns

    def measure(self, tables: Tables, now_ns: int, loads: Table, effective_rates: bool) -> None:
        """Measure the loads of all nodes (loads.measure)."""
        nodes, tasks, count = tables.homes, tables.tasks, len(tables.homes)
        compiled = entry(measure, nodes, tasks, 0, loads, 0, 0, False)
        threads = self._measurements.threads(1.0, TASK_S * (count + int(tables.counters[LIVE])))
        took_s = [0.0] * threads
        bounds = [count * share // threads for share in range(threads + 1)]
        calls = [
            partial(
                _timed, took_s, share, compiled, nodes, tasks, now_ns, loads, first, bounds[share + 1], effective_rates
            )
            for share, first in enumerate(bounds[:-1])
        ]
        self._crew.carry_out(calls)
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
    if old is not None and len(old.records) >= live:
        records = old.records
    else:
        records = np.zeros(2 * live, RECORD)
    return tables._replace(
        free=np.zeros(len(tables.tasks), np.int64), counters=np.zeros(COUNTERS, np.int64), records=records
    )


def _timed(took_s: list[float], share: int, call: Callable[..., None], *arguments: object) -> None:
    begun = perf_counter()
    call(*arguments)
    took_s[share] = perf_counter() - begun
