"""How long a cluster remembers its state, and how many such times the arrivals of a run last."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cluster_abm.formulas import relaxation_s
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.workload.applications import as_application
from cluster_abm.workload.drawing.dependence import work_over_means
from cluster_abm.workload.drawing.draws import mean_of, square_of
from cluster_abm.workload.jobs import RunJobs, jobs_per_second
from cluster_abm.workload.offered import OfferedLoad, arriving_in_blocks


class Relaxation(NamedTuple):
    """The relaxation time of the busiest resource of a node, and the window in which jobs arrive.

    Attributes:
        time_s: the relaxation time [s]; infinite: there is none.
        why_none: why there is none, in words; "": there is one.
        window_s: how long jobs arrive [s].
    """

    time_s: float
    why_none: str
    window_s: float

    def count_from(self, from_s: float) -> float | None:
        """How many relaxation times the window lasts from an instant on [s]; None: there is none, or no load."""
        if self.why_none or self.time_s <= 0.0:
            return None
        return max(0.0, self.window_s - from_s) / self.time_s


class _Demands(NamedTuple):
    """What tasks ask of a node.

    Attributes:
        tasks_per_s: tasks of the whole cluster [1/s].
        cpu_load: of all cores, 1: all that there is.
        cpu_variation: E[S^2]/E[S]^2 of a task's CPU.
        disk_share: share of the tasks that use the disk.
        disk_variation: E[S^2]/E[S]^2 of the accesses of such a task.
    """

    tasks_per_s: float
    cpu_load: float
    cpu_variation: float
    disk_share: float
    disk_variation: float


def relaxation_of(scenario: Scenario, work: RunJobs, load: OfferedLoad | None) -> Relaxation | None:
    """The relaxation time of the busier one of a node's CPU and disk, where all nodes share the load alike.

    Each is taken for one server that is as fast as its cores, or channels, together, to which tasks come as a Poisson
    stream. Rate and moments follow from the laws; those of traces and programs are taken from the jobs, and so is the
    ratio of the disk's load to the CPU's, which depends on the buffer.

    Args:
        scenario: with its workload.
        work: the jobs of a run of it.
        load: the load that they offer.

    Returns:
        None where no window is known in which jobs arrive (`offered_load`).
    """
    if load is None:
        return None
    workload = as_application(scenario.workload, scenario.cluster)
    are_lawful = workload.kind == "synthetic" and not workload.programs.mix
    demands = _of_laws(scenario) if are_lawful else _of_jobs(work, load)
    disk_load = load.disk * (demands.cpu_load / load.cpu if load.cpu > 0.0 else 1.0)
    busiest = max(
        (demands.cpu_load, "CPU", demands.tasks_per_s, demands.cpu_variation),
        (disk_load, "disk", demands.tasks_per_s * demands.disk_share, demands.disk_variation),
    )
    rho, name, tasks_per_s, variation = busiest
    mean_s = rho * scenario.cluster.nodes / tasks_per_s if tasks_per_s > 0.0 else 0.0
    time_s = relaxation_s(rho, mean_s, variation * mean_s**2) if mean_s > 0.0 else 0.0
    why = ""
    if math.isinf(time_s):
        why = f"{name} load of 1 or more" if rho >= 1.0 else f"infinite variance of the {name} demands"
    return Relaxation(time_s, why, load.window_s)


def _of_laws(scenario: Scenario) -> _Demands:
    workload = as_application(scenario.workload, scenario.cluster)
    tasks_per_s = jobs_per_second(scenario) * workload.tasks.mean
    capacity = sum(count * kind.cpu_speed * kind.cores for kind, count in scenario.cluster.kinds)
    cpu_load = tasks_per_s * mean_of(workload.cpu_ms) / 1000.0 * work_over_means(workload) / capacity
    cpu = _variation(workload.cpu_ms)
    return _Demands(
        tasks_per_s, cpu_load, cpu, 1.0 - workload.no_io_share,
        cpu * _variation(workload.io_per_ms),
    )  # fmt: skip


def _variation(law: Distribution) -> float:
    mean = mean_of(law)
    return square_of(law) / mean**2 if mean > 0.0 else 1.0


def _of_jobs(work: RunJobs, load: OfferedLoad) -> _Demands:
    sums = np.zeros(6)
    for rows in arriving_in_blocks(work):
        tasks, cpu_ms = rows["tasks"].astype(float), rows["cpu_ms"]
        accesses = cpu_ms * rows["io_per_ms"]
        each = [tasks, tasks * cpu_ms, tasks * cpu_ms**2, tasks * (accesses > 0), tasks * accesses, tasks * accesses**2]
        sums += [part.sum() for part in each]
    count, cpu, cpu_square, with_io, accesses, accesses_square = sums.tolist()
    return _Demands(
        count / load.window_s, load.cpu, count * cpu_square / cpu**2 if cpu else 1.0,
        with_io / count if count else 0.0, with_io * accesses_square / accesses**2 if accesses else 1.0,
    )  # fmt: skip
