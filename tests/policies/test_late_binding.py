"""Batch sampling, Hawk and Eagle: late binding worked by hand, and what each promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import finished, scenario

from cluster_abm import ClusterModel

# Nodes without any cost of their own, on which tasks of one core run to their end.
PLAIN = {
    "cluster__context_switch_ms": 0.0, "cluster__quantum_ms": "inf", "interconnect__latency_ms": 0.0,
    "negotiation__remote_execution_ms": 0.0,
}  # fmt: skip
HEAVY = PLAIN | {
    "cluster__nodes": 20, "workload__utilisation": 0.8, "workload__duration_s": 60.0, "workload__cpu_ms__mean": 200.0,
    "workload__cpu_ms__kind": "pareto", "workload__cpu_ms__shape": 1.3, "workload__io_per_ms__mean": 0.0,
    "workload__tasks__parallel_share": 0.5, "workload__tasks__maximum": 4, "cluster__slice_ms": 1.0,
}  # fmt: skip


def traced(tmp_path, policy: str, rows: list[str], **more: Any) -> ClusterModel:
    """A run of a trace (arrival_ms,home,cpu_ms,tasks), without I/O."""
    path = tmp_path / "jobs.csv"
    lines = [",".join([*row.split(",")[:3], "0", "1", row.split(",")[3]]) for row in rows]
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks\n" + "\n".join(lines) + "\n")
    settings = {**PLAIN, "workload__kind": "trace", "workload__trace__file": str(path), "policy__name": policy, **more}
    setup = scenario(**settings)
    model = ClusterModel(setup, seed=1)
    model.run()
    return model


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


def test_batch_sampling_starts_the_k_th_task_no_later_than_d_probes_per_task_do():
    """By order statistics, at given waits: the k-th least of d m waits is at most the k-th least of m minima."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        m, d = int(rng.integers(1, 8)), int(rng.integers(1, 4))
        waits = rng.pareto(1.2, size=(m, d))
        assert (np.sort(waits.ravel())[:m] <= np.sort(waits.min(axis=1)) + 1e-12).all()


@pytest.mark.parametrize("name", ["batch-sampling", "hawk", "eagle"])
@pytest.mark.parametrize("cores", [1, 2])
def test_no_node_ever_runs_more_tasks_than_it_has_slots(name, cores):
    model = finished(3, **HEAVY, policy__name=name, cluster__cores=cores)
    frame = model.jobs_frame()
    for _, own in frame.groupby("node"):
        changes = pd.concat([pd.Series(1, index=starts(own)), pd.Series(-1, index=own["finish_ms"])])
        # An end comes before a start of the same instant.
        running = changes.groupby(level=0).sum().sort_index().cumsum()
        assert running.max() <= cores


@pytest.mark.parametrize("name", ["hawk", "eagle"])
def test_long_tasks_stay_out_of_the_short_partition(name):
    model = finished(3, **HEAVY, policy__name=name)
    frame, policy = model.jobs_frame(), model.policy
    kept = min(19, round(policy.short_share * 20))
    is_long = frame["cpu_ms"] > policy.long_ms
    assert 0 < is_long.groupby(frame["job"]).first().mean() <= 0.1
    assert kept > 0
    assert (frame.loc[is_long, "node"] >= kept).all()
    # Short jobs' share of the work is the share of nodes that are kept for them.
    work = frame["cpu_ms"] * 1.0
    assert policy.short_share == pytest.approx(work[~is_long].sum() / work.sum())


def test_hawks_idle_nodes_steal():
    frame = finished(3, **HEAVY, policy__name="hawk").jobs_frame()
    none = finished(3, **HEAVY, policy__name="hawk", policy__steal_attempts=1).jobs_frame()
    is_short = frame["cpu_ms"] <= frame["cpu_ms"].quantile(0.9)
    assert frame.loc[is_short, "blocked_ms"].mean() < none.loc[is_short, "blocked_ms"].mean()


def test_under_eagle_no_short_task_waits_behind_a_long_one():
    """No short task starts on a node, after a long one there has ended, that was submitted while that one ran."""
    model = finished(3, **HEAVY, policy__name="eagle")
    frame = model.jobs_frame()
    is_long = frame["cpu_ms"] > model.policy.long_ms
    checked = 0
    for node, own in frame.groupby("node"):
        short, long = own[~is_long[own.index]], own[is_long[own.index]]
        for end_ms, begin_ms in zip(long["finish_ms"], starts(long), strict=True):
            waited = (short["arrival_ms"] >= begin_ms) & (short["arrival_ms"] < end_ms) & (starts(short) >= end_ms)
            assert not waited.any(), node
            checked += 1
    assert checked > 10


def test_under_hawk_some_do():
    """Or the test above would show nothing."""
    model = finished(3, **HEAVY, policy__name="hawk")
    frame = model.jobs_frame()
    is_long = frame["cpu_ms"] > model.policy.long_ms
    waited = 0
    for _, own in frame.groupby("node"):
        short, long = own[~is_long[own.index]], own[is_long[own.index]]
        for end_ms, begin_ms in zip(long["finish_ms"], starts(long), strict=True):
            waited += (
                (short["arrival_ms"] >= begin_ms) & (short["arrival_ms"] < end_ms) & (starts(short) >= end_ms)
            ).sum()
    assert waited > 0
