"""Rigid jobs: so many processors for so long. What a batch system sees of a log, and of draws of a scenario."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.errors import InputError
from cluster_abm.scenario.cluster import MOST_NODES
from cluster_abm.study.fitting.log import REQUEST, Jobs
from cluster_abm.workload.generators import entity_generator

# Of a log with more tasks its first part is judged.
MOST_TASKS = 2_000_000


@dataclass(frozen=True)
class RigidJobs:
    """Jobs by their submission, each of which needs a number of processors at once."""

    times_s: Floats  # when each is submitted, from the begin of the window on, shape (jobs,) [s]
    window_s: float  # in which they come [s]
    run_ms: Floats  # for how long each holds its processors, shape (jobs,) [ms]
    tasks: Floats  # how many processors each needs, shape (jobs,)
    requested_ms: Floats  # the run time that each requests, at least the one that it has, shape (jobs,) [ms]

    def __len__(self) -> int:
        return len(self.times_s)

    @property
    def work_s(self) -> float:
        """Processor-seconds of all jobs."""
        return math.fsum(self.run_ms * self.tasks) / 1000.0

    @property
    def mean_run_ms(self) -> float:
        """The mean run time of a job [ms]."""
        return math.fsum(self.run_ms) / len(self)

    def first(self, window_s: float) -> RigidJobs:
        """The jobs of the first part of the window."""
        if window_s >= self.window_s:
            return self
        count = int(np.searchsorted(self.times_s, window_s))
        return RigidJobs(
            self.times_s[:count], window_s, self.run_ms[:count], self.tasks[:count], self.requested_ms[:count]
        )

    def at_load(self, load: float, processors: int) -> RigidJobs:
        """The same jobs with all times between submissions multiplied by one factor: they offer a load exactly."""
        stretch = self.work_s / (processors * load * self.window_s)
        return replace(self, times_s=self.times_s * stretch, window_s=self.window_s * stretch)

    def shuffled(self, seed: int, number: int) -> RigidJobs:
        """The same submission times, the jobs in another order, drawn at random.

        Args:
            seed: of the draws.
            number: of this one among several of a seed.
        """
        order = entity_generator(seed, "shuffled", number).permutation(len(self))
        return replace(self, run_ms=self.run_ms[order], tasks=self.tasks[order], requested_ms=self.requested_ms[order])

    def by(self, unit: int) -> RigidJobs:
        """The jobs with their processors counted in units of some."""
        return self if unit == 1 else replace(self, tasks=self.tasks / unit)


def rigid_jobs(jobs: Jobs) -> RigidJobs:
    """What jobs need of a batch system.

    A job that requests no time, or less than it takes, requests what it takes. Where it is not known what jobs hold in
    a run (`Jobs.held`), they take their CPU time, on one processor if they say no tasks; jobs without a CPU time are
    left out.

    Raises InputError: neither is known.
    """
    if jobs.held is not None:
        run_ms, tasks, requested = jobs.held
        requested_ms = run_ms if requested is None else np.fmax(requested, run_ms)
    else:
        if "cpu_ms" not in jobs.columns:
            raise InputError("the jobs say no CPU times")
        run_ms = jobs.columns["cpu_ms"]
        one = np.ones(len(jobs))
        tasks = np.fmax(jobs.columns.get("tasks", one), 1.0)
        requested_ms = run_ms * np.fmax(jobs.columns.get(REQUEST, one), 1.0)
    # Without any work there is nothing to wait for.
    kept = np.flatnonzero(run_ms > 0)
    return RigidJobs(jobs.times_s[kept], jobs.window_s, run_ms[kept], tasks[kept], requested_ms[kept])


def judged_window_s(jobs: RigidJobs, most: int = MOST_TASKS) -> float:
    """The length of the first part of the window in which there are no more than so many tasks [s]; all of it, if they
    are no more altogether."""
    over = np.flatnonzero(np.cumsum(jobs.tasks) > most)
    return float(jobs.times_s[over[0]]) if len(over) and over[0] > 0 else jobs.window_s


def unit_of(jobs: Iterable[RigidJobs]) -> int:
    """The largest number of processors of which each job needs a whole multiple: partitions of a CM-5 are of 32."""
    found = 0
    for one in jobs:
        found = int(np.gcd.reduce(one.tasks.astype(np.int64), initial=found))
    return max(1, found)


def processors_for(log: RigidJobs, load: float, widest: int) -> int:
    """The machine on which a log's jobs are judged at a load: round(work / window / load) processors, in whole units
    (`unit_of`), and no fewer than the widest job needs.

    Raises InputError: more than a cluster may have nodes.

    Args:
        log: whose work is offered.
        load: work / (window x processors).
        widest: processors of the widest job of all that run on the machine.
    """
    unit = unit_of([log])
    units = log.work_s / log.window_s / load / unit
    if not units * unit <= MOST_NODES:
        raise InputError(f"its work keeps {units * unit * load:.6g} processors busy: allowed up to {MOST_NODES:,}")
    return max(widest, unit * round(units))
