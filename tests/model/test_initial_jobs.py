"""Runs that start from a given assignment: schedules worked by hand, and what must hold of any run."""

from __future__ import annotations

import pytest
from support import breakdown_sum_ns, finished, same_records, scenario, traced

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError

# One quantum of 10 ms, no cost of a switch, no other jobs.
ALONE = {"workload__kind": "none", "cluster__context_switch_ms": 0.0, "policy__name": "none", "cluster__nodes": 2}
TWO = [{"node": 0, "cpu_ms": 100.0, "age_ms": 60.0}, {"node": 0, "cpu_ms": 100.0}]


def ends_ms(model):
    """When each job ended [ms]."""
    records = model.engine.sorted_records()
    return {int(row["job"]): row["finish_ns"] / 1e6 for row in records}


def test_two_jobs_share_a_cpu():
    """40 and 100 ms are left: turns of 10 ms, the first job's fourth ends at 70; then the other is alone, until 140."""
    model = finished(workload__initial=TWO, **ALONE)
    assert ends_ms(model) == {0: 70.0, 1: 140.0}
    frame = model.jobs_frame().set_index("job")
    assert frame["response_ms"].tolist() == [70.0, 140.0]
    assert (frame["arrival_ms"] == 0.0).all()
    # Slowdowns are of what was left at 0.
    assert frame["dedicated_ms"].tolist() == [40.0, 100.0]
    assert frame["slowdown"].tolist() == [1.75, 1.4]
    assert frame["cpu_ms"].tolist() == [40.0, 100.0]
    assert not frame["remote"].any()
    assert model.summary()["jobs"] == {
        "submitted": 2, "finished": 2, "killed": 0, "lost": 0, "blocked": 0, "running": 0,
    }  # fmt: skip


def test_at_0_they_are_on_their_nodes_and_have_their_age():
    model = ClusterModel(scenario(workload__initial=TWO, **ALONE), seed=1)
    loads = model.true_loads(0)
    assert (loads["tasks"], loads["cpu_queue"], loads["cpu_ms"]) == (2.0, 2.0, 140.0)
    assert [one.age_ms for one in model.view_of(model.load_managers[0]).candidates] == [60.0, 0.0]
    assert [one.running for one in model.view_of(model.load_managers[0]).candidates] == [True, True]
    model.run(until_ms=30.0)
    # Ten ms of CPU for the second job, twenty for the first.
    assert [one.age_ms for one in model.view_of(model.load_managers[0]).candidates] == [80.0, 10.0]
    assert [one.cpu_ms for one in model.view_of(model.load_managers[0]).candidates] == [20.0, 90.0]


def test_a_job_that_arrives_finds_them(tmp_path):
    """At 0 the node of shortest queue is the one without the initial job, whose CPU the newcomer then has alone."""
    model = traced(tmp_path, "jsq", ["0,0,25,1"], cluster__nodes=2, workload__initial=[{"node": 0, "cpu_ms": 40.0}])
    assert ends_ms(model) == {0: 40.0, 1: 25.0}
    assert model.jobs_frame().set_index("job")["node"].to_dict() == {0: 0, 1: 1}


def test_the_age_decides_which_task_migrates():
    """hbd: two tasks of 1 s on a node, none on the other. Only a task older than the cost f = 100 ms pays to move."""
    jobs = [{"node": 0, "cpu_ms": 1150.0, "age_ms": 150.0}, {"node": 0, "cpu_ms": 1000.0}]
    common = {**ALONE, "policy__name": "hbd", "workload__kind": "synthetic", "workload__jobs": 1}
    common |= {
        "workload__duration_s": 1e-6, "workload__home": {"kind": "weights", "weights": [1.0]},
        "workload__cpu_ms": {"kind": "fixed", "mean": 30.0}, "workload__memory_mb": {"kind": "fixed", "mean": 0.0},
    }  # fmt: skip
    moved = finished(workload__initial=jobs, **common).jobs_frame().set_index("job")["migrations"]
    assert moved.to_dict() == {0: 1, 1: 0, 2: 0}
    young = [{**jobs[0], "cpu_ms": 1000.0, "age_ms": 0.0}, jobs[1]]
    assert not finished(workload__initial=young, **common).jobs_frame()["migrations"].any()


def test_barriers_count_from_0():
    """Two tasks with 25 ms left on one core, a barrier after 10 ms of CPU each: they come at 10 and 20 ms, go on at 30
    (the boundary after 20), come at 40 and 50, go on at 60, and end at 65 and 70."""
    jobs = [{"node": 0, "cpu_ms": 32.0, "age_ms": 7.0, "tasks": 2}]
    model = finished(workload__initial=jobs, workload__tasks__barrier_ms=10.0, **ALONE)
    assert sorted(row["finish_ns"] / 1e6 for row in model.engine.sorted_records()) == [65.0, 70.0]


