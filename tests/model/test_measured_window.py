"""Jobs that arrive before measure.from_s, or in the warm-up, are left out of the metrics of jobs."""

from __future__ import annotations

import pytest
from support import busy, finished, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.study.runner.measuring import measure_run

# Jobs of 10, 20, 30 and 40 ms, one each second, alone on their node: responses are what they compute.
ALONE = "arrival_ms,home,cpu_ms\n" + "".join(f"{1000 * k},0,{10 * (k + 1)}\n" for k in range(4))


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(ALONE, encoding="utf-8")
    return {
        "cluster__nodes": 1, "cluster__context_switch_ms": 0.0, "run__until": 4000.0, "workload__kind": "trace",
        "workload__trace__file": str(path),
    }  # fmt: skip


@pytest.mark.parametrize("records", ["all", "summary"])
@pytest.mark.parametrize(
    ("from_s", "left_out", "mean_ms"),
    # A job that arrives at the beginning of the window is in it.
    [(0.5, 1, 30.0), (1.0, 1, 30.0), (1.000000001, 2, 35.0), (3.0, 3, 40.0)],
)
def test_jobs_before_the_window_are_left_out(log, records, from_s, left_out, mean_ms):
    model = finished(**log, measure__from_s=from_s, measure__records=records)
    summary = model.summary()
    found = summary["metrics"]
    assert found["mean_response_ms"] == pytest.approx(mean_ms)
    assert found["breakdown_ms"]["cpu"] == pytest.approx(mean_ms)
    assert (summary["from_s"], summary["warmup"]) == (from_s, "none")
    assert (found["from_s"], found["warmup_jobs"]) == (from_s, left_out)
    # What is not about jobs is of the whole run: 100 ms of CPU in 4 s.
    assert summary["jobs"]["finished"] == 4
    assert found["cpu_utilisation"] == pytest.approx(0.025)
    assert measure_run(model)["response_quantiles"][0] == pytest.approx(10.0 * (left_out + 1), rel=0.01)


def test_without_a_window_nothing_is_left_out(log):
    summary = finished(**log).summary()
    assert (summary["from_s"], summary["warmup"]) == (0.0, "none")
    assert summary["metrics"]["mean_response_ms"] == pytest.approx(25.0)
    assert "from_s" not in summary["metrics"]


def test_with_both_the_later_beginning_counts():
    settings = busy(workload__duration_s=60.0)
    own = finished(seed=3, **settings, measure__warmup="mser").summary()["from_s"]
    assert 0.0 < own < 40.0
    for given, begins in ((own / 2, own), (40.0, 40.0)):
        summary = finished(seed=3, **settings, measure__warmup="mser", measure__from_s=given).summary()
        assert summary["from_s"] == pytest.approx(begins)


def test_a_window_of_the_found_beginning_gives_the_same_numbers():
    settings = busy(workload__duration_s=60.0)
    found = finished(seed=3, **settings, measure__warmup="mser").summary()
    given = finished(seed=3, **settings, measure__from_s=found["from_s"]).summary()
    assert found["metrics"].pop("warmup_settled") in (0, 1)
    assert given["metrics"] == found["metrics"]


def test_a_window_without_a_job_is_refused(log):
    with pytest.raises(InputError, match=r"measure\.from_s 3\.5: the last job arrives at 3 s"):
        ClusterModel(scenario(**log, measure__from_s=3.5))
    with pytest.raises(InputError, match=r"measure\.from_s 60: must be below workload\.duration_s, which is 60 s"):
        scenario(workload__duration_s=60.0, measure__from_s=60.0)
    with pytest.raises(InputError, match=r"measure\.from_s 9: must be below run\.until, which is 8 s"):
        scenario(run__until=8000.0, measure__from_s=9.0)


def test_mser_needs_the_rows():
    with pytest.raises(InputError, match=r'measure\.warmup "mser".*measure\.records "all", or measure\.from_s'):
        scenario(measure__warmup="mser", measure__records="summary")
