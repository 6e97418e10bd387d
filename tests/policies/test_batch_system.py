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
