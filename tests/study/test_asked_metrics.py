"""Metrics that are asked for by naming them: by plan, tune, studies and comparisons."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from support import scenario

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.results.asked import asked_for, better_side, is_more_better
from cluster_abm.results.metrics import place_in_json
from cluster_abm.study.design.asking_for import with_metrics
from cluster_abm.study.design.expansion import expand
from cluster_abm.study.planning.plan import PlanningQuestion
from cluster_abm.study.tuning.question import TuningQuestion
from cluster_abm.study.tuning.ranges import Over

# Jobs of 100 ms on one node each, far apart: responses of 100 ms, waits of 0.
JOBS = {
    "workload__cpu_ms": {"kind": "fixed", "mean": 100.0}, "workload__io_per_ms": {"kind": "fixed", "mean": 0.0},
    "workload__utilisation": 0.01, "workload__duration_s": 100.0, "cluster__context_switch_ms": 0.0,
}  # fmt: skip


def test_those_that_a_run_has_only_if_they_are_asked_for() -> None:
    names = ("p99_response_ms", "mean_slowdown", "response_within_300_ms", "p95_slowdown", "p99_response_ms", "nothing")
    assert asked_for(names) == ("p99_response_ms", "response_within_300_ms")


def test_the_better_side_of_a_share_within_a_limit_is_more() -> None:
    assert (better_side("response_within_300_ms"), better_side("p99_wait_ms"), better_side("migrations")) == (
        "more", "less", "",
    )  # fmt: skip
    assert is_more_better("throughput_jobs_per_s")
    assert not is_more_better("p99_wait_ms")


def test_in_json_shares_stand_in_a_table() -> None:
    assert place_in_json("response_within_300_ms") == "response_within_ms.300"
    assert place_in_json("p99_response_ms") == "p99_response_ms"


def test_those_of_the_scenario_stay() -> None:
    own = scenario(measure__metrics=("p50_wait_ms",))
    assert with_metrics(own, ["p99_wait_ms", "p50_wait_ms"]).measure.metrics == ("p50_wait_ms", "p99_wait_ms")
    assert with_metrics(own, ["mean_slowdown"]) is own


def test_a_need_is_asked_for() -> None:
    needs = ("p99.9_response_ms<=300 and response_within_300_ms>=0.95", "mean_wait_ms<=50")
    question = PlanningQuestion(scenario(), needs, "cluster.nodes", ("none",), 1, 4, 2)
    assert [str(need) for need in question.asked] == [
        "p99.9_response_ms<=300", "response_within_300_ms>=0.95", "mean_wait_ms<=50",
    ]  # fmt: skip
    asked = question.scenario_at("none", 2.0).measure.metrics
    assert asked == ("p99.9_response_ms", "response_within_300_ms")


@pytest.mark.parametrize("name", ["p100_response_ms", "p99_respons", "response_within_0_ms", "quantile_99", "median"])
def test_what_has_no_such_form(name: str) -> None:
    question = PlanningQuestion(scenario(), (f"{name}<=3",), "cluster.nodes", ("none",), 1, 4, 2)
    with pytest.raises(InputError, match=f"--need '{name}<=3': no such metric: .*p<percent>_response_ms|did you mean"):
        _ = question.asked


@pytest.mark.parametrize(("metric", "less"), [("p99_wait_ms", True), ("response_within_300_ms", False)])
def test_a_search_by_an_asked_metric(metric: str, less: bool) -> None:
    over = (Over("negotiation.remote_execution_ms", 1.0, 2.0),)
    question = TuningQuestion(scenario(policy__name="jsq"), over, 16, 2, 2, metric)
    question.check()
    assert question.less_is_better == less
    assert question.measured.measure.metrics == (metric,)


@pytest.mark.slow
def test_a_plan_by_a_quantile_and_a_share() -> None:
    """One job at a time on a CPU of speed s responds after 100/s ms: within 50 ms from a speed of 2 on."""
    found = ca.plan(
        scenario(**JOBS, cluster__nodes=4), "p99_response_ms<=50 and response_within_50_ms>=0.5", "cluster.cpu_speed",
        "none", low=1.0, high=4.0, seeds=2, workers=1, quiet=True,
    )  # fmt: skip
    value = found.values["none"]
    assert value is not None
    # Jobs that meet each other by chance wait, so that a little more than 2 is needed.
    assert 2.0 <= value <= 4.0
    points = found.frame()
    assert points.loc[points["cluster.cpu_speed"] < 2.0, "response_within_50_ms"].eq(0.0).all()
    assert points.loc[points["kept"], "p99_response_ms"].le(50.0).all()


def test_a_study_has_the_metrics_that_it_measures(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        'scenario = "quickstart"\npolicies = ["none"]\nmeasure = ["response_within_300_ms", "mean_slowdown"]\n'
        'precision_metric = "p99_wait_ms"\n'
    )
    expansion = expand(ca.load_study(path))
    asked = expansion.scenario(expansion.cells[0]).measure.metrics
    assert asked == ("response_within_300_ms", "p99_wait_ms")
    path.write_text('scenario = "quickstart"\npolicies = ["none"]\nmeasure = ["response_within_ms"]\n')
    with pytest.raises(InputError, match=r"no such metric.*response_within_<ms>_ms"):
        expand(ca.load_study(path))


@pytest.mark.slow
def test_a_comparison_has_each_with_its_interval() -> None:
    asked = ("p90_response_ms", "response_within_150_ms")
    found = ca.compare(
        scenario(**JOBS, cluster__nodes=2, measure__metrics=asked), ["none", "jsq"], seeds=3, workers=1, quiet=True
    )
    entry = found.as_json()["policies"]["jsq"]
    quantile = found.estimate("jsq", "p90_response_ms")
    assert entry["p90_response_ms"] == quantile.mean
    assert entry["p90_response_ms_ci95"] == pytest.approx(list(quantile.ci95 or ()))
    assert set(entry["response_within_ms"]) == set(entry["response_within_ms_ci95"]) == {"150"}
    share = found.runs.loc[found.runs["policy"] == "jsq", "response_within_150_ms"]
    assert entry["response_within_ms"]["150"] == pytest.approx(math.fsum(share) / 3)
    assert entry["throughput_jobs_per_s"] > 0
    assert "recorded_wait_s" not in found.as_json()


@pytest.mark.slow
def test_a_comparison_shows_the_waits_of_the_log(tmp_path: Path) -> None:
    """Two jobs of 20 and 10 ms at once, first come, first served: they wait 0 and 20 ms, and 5 and 15 in the log."""
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,recorded_wait_ms,user\n0,0,20,0,5,ann\n0,0,10,0,15,ben\n")
    found = ca.compare(
        scenario(
            workload__kind="trace", workload__trace__file=str(path), cluster__nodes=1, cluster__quantum_ms="inf",
            cluster__context_switch_ms=0.0, measure__headline="mean_wait_ms",
        ),
        ["none", "no-ls"], seeds=2, workers=1, quiet=True,
    ).as_json()  # fmt: skip
    assert found["recorded_wait_s"] == pytest.approx(
        {"jobs": 2, "mean": 0.010, "median": 0.010, "p95": 0.0145, "max": 0.015}
    )
    for policy in found["policies"].values():
        assert policy["simulated_wait_s"]["mean"] == pytest.approx(0.010)
        assert policy["simulated_wait_s"]["max"] == pytest.approx(0.020)
        # Waits of 0 and 20 ms: one of two users has all of it.
        assert policy["jain_users"] == pytest.approx(0.5)
