"""What a study keeps of a finished run: a flat row of numbers, and a small picture of the load over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.model.observing.shares import waits_beside
from cluster_abm.results.asked import row_name
from cluster_abm.results.summary import PROGRAM_METRICS, finished_records, job_values

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel

# Of each run: the least value, each percentile, the largest.
PERCENTS = np.linspace(0.0, 1.0, 101)
MOST_TIMES = 200
# Of a row, the response times of all jobs, where they are asked for.
RESPONSES = "job_responses_ms"


def measure_run(model: ClusterModel) -> dict[str, Any]:
    """A finished run as one flat row.

    Every metric of `model.summary()`, parts of the breakdown as `breakdown_ms.<part>`, counts of jobs as
    `jobs.<state>`, those of programs with profiles as `programs.<program>.<metric>`, NaN where there is nothing to
    average; waits in a log and of the same jobs here as `recorded_wait_s.<part>`, `simulated_wait_s.<part>`;
    `slowdown_quantiles` and `response_quantiles` [ms]: 101 numbers, from the least job to the largest (empty without
    jobs; of slowdowns those of jobs that have one). Of jobs at the beginning that are left out (`measure.from_s`,
    `measure.warmup`) no quantile knows either.

    Args:
        model: after `run()`.
    """
    summary = model.summary()
    outcomes = model.parts.task_records.of_window(model.window.from_ns)
    row: dict[str, Any] = {}
    for name, value in summary["metrics"].items():
        if isinstance(value, dict):
            row |= {row_name(f"{name}.{part}"): _number(x) for part, x in value.items()}
        else:
            row[name] = _number(value)
    row |= {f"jobs.{state}": count for state, count in summary["jobs"].items()}
    for program in model.parts.work.program_names:
        found = summary["programs"].get(program, {})
        row |= {f"programs.{program}.{name}": _number(found.get(name)) for name in PROGRAM_METRICS}
    waits = waits_beside(model.parts.work.logged, outcomes)
    # By width they are a run's own: which widths there are differs from log to log.
    row |= {f"{name}.{part}": value for name, of in waits.items() for part, value in of.items() if part != "by_width"}
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
