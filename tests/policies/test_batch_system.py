"""The batch system: jobs on disjoint sets of nodes, first come first served."""

import numpy as np
import pytest
from support import breakdown_sum_ns, busy, finished, scenario

from cluster_abm import ClusterModel


def trace_of(tmp_path, jobs):
    """A CSV of (arrival ms, tasks, CPU ms), all at home 1."""
    path = tmp_path / "jobs.csv"
    rows = [f"{arrival},1,{cpu},0,1,{tasks}" for arrival, tasks, cpu in jobs]
    path.write_text("\n".join(["arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks", *rows]) + "\n")
    return {
        "workload": {"kind": "trace", "trace": {"file": str(path)}},
        "policy__name": "batch-system",
        "negotiation__remote_execution_ms": 0.0,
        "cluster__context_switch_ms": 0.0,
    }


def test_nobody_overtakes(tmp_path):
    model = finished(**trace_of(tmp_path, [(0, 3, 100), (1, 2, 50), (2, 1, 20), (3, 4, 5)]))
    frame = model.jobs_frame().groupby("job")
    # The first ends at 100, which belongs to the slice up to 110; then the second and third start, on three nodes; the
    # fourth needs all, and starts at 170, the border after the second has ended at 160.
    assert frame["finish_ms"].max().tolist() == [100.0, 160.0, 130.0, 175.0]
    assert frame["blocked_ms"].max().tolist() == [0.0, 109.0, 108.0, 167.0]
    assert frame["node"].nunique().tolist() == [3, 2, 1, 4]
    # Home first.
    assert set(frame.get_group(0)["node"]) == {1, 2, 3}


def test_a_job_wider_than_the_cluster_takes_all_of_it(tmp_path):
    model = finished(**trace_of(tmp_path, [(0, 6, 100), (1, 1, 10)]))
    frame = model.jobs_frame()
    assert frame[frame["job"] == 0]["node"].value_counts().sort_index().tolist() == [1, 2, 2, 1]
    # Nodes 0 and 3 are idle from 100 on, and the job's until 200.
    assert frame[frame["job"] == 1]["finish_ms"].item() == 220.0


def test_starting_elsewhere_costs_what_it_costs_everybody(tmp_path):
    model = finished(**(trace_of(tmp_path, [(0, 2, 100)]) | {"negotiation__remote_execution_ms": 30.0}))
    assert sorted(model.jobs_frame()["finish_ms"]) == [100.0, 130.0]
    assert model.summary()["metrics"]["remote_executions"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("barrier_ms", [0.0, 15.0])
def test_no_node_ever_runs_two_jobs(barrier_ms):
    overrides = busy(policy__name="batch-system", workload__tasks__barrier_ms=barrier_ms, workload__duration_s=5.0)
    model = ClusterModel(scenario(**overrides), seed=4)
    held = 0
    # Jobs that have had a task on the node and still have one somewhere.
    running = [set() for _ in range(4)]
    while model.running:
        model.step()
        live = model.engine.tasks[model.engine.tasks["state"] > 0]
        for node in range(4):
            running[node] |= set(live["job"][live["node"] == node].tolist())
            running[node] &= set(live["job"].tolist())
            assert len(running[node]) <= 1
        held = max(held, len(model.held_jobs))
        counts = model.summary()["jobs"]
        assert counts["blocked"] == len(model.held_jobs)
        assert counts["finished"] + counts["blocked"] + counts["running"] == counts["submitted"]
    assert held >= 2
    records = model.engine.sorted_records()
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])
    starts = np.zeros(len(model.jobs))
    starts[records["job"]] = records["arrival_ns"] + records["blocked_ns"]
    assert (np.diff(starts) >= 0).all()


def test_who_is_held_is_an_agent_that_says_so(tmp_path):
    model = ClusterModel(scenario(**trace_of(tmp_path, [(0, 4, 100), (1, 4, 50)])), seed=1)
    model.step()
    states = {agent.job: agent.state for agent in model.agents if hasattr(agent, "width")}
    assert states == {0: "running", 1: "held"}
    assert model.summary()["jobs"]["blocked"] == 1


def test_a_task_that_loses_its_node_gets_a_free_one_which_nobody_else_gets(tmp_path):
    jobs = trace_of(tmp_path, [(0, 2, 10_000), (7_000, 2, 1_000)])
    model = finished(**jobs, failures__event=[{"node": 2, "at_s": 5.0, "for_s": 1.0}])
    frame = model.jobs_frame().sort_values("task")
    # The first job's task begins again at 5 s on node 3; the second job has the other two, 2 being whole again.
    assert frame["node"].tolist() == [1, 3, 2, 0]
    assert frame["finish_ms"].tolist() == [10_000.0, 15_000.0, 8_000.0, 8_000.0]


