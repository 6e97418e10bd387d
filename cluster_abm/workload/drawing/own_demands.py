"""The CPU demand of each task where tasks of a job differ, and what it announces where that is wrong."""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.engine.random_numbers import fill_own_uniforms
from cluster_abm.engine.tables import DEMAND, Table
from cluster_abm.large_tables import blocks, column, forget_pages, zeros
from cluster_abm.scenario import Scenario
from cluster_abm.workload.drawing.draws import quantile
from cluster_abm.workload.generators import key


def task_demands(scenario: Scenario, seed: int, jobs: Table) -> Table | None:
    """The CPU demand of each task of some jobs, and what it announces, fields.DEMAND_FIELDS, in the order of the tasks.

    With `workload.task_cpu = "each"` the first task of a job keeps the job's draw, and the job table's `cpu_ms` becomes
    the mean over the job's tasks. The numbers that a task draws depend on the seed, the job's number and the task's
    number in the job alone.

    Args:
        scenario: with its workload.
        seed: of the run.
        jobs: the job table, shape (jobs,), whose tasks follow each other.

    Returns:
        shape (tasks,); None where all tasks of a job have the job's CPU demand and announce it.
    """
    workload = scenario.workload
    error = workload.announced_error
    are_own = workload.task_cpu == "each" and workload.cpu_ms.kind != "fixed"
    differ = are_own and bool((column(jobs, "tasks") > 1).any())
    if not differ and error == 1.0:
        return None
    demands = zeros(int(column(jobs, "tasks").sum(dtype=np.int64)), DEMAND, "demands of tasks")
    end = 0
    for rows in blocks(len(jobs)):
        part = jobs[rows]
        widths = part["tasks"].astype(np.int64)
        own = demands[end : end + int(widths.sum())]
        end += len(own)
        own["cpu_ms"] = part["cpu_ms"].repeat(widths)
        first = np.cumsum(widths) - widths
        if differ:
            others = np.ones(len(own), bool)
            others[first] = False
            drawn = quantile(workload.cpu_ms, _uniform(key(seed, "task_cpu"), rows.start, widths))
            own["cpu_ms"][others] = drawn[others]
            part["cpu_ms"] = np.add.reduceat(own["cpu_ms"], first) / widths
        own["announced_ms"] = own["cpu_ms"]
        if error > 1.0:
            own["announced_ms"] *= _factors(_uniform(key(seed, "announced"), rows.start, widths), error)
        forget_pages(jobs, demands)
    return demands


def longest_of_jobs(jobs: Table, cpu_ms: Floats) -> Floats:
    """The longest CPU demand of a task of each job, shape (jobs,) [ms].

    Args:
        jobs: shape (jobs,), at least one.
        cpu_ms: of their tasks, in this order, shape (tasks,).
    """
    widths = column(jobs, "tasks").astype(np.int64)
    return np.asarray(np.maximum.reduceat(cpu_ms, np.cumsum(widths) - widths))


def _uniform(stream: int, first_job: int, widths: np.ndarray) -> Floats:
    """A number in (0, 1) of each task's own."""
    found = np.empty(int(widths.sum()))
    fill_own_uniforms(np.uint64(stream), first_job, widths, found)
    return found


def _factors(uniform: Floats, error: float) -> Floats:
    """Announced over true demand, by uniform numbers: exp(Z ln error), Z standard normal."""
    from scipy.special import ndtri

    return np.exp(ndtri(uniform) * math.log(error))
