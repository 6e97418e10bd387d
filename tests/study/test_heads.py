"""What stands above the tables of comparisons, plans, searches, arenas and batches."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from studies import study
from support import scenario

from cluster_abm.study import heads as module
from cluster_abm.study.heads import estimated_by_runs, head_lines, study_heads
from cluster_abm.study.planning.bracketing import Crossing
from cluster_abm.study.planning.needs import judged, needs_of
from cluster_abm.study.planning.plan import Planned, PlanningQuestion
from cluster_abm.study.results_folder import StoredStudy
from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.tuning.question import TuningQuestion
from cluster_abm.study.tuning.ranges import Over
from cluster_abm.study.tuning.tune import _with_one_cut
from cluster_abm.workload.laws.estimated import estimated

# M/M/1, E[S] = 1 s, with a relaxation time of 8 s at half load.
QUEUE = {
    "cluster__nodes": 1, "workload__jobs_per_s": 0.5, "workload__utilisation": None, "workload__duration_s": 400.0,
    "workload__cpu_ms": {"kind": "exponential", "mean": 1000.0},
}  # fmt: skip


def test_runs_of_which_some_failed_have_their_beginning():
    runs = pd.DataFrame({"from_s": [40.0, math.nan, 8.0], "warmup_settled": [0.0, math.nan, 1.0]})
    found = estimated_by_runs(scenario(**QUEUE, measure__warmup="mser"), runs)
    assert (found.from_s, found.unsettled) == ((8.0, 40.0), 1)
    assert found.words[0] == "estimated: from 8 to 40 s on (mser), 45 relaxation times"
    plain = estimated_by_runs(scenario(**QUEUE), pd.DataFrame({"mean_slowdown": [2.0, 3.0]}))
    assert plain.words == ["estimated: the window from empty to empty, 50 relaxation times"]


def test_that_a_mean_does_not_exist_is_said_of_the_mean_slowdown_alone():
    declared = scenario(**QUEUE)
    found = estimated_by_runs(declared, pd.DataFrame({"seed": [1]}))
    assert head_lines(found, [declared], ["p95_slowdown"])[:-2] == found.words
    *words, last = head_lines(found, [declared], ["p95_slowdown", "mean_slowdown"])[:-2]
    assert words == found.words
    assert last.startswith("mean slowdown has no mean here")


def point(at, from_s, unsettled=0):
    (need,) = needs_of(["mean_response_ms<=3000"], frozenset(["mean_response_ms"]))
    made = judged([need], at, {"mean_response_ms": Estimate(2000.0, (1900.0, 2100.0))})
    return made.__class__(**vars(made) | {"from_s": from_s, "unsettled": unsettled})


def test_a_plan_estimates_at_the_values_that_it_found():
    """At 0.5 jobs/s 8 s, at 0.2 jobs/s 2 x 0.2 x 2/0.64 = 1.25 s; cut at 80 and at 40 s."""
    question = PlanningQuestion(
        scenario(**QUEUE, measure__warmup="mser"), ("mean_response_ms<=3000",), "workload.jobs_per_s", ("none", "jsq"),
        0.1, 0.9,
    )  # fmt: skip
    values = {"none": point(0.5, 80.0, unsettled=2), "jsq": point(0.2, 40.0)}
    crossings = {name: Crossing("most", one.value, None, None, (one,)) for name, one in values.items()}
    found = Planned(question, crossings, runs=4, made=4).estimated
    assert (found.from_s, found.unsettled) == ((40.0, 80.0), 2)
    assert found.times == (pytest.approx(320 / 8), pytest.approx(360 / 1.25))


def test_a_search_is_measured_from_where_the_defaults_have_settled():
    declared = scenario(**QUEUE, measure__warmup="mser", policy__name="wal-re")
    question = TuningQuestion(declared, (Over("cluster.exchange_period_ms", 10.0, 5000.0),), budget=20, seeds=3)
    asked = []

    def runs(pairs):
        asked.extend(pairs)
        return [{"from_s": 4.0, "warmup_settled": 1}, None, {"from_s": 8.0, "warmup_settled": 0}]

    searched, window = _with_one_cut(question, runs)
    assert asked == [(declared, seed) for seed in question.seeds_used]
    assert (searched.scenario.measure.from_s, searched.scenario.measure.warmup) == (8.0, "none")
    assert (window.from_s, window.unsettled) == ((4.0, 8.0), 1)
    plain = TuningQuestion(scenario(**QUEUE), question.overs, budget=20, seeds=3)
    assert _with_one_cut(plain, runs)[0] is plain
    assert len(asked) == 3


def test_points_of_a_study_stand_for_all(tmp_path, monkeypatch):
    asked = study(tmp_path, grid=None, policies=["none"], measure=["mean_slowdown"])
    points = [{"workload.utilisation": at / 100} for at in range(1, 80)]
    seen = []

    def found(runs):
        seen.extend(one.workload.utilisation for one, _ in runs)
        return estimated(runs[:1])

    monkeypatch.setattr(module, "estimated", found)
    lines = study_heads(StoredStudy(asked, "code", points, [], {}), pd.DataFrame({"point": [0]}))
    assert (len(seen), seen[0], seen[-1]) == (module.MOST_LOOKED_AT, 0.01, 0.79)
    assert seen == sorted(set(seen))
    assert lines[0].startswith("estimated: the window from empty to empty")


def test_without_the_scenario_of_a_study_there_is_no_head(tmp_path):
    asked = study(tmp_path, policies=["none"]).model_copy(update={"scenario": "gone.toml"})
    assert study_heads(StoredStudy(asked, "code", [{}], [], {}), pd.DataFrame({"point": [0]})) == []


@pytest.mark.parametrize(("values", "is_said"), [
    ({"none": [3.0, 4.0], "jsq": [2.0, 2.0]}, True),
    # One seed, one run that did not fail, and the same run from every seed: no intervals.
    ({"none": [3.0], "jsq": [2.0]}, False),
    ({"none": [3.0, None]}, False),
    ({"none": [3.0, 3.0], "jsq": [2.0, 2.0]}, False),
])  # fmt: skip
def test_intervals_are_said_to_be_about_a_log_where_there_are_some(tmp_path, values, is_said):
    (tmp_path / "log.csv").write_text("arrival_ms,cpu_ms\n0,5\n9,5\n")
    asked = study(tmp_path, grid=None, policies=["none", "jsq"], measure=["mean_response_ms"])
    declared = f'[cluster]\nnodes = 2\n[workload]\nkind = "trace"\n[workload.trace]\nfile = "{tmp_path}/log.csv"\n'
    (tmp_path / "of_log.toml").write_text(declared)
    asked = asked.model_copy(update={"scenario": str(tmp_path / "of_log.toml")})
    rows = [
        {"point": 0, "policy": policy, "seed": seed, "status": "failed" if value is None else "finished", "it": value}
        for policy, each in values.items()
        for seed, value in enumerate(each)
    ]
    lines = study_heads(StoredStudy(asked, "code", [{}], [], {}), pd.DataFrame(rows))
    assert lines
    assert ("intervals over seeds are about this log" in lines) == is_said
