"""Runs that are carried out at once have one thread each; results do not depend on threads."""

from __future__ import annotations

from studies import study

from cluster_abm.scenario import load_scenario
from cluster_abm.study.batch import run_batch
from cluster_abm.study.compare import compare
from cluster_abm.study.runner import one_run, work
from cluster_abm.study.runner.executors import open_executor


def test_runs_carried_out_at_once_have_one_thread_each(tmp_path, monkeypatch):
    """The assignments of a batch by its executor; its runs themselves by what they are given."""
    given = []

    def noted(assignment):
        given.append(assignment.scenario.run.threads)
        return one_run.carry_out(assignment)

    monkeypatch.setattr(work, "carry_out", noted)
    (tmp_path / "own").mkdir()
    own = study(tmp_path / "own", policies=["none"], overrides={"run.threads": 3})
    assert run_batch(own, tmp_path / "inline", "inline", quiet=True).finished == 6
    assert given == [3] * 6
    with monkeypatch.context() as patch:
        patch.setattr("cluster_abm.study.runner.executors.inline.InlineExecutor.is_alone", False)
        assert run_batch(own, tmp_path / "others", "inline", quiet=True).finished == 6
    assert given[6:] == [1] * 6
    # Results in one folder, whatever number of threads they were asked for with.
    assert run_batch(study(tmp_path / "own", policies=["none"]), tmp_path / "inline", "inline", quiet=True).made == 0


def test_several_processes_are_not_alone():
    with open_executor("process", 2) as executor:
        assert not executor.is_alone
    with open_executor("inline") as executor:
        assert executor.is_alone


def test_comparisons_do_not_depend_on_them():
    overrides = {"cluster.nodes": 3, "workload.duration_s": 3.0}
    documents = [
        compare(load_scenario("cpu-bound", {**overrides, "run.threads": threads}), ["none", "jsq"], 2, 1, quiet=True)
        for threads in (1, 2)
    ]
    assert documents[0].runs.equals(documents[1].runs)
