"""Nodes served by several threads at once: inside a slice every node is alone.

What nodes share inside a window is what tasks leave when they end: a record, a free row, counts. Each thread has its
own of these, and the tables of the run take them over after the window. In which order they do is no part of a result:
records are sorted by the instants at which tasks ended, and the number of a row never reaches one.
"""

from __future__ import annotations

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
# Where little is to be done it is looked at again after so many windows.
RESTS = 32
# Both ways are tried so many times in a row at first, and again each so many windows.
TRIES = 4
AGAIN = 128
# The least time so far counts as so many times as long each time that it takes longer.
FORGETTING = 1.02
UNKNOWN = inf
# How long work takes for each task, about [s].
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
    """Whether several threads pay: how long it takes from one window to the next with them, and with one.

    What is done between windows counts, too: threads leave rows near their own cores, where a load manager's decision
    then reads them more slowly.
    """

    def __init__(self) -> None:
        # From one window to the next, for each task that lives a nanosecond of it: with one thread, with several.
        self._unit_s = [UNKNOWN, UNKNOWN]
        self._several = self._other = False
        self._begun_s = self._amount = 0.0
        self._rests = self._turn = 0

    def begin(self, live: int, window_ns: int) -> bool:
        """Whether several threads are to do what is done from now on, until the next window begins.

        Args:
            live: how many tasks there are.
            window_ns: length of the window that begins [ns].
        """
        self._rests -= 1
        if self._rests >= 0:
            return False
        now_s = perf_counter()
        if self._amount > 0.0:
            # Other work on the machine only adds: the least counts, and is forgotten slowly.
            unit_s = (now_s - self._begun_s) / self._amount
            self._unit_s[self._several] = min(unit_s, FORGETTING * self._unit_s[self._several])
        amount, known_s = float((live + 1) * window_ns), min(self._unit_s)
        lasts_s = TASK_S * live if known_s == UNKNOWN else known_s * amount
        if lasts_s < 2.0 * PAYS_S:
            self._rests, self._several, self._amount = RESTS, False, 0.0
            return False
        self._several = self._is_tried_now()
        self._begun_s, self._amount = perf_counter(), amount
        return self._several

    def _is_tried_now(self) -> bool:
        """The way that took less; now and then, some times in a row, the other one."""
        one_s, several_s = self._unit_s
        turn, self._turn = self._turn, (self._turn + 1) % AGAIN
        if turn == 0:
            self._other = not several_s < one_s
        return self._other == (turn < TRIES) if turn < 2 * TRIES else several_s < one_s


class Shares:
    """The threads of a run, and what each of them has of its own.

    Args:
        threads: at most so many serve nodes at once.
    """

    def __init__(self, threads: int) -> None:
        self._crew, self._most, self._pace = Crew(threads), threads, Pace()
        self._several = False
        self._served_ns = 0
        self._tables: Tables | None = None
        self._own: list[Tables] = []

    def serve(self, tables: Tables, end_ns: int) -> None:
        """Let all nodes live until `end_ns`; no task may depend on another one, nor may memory be limited."""
        window_ns, self._served_ns = max(1, end_ns - self._served_ns), end_ns
        live = int(tables.counters[LIVE])
        self._several = self._pace.begin(live, window_ns)
        threads = self._threads(live)
        if threads == 1:
            entry(serve, tables, 0, 0, 0)(tables, 0, len(tables.nodes), end_ns)
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
        count = len(starts.job)
        threads = self._threads(count)
        if threads == 1:
            entry(admit, tables, run_key, starts)(tables, run_key, starts)
            return
        depend = self._crew.carry_out(ADMIT, self._every(tables, threads), starts=starts, run_key=run_key)
        tables.counters[FREE_TOP] -= count
        tables.counters[LIVE] += count
        tables.counters[DEPENDENT] += depend

    def measure(self, tables: Tables, now_ns: int, loads: Table, effective_rates: bool) -> None:
        """Measure the loads of all nodes (loads.measure)."""
        nodes, tasks, count = tables.homes, tables.tasks, len(tables.homes)
        threads = self._threads(count + int(tables.counters[LIVE]))
        if threads == 1:
            entry(measure, nodes, tasks, 0, loads, 0, 0, False)(nodes, tasks, now_ns, loads, 0, count, effective_rates)
            return
        self._crew.carry_out(MEASURE, self._every(tables, threads), now_ns, loads, effective_rates)

    def _threads(self, tasks: int) -> int:
        """How many threads share the work on so many tasks."""
        return max(1, min(self._most, int(TASK_S * tasks / PAYS_S))) if self._several else 1

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
