"""The row that a study keeps of a run with four jobs, by hand; the model is a stand-in that has their records."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cluster_abm.model.observing import measured_window as module
from cluster_abm.model.observing.measured_window import MeasuredWindow, counts_of, measured_window, tasks_met
from cluster_abm.model.observing.warmup import Truncation
from cluster_abm.results.outcomes import RecordedOutcomes
from cluster_abm.study.runner.measuring import load_over_time, measure_run, responses_ms
from cluster_abm.workload.traces.logged import LoggedJobs

MS = 1_000_000
# Of bounded slowdowns, which no test here reads.
BOUND_NS = 1.0 * MS
FIELDS = ("job", "arrival_ns", "finish_ns", "outcome", "cpu_ns", "lost_cpu_ns", "io_ns", "isolated_cpu_ns",
          "isolated_io_ns", "isolated_paging_ns", "isolated_barrier_ns")  # fmt: skip
FINISHED, KILLED = 0, 1
# Job, arrival, end, outcome and time alone [ms] of each task. Job 0 has two tasks with slowdowns 2 and 4, job 1 has
# slowdown 5. Job 2 was killed. Job 3 takes no time alone, so it has no slowdown.
TASKS = [(0, 0, 20, FINISHED, 10), (0, 0, 40, FINISHED, 10), (1, 10, 60, FINISHED, 10), (2, 20, 30, KILLED, 10),
         (3, 35, 36, FINISHED, 0)]  # fmt: skip


def table(tasks):
    rows = np.zeros(len(tasks), [(name, np.int64) for name in FIELDS])
    for row, (job, arrival, finish, outcome, alone) in zip(rows, tasks, strict=True):
        row["job"], row["outcome"] = job, outcome
        row["arrival_ns"], row["finish_ns"] = arrival * MS, finish * MS
        row["isolated_cpu_ns"] = row["cpu_ns"] = alone * MS
    return rows


def model_of(tasks, widths, order, metrics=None, programs=()):
    arrivals = np.zeros(len(widths), [("arrival_ns", np.int64)])
    for job, arrival, *_ in tasks:
        arrivals["arrival_ns"][job] = arrival * MS
    records = table(tasks)
    outcomes = RecordedOutcomes(records, arrivals, np.array(widths), BOUND_NS)
    summary = {
        "metrics": metrics or {"mean_slowdown": 4.0, "makespan_ms": None, "breakdown_ms": {"cpu": 10.0, "io": None}},
        "jobs": {"submitted": 4, "finished": 3},
        "programs": {"sort": {"tasks": 2, "mean_slowdown_cpu": 3.0, "paging_percent": None, "page_faults": 7.0}},
    }
    return SimpleNamespace(
        summary=lambda: summary, submitted_jobs=len(order), window=MeasuredWindow(),
        engine=SimpleNamespace(ordered_records=lambda: records, widths=np.array(widths), jobs=arrivals),
        parts=SimpleNamespace(
            work=SimpleNamespace(program_names=programs, logged=LoggedJobs()),
            task_records=SimpleNamespace(of_window=lambda from_ns: outcomes, check_kept=lambda what: None),
            submissions=SimpleNamespace(
                schedule=SimpleNamespace(taken=lambda first, last: order[first:last], submitted=len(order))
            ),
        ),
    )  # fmt: skip


@pytest.fixture
def model():
    return model_of(TASKS, [2, 1, 1, 1], [0, 1, 2, 3])


def met_in(model):
    return tasks_met(model.engine, model.parts.submissions.schedule).tolist()


def is_equal(found, expected):
    return list(found) == list(expected) and all(
        found[key] == value or (value != value and math.isnan(found[key])) for key, value in expected.items()
    )


def test_a_row_is_flat_and_missing_values_are_nan(model):
    row = measure_run(model)
    quantiles = row.pop("slowdown_quantiles"), row.pop("response_quantiles")
    assert is_equal(
        row,
        {
            "mean_slowdown": 4.0, "makespan_ms": math.nan, "breakdown_ms.cpu": 10.0, "breakdown_ms.io": math.nan,
            "jobs.submitted": 4, "jobs.finished": 3,
        },
    )  # fmt: skip
    slowdowns, responses = quantiles
    # The slowdowns are 3 (job 0, the mean of its tasks) and 5 (job 1): each quantile is 0.02 above the last.
    assert slowdowns == pytest.approx([3.0 + 0.02 * percent for percent in range(101)])
    # The finished jobs have responses of 40, 50 and 1 ms.
    assert [responses[at] for at in (0, 50, 100)] == pytest.approx([1.0, 40.0, 50.0])
    assert (len(slowdowns), len(responses)) == (101, 101)


def test_each_program_has_its_columns_whether_it_ran_or_not(monkeypatch):
    row = measure_run(model_of(TASKS, [2, 1, 1, 1], [0, 1, 2, 3], programs=("sort", "never")))
    found = {name: value for name, value in row.items() if name.startswith("programs.")}
    names = ("tasks", "mean_slowdown_cpu", "paging_percent", "page_faults")
    values = [2, 3.0, math.nan, 7.0, *[math.nan] * 4]
    keys = [f"programs.{program}.{name}" for program in ("sort", "never") for name in names]
    assert is_equal(found, dict(zip(keys, values, strict=True)))


@pytest.mark.parametrize(
    ("from_s", "warmup", "found", "expected"),
    [
        (0.0, "none", None, (0, None)),
        (0.015, "none", None, (15 * MS, None)),
        # Jobs arrive at 0, 10, 20, 35 ms: without the first two the window begins with the third.
        (0.0, "mser", (2, True), (20 * MS, True)),
        (0.0, "mser", (2, False), (20 * MS, False)),
        (0.0, "mser", (0, False), (0, False)),
        # Of both the later beginning.
        (0.015, "mser", (2, True), (20 * MS, True)),
        (0.03, "mser", (2, True), (30 * MS, True)),
    ],
)
def test_the_window_begins_where_it_is_given_or_found(monkeypatch, from_s, warmup, found, expected):
    model = model_of(TASKS, [2, 1, 1, 1], [0, 1, 2, 3])
    monkeypatch.setattr(module, "mser", lambda series: Truncation(*found))
    measure = SimpleNamespace(from_s=from_s, warmup=warmup)
    assert measured_window(measure, model.engine, model.parts.submissions.schedule) == expected


def test_what_is_left_out_is_counted():
    """From 10 ms on job 0 is left out; of the other three two finished and one was killed."""
    whole = RecordedOutcomes(table(TASKS), None, np.array([2, 1, 1, 1]), 10.0 * MS)
    measured = RecordedOutcomes(table(TASKS[2:]), None, np.array([2, 1, 1, 1]), 10.0 * MS)
    assert counts_of(MeasuredWindow(10 * MS), whole, measured) == {"from_s": 0.01, "warmup_jobs": 1}
    settled = counts_of(MeasuredWindow(10 * MS, is_settled=False), whole, measured)
    assert settled == {"from_s": 0.01, "warmup_jobs": 1, "warmup_settled": 0}


def test_a_job_that_has_not_finished_has_no_response(model):
    found = responses_ms(model)
    assert [found[job] for job in (0, 1, 3)] == [40.0, 50.0, 1.0]
    assert math.isnan(found[2])


def test_each_job_meets_the_earlier_tasks_that_have_not_ended():
    # Job 0 (two tasks) arrives at 0 ms, job 1 at 10, job 2 at 20 and job 3 at 35. Tasks end at 20, 40, 60, 30 and 36. A
    # task that ends when a job arrives does not count.
    assert met_in(model_of(TASKS, [2, 1, 1, 1], [0, 1, 2, 3])) == [0, 2, 2, 2]
    assert met_in(model_of(TASKS, [2, 1, 1, 1], [0, 1])) == [0, 2]


def frame(times, nodes=2):
    rows = [(float(time), node, 10 * node + place) for place, time in enumerate(times) for node in range(nodes)]
    return pd.DataFrame(rows, columns=["time_ms", "node", "tasks"])


@pytest.mark.parametrize(("count", "places"), [
    (1, [0]), (3, [0, 1, 2]), (200, range(200)),
    # Of 399 times every second is kept, of 201 all but one.
    (399, range(0, 399, 2)), (201, [*range(100), *range(101, 201)]),
])  # fmt: skip
def test_the_load_over_time_has_at_most_two_hundred_points(count, places):
    asked = []
    times = [100 * place for place in range(count)]
    measured = SimpleNamespace(frame=lambda columns: asked.append(columns) or frame(times))
    kept = load_over_time(SimpleNamespace(parts=SimpleNamespace(measurements=measured)))
    assert asked == [("time_ms", "node", "tasks")]
    assert kept["time_ms"] == [100.0 * place for place in places]
    assert kept["tasks"] == [[*places], [10 + place for place in places]]
    assert {type(value) for row in kept["tasks"] for value in row} == {int}


@pytest.mark.parametrize(("outcome", "alone_ms", "slowdowns", "responses"), [
    (KILLED, 10, [], []), (FINISHED, 0, [], [10.0] * 101), (FINISHED, 5, [2.0] * 101, [10.0] * 101),
])  # fmt: skip
def test_quantiles_are_empty_without_a_finished_job(outcome, alone_ms, slowdowns, responses):
    row = measure_run(model_of([(0, 0, 10, outcome, alone_ms)], [1], [0]))
    assert (row["slowdown_quantiles"], row["response_quantiles"]) == (slowdowns, responses)
