"""What the processes of a validation do: sets of programs with random demands and starts, by a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats

# Demands of processes that only compute: Pareto, bounded [ms of CPU].
PARETO_SHAPE, LEAST_MS, MOST_MS = 1.1, 40.0, 1000.0
# Starts: exponential gaps, this share of the mean demand long in the mean, so that processes overlap.
GAP_SHARE = 0.4
# Processes that compute and read: reads of each, mean CPU between two of them, and bounds of it [ms].
READS, BURST_MS, LEAST_BURST_MS, MOST_BURST_MS = (4, 12), 12.0, 2.0, 60.0
# Sizes of an access [KB], one for each process.
SIZES_KB = (50.0, 500.0)


@dataclass(frozen=True)
class Disk:
    """The virtual disk: first come, first served; an access takes a seek and its transfer."""

    seek_ms: float = 4.0
    mb_per_s: float = 50.0

    def service_ms(self, size_kb: float) -> float:
        """How long an access takes [ms]; a MB is 1000 KB, as in the simulator."""
        return self.seek_ms + size_kb / self.mb_per_s


class ProgramRow(NamedTuple):
    """Units of computing, and whether an access lies in the middle of them (`units` is even then)."""

    units: int
    reads: bool

    def for_worker(self, service_ns: int) -> tuple[int, int, int]:
        """Units before the access, its service [ns], units after it."""
        if not self.reads:
            return self.units, 0, 0
        return self.units // 2, service_ns, self.units - self.units // 2

    def cpu_ms(self, unit_ns: float) -> float:
        """Its demand [ms], by the CPU time of a unit."""
        return self.units * unit_ns / 1e6


@dataclass(frozen=True)
class Program:
    """What one process does."""

    start_ms: float  # when, after the set's beginning [ms]
    rows: tuple[ProgramRow, ...]  # what it computes, and whether it reads in the middle of that
    request_kb: float = 100.0  # size of each of its accesses [KB]


Set = tuple[Program, ...]


def bounded_pareto(uniform: Floats, shape: float, low: float, high: float) -> Floats:
    """Values of P(X > x) = (low/x)^shape, given that X is below `high`, by inversion.

    >>> bounded_pareto(np.array([0.0, 0.5]), 1.0, 1.0, 1e9).round(3).tolist()
    [1.0, 2.0]
    """
    tail = (low / high) ** shape
    return np.asarray(low * (1.0 - uniform * (1.0 - tail)) ** (-1.0 / shape))


def busy_sets(seed: int, unit_ms: float, least: int, most: int) -> Iterator[Set]:
    """Sets of `least` to `most` processes that only compute, without end.

    Args:
        seed: of the random numbers.
        unit_ms: CPU of a unit of computing, about [ms].
        least, most: processes of a set.
    """
    rng = np.random.default_rng([seed, 1])
    while True:
        count = int(rng.integers(least, most + 1))
        demands_ms = bounded_pareto(rng.random(count), PARETO_SHAPE, LEAST_MS, MOST_MS)
        starts_ms = np.cumsum(rng.exponential(GAP_SHARE * demands_ms.mean(), count))
        starts_ms -= starts_ms[0]
        yield tuple(
            Program(float(start_ms), (ProgramRow(_units(demand_ms, unit_ms), False),))
            for start_ms, demand_ms in zip(starts_ms, demands_ms, strict=True)
        )


def reading_sets(seed: int, unit_ms: float, least: int, most: int) -> Iterator[Set]:
    """Sets of `least` to `most` processes that compute and read in turn, without end; arguments as `busy_sets`."""
    rng = np.random.default_rng([seed, 2])
    while True:
        count = int(rng.integers(least, most + 1))
        starts_ms = np.cumsum(rng.exponential(4 * BURST_MS, count))
        starts_ms -= starts_ms[0]
        programs = []
        for start_ms in starts_ms:
            reads = int(rng.integers(READS[0], READS[1] + 1))
            bursts_ms = np.clip(rng.exponential(BURST_MS, reads), LEAST_BURST_MS, MOST_BURST_MS)
            # Whole halves: the access stands in the middle of its row.
            rows = tuple(ProgramRow(2 * _units(burst_ms / 2, unit_ms), True) for burst_ms in bursts_ms)
            programs.append(Program(float(start_ms), rows, round(float(rng.uniform(*SIZES_KB)), 1)))
        yield tuple(programs)


def _units(demand_ms: float, unit_ms: float) -> int:
    return max(1, round(demand_ms / unit_ms))
