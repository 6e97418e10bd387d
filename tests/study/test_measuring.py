"""What a study keeps of a run, against the run itself."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from support import busy, finished

from cluster_abm.model.observing.measured_window import tasks_met
from cluster_abm.study.runner.measuring import load_over_time, measure_run


@pytest.fixture(scope="module")
def model():
    return finished(seed=3, **busy(workload__duration_s=60.0))


def test_a_row_has_every_metric_once_and_flat(model):
    row, summary = measure_run(model), model.summary()
    assert row["mean_slowdown"] == summary["metrics"]["mean_slowdown"]
    assert row["breakdown_ms.paging"] == summary["metrics"]["breakdown_ms"]["paging"]
    assert row["jobs.finished"] == summary["jobs"]["finished"]
    assert not any(isinstance(value, dict) for value in row.values())
    assert pickle.loads(pickle.dumps(row)) == row
    assert "warmup_jobs" not in row


def test_quantiles_are_those_of_the_jobs(model):
    """A job's slowdown is the mean over its tasks, its response from its submission to its last end."""
    row, jobs = measure_run(model), model.jobs_frame().groupby("job")
    slowdowns = jobs.slowdown.mean()
    responses = jobs.finish_ms.max() - jobs.arrival_ms.min()
    assert len(row["slowdown_quantiles"]) == 101
    assert row["slowdown_quantiles"][0] == pytest.approx(slowdowns.min())
    assert row["slowdown_quantiles"][50] == pytest.approx(slowdowns.median())
    assert row["slowdown_quantiles"][100] == pytest.approx(slowdowns.max())
    assert row["slowdown_quantiles"][95] == pytest.approx(row["p95_slowdown"])
    assert row["response_quantiles"][75] == pytest.approx(responses.quantile(0.75))


def test_tasks_met_counted_one_by_one(model):
    frame = model.jobs_frame()
    arrivals = frame.groupby("job").arrival_ms.min().sort_values()
    counted = [int(((frame.arrival_ms < at) & (frame.finish_ms > at)).sum()) for at in arrivals]
    assert tasks_met(model.engine, model.parts.submissions.schedule).tolist() == counted


CROWDED = {
    "seed": 2, "cluster__nodes": 8, "workload__utilisation": 0.6, "workload__duration_s": 300.0,
    "workload__cpu_ms__mean": 200.0,
}  # fmt: skip


def test_after_the_warm_up_the_means_are_over_the_jobs_that_are_left():
    crowded = finished(**CROWDED, measure__warmup="mser")
    row = measure_run(crowded)
    cut = row["warmup_jobs"]
    assert cut % 5 == 0
    assert 0 < cut < row["jobs.finished"] / 2
    assert row["warmup_settled"] == 1
    frame = crowded.jobs_frame()
    left = frame[frame.job.isin(frame.groupby("job").arrival_ms.min().sort_values().index[cut:])]
    assert row["mean_slowdown"] == pytest.approx(left.slowdown.mean())
    assert row["mean_response_ms"] == pytest.approx(left.response_ms.mean())
    assert row["breakdown_ms.cpu_queue"] == pytest.approx(left.cpu_queue_ms.mean())
    assert row["slowdown_quantiles"][50] == pytest.approx(left.slowdown.median())
    whole = measure_run(finished(**CROWDED))
    assert row["cpu_utilisation"] == whole["cpu_utilisation"]
    assert row["mean_slowdown"] != whole["mean_slowdown"]


def test_without_jobs_there_is_nothing_to_average():
    row = measure_run(
        finished(workload__utilisation=None, workload__jobs=3, run__until=10.0, workload__cpu_ms__mean=9e5)
    )
    assert math.isnan(row["mean_slowdown"])
    assert row["slowdown_quantiles"] == []


def test_load_over_time_is_small_and_what_was_measured():
    long = finished(workload__duration_s=60.0, measure__period_ms=100.0)
    kept = load_over_time(long)
    assert len(kept["time_ms"]) == 200
    assert np.array(kept["tasks"]).shape == (4, 200)
    assert sorted(kept["time_ms"]) == kept["time_ms"]
    frame = long.nodes_frame().set_index(["node", "time_ms"]).tasks
    assert kept["time_ms"][-1] == long.nodes_frame().time_ms.max()
    for place in (0, 77, 199):
        assert [row[place] for row in kept["tasks"]] == [frame[node, kept["time_ms"][place]] for node in range(4)]
