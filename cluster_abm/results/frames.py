"""Rows of finished tasks as a pandas table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cluster_abm.arrays import Array, Floats, Integers
from cluster_abm.engine.tables import BREAKDOWN, FINISHED, NS_PER_MS, OUTCOME_NAMES, Table
from cluster_abm.formulas import slowdown
from cluster_abm.ordered_rows import Rows

# A decision has a number for each of them: of more, the table would grow with decisions times clusters.
MOST_CLUSTERS = 100


def jobs_frame(records: Rows, jobs: Table, programs: Sequence[str] = ()) -> pd.DataFrame:
    """One row a task that has ended, by (end, task); times in ms.

    `slowdown` is wall over isolated time (IOLB 1), `slowdown_cpu_io` over CPU + I/O service (WAL-PM 18),
    `slowdown_cpu` over CPU (MCLS). `remote` says whether it started on another node than its home, `outcome` whether
    it finished, was killed, or lost with its node: then it has no slowdown. Time per CPU leaves out CPU with its work
    lost to a failure (`lost_cpu_ms`). Jobs that run programs have their names.

    Args:
        records: fields.RECORD_FIELDS.
        programs: names of the programs that jobs run, by number.
    """
    # A task that was killed or lost has no slowdown.
    finished = np.where(records["outcome"] == FINISHED, 1.0, np.nan)
    wall_ns = (records["finish_ns"] - records["arrival_ns"]).astype(float)
    useful_cpu_ns = records["cpu_ns"] - records["lost_cpu_ns"]
    frame = pd.DataFrame(
        {
            "job": records["job"],
            "task": records["task"],
            "home": records["home"],
            "node": records["node"],
            "arrival_ms": records["arrival_ns"] / NS_PER_MS,
            "finish_ms": records["finish_ns"] / NS_PER_MS,
            "response_ms": wall_ns / NS_PER_MS,
            "dedicated_ms": isolated_ns(records) / NS_PER_MS,
            "slowdown": slowdowns(wall_ns, isolated_ns(records) * finished),
            "slowdown_cpu_io": slowdowns(wall_ns, (useful_cpu_ns + records["io_ns"]) * finished),
            "slowdown_cpu": slowdowns(wall_ns, useful_cpu_ns * finished),
        }
    )
    for part in BREAKDOWN:
        frame[f"{part}_ms"] = records[f"{part}_ns"] / NS_PER_MS
    frame["io_requests"] = records["requests"]
    frame["page_faults"] = records["faults"]
    frame["buffer_hits"] = records["hits"]
    frame["remote"] = records["moves"] > 0
    frame["migrations"] = records["migrations"]
    frame["tasks_of_job"] = jobs["tasks"][records["job"]]
    frame["restarts"] = records["restarts"]
    frame["lost_cpu_ms"] = records["lost_cpu_ns"] / NS_PER_MS
    frame["outcome"] = np.array(OUTCOME_NAMES)[records["outcome"]]
    if programs:
        # Without a program the number is -1, and the last name is "".
        frame["program"] = np.array([*programs, ""])[jobs["program"][records["job"]]]
    return frame


def slowdowns(wall_ns: Floats, alone_ns: Array) -> Floats:
    """Slowdowns of tasks, or of jobs; NaN where one took no time by itself, as on a node of almost endless speed."""
    return np.asarray(slowdown(wall_ns, np.where(alone_ns == 0, np.nan, alone_ns)))


def isolated_ns(records: Rows) -> Integers:
    """Return each task's isolated time [ns]: CPU, accesses that would miss, own paging, waits at barriers."""
    return np.asarray(sum(records[f"isolated_{part}_ns"] for part in ("cpu", "io", "paging", "barrier")))
