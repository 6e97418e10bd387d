"""Runs that are compared are measured from one instant on: the largest that MSER finds for one of them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support import busy, finished, scenario

from cluster_abm.study.compare import compare
from cluster_abm.study.runner import tasks as module
from cluster_abm.study.runner.cuts import common_beginnings_s, measured_from
from cluster_abm.study.runner.measuring import measure_run
from cluster_abm.study.runner.tasks import RunsOutcome, SeededRun, Where, run_all

MSER = {"measure__warmup": "mser", "workload__duration_s": 20.0}


def rows(*begins_s):
    return [None if begin_s is None else {"from_s": begin_s, "warmup_settled": 1} for begin_s in begins_s]


def test_runs_that_differ_in_policy_and_seed_alone_have_one_beginning():
    small, other = (scenario(**MSER, cluster__nodes=2, policy__name=name) for name in ("none", "jsq"))
    large = scenario(**MSER, cluster__nodes=3)
    found = common_beginnings_s([small, other, large, small, other], rows(1.0, 4.0, 9.0, 3.0, None))
    assert found == [4.0, 4.0, 9.0, 4.0, 4.0]


def test_runs_without_mser_and_runs_that_all_failed_have_none():
    plain, cut = scenario(cluster__nodes=2), scenario(**MSER, cluster__nodes=2)
    assert common_beginnings_s([plain, cut], [{"x": 1.0}, None]) == [None, None]


def test_a_given_beginning_takes_the_place_of_one_that_is_found():
    found = measured_from(scenario(**MSER), 7.5)
    assert (found.measure.from_s, found.measure.warmup) == (7.5, "none")
    assert found == scenario(workload__duration_s=20.0, measure__from_s=7.5)


@pytest.fixture
def passes(monkeypatch):
    """Stands in for carrying runs out: the beginnings that it finds by seed, and the tasks of each call."""

    found = SimpleNamespace(begins_s={}, calls=[], are_interrupted=False)

    def run_each(tasks, *_):
        found.calls.append(list(tasks))
        made = []
        for task in tasks:
            begin_s = found.begins_s[task.seed]
            if task.scenario.measure.warmup == "none":
                made.append({"from_s": task.scenario.measure.from_s, "second": True})
            else:
                made.append(None if begin_s is None else {"from_s": begin_s, "warmup_settled": task.seed % 2})
        return RunsOutcome(made, interrupted=found.are_interrupted, made=len(tasks))

    monkeypatch.setattr(module, "_run_each", run_each)
    return found


def here(*seeds):
    declared = scenario(**MSER)
    return run_all([SeededRun(declared, seed) for seed in seeds], where=Where("inline"), quiet=True)


def test_only_runs_that_need_less_are_carried_out_again(passes):
    passes.begins_s = {1: 2.0, 2: 5.0, 3: None, 4: 0.0}
    outcome = here(1, 2, 3, 4)
    assert [(task.seed, task.scenario.measure.from_s) for task in passes.calls[1]] == [(1, 5.0), (4, 5.0)]
    assert outcome.rows == [
        {"from_s": 5.0, "second": True, "warmup_settled": 1},
        {"from_s": 5.0, "warmup_settled": 0},
        None,
        {"from_s": 5.0, "second": True, "warmup_settled": 0},
    ]
    assert outcome.made == 6


def test_where_all_need_the_same_no_run_is_repeated(passes):
    passes.begins_s = {1: 5.0, 2: 5.0}
    assert [row["from_s"] for row in here(1, 2).rows] == [5.0, 5.0]
    assert len(passes.calls) == 1


def test_after_an_interrupt_no_row_has_a_beginning_of_its_own(passes):
    passes.begins_s, passes.are_interrupted = {1: 2.0, 2: 5.0}, True
    outcome = here(1, 2)
    assert (outcome.rows, outcome.interrupted, len(passes.calls)) == ([None, None], True, 1)


@pytest.mark.slow
def test_a_comparison_has_one_cut_and_its_numbers_are_those_from_there_on(tmp_path):
    settings = busy(workload__duration_s=60.0, measure__warmup="mser")
    declared = scenario(**settings)
    found = compare(declared, ["none", "jsq"], seeds=3, workers=1, quiet=True, out=tmp_path)
    own = [
        finished(seed=seed, **settings | {"policy__name": name}).window.from_s
        for name in ("none", "jsq")
        for seed in range(declared.run.seed, declared.run.seed + 3)
    ]
    assert len(set(own)) > 1
    assert set(found.runs["from_s"]) == {max(own)}
    cut = {"measure__warmup": "none", "measure__from_s": max(own), "policy__name": "jsq"}
    row = measure_run(finished(seed=declared.run.seed, **settings | cut))
    assert found.values("jsq", "mean_response_ms")[0] == row["mean_response_ms"]
    # Every run is kept: the same call carries none out.
    again = compare(declared, ["none", "jsq"], seeds=3, workers=1, quiet=True, out=tmp_path)
    assert again.outcome.made == 0
    assert again.as_json() == found.as_json()
