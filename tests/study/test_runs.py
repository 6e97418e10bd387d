"""Many runs: the same result on any number of processes, and what is finished is kept."""

from __future__ import annotations

import pytest
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study.compare import compare, with_policy
from cluster_abm.study.runner import measuring, work
from cluster_abm.study.runner.tasks import SeededRun, Where, run_all

SHORT = {"workload__duration_s": 5.0, "cluster__nodes": 2}


def tasks(count=4):
    return [SeededRun(with_policy(scenario(**SHORT), "jsq"), seed) for seed in range(1, count + 1)]


@pytest.mark.slow
def test_processes_change_nothing():
    alone = run_all(tasks(), workers=1)
    together = run_all(tasks(), workers=2)
    assert alone.finished == 4
    assert alone.rows == together.rows
    assert len({row["mean_slowdown"] for row in alone.rows}) == 4


def test_a_failing_run_is_reported_and_the_others_are_kept(monkeypatch):
    real = work.carry_out

    def sometimes(task):
        if task.seed == 2:
            raise RuntimeError("disk on fire")
        return real(task)

    monkeypatch.setattr(work, "carry_out", sometimes)
    outcome = run_all(tasks(3), workers=1)
    assert outcome.finished == 2
    assert outcome.rows[1] is None
    assert "policy jsq, seed 2" in outcome.errors[0]
    assert "disk on fire" in outcome.errors[0]


@pytest.mark.slow
def test_bad_input_is_not_a_failed_run():
    wrong = SeededRun(scenario(workload__kind="trace"), 1)
    with pytest.raises(InputError, match=r"workload\.trace\.file"):
        run_all([wrong, *tasks(1)], workers=1)
    with pytest.raises(InputError, match=r"workload\.trace\.file"):
        run_all([wrong, *tasks(1)], workers=2)


@pytest.mark.parametrize(("is_kept", "begun"), [(True, []), (False, [1, 2])])
def test_a_file_that_cannot_be_read_is_found_before_any_run_where_runs_are_kept(tmp_path, monkeypatch, is_kept, begun):
    """A run is kept under a name that depends on what its files hold; without a name it is found by the run itself."""
    wrong = SeededRun(scenario(workload__kind="trace", workload__trace__file=str(tmp_path / "gone.csv")), 2)
    seeds = []
    real = work.carry_out
    monkeypatch.setattr(work, "carry_out", lambda task: (seeds.append(task.seed), real(task))[1])
    where = Where(workers=1, folder=tmp_path / "results" if is_kept else None)
    with pytest.raises(InputError, match=r"gone\.csv"):
        run_all([*tasks(1), wrong], where=where, quiet=True)
    assert seeds == begun


def test_ctrl_c_keeps_what_is_finished(monkeypatch):
    real = work.carry_out

    def until_the_third(task):
        if task.seed == 3:
            raise KeyboardInterrupt
        return real(task)

    monkeypatch.setattr(work, "carry_out", until_the_third)
    outcome = run_all(tasks(), workers=1)
    assert outcome.interrupted
    assert outcome.finished == 2


def test_comparison_counts_only_seeds_that_all_policies_finished(monkeypatch):
    real = work.carry_out

    def interrupted(task):
        if task.seed == 3 and task.scenario.policy.name == "jsq":
            raise KeyboardInterrupt
        return real(task)

    monkeypatch.setattr(work, "carry_out", interrupted)
    found = compare(scenario(**SHORT), ["none", "jsq"], seeds=4, workers=1)
    assert found.seeds == (1, 2)
    assert len(found.runs) == 5
    document = found.as_json()
    assert document["seeds"] == [1, 2]
    assert set(document["policies"]) == {"none", "jsq"}


@pytest.mark.slow
def test_policies_meet_the_same_jobs_and_the_same_policy_twice_is_equal():
    found = compare(scenario(**SHORT), ["none", "random", "jsq"], seeds=3, workers=1)
    by_policy = found.runs.pivot_table(index="seed", columns="policy", values="disk_requests")
    assert (by_policy.nunique(axis=1) == 1).all()
    again = compare(scenario(**SHORT), ["none", "random", "jsq"], seeds=3, workers=1)
    assert found.runs.equals(again.runs)
    assert {(pair["a"], pair["b"]) for pair in found.as_json()["pairs"]} == {
        ("random", "none"), ("jsq", "none"),
    }  # fmt: skip


def test_unknown_and_repeated_policies_are_named_together():
    with pytest.raises(InputError) as caught:
        compare(scenario(**SHORT), ["jqs", "none", "none"])
    assert len(caught.value.problems) == 2
    assert "did you mean 'jsq'" in caught.value.problems[0]
    assert "named twice" in caught.value.problems[1]


def test_a_folder_keeps_what_is_finished_and_no_run_is_carried_out_twice(tmp_path, monkeypatch):
    real, carried = work.carry_out, []

    def until_the_third(task):
        carried.append(task.seed)
        if len(carried) == 3:
            raise KeyboardInterrupt
        return real(task)

    monkeypatch.setattr(work, "carry_out", until_the_third)
    where = Where("inline", folder=tmp_path / "store")
    first = run_all(tasks(), where=where)
    assert first.interrupted
    assert first.finished == first.made == 2
    second = run_all(tasks(), where=where)
    assert (second.finished, second.made) == (4, 2)
    third = run_all(tasks(), where=where)
    assert (third.finished, third.made) == (4, 0)
    assert carried == [1, 2, 3, 3, 4]
    assert second.rows == third.rows == run_all(tasks(), workers=1).rows


def test_runs_of_another_scenario_are_not_taken_for_these(tmp_path):
    where = Where("inline", folder=tmp_path / "store")
    run_all(tasks(1), where=where)
    other = [SeededRun(with_policy(scenario(**SHORT, workload__cpu_ms__mean=50.0), "jsq"), 1)]
    assert run_all(other, where=where).made == 1
    assert run_all(tasks(1), where=where).made == 0
    # The name is no part of what a run depends on.
    renamed = tasks(1)[0].scenario.model_copy(update={"name": "renamed"})
    assert run_all([SeededRun(renamed, 1)], where=where).made == 0


def test_a_failed_run_is_tried_again(tmp_path, monkeypatch):
    where = Where("inline", folder=tmp_path / "store")
    real, fails = measuring.measure_run, [True]

    def once(model, *more):
        if fails.pop() if fails else False:
            raise RuntimeError("disk on fire")
        return real(model, *more)

    monkeypatch.setattr(measuring, "measure_run", once)
    first = run_all(tasks(2), where=where)
    assert (first.finished, len(first.errors), first.exit_code) == (1, 1, 1)
    second = run_all(tasks(2), where=where)
    assert (second.finished, second.made, second.exit_code) == (2, 1, 0)


def test_an_executor_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="`--dask` needs `--executor dask`"):
        compare(scenario(**SHORT), ["none"], seeds=1, where=Where(dask="tcp://127.0.0.1:1"))
