"""Batch sampling, Hawk and Eagle: late binding worked by hand, and what each promises."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from support import PLAIN, finished, traced

from cluster_abm import ClusterModel

HEAVY = PLAIN | {
    "cluster__nodes": 20, "workload__utilisation": 0.8, "workload__duration_s": 40.0, "workload__cpu_ms__mean": 200.0,
    "workload__cpu_ms__kind": "pareto", "workload__cpu_ms__shape": 1.3, "workload__io_per_ms__mean": 0.0,
    "workload__tasks__parallel_share": 0.5, "workload__tasks__maximum": 4, "cluster__slice_ms": 1.0,
}  # fmt: skip


@cache
def heavy(name: str, cores: int = 1) -> ClusterModel:
    """A run of heavy-tailed work; several tests look at it."""
    return finished(3, **HEAVY, policy__name=name, cluster__cores=cores)


def starts(frame: pd.DataFrame) -> pd.Series:
    """When each task began [ms]: nothing interrupts it."""
    return frame["finish_ms"] - frame["cpu_ms"]


def test_the_nodes_that_first_have_a_free_slot_get_the_tasks(tmp_path):
    """Four nodes are busy until 95, 195, 295 and 395 ms, each with one job that found it idle. A job of two tasks that
    comes at 50 ms and has probed all four starts when the ends of the first two are known: at 100 and 200 ms."""
    rows = ["0,0,95,1", "0,1,195,1", "0,2,295,1", "0,3,395,1", "50,0,1000,2"]
    model = traced(tmp_path, "batch-sampling", rows, policy__probe_ratio=4.0)
    frame = model.jobs_frame()
    first = frame[frame["job"] < 4]
    assert sorted(first["node"]) == [0, 1, 2, 3]
    assert np.allclose(starts(first), 0.0)
    late = frame[frame["job"] == 4]
    assert sorted(starts(late)) == pytest.approx([100.0, 200.0])
    assert sorted(late["node"]) == sorted(first.sort_values("finish_ms")["node"].iloc[:2])


def test_messages_of_one_job_that_finds_nodes_idle(tmp_path):
    """One task at node 0 of three, d = 3: probes to nodes 1 and 2 (that to node 0 crosses no network), which both ask
    for the task; the home gives it to the first to ask, and the others are told that there is none."""
    model = traced(tmp_path, "batch-sampling", ["0,0,100,1"], cluster__nodes=3, policy__probe_ratio=3.0)
    node = model.jobs_frame()["node"].iloc[0]
    told = 1 if node else 1 + 1
    assert model.summary()["metrics"]["messages_per_job"] == 2 + 2 + told


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("tasks", "ratio"), [(2, 3), (3, 2), (4, 4)])
def test_batch_sampling_starts_the_k_th_task_no_later_than_probes_for_each_task_would(tmp_path, seed, tasks, ratio):
    """Tasks of a job that probes all nodes start when the first of them have ended, in order; with as many probes, but
    each for one task, task i would wait for the least of its own nodes' ends: never earlier, counted from the first."""
    nodes = tasks * ratio
    lengths = 10 * np.random.default_rng(seed).integers(6, 60, size=nodes) + 5
    rows = [f"0,{node},{ms},1" for node, ms in enumerate(lengths)]
    rows.append(f"50,0,1000,{tasks}")
    model = traced(tmp_path, "batch-sampling", rows, cluster__nodes=nodes, policy__probe_ratio=float(ratio))
    frame = model.jobs_frame()
    late, early = frame[frame["job"] == nodes], frame[frame["job"] < nodes]
    # The earlier jobs probe some nodes only: several may wait at one, and none at another. An end is known when its
    # slice of 10 ms is over.
    ends = early.groupby("node")["finish_ms"].max().reindex(range(nodes), fill_value=50.0).to_numpy()
    free = np.ceil(ends / 10.0) * 10.0
    assert np.sort(starts(late)) == pytest.approx(np.sort(free)[:tasks])
    assert (np.sort(starts(late)) <= np.sort(free.reshape(tasks, ratio).min(axis=1)) + 1e-6).all()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "cores"), [("batch-sampling", 2), ("hawk", 1), ("eagle", 1)])
def test_no_node_ever_runs_more_tasks_than_it_has_slots(name, cores):
    model = heavy(name, cores)
    frame = model.jobs_frame()
    for _, own in frame.groupby("node"):
        begun, over = np.sort(starts(own)), np.sort(own["finish_ms"])
        # An end comes before a start of the same instant.
        running = np.arange(1, len(own) + 1) - np.searchsorted(over, begun + 1e-6, side="right")
        assert running.max() <= cores


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hawk", "eagle"])
def test_long_tasks_stay_out_of_the_short_partition(name):
    model = heavy(name)
    frame, policy = model.jobs_frame(), model.policy
    kept = min(19, round(policy.short_share * 20))
    is_long = frame["cpu_ms"] > policy.long_ms
    assert 0 < is_long.groupby(frame["job"]).first().mean() <= 0.1
    assert kept > 0
    assert (frame.loc[is_long, "node"] >= kept).all()
    # Short jobs' share of the work is the share of nodes that are kept for them.
    work = frame["cpu_ms"] * 1.0
    assert policy.short_share == pytest.approx(work[~is_long].sum() / work.sum())


@pytest.mark.slow
def test_hawks_idle_nodes_steal():
    frame = heavy("hawk").jobs_frame()
    none = finished(3, **HEAVY, policy__name="hawk", policy__steal_attempts=1).jobs_frame()
    is_short = frame["cpu_ms"] <= frame["cpu_ms"].quantile(0.9)
    assert frame.loc[is_short, "blocked_ms"].mean() < none.loc[is_short, "blocked_ms"].mean()


def waits_behind_long_tasks(name: str) -> list[int]:
    """Of each long task how many short ones were submitted while it ran, and began at its node when it had ended."""
    model = heavy(name)
    frame = model.jobs_frame()
    is_long = frame["cpu_ms"] > model.policy.long_ms
    found = []
    for _, own in frame.groupby("node"):
        short, long = own[~is_long[own.index]], own[is_long[own.index]]
        for end_ms, begin_ms in zip(long["finish_ms"], starts(long), strict=True):
            came_meanwhile = (short["arrival_ms"] >= begin_ms) & (short["arrival_ms"] < end_ms)
            found.append(int((came_meanwhile & (starts(short) >= end_ms)).sum()))
    return found


@pytest.mark.slow
def test_under_eagle_no_short_task_waits_behind_a_long_one_and_under_hawk_some_do():
    under_eagle = waits_behind_long_tasks("eagle")
    assert len(under_eagle) > 10
    assert not any(under_eagle)
    # Or this would show nothing.
    assert any(waits_behind_long_tasks("hawk"))


def test_eagle_on_one_node_starts_what_its_only_node_has_refused():
    jobs = finished(3, **HEAVY | {"cluster__nodes": 1}, policy__name="eagle").summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 50
