"""Jobs that are on their nodes from the beginning of a run: `[[workload.initial]]`."""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.engine.tables import Table
from cluster_abm.scenario import Scenario
from cluster_abm.workload.drawing.own_demands import task_demands
from cluster_abm.workload.filling import fill
from cluster_abm.workload.generators import key
from cluster_abm.workload.requests import requested_times

COLUMNS = (
    "cpu_ms", "tasks", "io_per_ms", "request_kb", "memory_mb", "initial_data_mb", "write_share", "reaccess_rate",
    "requested_ms",
)  # fmt: skip


def initial_jobs(scenario: Scenario, seed: int, first_task: int) -> tuple[Table, Floats | None, Table | None]:
    """The rows of these jobs in the job table, the run times that they request (requests.requested_times), and what
    their tasks announce (own_demands.task_demands).

    What a job does not say is drawn from streams of these jobs alone: other jobs are the same with and without them.

    Args:
        scenario: with `workload.initial`.
        seed: of the run.
        first_task: number of their first task, after those of all other jobs.
    """
    said = scenario.workload.initial
    own_seed = key(seed, "initial")
    given = {
        name: np.array([math.nan if getattr(job, name) is None else getattr(job, name) for job in said])
        for name in COLUMNS
    }
    given["home"] = np.array([float(job.node) for job in said])
    jobs = fill(scenario, own_seed, np.zeros(len(said)), given)
    jobs["first_task"] += first_task
    # Their tasks are alike: each has what the job says.
    alike = scenario.model_copy(update={"workload": scenario.workload.model_copy(update={"task_cpu": "job"})})
    demands = task_demands(alike, own_seed, jobs)
    left = jobs.copy()
    jobs["received_ms"] = [job.age_ms for job in said]
    left["cpu_ms"] -= jobs["received_ms"]
    return jobs, requested_times(scenario, own_seed, left, given["requested_ms"]), demands
