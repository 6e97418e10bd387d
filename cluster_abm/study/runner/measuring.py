"""What a study keeps of a finished run: a flat row of numbers, and a small picture of the load over time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.errors import InputError
from cluster_abm.large_tables import column
from cluster_abm.model.observing.shares import waits_beside
from cluster_abm.results.asked import row_name
from cluster_abm.results.metrics import computed
from cluster_abm.results.outcomes import Outcomes, RecordedOutcomes
from cluster_abm.results.summary import PROGRAM_METRICS, finished_jobs, finished_records, job_values
from cluster_abm.study.statistics.warmup import mser

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel

WARMUPS = ("none", "mser")
# Of each run: the least value, each percentile, the largest.
PERCENTS = np.linspace(0.0, 1.0, 101)
MOST_TIMES = 200
# Of a row, the response times of all jobs, where they are asked for.
RESPONSES = "job_responses_ms"


def measure_run(model: ClusterModel, warmup: str = "none") -> dict[str, Any]:
    """A finished run as one flat row.

    Every metric of `model.summary()`, parts of the breakdown as `breakdown_ms.<part>`, counts of jobs as
    `jobs.<state>`, those of programs with profiles as `programs.<program>.<metric>`, NaN where there is nothing to
    average; waits in a log and of the same jobs here as `recorded_wait_s.<part>`, `simulated_wait_s.<part>`;
    `slowdown_quantiles` and `response_quantiles` [ms]: 101 numbers, from the least job to the largest (empty
    without jobs; of slowdowns those of jobs that have one).

    Args:
        model: after `run()`.
        warmup: "none", or "mser": means, percentiles and breakdown are over the jobs that arrived after the first
            `warmup_jobs`, which MSER-5 on the tasks in the cluster (`tasks_met`) chose to leave out; `warmup_settled`
            is 0 if it found no steady state. Counts, utilisations and makespan are of the whole run.

    Raises InputError: another `warmup`.
    """
    if warmup not in WARMUPS:
        raise InputError(f"warmup = {warmup!r}: allowed: {', '.join(WARMUPS)}")
    summary = model.summary()
    metrics = dict(summary["metrics"])
    outcomes: Outcomes = model.parts.task_records.outcomes()
    if warmup == "mser":
        model.parts.task_records.check_kept('warmup = "mser"')
        found = mser(tasks_met(model))
        records, widths = finished_records(model.engine.ordered_records()), model.engine.widths
        left_out = model.parts.submissions.schedule.taken(0, found.cut)
        counted = np.setdiff1d(finished_jobs(records, widths), left_out)
        bound_ns = model.parts.task_records.bound_ns
        outcomes = RecordedOutcomes(records[np.isin(records["job"], counted)], model.jobs, widths, bound_ns)
        metrics |= computed(replace(model.run_data(), outcomes=outcomes), only_of_jobs=True)
        metrics |= {"warmup_jobs": found.cut, "warmup_settled": int(found.settled)}
    row: dict[str, Any] = {}
    for name, value in metrics.items():
        if isinstance(value, dict):
            row |= {row_name(f"{name}.{part}"): _number(x) for part, x in value.items()}
        else:
            row[name] = _number(value)
    row |= {f"jobs.{state}": count for state, count in summary["jobs"].items()}
    for program in model.parts.work.program_names:
        found = summary["programs"].get(program, {})
        row |= {f"programs.{program}.{name}": _number(found.get(name)) for name in PROGRAM_METRICS}
    waits = waits_beside(model.parts.work.logged, outcomes)
    row |= {f"{name}.{part}": value for name, of in waits.items() for part, value in of.items()}
    row["slowdown_quantiles"] = outcomes.quantiles_of_jobs("slowdown", PERCENTS)
    row["response_quantiles"] = outcomes.quantiles_of_jobs("response_ns", PERCENTS, NS_PER_MS)
    return row


def responses_ms(model: ClusterModel) -> list[float]:
    """The response time of each job of a finished run, by number, from its arrival to the end of its last task [ms];
    NaN of one that has not finished."""
    model.parts.task_records.check_kept(RESPONSES)
    found = np.full(len(model.engine.widths), np.nan)
    jobs, values = job_values(finished_records(model.engine.ordered_records()), model.engine.widths)
    found[jobs] = values["response_ns"] / NS_PER_MS
    return found.tolist()


def tasks_met(model: ClusterModel) -> npt.NDArray[np.int64]:
    """How many tasks each job found in the cluster when it was submitted, in order of submission.

    The start is judged by this and not by slowdowns or responses: a job of a millisecond behind a long one has a
    slowdown of hundreds, and one such value makes MSER cut beside it, wherever it stands.
    """
    jobs = np.asarray(model.parts.submissions.schedule.taken(0, model.submitted_jobs), np.int64)
    widths = model.engine.widths[jobs]
    came = np.cumsum(widths) - widths
    ends_ns = np.sort(model.engine.ordered_records()["finish_ns"])
    return came - np.searchsorted(ends_ns, column(model.jobs, "arrival_ns")[jobs], side="right")


def load_over_time(model: ClusterModel) -> dict[str, Any]:
    """Tasks on each node when measured, thinned to at most 200 times: small enough to keep with a study.

    Returns:
        `time_ms`: list of times; `tasks`: one list a node, of as many numbers.
    """
    frame = model.parts.measurements.frame(("time_ms", "node", "tasks"))
    table = frame.pivot_table(index="node", columns="time_ms", values="tasks")
    columns = np.unique(np.linspace(0, table.shape[1] - 1, min(MOST_TIMES, table.shape[1])).round().astype(int))
    return {
        "time_ms": [float(time) for time in table.columns[columns]],
        "tasks": table.to_numpy()[:, columns].astype(int).tolist(),
    }


def _number(value: float | None) -> float:
    return math.nan if value is None else value
