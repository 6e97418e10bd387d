"""Batches: every run once, what is there is kept, what fails is told, and the table is the same whatever happened."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import weakref
from collections import Counter
from concurrent.futures import Future
from contextlib import contextmanager

import pandas as pd
import pytest
from studies import study, study_path

from cluster_abm import load_results
from cluster_abm.errors import InputError
from cluster_abm.study import batch as batch_module
from cluster_abm.study.batch import run_batch
from cluster_abm.study.design import fingerprint
from cluster_abm.study.design.expansion import expand
from cluster_abm.study.report.study_loads import loads_over_time
from cluster_abm.study.runner import one_run
from cluster_abm.study.runner.executors import BatchExecutor, WorkerLost
from cluster_abm.study.runner.wanted import known_values
from cluster_abm.study.statistics.precision import enough
from cluster_abm.study.status import status_of
from cluster_abm.study.store import durable
from cluster_abm.study.store.leases import Leases
from cluster_abm.study.store.setting_aside import set_aside
from cluster_abm.study.store.store import Record, Store


def run(folder, **changes):
    """The study of 12 tiny runs, here."""
    return run_batch(study(folder / "study", **changes), folder / "out", "inline", quiet=True)


@contextmanager
def failing(monkeypatch, fails):
    """Runs for which `fails(scenario, seed)` raise."""
    real = one_run.finished_model

    def sometimes(scenario, seed, watched=False):
        if fails(scenario, seed):
            raise RuntimeError(f"disk on fire\nat seed {seed}")
        return real(scenario, seed, watched)

    with monkeypatch.context() as patch:
        patch.setattr(one_run, "finished_model", sometimes)
        yield


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    assert run(folder).made == 12
    return load_results(folder / "out")


def test_the_table_has_a_row_a_run_with_its_point(undisturbed):
    assert list(undisturbed.columns[:6]) == ["point", "workload.utilisation", "policy", "seed", "status", "error"]
    cells = [(p, u, policy) for p, u in ((0, 0.3), (1, 0.6)) for policy in ("none", "jsq")]
    rows = undisturbed[["point", "workload.utilisation", "policy", "seed"]].to_numpy().tolist()
    assert rows == [[*cell, seed] for cell in cells for seed in (1, 2, 3)]
    assert set(undisturbed["status"]) == {"finished"}
    assert (undisturbed["mean_slowdown"] >= 1).all()
    # Common random numbers: what comes does not depend on the policy, and does on the seed.
    by_seed = undisturbed.groupby(["point", "seed"])["jobs.submitted"].nunique()
    assert (by_seed == 1).all()


def test_a_run_is_what_the_model_alone_gives(undisturbed, tmp_path):
    from cluster_abm import ClusterModel

    model = ClusterModel(
        study_path(tmp_path).parent / "tiny-cluster.toml", 2, workload__utilisation=0.6, policy__name="jsq"
    )
    model.run()
    row = undisturbed.query("point == 1 and policy == 'jsq' and seed == 2").iloc[0]
    summary = model.summary()
    for metric in ("mean_slowdown", "mean_response_ms", "cpu_utilisation", "makespan_ms"):
        assert row[metric] == summary["metrics"][metric]
    assert row["breakdown_ms.cpu_queue"] == summary["metrics"]["breakdown_ms"]["cpu_queue"]
    assert row["jobs.finished"] == summary["jobs"]["finished"]


@pytest.mark.slow
def test_a_second_call_runs_nothing_and_a_larger_study_only_what_is_new(tmp_path, undisturbed):
    assert run(tmp_path).made == 12
    assert run(tmp_path).made == 0
    assert run(tmp_path, replications=4).made == 4
    assert run(tmp_path, replications=4, policies=["none", "jsq", "random"]).made == 8
    # And back: the seeds and policies that are asked for no more are kept, and not counted.
    assert run(tmp_path).made == 0
    pd.testing.assert_frame_equal(load_results(tmp_path / "out"), undisturbed)
    assert status_of(tmp_path / "out").others == 12


def test_the_load_over_time_is_kept_of_the_first_seed(tmp_path):
    run(tmp_path)
    loads = loads_over_time(tmp_path / "out")
    assert [load[:3] for load in loads] == [(0, "none", 1), (0, "jsq", 1), (1, "none", 1), (1, "jsq", 1)]
    assert all(len(row) == len(load["time_ms"]) for *_, load in loads for row in load["tasks"])
    assert all(len(load["tasks"]) == 2 for *_, load in loads)


def test_points_that_come_to_the_same_share_their_runs(tmp_path):
    points = [{"cluster.nodes": 2}, {"workload.utilisation": 0.5}]
    assert run(tmp_path, grid=None, points=points).made == 6
    found = load_results(tmp_path / "out")
    assert Counter(found["point"]) == {0: 6, 1: 6}
    assert found[found["point"] == 0]["mean_slowdown"].tolist() == found[found["point"] == 1]["mean_slowdown"].tolist()


def test_a_failed_run_is_recorded_and_tried_again(tmp_path, monkeypatch, undisturbed):
    with failing(monkeypatch, lambda scenario, seed: scenario.policy.name == "jsq" and seed == 2):
        outcome = run(tmp_path)
    assert outcome.made == 12
    assert outcome.finished == 10
    assert [record.error for record in outcome.failed] == ["RuntimeError: disk on fire at seed 2"] * 2
    status = status_of(tmp_path / "out")
    assert (status.finished, status.failed, status.missing) == (10, 2, 0)
    assert [(one["point"], one["policy"], one["seed"]) for one in status.failures] == [(0, "jsq", 2), (1, "jsq", 2)]
    assert "in sometimes" in status.failures[0]["traceback"]
    found = load_results(tmp_path / "out")
    failed = found[found["status"] == "failed"]
    assert failed[["point", "policy", "seed"]].to_numpy().tolist() == [[0, "jsq", 2], [1, "jsq", 2]]
    assert failed["mean_slowdown"].isna().all()
    assert len(found) == 12
    kept = run_batch(study(tmp_path / "study"), tmp_path / "out", "inline", keep_failed=True, quiet=True)
    assert (kept.made, len(kept.failed)) == (0, 2)
    assert run(tmp_path).made == 2
    pd.testing.assert_frame_equal(load_results(tmp_path / "out"), undisturbed)


def test_where_every_run_failed_there_still_is_a_table(tmp_path, monkeypatch):
    with failing(monkeypatch, lambda scenario, seed: True):
        run(tmp_path)
    found = load_results(tmp_path / "out")
    assert len(found) == 12
    assert set(found["status"]) == {"failed"}


@pytest.mark.slow
@pytest.mark.parametrize("what", ["run", "part"])
def test_what_is_damaged_is_told_set_aside_and_run_again(tmp_path, undisturbed, what, capsys):
    run(tmp_path)
    store = Store(tmp_path / "out")
    if what == "part":
        store.compact(1)
    path = next((store.segments if what == "part" else store.runs).iterdir())
    data = path.read_bytes()
    path.write_bytes(data[:-3])
    status = status_of(tmp_path / "out")
    lost = 12 if what == "part" else 1
    assert (status.missing, len(status.damaged)) == (lost, 1)
    assert str(path) in status.damaged[0]
    outcome = run_batch(study(tmp_path / "study"), tmp_path / "out", "inline")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{path}: damaged" in captured.err
    assert outcome.made == lost
    assert (tmp_path / "out" / "damaged" / path.name).read_bytes() == data[:-3]
    # What is mended is damaged no more.
    status = status_of(tmp_path / "out")
    assert (status.damaged, status.set_aside) == ([], 1)
    pd.testing.assert_frame_equal(load_results(tmp_path / "out"), undisturbed)


@pytest.mark.slow
def test_parts_are_made_on_the_way(tmp_path, monkeypatch, undisturbed):
    monkeypatch.setattr(Store, "runs_a_segment", 5)
    run(tmp_path)
    store = Store(tmp_path / "out")
    assert len(list(store.segments.iterdir())) == 2
    assert len(list(store.runs.iterdir())) < 5
    pd.testing.assert_frame_equal(load_results(tmp_path / "out"), undisturbed)
    assert run(tmp_path).made == 0


@pytest.mark.slow
def test_results_of_other_code_do_not_count(tmp_path, monkeypatch):
    run(tmp_path)
    monkeypatch.setattr(fingerprint, "result_version", lambda: "0.0.9-0123456789abcdef")
    assert status_of(tmp_path / "out").finished == 12
    assert run(tmp_path).made == 12
    assert len(load_results(tmp_path / "out")) == 12
    assert status_of(tmp_path / "out").others == 12


class Here(BatchExecutor):
    """Nothing of it stays behind."""

    window = 1

    def abandon(self):
        pass


class Unreliable(Here):
    """Loses the worker of a run again and again, before it carries it out here."""

    def __init__(self, times):
        self.left = Counter()
        self.times = times

    def submit(self, function, /, *assignments):
        future = Future()
        names = [(assignment.key, assignment.seed) for assignment in assignments]
        self.left.update(names)
        if any(self.left[name] <= self.times for name in names):
            future.set_exception(WorkerLost("killed by signal 9"))
        else:
            future.set_result(function(*assignments))
        return future


@pytest.mark.slow
@pytest.mark.parametrize(("losses", "failed"), [(3, 0), (4, 12)])
def test_a_run_whose_worker_is_lost_is_tried_three_times_more(tmp_path, monkeypatch, undisturbed, losses, failed):
    @contextmanager
    def unreliable(*_):
        yield Unreliable(losses)

    monkeypatch.setattr(batch_module, "open_executor", unreliable)
    outcome = run(tmp_path)
    assert len(outcome.failed) == failed
    if failed:
        assert "lost 4 times; the last time: killed by signal 9" in outcome.failed[0].error
    else:
        pd.testing.assert_frame_equal(load_results(tmp_path / "out"), undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("problem", [SystemExit(3), TypeError("cannot pickle")])
def test_what_an_executor_raises_for_a_run_fails_that_run_only(tmp_path, monkeypatch, problem):
    class Refusing(Here):
        def submit(self, function, /, *assignments):
            future = Future()
            if any(assignment.seed == 2 for assignment in assignments):
                future.set_exception(problem)
            else:
                future.set_result(function(*assignments))
            return future

    @contextmanager
    def refusing(*_):
        yield Refusing()

    monkeypatch.setattr(batch_module, "open_executor", refusing)
    outcome = run(tmp_path)
    assert outcome.finished == 8
    assert {record.seed for record in outcome.failed} == {2}
    assert outcome.failed[0].error == f"{type(problem).__name__}: {problem}"


@pytest.mark.slow
def test_a_disk_that_is_full_leaves_nothing_half_written(tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    run(tmp_path)
    monkeypatch.setattr(durable.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        run(tmp_path, replications=4)
    monkeypatch.undo()
    assert list((tmp_path / "out" / "tmp").iterdir()) == []
    assert len(Store(tmp_path / "out").contents().finished) == 12
    assert run(tmp_path, replications=4).made == 4


def test_a_finished_run_leaves_nothing_in_memory(tmp_path):
    """Not even until the collector of circles comes by; and Mesa 3.3 would keep every model that ever was."""
    expansion = expand(study(tmp_path))
    gc.disable()
    try:
        with one_run.finished_model(expansion.scenario(expansion.cells[0]), 1) as model:
            there = [weakref.ref(model), weakref.ref(model.engine), *map(weakref.ref, model.agents)]
        del model
        assert len(there) > 3
        assert [ref() for ref in there if ref() is not None] == []
    finally:
        gc.enable()


@pytest.mark.slow
def test_seeds_are_added_until_the_interval_is_narrow(tmp_path):
    asked = {"replications": 5, "precision": 0.15, "max_replications": 24}
    run(tmp_path, **asked)
    found = load_results(tmp_path / "out")
    counts = []
    for _, cell in found.groupby(["point", "policy"]):
        values = cell.sort_values("seed")["bounded_slowdown"].tolist()
        counts.append(len(values))
        assert enough(values, 0.15) or len(values) == 24
        assert len(values) == 5 or not enough(values[:5], 0.15)
    assert len(set(counts)) > 1
    assert status_of(tmp_path / "out").missing == 0
    # From the values alone it follows how many there are: a batch in two halves comes to the same.
    other = tmp_path / "halves"
    run(other)
    run(other, **asked)
    pd.testing.assert_frame_equal(load_results(other / "out"), found)
    assert run(other, **asked).made == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "opened"),
    [
        ({"replications": 6}, ("inline", None)),
        ({"replications": 6, "precision": 0.001, "max_replications": 6}, ("inline", None)),
        # One run now, and from what it comes to follow others.
        ({"replications": 6, "precision": 0.001, "max_replications": 7}, ("process", 2)),
        ({"replications": 6, "precision": 0.001}, ("process", 8)),
    ],
)
def test_processes_are_as_many_as_the_runs_that_may_still_come(tmp_path, monkeypatch, more, opened):
    one = {"grid": None, "policies": ["none"]}
    run(tmp_path, **one, replications=5)
    asked = []

    def noted(kind, workers, *_):
        asked.append((kind, workers))
        raise KeyboardInterrupt

    monkeypatch.setattr(batch_module, "open_executor", noted)
    run_batch(study(tmp_path / "study", **one, **more), tmp_path / "out", "process", 8, quiet=True)
    assert asked == [opened]


@pytest.mark.slow
def test_what_is_shown_is_what_counts_when_less_precision_is_asked_for(tmp_path):
    """Runs that a finer precision made are kept and not counted: table, status and report say the same."""
    coarse = {"replications": 5, "precision": 0.6, "max_replications": 24}
    run(tmp_path / "quiet", **coarse)
    quiet = load_results(tmp_path / "quiet" / "out")
    run(tmp_path, **coarse | {"precision": 0.15})
    assert len(load_results(tmp_path / "out")) > len(quiet)
    assert run(tmp_path, **coarse).made == 0
    pd.testing.assert_frame_equal(load_results(tmp_path / "out"), quiet)
    status = status_of(tmp_path / "out")
    assert (status.expected, status.finished) == (len(quiet), len(quiet))
    assert status.others > 0


def test_precision_of_a_metric_that_is_not_runs_nothing(tmp_path):
    with pytest.raises(InputError, match="precision_metric = 'mean_slowdwn': no such metric; did you mean 'mean_slow"):
        run(tmp_path, precision=0.1, precision_metric="mean_slowdwn")
    assert not (tmp_path / "out").exists()


def test_a_finished_run_without_the_watched_metric_is_no_failed_one(tmp_path):
    asked = {"replications": 5, "precision": 0.5, "max_replications": 24}
    store = Store(tmp_path / "out")
    store.prepare()
    expansion = expand(study(tmp_path / "study", **asked))
    for cell in expansion.cells:
        store.add(Record(cell.key, 1, {"migrations": 3}))
    with pytest.raises(InputError, match=r"precision_metric = 'bounded_slowdown': run .* has no such metric"):
        known_values(expansion.study, [cell.key], store.contents(), ())
    # A study without precision need not have it.
    assert known_values(study(tmp_path / "study"), [cell.key], store.contents(), ()) == {cell.key: {1: None}}


def test_what_another_process_has_mended_is_not_set_aside(tmp_path):
    """Both have found it damaged; the first has moved it and made it anew when the second comes to move it."""
    run(tmp_path)
    store = Store(tmp_path / "out")
    path = next(store.runs.iterdir())
    sound = path.read_bytes()
    path.write_bytes(sound[:-3])
    damaged = store.contents().damaged
    with Leases(store.folder) as first, Leases(store.folder) as second:
        assert len(set_aside(store, first, damaged, quiet=True)) == 1
        assert first.claim(path.stem)
        # It is at it: its run is in flight.
        assert set_aside(store, second, damaged, quiet=True) == []
        path.write_bytes(sound)
        first.release(path.stem)
        assert set_aside(store, second, damaged, quiet=True) == []
    assert path.read_bytes() == sound
    assert [kept.name for kept in (store.folder / "damaged").iterdir()] == [path.name]
    assert list((store.folder / "claims").iterdir()) == []


def test_a_folder_is_for_one_study(tmp_path):
    run(tmp_path)
    with pytest.raises(InputError, match="holds results of the study 'tiny', not 'another'"):
        run(tmp_path, name="another")
    with pytest.raises(InputError, match="no results of a study"):
        load_results(tmp_path)


# Each claims its first run, and waits for the other to have done so before it begins it.
TWO_AT_ONCE = """
import os, sys, time
from pathlib import Path
from cluster_abm.study import batch
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.runner import work
study, out, meeting = sys.argv[1], sys.argv[2], Path(sys.argv[3])
real = work.carry_out
def together(assignment):
    (meeting / str(os.getpid())).touch()
    deadline = time.monotonic() + 60
    while len(list(meeting.iterdir())) < 2:
        assert time.monotonic() < deadline, "the other one does not come"
        time.sleep(0.01)
    return real(assignment)
