"""Times of a workload as the engine keeps them, whole nanoseconds in 64 bits, and what else 64 bits have to hold."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.tables import NEVER, NS_PER_MS, Table
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import LARGEST
from cluster_abm.workload.requests import cpu_and_io_ms

# What NEVER leaves of 63 bits of nanoseconds, 146 years.
LONGEST_MS = 4.6e12
# Tasks whose rows are kept.
MAX_TASKS = 100_000_000


def whole_ns(times_ms: Floats, what: str) -> Integers:
    """Whole nanoseconds nearest to times in ms, shape (times,).

    Raises InputError: one of them is more than 64 bits of nanoseconds hold.

    Args:
        times_ms: not negative.
        what: what they are, as a message begins with it.
    """
    check_longest(times_ms, what)
    return np.floor(times_ms * NS_PER_MS + 0.5).astype(np.int64)


def check_longest(times_ms: Floats, what: str) -> None:
    """Raise InputError, which begins with `what`, if 64 bits of nanoseconds do not hold one of these times."""
    if len(times_ms) and not times_ms.max() <= LONGEST_MS:
        raise InputError(f"{what} reaches {times_ms.max():.3g} ms: allowed is {LONGEST_MS:g} (146 years)")


class Sizes:
    """Checks that 64 bits hold all that may come of jobs, which are added in blocks.

    Args:
        thinking_ms: the longest total of a closed user's think times [ms].
        most_tasks: how many tasks are allowed.
    """

    def __init__(self, scenario: Scenario, thinking_ms: float = 0.0, most_tasks: int = MAX_TASKS) -> None:
        self._cluster, self._thinking_ms, self._most_tasks = scenario.cluster, thinking_ms, most_tasks
        self._largest = dict.fromkeys(("memory_mb", "initial_data_mb", "io_per_ms", "request_kb"), 0.0)
        # A clock goes as far as the node that has most to do; what a policy sends there besides, the run itself sees.
        self._at_home_ms, self._last_ns, self._tasks = np.zeros(scenario.cluster.nodes), 0, 0

    def add(self, jobs: Table) -> None:
        """Add some jobs."""
        self._tasks += int(jobs["tasks"].sum(dtype=np.int64))
        with np.errstate(over="ignore"):
            for name, most in self._largest.items():
                values = jobs[name] * jobs["tasks"] if name == "memory_mb" else jobs[name]
                self._largest[name] = float(np.maximum(most, values.max(initial=0.0)))
            work_ms = cpu_and_io_ms(jobs, self._cluster) * jobs["tasks"]
            self._at_home_ms += np.bincount(jobs["home"], work_ms, len(self._at_home_ms))
        arrival_ns = jobs["arrival_ns"]
        self._last_ns = max(self._last_ns, int(arrival_ns[arrival_ns < NEVER].max(initial=0)))

    def check(self) -> None:
        """Raise InputError if a size of the jobs so far is too large."""
        if self._tasks > self._most_tasks:
            raise InputError(f"workload: {self._tasks:,} tasks: allowed are {self._most_tasks:,}")
        for name, value, limit, unit in (
            ("memory_mb", self._largest["memory_mb"], LARGEST, "MB"),
            ("initial_data_mb", self._largest["initial_data_mb"], LARGEST, "MB"),
            ("io_per_ms", self._largest["io_per_ms"], 1e6, "accesses per ms"),
            ("request_kb", self._largest["request_kb"], LARGEST, "KB"),
            (
                "all work together",
                float(self._at_home_ms.max()) + self._last_ns / NS_PER_MS + self._thinking_ms,
                LONGEST_MS,
                "ms to its end on the home node that has most",
            ),
        ):
            if not value <= limit:
                raise InputError(f"workload: {name} of the jobs reaches {value:.3g} {unit}: allowed is {limit:g}")
