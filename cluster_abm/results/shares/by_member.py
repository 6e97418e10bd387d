"""A run by user, or by group of users: their jobs, slowdowns, waits, responses and share of the CPU."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cluster_abm.arrays import Floats
from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.formulas import jain_index
from cluster_abm.ordered_rows import Rows
from cluster_abm.results.summary import JobValues
from cluster_abm.workload.traces.members import Members

# Of a measure of a run (scenario.measures.Headline), the measure of its jobs that it is a number of, and which number.
_MEANS: Mapping[str, tuple[str, float]] = {
    "bounded_slowdown": ("bounded_slowdown", 1.0),
    "mean_slowdown": ("slowdown", 1.0),
    "mean_slowdown_job": ("slowdown_job", 1.0),
    "mean_slowdown_cpu_io": ("slowdown_cpu_io", 1.0),
    "mean_slowdown_cpu": ("slowdown_cpu", 1.0),
    "mean_response_ms": ("response_ns", NS_PER_MS),
    "mean_wait_ms": ("wait_ns", NS_PER_MS),
}


def measure_of_members(headline: str) -> str:
    """The measure that members are compared by: `measure.headline`, for makespan_ms bounded_slowdown.

    A makespan is one of all jobs together: a member's would say when it submitted its last job.
    """
    return "bounded_slowdown" if headline == "makespan_ms" else headline


def by_member(records: Rows, values: JobValues, members: Members, headline: str) -> pd.DataFrame:
    """One row for each member of which a task has ended, by CPU time, the most first.

    Args:
        records: of all tasks that have ended.
        values: measures of the finished jobs.
        members: of all jobs.
        headline: `measure.headline`.

    Returns:
        Columns name; jobs (finished ones); the measure (`measure_of_members`), mean_wait_ms and mean_response_ms of
        these, NaN without any; cpu_share, of the CPU time of all tasks that have ended.
    """
    jobs, count = len(members.numbers), len(members.names)
    of_job_ns = np.bincount(records["job"], records["cpu_ns"], minlength=jobs)
    ended = np.bincount(records["job"], minlength=jobs) > 0
    is_known = members.numbers >= 0
    cpu_ns = np.bincount(members.numbers[is_known], of_job_ns[is_known], minlength=count)
    is_there = np.bincount(members.numbers[is_known & ended], minlength=count) > 0
    of_finished = members.numbers[values.jobs]
    kept = of_finished >= 0
    numbers = of_finished[kept]
    finished = np.bincount(numbers, minlength=count)

    def mean_of(name: str) -> Floats:
        """Of each member; NaN without a job, or where one of the jobs has no value."""
        sums = np.bincount(numbers, values[name][kept], minlength=count)
        return np.divide(sums, finished, out=np.full(count, np.nan), where=finished > 0)

    total_ns = of_job_ns.sum()
    measure = measure_of_members(headline)
    if measure == "geometric_slowdown":
        of_measure = np.exp(mean_of("log_slowdown"))
    elif measure == "p95_slowdown":
        quantiles = pd.Series(values["slowdown"][kept]).groupby(numbers).quantile(0.95)
        of_measure = quantiles.reindex(range(count)).to_numpy(float)
    else:
        name, scale = _MEANS[measure]
        of_measure = mean_of(name) / scale
    table = pd.DataFrame(
        {
            "name": pd.Series(members.names, dtype=object),
            "jobs": finished,
            measure: of_measure,
            "mean_wait_ms": mean_of("wait_ns") / NS_PER_MS,
            "mean_response_ms": mean_of("response_ns") / NS_PER_MS,
            "cpu_share": cpu_ns / total_ns if total_ns else np.zeros(count),
        }
    )
    return table[is_there].sort_values("cpu_share", ascending=False, kind="stable", ignore_index=True)


def jain_of(table: pd.DataFrame, headline: str) -> float | None:
    """Jain's index of the members' measure; None where no member has one.

    Args:
        table: of `by_member`.
        headline: `measure.headline`.
    """
    values = table[measure_of_members(headline)].to_numpy(float)
    values = values[np.isfinite(values)]
    return jain_index(values) if len(values) else None