work.carry_out = together
print(batch.run_batch(load_study(study), out, "inline", quiet=True).made)
"""


@pytest.mark.slow
def test_two_processes_on_one_folder_share_the_work(tmp_path):
    path, meeting = study_path(tmp_path, replications=20), tmp_path / "meeting"
    meeting.mkdir()
    command = [sys.executable, "-c", TWO_AT_ONCE, path, tmp_path / "out", meeting]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    made = [int(process.communicate()[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(made) == 80
    assert min(made) > 0
    assert len(load_results(tmp_path / "out")) == 80
    assert list((tmp_path / "out" / "claims").iterdir()) == []
    run_batch(study(tmp_path, replications=20), tmp_path / "alone", "inline", quiet=True)
    pd.testing.assert_frame_equal(load_results(tmp_path / "out"), load_results(tmp_path / "alone"))


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_a_run_is_booked_counts_what_is_on_disk(tmp_path, monkeypatch):
    real, added = Store.add, []

    def interrupted(store, record):
        real(store, record)
        added.append(record.name)
        if len(added) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", interrupted)
        outcome = run(tmp_path)
    assert outcome.interrupted
    assert outcome.made == outcome.finished == len(Store(tmp_path / "out").contents().finished) == 3
    assert run(tmp_path).made == 9