def test_where_none_is_free_it_goes_to_another_node_of_its_job(tmp_path):
    jobs = trace_of(tmp_path, [(0, 2, 10_000), (1, 2, 10_000)])
    model = finished(**jobs, failures__event=[{"node": 3, "at_s": 5.0}])
    frame = model.jobs_frame().sort_values(["job", "finish_ms"])
    # On node 0 are 5.001 s left of one task, and from 5 s on 10 s of the other: it has 15.001 s to do.
    assert frame["node"].tolist() == [1, 2, 0, 0]
    assert frame["finish_ms"].tolist() == [10_000.0, 10_000.0, pytest.approx(15_001.0, abs=10), 20_001.0]


# ---- nodes of several cores ----------------------------------------------------------------------------------------


def test_a_job_gets_as_many_cores_as_it_has_tasks(tmp_path):
    """Two nodes of four cores. Six tasks: the four cores of home and two of node 0, whose other two go to the next job
    at once; the third job waits for its three until that one has ended, at 52 ms, and the border after it."""
    keys = {"cluster__nodes": 2, "cluster__cores": 4}
    model = finished(**trace_of(tmp_path, [(0, 6, 100), (2, 2, 50), (3, 2, 20)]), **keys)
    frame = model.jobs_frame().groupby("job")
    assert frame["node"].apply(sorted).tolist() == [[0, 0, 1, 1, 1, 1], [0, 0], [0, 0]]
    assert frame["finish_ms"].max().tolist() == [100.0, 52.0, 80.0]
    assert frame["blocked_ms"].max().tolist() == [0.0, 0.0, 57.0]
    # No task waits for a core.
    assert frame["cpu_queue_ms"].max().tolist() == [0.0, 0.0, 0.0]


def test_a_node_with_free_cores_takes_tasks_of_several_jobs(tmp_path):
    """One node of four cores: jobs of one, two and one task fill it; the fourth waits for the first end, at 30 ms."""
    keys = {"cluster__nodes": 2, "cluster__group": [{"count": 1, "cores": 4}]}
    jobs = trace_of(tmp_path, [(0, 1, 100), (0, 1, 30), (1, 2, 100), (1, 1, 100), (2, 1, 10)])
    model = finished(**jobs, **keys)
    frame = model.jobs_frame().groupby("job")
    # Home, node 1, has one core: the first job has it.
    assert frame["node"].apply(sorted).tolist() == [[1], [0], [0, 0], [0], [0]]
    assert frame["blocked_ms"].max().tolist() == [0.0, 0.0, 0.0, 0.0, 38.0]
    assert frame["finish_ms"].max().tolist() == [100.0, 30.0, 101.0, 101.0, 50.0]


def test_no_job_overtakes_one_that_waits_for_more_cores(tmp_path):
    """Four cores: three are taken until 100 ms, so that a job of two waits, and behind it one that would fit."""
    keys = {"cluster__nodes": 2, "cluster__cores": 2}
    model = finished(**trace_of(tmp_path, [(0, 3, 95), (1, 2, 50), (2, 1, 20)]), **keys)
    frame = model.jobs_frame().groupby("job")
    assert frame["blocked_ms"].max().tolist() == [0.0, 99.0, 98.0]
    assert frame["finish_ms"].max().tolist() == [95.0, 150.0, 120.0]


def test_a_job_wider_than_all_cores_takes_all_of_them(tmp_path):
    """Nine tasks of 80 ms on two nodes of four cores: four have a core each; five share four, 400 ms of CPU in 100, or
    a quantum longer. The next job, of one task, waits for all of them, with four cores idle."""
    keys = {"cluster__nodes": 2, "cluster__cores": 4}
    model = finished(**trace_of(tmp_path, [(0, 9, 80), (1, 1, 10)]), **keys)
    frame = model.jobs_frame()
    wide, narrow = frame[frame["job"] == 0], frame[frame["job"] == 1].iloc[0]
    by_node = wide.groupby("node")["finish_ms"]
    assert by_node.count().tolist() == [4, 5]
    assert by_node.max()[0] == 80.0
    assert 100.0 <= by_node.max()[1] <= 110.0
    assert by_node.max()[1] <= narrow["arrival_ms"] + narrow["blocked_ms"] <= by_node.max()[1] + 20.0
