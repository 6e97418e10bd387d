"""The work of the yardsticks: the distributions of the scenarios in `own.py`, drawn with numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NODES = 32
UTILISATION = 0.7
CPU_MEAN_S = 1.0
"""Mean CPU demand of a CPU-only job [s], exponential."""
BURST_MEAN_S = 0.002
"""Mean CPU between two requests of a disk-bound job [s], exponential."""
STREAM_CPU_S = 0.2
"""CPU demand of a disk-bound job [s], the same for all: 100 requests in the mean."""
SEEK_ROTATION_S = 0.008
REQUEST_KB, REQUEST_SD_KB = 100.0, 50.0
KB_PER_S = 40_000.0
REQUEST_MEAN_S = SEEK_ROTATION_S + REQUEST_KB / KB_PER_S
"""10.5 ms."""
DISK_BOUND_CPU_UTILISATION = UTILISATION * BURST_MEAN_S / REQUEST_MEAN_S
"""CPU utilisation at which the disks are used at `UTILISATION`: a burst for each request."""


@dataclass(frozen=True)
class Outcome:
    """What a run did, to be divided by the CPU seconds it took, and to be held against theory.

    Attributes:
        units: finished jobs, or requests issued.
        mean_response_ms: mean response time of the finished jobs [ms].
        utilisation: of the resource that the case is about, 0..1.
    """

    units: int
    mean_response_ms: float
    utilisation: float


def poisson_times_s(rng: np.random.Generator, jobs_per_s: float, window_s: float) -> list[float]:
    """Submission times in 0..window, ascending [s]."""
    count = int(rng.poisson(jobs_per_s * window_s))
    return np.sort(rng.random(count) * window_s).tolist()


def cpu_only_jobs(seed: int, window_s: float, nodes: int = NODES) -> tuple[list[float], list[int], list[float]]:
    """Submission times [s], homes and CPU demands [s] of the CPU-only case, one entry a job."""
    rng = np.random.default_rng(seed)
    times_s = poisson_times_s(rng, UTILISATION * nodes / CPU_MEAN_S, window_s)
    homes = rng.integers(nodes, size=len(times_s)).tolist()
    return times_s, homes, rng.exponential(CPU_MEAN_S, len(times_s)).tolist()


def disk_bound_jobs(seed: int, window_s: float, nodes: int = NODES) -> tuple[list[float], list[int]]:
    """Submission times [s] and homes of the disk-bound case, one entry a job."""
    rng = np.random.default_rng(seed)
    times_s = poisson_times_s(rng, DISK_BOUND_CPU_UTILISATION * nodes / STREAM_CPU_S, window_s)
    return times_s, rng.integers(nodes, size=len(times_s)).tolist()


def bursts_and_services(seed: int, jobs: int) -> tuple[list[float], list[float]]:
    """Enough CPU bursts and disk services for that many disk-bound jobs [s].

    A job takes one burst more than it has requests (its last one is cut by its end), and the number of requests is
    Poisson: six standard deviations are to spare.
    """
    rng = np.random.default_rng([seed, 1])
    mean = jobs * (STREAM_CPU_S / BURST_MEAN_S + 1)
    count = int(mean + 6 * mean**0.5) + 100
    shape = (REQUEST_KB / REQUEST_SD_KB) ** 2
    sizes_kb = rng.gamma(shape, REQUEST_KB / shape, count)
    return rng.exponential(BURST_MEAN_S, count).tolist(), (SEEK_ROTATION_S + sizes_kb / KB_PER_S).tolist()
