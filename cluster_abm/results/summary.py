"""What a run did to each job and program: slowdowns, responses, ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import FINISHED, NS_PER_MS, Table
from cluster_abm.formulas import slowdown
from cluster_abm.results.frames import isolated_ns

Floats = npt.NDArray[np.float64]


def finished_records(records: Table) -> Table:
    """Records of the tasks that finished; those of killed ones left out (a copy only if there are any)."""
    finished = records["outcome"] == FINISHED
    return records if finished.all() else records[finished]


def ended_jobs(records: Table, outcome: int) -> npt.NDArray[np.int64]:
    """Numbers of the jobs of which a task ended so, e.g. KILLED, ascending."""
    return np.unique(records["job"][records["outcome"] == outcome])


def finished_jobs(records: Table, jobs: Table) -> npt.NDArray[np.int64]:
    """Return the numbers of the jobs of which all tasks have finished, ascending."""
    done = np.bincount(records["job"][records["outcome"] == FINISHED], minlength=len(jobs))
    return np.flatnonzero(done == jobs["tasks"]) if len(jobs) else np.zeros(0, np.int64)


def job_values(records: Table, jobs: Table) -> tuple[npt.NDArray[np.int64], dict[str, Floats]]:
    """Return the measures of each finished job; a parallel job's slowdown is the mean over its tasks (IOLB 2).

    Args:
        records: records of finished tasks in an order of their own (sums depend on it in the last bit).
        jobs: the job table.

    Returns:
        numbers of the finished jobs, ascending, shape (finished,); and in the same order slowdown (of its tasks),
        slowdown_job (of its last end), slowdown_cpu_io, slowdown_cpu, response_ns.
    """
    whole = finished_jobs(records, jobs)
    wall = (records["finish_ns"] - records["arrival_ns"]).astype(float)
    isolated = isolated_ns(records).astype(float)

    def mean_over_tasks(values: Floats) -> Floats:
        sums = np.bincount(records["job"], values, minlength=len(jobs))
        return np.asarray(sums[whole] / jobs["tasks"][whole])

    longest_isolated, end = np.zeros(len(jobs)), np.zeros(len(jobs))
    np.maximum.at(longest_isolated, records["job"], isolated)
    np.maximum.at(end, records["job"], records["finish_ns"].astype(float))
    response_ns = end[whole] - jobs["arrival_ns"][whole]
    cpu = (records["cpu_ns"] - records["lost_cpu_ns"]).astype(float)
    return whole, {
        "slowdown": mean_over_tasks(slowdown(wall, isolated)),
        "slowdown_job": response_ns / longest_isolated[whole],
        "slowdown_cpu_io": mean_over_tasks(wall / (cpu + records["io_ns"])),
        "slowdown_cpu": mean_over_tasks(wall / cpu),
        "response_ns": response_ns,
    }


# Of each program that has a profile.
PROGRAM_METRICS = ("tasks", "mean_slowdown_cpu", "paging_percent", "page_faults")


def by_program(records: Table, jobs: Table, programs: Sequence[str]) -> dict[str, dict[str, float]]:
    """Numbers of each program that a finished task ran: how many, mean slowdown (wall over CPU, without what
    failures destroyed), share of its life, queueing left out, that it spent paging [%], faults of one.

    Args:
        records: records of finished tasks.
        jobs: the job table.
        programs: names of the programs by number.
    """
    found = {}
    ran = jobs["program"][records["job"]]
    for number, name in enumerate(programs):
        own = records[ran == number]
        if len(own):
            wall = (own["finish_ns"] - own["arrival_ns"]).astype(float)
            life = (own["cpu_ns"] + own["io_ns"] + own["io_queue_ns"] + own["paging_ns"]).astype(float)
            found[name] = {
                "tasks": len(own),
                "mean_slowdown_cpu": float((wall / (own["cpu_ns"] - own["lost_cpu_ns"])).mean()),
                "paging_percent": float((own["paging_ns"] / life).mean() * 100.0),
                "page_faults": float(own["faults"].mean()),
            }
    return found


def makespan_spread_ms(records: Table) -> float | None:
    """Largest difference between home nodes of when the last of the jobs submitted there ended [ms] (LMIP: between the
    run times of each node's programs); None without jobs."""
    if not len(records):
        return None
    homes, place = np.unique(records["home"], return_inverse=True)
    last_ns = np.zeros(len(homes), np.int64)
    np.maximum.at(last_ns, place, records["finish_ns"])
    return float((last_ns.max() - last_ns.min()) / NS_PER_MS)
