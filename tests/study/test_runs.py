"""Many runs: the same result on any number of processes, and what is finished is kept."""

from __future__ import annotations

import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study import runs
from cluster_abm.study.compare import compare, with_policy
from cluster_abm.study.runs import Task, run_all

SHORT = {"workload__duration_s": 5.0, "cluster__nodes": 2}


def tasks(count=4):
    return [Task(with_policy(scenario(**SHORT), "jsq"), seed) for seed in range(1, count + 1)]


def test_processes_change_nothing():
    alone = run_all(tasks(), workers=1)
    together = run_all(tasks(), workers=2)
    assert alone.finished == 4
    assert alone.summaries == together.summaries
    assert [summary["seed"] for summary in together.summaries] == [1, 2, 3, 4]


def test_a_failing_run_is_reported_and_the_others_are_kept(monkeypatch):
    real = runs.run_one

    def sometimes(task):
        if task.seed == 2:
            raise RuntimeError("disk on fire")
        return real(task)

    monkeypatch.setattr(runs, "run_one", sometimes)
    outcome = run_all(tasks(3), workers=1)
    assert outcome.finished == 2
    assert outcome.summaries[1] is None
    assert "policy jsq, seed 2" in outcome.errors[0]
    assert "disk on fire" in outcome.errors[0]


def test_bad_input_is_not_a_failed_run():
    wrong = Task(scenario(workload__kind="trace"), 1)
    with pytest.raises(InputError, match=r"workload\.trace\.file"):
        run_all([wrong, *tasks(1)], workers=1)
    with pytest.raises(InputError, match=r"workload\.trace\.file"):
        run_all([wrong, *tasks(1)], workers=2)


def test_ctrl_c_keeps_what_is_finished(monkeypatch):
    real = runs.run_one

    def until_the_third(task):
        if task.seed == 3:
            raise KeyboardInterrupt
        return real(task)

    monkeypatch.setattr(runs, "run_one", until_the_third)
    outcome = run_all(tasks(), workers=1)
    assert outcome.interrupted
    assert outcome.finished == 2


def test_comparison_counts_only_seeds_that_all_policies_finished(monkeypatch):
    real = runs.run_one

    def interrupted(task):
        if task.seed == 3 and task.scenario.policy.name == "jsq":
            raise KeyboardInterrupt
        return real(task)

    monkeypatch.setattr(runs, "run_one", interrupted)
    found = compare(scenario(**SHORT), ["none", "jsq"], seeds=4, workers=1)
    assert found.seeds == (1, 2)
    assert len(found.runs) == 5
    document = found.as_json()
    assert document["seeds"] == [1, 2]
    assert set(document["policies"]) == {"none", "jsq"}


def test_policies_meet_the_same_jobs_and_the_same_policy_twice_is_equal():
    found = compare(scenario(**SHORT), ["none", "random", "jsq"], seeds=3, workers=1)
    by_policy = found.runs.pivot_table(index="seed", columns="policy", values="disk_requests")
    assert (by_policy.nunique(axis=1) == 1).all()
    again = compare(scenario(**SHORT), ["none", "random", "jsq"], seeds=3, workers=1)
    assert found.runs.equals(again.runs)
    assert {(pair["a"], pair["b"]) for pair in found.as_json()["pairs"]} == {
        ("none", "random"), ("none", "jsq"), ("random", "jsq"),
    }  # fmt: skip


def test_unknown_and_repeated_policies_are_named_together():
    with pytest.raises(InputError) as caught:
        compare(scenario(**SHORT), ["jqs", "none", "none"])
    assert len(caught.value.problems) == 2
    assert "did you mean 'jsq'" in caught.value.problems[0]
    assert "named twice" in caught.value.problems[1]
