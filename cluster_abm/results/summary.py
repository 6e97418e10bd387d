"""A run in numbers: counts of jobs, slowdowns, utilisations, and where the time went."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import BREAKDOWN, FINISHED, NS_PER_MS, Table
from cluster_abm.formulas import slowdown
from cluster_abm.results.frames import dedicated_ns

Floats = npt.NDArray[np.float64]
SLOWDOWNS = ("slowdown", "slowdown_job", "slowdown_cpu_io", "slowdown_cpu")


def finished_records(records: Table) -> Table:
    """Records of the tasks that finished; those of killed ones left out."""
    return records[records["outcome"] == FINISHED]


def ended_jobs(records: Table, outcome: int) -> npt.NDArray[np.int64]:
    """Numbers of the jobs of which a task ended so, e.g. KILLED, ascending."""
    return np.unique(records["job"][records["outcome"] == outcome])


def finished_jobs(records: Table, jobs: Table) -> npt.NDArray[np.int64]:
    """Numbers of the jobs whose tasks have all finished, ascending."""
    done = np.bincount(finished_records(records)["job"], minlength=len(jobs))
    return np.flatnonzero(done == jobs["tasks"]) if len(jobs) else np.zeros(0, np.int64)


def job_values(records: Table, jobs: Table) -> tuple[npt.NDArray[np.int64], dict[str, Floats]]:
    """What each finished job met; a parallel job's slowdown is the mean over its tasks (IOLB 2).

    Args:
        records: records of finished tasks in an order of their own (sums depend on it in the last bit).
        jobs: the job table.

    Returns:
        numbers of the finished jobs, ascending, shape (finished,); and in the same order slowdown (of its tasks),
        slowdown_job (of its last end), slowdown_cpu_io, slowdown_cpu, response_ns.
    """
    whole = finished_jobs(records, jobs)
    wall = (records["finish_ns"] - records["arrival_ns"]).astype(float)
    dedicated = dedicated_ns(records).astype(float)

    def mean_over_tasks(values: Floats) -> Floats:
        sums = np.bincount(records["job"], values, minlength=len(jobs))
        return np.asarray(sums[whole] / jobs["tasks"][whole])

    longest_dedicated, end = np.zeros(len(jobs)), np.zeros(len(jobs))
    np.maximum.at(longest_dedicated, records["job"], dedicated)
    np.maximum.at(end, records["job"], records["finish_ns"].astype(float))
    response_ns = end[whole] - jobs["arrival_ns"][whole]
    cpu = (records["cpu_ns"] - records["lost_cpu_ns"]).astype(float)
    return whole, {
        "slowdown": mean_over_tasks(slowdown(wall, dedicated)),
        "slowdown_job": response_ns / longest_dedicated[whole],
        "slowdown_cpu_io": mean_over_tasks(wall / (cpu + records["io_ns"])),
        "slowdown_cpu": mean_over_tasks(wall / cpu),
        "response_ns": response_ns,
    }


def job_metrics(records: Table, jobs: Table) -> dict[str, float | None]:
    """Means over finished jobs (arguments as of job_values); None without jobs."""
    whole, values = job_values(records, jobs)
    means = {f"mean_{name}": float(values[name].mean()) if len(whole) else None for name in SLOWDOWNS}
    return means | {
        "p95_slowdown": float(np.quantile(values["slowdown"], 0.95)) if len(whole) else None,
        "mean_response_ms": float(values["response_ns"].mean() / NS_PER_MS) if len(whole) else None,
    }


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


def breakdown_ms(records: Table) -> dict[str, float | None]:
    """Mean wall time per finished task in each part [ms]; context switches count in cpu_queue."""
    if not len(records):
        return dict.fromkeys(BREAKDOWN)
    return {part: float(records[f"{part}_ns"].mean() / NS_PER_MS) for part in BREAKDOWN}
