"""Response times as they would have been without the load of others: by the CPU that was actually delivered.

In each bin of 10 ms the CPU that the processes of a set got, by their own clocks, is divided by the CPU that they could
have used: the time with one of them runnable, on c cores the integral of min(runnable, c). The quotient is the rate of
a clock that stands in for the wall clock: it slows down where others have the CPU, and runs as the wall clock does
while none of the processes is runnable. Accesses to the virtual disk wait for no CPU and count as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.validation.worker import ASKED, SERVED, START

BIN_NS = 10_000_000


@dataclass(frozen=True)
class Corrected:
    """One process of a set; times in ms."""

    start_ms: float  # its start by the clock of what was delivered, since the first start of the set
    wall_ms: float  # its response time by the wall clock
    response_ms: float  # the same, corrected
    cpu_ms: float  # the CPU that it got


def intervals(log: Integers) -> tuple[Integers, Integers]:
    """When a process was runnable: beginnings and ends by the wall clock [ns], shape (bursts,) each."""
    kind, wall_ns = log[:, 0], log[:, 1]
    begins_ns = wall_ns[(kind == START) | (kind == SERVED)]
    ends_ns = np.append(wall_ns[kind == ASKED], wall_ns[-1])
    return begins_ns, ends_ns


class DeliveredClock:
    """The clock that runs by the CPU delivered to the processes of one set.

    Args:
        logs: of each process, rows (kind, wall ns, CPU ns) as `worker.py` makes them.
        cores: on which they could run.
        bin_ns: within it the rate is one number.

    Attributes:
        delivered_share: CPU delivered over CPU that could have been used, over the whole set.
    """

    def __init__(self, logs: Sequence[Integers], cores: int, bin_ns: int = BIN_NS) -> None:
        self._runnable = [intervals(log) for log in logs]
        begins = np.concatenate([begin for begin, _ in self._runnable])
        ends = np.concatenate([end for _, end in self._runnable])
        first, last = int(begins.min()), int(ends.max())
        bins = np.arange(first, last + bin_ns, bin_ns)
        self._grid = np.unique(np.concatenate([bins, begins, ends]))
        # How many are runnable from each point of the grid to the next one.
        changes = np.zeros(len(self._grid), np.int64)
        np.add.at(changes, np.searchsorted(self._grid, begins), 1)
        np.add.at(changes, np.searchsorted(self._grid, ends), -1)
        usable = np.minimum(np.cumsum(changes)[:-1], cores)
        lengths = np.diff(self._grid)
        position = np.minimum((self._grid[:-1] - first) // bin_ns, len(bins) - 2)
        could_ns = np.bincount(position, usable * lengths, minlength=len(bins) - 1)
        got = sum(np.interp(bins, log[:, 1], log[:, 2] - log[0, 2]) for log in logs)
        got_ns = np.diff(np.asarray(got, float))
        rate = np.divide(got_ns, could_ns, out=np.ones(len(got_ns)), where=could_ns > 0)
        rates = np.where(usable > 0, rate[position], 1.0)
        self._time_ns = np.concatenate([[0.0], np.cumsum(rates * lengths)])
        self.delivered_share = float(got_ns.sum() / could_ns.sum()) if could_ns.sum() else 1.0

    def at_ns(self, wall_ns: Integers | int) -> Floats:
        """This clock at instants of the wall clock [ns]; 0 at the first start."""
        return np.interp(wall_ns, self._grid, self._time_ns)


def corrected(logs: Sequence[Integers], cores: int, bin_ns: int = BIN_NS) -> tuple[list[Corrected], float]:
    """The processes of a set, corrected, and the share of the CPU that they could have used and got; arguments as for
    `DeliveredClock`."""
    clock = DeliveredClock(logs, cores, bin_ns)
    found = []
    for log in logs:
        begins, ends = intervals(log)
        served_ns = float((begins[1:] - ends[:-1]).sum())
        response_ns = float((clock.at_ns(ends) - clock.at_ns(begins)).sum()) + served_ns
        found.append(
            Corrected(
                float(clock.at_ns(int(begins[0]))) / 1e6, float(ends[-1] - begins[0]) / 1e6, response_ns / 1e6,
                float(log[-1, 2] - log[0, 2]) / 1e6,
            )
        )  # fmt: skip
    return found, clock.delivered_share