def test_a_batch_system_leaves_their_nodes_to_them(tmp_path):
    """Of two nodes one is taken until 40 ms: the first job gets the other one, the second job waits for it."""
    model = traced(
        tmp_path, "batch-system", ["0,0,25,1", "0,0,25,1"], cluster__nodes=2,
        workload__initial=[{"node": 0, "cpu_ms": 60.0, "age_ms": 20.0}],
    )  # fmt: skip
    assert model.jobs_frame().set_index("job")["node"].to_dict() == {0: 0, 1: 1, 2: 1}
    # The end at 25 ms is known at 30.
    assert ends_ms(model) == {0: 40.0, 1: 25.0, 2: 55.0}


def test_a_job_that_loses_its_node_begins_as_it_was_at_0():
    """30 of 50 ms are left; the node fails at 20 ms, and all 30 are computed again elsewhere, from 20 ms on."""
    event = [{"node": 0, "at_s": 0.02}]
    model = finished(
        workload__initial=[{"node": 0, "cpu_ms": 50.0, "age_ms": 20.0, "memory_mb": 0.0}],
        failures__event=event, failures__on_failure="restart", negotiation__remote_execution_ms=0.0,
        negotiation__migration_ms=0.0, interconnect__latency_ms=0.0, **ALONE,
    )  # fmt: skip
    (row,) = model.engine.sorted_records()
    assert (row["cpu_ns"], row["lost_cpu_ns"], row["restarts"]) == (50_000_000, 20_000_000, 1)
    assert row["isolated_cpu_ns"] == 30_000_000


def test_such_a_job_announces_what_was_left_at_0():
    """Its age counts as data that it has: 30 of 50 ms are left."""
    model = ClusterModel(
        scenario(workload__initial=[{"node": 0, "cpu_ms": 50.0, "age_ms": 20.0, "tasks": 2}, TWO[1]], **ALONE), seed=1
    )
    said = [model.parts.announcements.of(job, rank) for job, rank in ((0, 1), (1, 0))]
    assert [(one.cpu_ms, one.age_ms) for one in said] == [(30.0, 20.0), (100.0, 0.0)]


MIXED = [
    {"node": 0, "cpu_ms": 900.0, "age_ms": 400.0, "io_per_ms": 0.05, "memory_mb": 30.0, "initial_data_mb": 2.0},
    {"node": 0, "cpu_ms": 80.0, "age_ms": 79.5},
    {"node": 2, "cpu_ms": 400.0, "tasks": 3, "io_per_ms": 0.2},
]
LEFT_NS = {0: 500_000_000, 1: 500_000, 2: 400_000_000}


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["wal-pm", "age", "jiq", "pooled"])
def test_work_is_conserved_and_steps_are_runs(policy):
    given = {
        "cluster__nodes": 4, "cluster__page_fault_rate_per_ms": 0.1, "workload__io_per_ms__mean": 0.02,
        "workload__duration_s": 5.0, "workload__initial": MIXED, "policy__name": policy, "workload__reaccess_rate": 2.0,
    }  # fmt: skip
    run, stepped = finished(**given), ClusterModel(scenario(**given), seed=1)
    while stepped.running:
        stepped.step()
    assert same_records(run, stepped)
    assert run.summary() == stepped.summary()
    records = run.engine.sorted_records()
    assert (breakdown_sum_ns(records) == records["finish_ns"] - records["arrival_ns"]).all()
    for row in records[records["job"] < len(MIXED)]:
        assert row["cpu_ns"] == row["isolated_cpu_ns"] == LEFT_NS[int(row["job"])]
    counts = run.summary()["jobs"]
    assert counts["submitted"] == counts["finished"] == len(run.engine.jobs) > len(MIXED)


def test_memory_that_does_not_fit_is_refused():
    given = {"cluster__paging": "oversize", "cluster__memory_mb": 100.0, "cluster__system_mb": 0.0} | ALONE
    given |= {"cluster__swap_mb": 50.0, "cluster__buffer_mb": 0.0}
    jobs = [{"node": 1, "cpu_ms": 9.0, "memory_mb": 80.0}]
    assert finished(workload__initial=jobs, **given).summary()["jobs"]["finished"] == 1
    words = (
        r"workload.initial: the jobs of node 1, and background programs there, ask for 160 MB: allowed are the 150 MB"
    )
    with pytest.raises(InputError, match=words):
        ClusterModel(scenario(workload__initial=jobs * 2, **given), seed=1)
