"""Frames say what the summary and the tables say, and watching changes nothing."""

import dataclasses

import numpy as np
import pytest
from support import busy, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.model import Watcher
from cluster_abm.model.observing.watching import INDICES

EVERY = 37


def watched(model, job=None):
    watcher, frames = Watcher(model), []
    while model.running:
        for _ in range(EVERY):
            model.step()
        frames.append(watcher.frame(job))
    return frames


@pytest.fixture(scope="module")
def run():
    model = ClusterModel(scenario(**busy()), seed=3)
    return model, watched(model)


@pytest.mark.slow
def test_the_last_frame_agrees_with_the_summary(run):
    model, frames = run
    summary, last = model.summary(), frames[-1]
    assert last.mean_slowdown == pytest.approx(summary["metrics"]["mean_slowdown"], rel=1e-12)
    assert last.jobs == summary["jobs"]
    for name, value in last.totals.items():
        assert summary["metrics"][name] == value
    assert not last.running
    assert last.tasks.sum() == 0


@pytest.mark.slow
def test_utilisations_between_frames_add_up_to_those_of_the_run(run):
    model, frames = run
    times_ms = np.array([0.0, *(frame.now_ms for frame in frames)])
    shares = np.diff(times_ms) / times_ms[-1]
    metrics = model.summary()["metrics"]
    for name in ("cpu_utilisation", "disk_utilisation"):
        assert shares @ [getattr(frame, name) for frame in frames] == pytest.approx(metrics[name], rel=1e-9)


UNLIKE_CORES = {"cluster__group": [{"count": 1, "cores": 8}, {"count": 1, "cores": 3}]}


@pytest.mark.slow
def test_of_nodes_of_unlike_cores_all_cores_count_alike():
    model = ClusterModel(scenario(**busy(workload__utilisation=0.9, workload__duration_s=8.0, **UNLIKE_CORES)), seed=3)
    frames = watched(model)
    times_ms = np.array([0.0, *(frame.now_ms for frame in frames)])
    shares = np.diff(times_ms) / times_ms[-1]
    found = [frame.cpu_utilisation for frame in frames]
    assert shares @ found == pytest.approx(model.summary()["metrics"]["cpu_utilisation"], rel=1e-9)
    assert 0 < max(found) <= 1 + 1e-12


@pytest.mark.slow
def test_tasks_at_the_cpu_are_counted_per_core():
    model = ClusterModel(scenario(**busy(workload__utilisation=0.9, **UNLIKE_CORES)), seed=3)
    watcher = Watcher(model)
    for _ in range(500):
        model.step()
    expected = [node.loads["cpu_queue"] / cores for node, cores in zip(model.node_agents, (8, 3, 1, 1), strict=True)]
    assert watcher.frame().loads["cpu"] == pytest.approx(expected)
    assert max(expected[:2]) > 0


def test_every_remote_start_is_a_move_of_exactly_one_frame(run):
    model, frames = run
    decided = model.decisions_frame()
    gone = decided[decided["accepted"] & (decided["source"] != decided["target"])]
    moved = [move for frame in frames for move in frame.moves]
    assert len(gone) > 20
    assert [move.task for move in moved] == gone["task"].tolist()
    assert [move.target for move in moved] == gone["target"].tolist()


def test_a_watched_run_leaves_the_same_bytes(run):
    model, _ = run
    unwatched = ClusterModel(scenario(**busy()), seed=3)
    unwatched.run()
    assert same_records(model, unwatched)


def test_a_frame_stays_as_it_was():
    model = ClusterModel(scenario(**busy()), seed=3)
    for _ in range(300):
        model.step()
    frame = Watcher(model).frame()
    before = {name: values.copy() for name, values in frame.loads.items()}, frame.tasks.copy(), frame.up.copy()
    assert set(before[0]) == set(INDICES)
    for _ in range(300):
        model.step()
    assert all((frame.loads[name] == values).all() for name, values in before[0].items())
    assert (frame.tasks == before[1]).all()
    assert (frame.up == before[2]).all()
    with pytest.raises(dataclasses.FrozenInstanceError):
        frame.now_ms = 0.0


def test_memory_is_the_share_of_what_there_is_for_programs():
    model = ClusterModel(scenario(**busy()), seed=3)
    for _ in range(500):
        model.step()
    frame = Watcher(model).frame()
    expected = [100 * node.loads["memory_mb"] / 30.0 for node in model.node_agents]
    assert frame.loads["memory"] == pytest.approx(expected)
    assert max(expected) > 0
    assert frame.tasks.sum() == model.engine.live


@pytest.mark.slow
def test_a_jobs_life_adds_up_to_its_tasks_wall_time():
    model = ClusterModel(scenario(**busy()), seed=3)
    model.run()
    watcher = Watcher(model)
    for job in range(0, len(model.jobs), 7):
        life = watcher.frame(job).life
        of_job = model.jobs_frame().query("job == @job")
        assert life.state == "finished"
        assert life.finished_tasks == life.tasks == len(of_job)
        assert sum(life.breakdown_ms.values()) == pytest.approx(of_job["response_ms"].sum(), rel=1e-9)


def test_nobody_has_a_life_who_has_not_come():
    model = ClusterModel(scenario(**busy()), seed=3)
    watcher = Watcher(model)
    assert watcher.frame(0).life is None
    assert watcher.frame(10**9).life is None
    assert watcher.frame(-1).life is None


def test_who_is_out_is_marked():
    event = [{"node": 2, "at_s": 1.0, "for_s": 2.0}]
    model = ClusterModel(scenario(policy__name="jsq", failures__event=event), seed=1)
    watcher, seen = Watcher(model), {}
    for _ in range(500):
        model.step()
        frame = watcher.frame()
        seen[frame.now_ms] = frame.up.tolist()
    assert seen[500.0] == [True] * 4
    assert seen[2000.0] == [True, True, False, True]
    assert seen[4000.0] == [True] * 4


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["pooled", "wal-pm", "load-class"])
def test_any_policy_can_be_watched(policy):
    model = ClusterModel(scenario(**busy(policy__name=policy)), seed=3)
    frames = watched(model)
    assert frames[-1].mean_slowdown == pytest.approx(model.summary()["metrics"]["mean_slowdown"], rel=1e-12)
    assert all(set(np.unique(frame.loads["class"])) <= {0, 1, 2, 3} for frame in frames)
