"""Bulk-synchronous jobs: schedules worked by hand, and a job's dedicated run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import breakdown_sum_ns, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import AT_BARRIER, BREAKDOWN, DEMAND, JOB, WAKING, empty_nodes
from cluster_abm.policy.tasks import CANDIDATE

QUANTUM, SWITCH, SLICE = 100, 10, 1000


def cluster(jobs, places, count=2, slice_ns=SLICE, own_ns=None):
    """Idle nodes; jobs as (tasks, CPU ns, barrier ns, communication ns), all at 0; `places`: a node for each task.

    `own_ns`: the CPU of each task, where tasks of a job differ.
    """
    nodes = empty_nodes(count)
    nodes["speed"], nodes["quantum_ns"], nodes["switch_ns"] = 1.0, QUANTUM, SWITCH
    nodes["user_memory_kb"], nodes["fault_ns"], nodes["fault_ratio_cap"] = 10_000, 777, 2.0
    table = np.zeros(len(jobs), JOB)
    widths = [job[0] for job in jobs]
    for number, (tasks, cpu_ns, barrier_ns, communication_ns) in enumerate(jobs):
        row = table[number]
        row["first_task"], row["tasks"] = sum(widths[:number]), tasks
        row["cpu_ms"], row["barrier_ms"] = cpu_ns / 1e6, barrier_ns / 1e6
        row["communication_ns"] = communication_ns
    demands = None if own_ns is None else np.array([(ns / 1e6, ns / 1e6) for ns in own_ns], DEMAND)
    engine = EngineState(nodes, table, 7, slice_ns, demands=demands)
    job_index = np.repeat(np.arange(len(jobs)), widths)
    member = np.concatenate([np.arange(width) for width in widths])
    engine.admit(job_index, member, 0 * member, np.array(places), 0 * member)
    return engine


def ended(engine):
    engine.serve(2**60)
    assert engine.live == 0
    return {int(record["task"]): record for record in engine.records}


def parts(record):
    return {name: int(record[f"{name}_ns"]) for name in BREAKDOWN if record[f"{name}_ns"]}


def dedicated(record):
    return sum(int(record[f"isolated_{part}_ns"]) for part in ("cpu", "io", "paging", "barrier"))


def test_two_tasks_alone_meet_at_borders():
    # 0-100, barrier opens at 1000; 1000-1100, opens at 2000; 2000-2050.
    found = ended(cluster([(2, 250, 100, 0)], [0, 1]))
    for record in found.values():
        assert record["finish_ns"] == 2050
        assert parts(record) == {"cpu": 250, "barrier": 1800}
        assert dedicated(record) == 2050


def test_unlike_tasks_come_to_the_same_barriers_each_after_its_own_part():
    """The mean is 250 with barriers after 100 and 200: two of them, after 80 and 160 of 200, and after 120 and 240 of
    300. Phases begin at 0, 1000 and 2000; alone on as many nodes it would be the same."""
    found = ended(cluster([(2, 250, 100, 0)], [0, 1], own_ns=[200, 300]))
    for task, finish_ns, waits_ns in (0, 2040, 920 + 920), (1, 2060, 880 + 880):
        assert found[task]["finish_ns"] == finish_ns == dedicated(found[task])
        assert parts(found[task]) == {"cpu": finish_ns - waits_ns, "barrier": waits_ns}


def test_in_the_isolated_run_the_longest_task_opens_the_barrier():
    """Communication of 1500 begins when the longest comes, at 120: the barriers open at 1620 and at 3240."""
    found = ended(cluster([(2, 250, 100, 1500)], [0, 1], own_ns=[200, 300]))
    assert [dedicated(found[task]) for task in (0, 1)] == [3240 + 40, 3240 + 60]
    assert [int(found[task]["isolated_cpu_ns"]) for task in (0, 1)] == [200, 300]


@pytest.mark.parametrize("own_ns", [[1, 499], [2, 498], [0, 500]])
def test_a_task_with_next_to_nothing_to_compute_still_comes_to_all_barriers(own_ns):
    found = ended(cluster([(2, 250, 100, 0)], [0, 1], own_ns=own_ns))
    assert len(found) == 2
    assert int(found[0]["cpu_ns"]) == max(1, own_ns[0])
    # Phases of 200 at 0 and 1000, and the rest.
    assert int(found[1]["finish_ns"]) == 2000 + own_ns[1] - 2 * round(own_ns[1] * 0.4)


def test_communication_begins_when_the_last_task_comes():
    # 0-100, communication to 1600; 1600-1700, to 3200; 3200-3250.
    found = ended(cluster([(2, 250, 100, 1500)], [0, 1]))
    assert [int(record["finish_ns"]) for record in found.values()] == [3250, 3250]
    assert [dedicated(record) for record in found.values()] == [3250, 3250]


def test_who_comes_at_a_border_comes_in_the_next_slice():
    # The border of 100 belongs to the slice up to 200.
    found = ended(cluster([(2, 200, 100, 0)], [0, 1], slice_ns=100))
    assert [int(record["finish_ns"]) for record in found.values()] == [300, 300]


def test_no_barrier_at_the_end_and_none_for_a_job_of_one_task():
    found = ended(cluster([(2, 100, 100, 0), (1, 300, 100, 0)], [0, 1, 2], count=3))
    assert [int(found[task]["finish_ns"]) for task in range(3)] == [100, 100, 300]


def test_the_others_wait_for_the_slowest():
    # Node 0: task 0 has 0-100 and, after task 1's phase (110-210), 220-420. Task 2 is alone on node 1.
    found = ended(cluster([(1, 300, 0, 0), (2, 250, 100, 0)], [0, 0, 1]))
    assert found[0]["finish_ns"] == 420
    assert parts(found[1]) == {"cpu": 250, "cpu_queue": 120, "barrier": 790 + 890}
    assert parts(found[2]) == {"cpu": 250, "barrier": 900 + 900}
    # Task 1 pays a switch at 1000: 1010-1110; both go on at 2000.
    assert (found[1]["finish_ns"], found[2]["finish_ns"]) == (2050, 2050)


def test_two_tasks_of_a_job_on_one_node_meet_each_other():
    # 0-100, 110-210; opens at 1000: task 0 (the CPU was task 1's last) 1010-1060, task 1 1070-1120.
    found = ended(cluster([(2, 150, 100, 0)], [0, 0], count=1))
    assert (found[0]["finish_ns"], found[1]["finish_ns"]) == (1060, 1120)
    # Alone on two nodes they would have met at 100.
    assert [dedicated(found[task]) for task in (0, 1)] == [1050, 1050]


def slot_of(engine, task, state):
    found = np.flatnonzero((engine.tasks["task"] == task) & (engine.tasks["state"] == state))
    assert len(found) == 1
    return int(found[0])


def three_nodes():
    """Task 0 is delayed by task 2 on node 0 and comes at 210 + ..., task 1 waits on node 1 since 100."""
    return cluster([(1, 3000, 0, 0), (2, 250, 100, 3000)], [0, 0, 1], count=3)


@pytest.mark.slow
@pytest.mark.parametrize(("cost_ns", "back_ns"), [(500, 3210), (2000, 3210), (4000, 5000)])
def test_a_task_that_waits_at_its_barrier_can_migrate(cost_ns, back_ns):
    # Both have come by 210; communication until 3210; task 2 leaves at 1000 and is there at 1000 + cost.
    engine = three_nodes()
    engine.serve(1000)
    engine.migrate(slot_of(engine, 2, WAKING), 2, cost_ns, 1000)
    found = ended(engine)
    record = found[2]
    assert record["node"] == 2
    # It computes 100, waits for task 1, and computes 50 more.
    assert record["migration_ns"] == cost_ns
    first_wait_ns = 900 + back_ns - 1000 - cost_ns
    assert record["barrier_ns"] >= first_wait_ns
    assert record["finish_ns"] == record["arrival_ns"] + sum(parts(record).values())
    assert record["finish_ns"] >= back_ns + 100


@pytest.mark.slow
def test_a_task_that_migrates_before_its_barrier_is_complete_waits_on_at_its_target():
    # Quantum 100: task 1 shares node 0 with two tasks of 3000 and comes after 220.
    engine = cluster([(1, 3000, 0, 0), (1, 3000, 0, 0), (2, 150, 100, 0)], [0, 0, 0, 1], count=3, slice_ns=200)
    engine.serve(200)
    assert engine.tasks["state"][slot_of(engine, 3, AT_BARRIER)] == AT_BARRIER
    engine.migrate(slot_of(engine, 3, AT_BARRIER), 2, 50, 200)
    found = ended(engine)
    # Task 2 runs 220-320: the barrier opens at 400, where task 3 has been since 250.
    assert found[3]["finish_ns"] == 450
    assert parts(found[3]) == {"cpu": 150, "migration": 50, "barrier": 100 + 150}


def lone_job(**overrides):
    """One job of six tasks of 1030 ms, on six nodes."""
    tasks = {"parallel_share": 1.0, "minimum": 6, "maximum": 6, "barrier_ms": 100.0}
    settings = {
        "cluster__nodes": 6,
        "workload": {"jobs": 1, "duration_s": 30.0, "cpu_ms": {"kind": "fixed", "mean": 1030.0}, "tasks": tasks},
        "workload__io_per_ms__mean": 0.05,
        "negotiation__remote_execution_ms": 0.0,
        "policy__name": "round-robin",
    }
    model = ClusterModel(scenario(**(settings | overrides)), seed=1)
    model.run()
    return model


@pytest.mark.parametrize("communication_ms", [0.0, 4.0, 37.0])
@pytest.mark.parametrize("reaccess", [0.0, 2.0])
def test_a_job_that_has_the_cluster_to_itself_is_not_slowed_down(communication_ms, reaccess):
    """One task a node, none beside it: the run is the isolated run, to the nanosecond."""
    model = lone_job(
        workload__tasks__communication_ms=communication_ms, workload__reaccess_rate=reaccess,
        cluster__context_switch_ms=0.0,
    )  # fmt: skip
    records = model.engine.sorted_records()
    assert len(set(records["node"].tolist())) == len(records) == 6
    wall = records["finish_ns"] - records["arrival_ns"]
    lone = sum(records[f"isolated_{part}_ns"] for part in ("cpu", "io", "paging", "barrier"))
    assert np.array_equal(wall, lone)
    assert (records["barrier_ns"] > 0).all()


def test_barriers_cost_most_where_tasks_are_placed_unevenly():
    """Without balancing the job's six tasks share one node: the barrier is where they wait for each other."""
    spread, packed = lone_job(), lone_job(policy__name="none")
    metrics = [model.summary()["metrics"] for model in (spread, packed)]
    assert metrics[0]["mean_slowdown_job"] == pytest.approx(1.0, abs=0.01)
    assert metrics[1]["mean_slowdown_job"] > 3


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3000), st.sampled_from([0, 90, 700]), st.integers(0, 2500)),
             min_size=1, max_size=5),
    st.sampled_from([70, 1000, 5000]),
    st.lists(st.tuples(st.integers(0, 6000), st.integers(0, 20), st.integers(0, 2), st.integers(0, 900)), max_size=6),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_nobody_waits_for_ever_and_windows_do_not_matter(jobs, slice_ns, moves, rng):
    """Random jobs on three nodes, migrated at random borders, in whatever state they are."""
    places = [rng.randrange(3) for job in jobs for _ in range(job[0])]

    def life(window):
        engine = cluster(jobs, places, count=3, slice_ns=slice_ns)
        now = 0
        for at_ns, which, target, cost_ns in sorted(moves):
            border = at_ns // slice_ns * slice_ns
            while now < border:
                now = min(border, now + window * slice_ns)
                engine.serve(now)
            movable = [
                (task, node)
                for node in range(3)
                if node != target
                for task in engine.candidates(node, now, CANDIDATE)["task"]
            ]
            candidates = [engine.slot_of(node, task) for task, node in sorted(movable)]
            if candidates:
                engine.migrate(candidates[which % len(candidates)], target, cost_ns, now)
        ended(engine)
        return engine.sorted_records()

    one, other = life(1), life(10**6)
    for name in one.dtype.names:
        assert np.array_equal(one[name], other[name]), name
    assert sorted(one["task"].tolist()) == list(range(len(places)))
    assert np.array_equal(breakdown_sum_ns(one), one["finish_ns"] - one["arrival_ns"])


def test_a_window_can_end_with_the_first_end():
    engine = cluster([(1, 300, 0, 0), (2, 250, 100, 0)], [0, 0, 1])
    reached = [engine.serve(10**6, until_finish=True) for _ in range(3)]
    # Task 0 ends at 420, the others at 2050; then nothing is left to wait for.
    assert reached == [1000, 3000, 10**6]
    assert engine.finished == 3
