"""Migration of running tasks: schedules worked by hand, and that nothing is lost, run twice or paid twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import accesses_of

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import AT_DISK, BREAKDOWN, JOB, NEVER, NONE, READY, RUNNING, empty_nodes
from cluster_abm.policy.tasks import CANDIDATE

RUN_KEY = 0x5EED_CAFE_F00D_BEEF
QUANTUM, SWITCH, SEEK = 100, 10, 1000


def cluster(jobs, count=2, **fields):
    """Idle nodes (quantum 100 ns, switch 10 ns, requests of 1000 ns), jobs (home, arrival ns, CPU ns, I/O per ms)."""
    nodes = empty_nodes(count)
    defaults = {"speed": 1.0, "quantum_ns": QUANTUM, "switch_ns": SWITCH, "seek_ns": SEEK, "ns_per_kb": 0.0,
                "user_memory_kb": 10_000, "fault_ns": 777, "fault_ratio_cap": 2.0}  # fmt: skip
    for name, value in (defaults | fields).items():
        nodes[name] = value
    table = np.zeros(len(jobs), JOB)
    for number, (home, arrival_ns, cpu_ns, io_per_ms) in enumerate(jobs):
        row = table[number]
        row["home"], row["arrival_ns"], row["first_task"], row["tasks"] = home, arrival_ns, number, 1
        row["cpu_ms"], row["io_per_ms"], row["request_kb"], row["memory_mb"] = cpu_ns / 1e6, io_per_ms, 1.0, 1.0
    engine = EngineState(nodes, table, RUN_KEY)
    everyone = np.arange(len(jobs))
    engine.admit(everyone, everyone * 0, everyone * 0, table["home"].astype(np.int64), everyone * 0)
    return engine


def move(engine, task, target, cost_ns, now_ns):
    """Serve until `now_ns`, then migrate the task."""
    engine.serve(now_ns)
    slot = int(np.flatnonzero((engine.tasks["task"] == task) & (engine.tasks["state"] >= READY))[0])
    state = int(engine.tasks["state"][slot])
    engine.migrate(slot, target, cost_ns, now_ns)
    return state


def finished(engine):
    engine.serve(2**60)
    assert engine.live == 0
    return {int(record["task"]): record for record in engine.records}


def parts(record):
    return {name: int(record[f"{name}_ns"]) for name in BREAKDOWN if record[f"{name}_ns"]}


def test_a_task_alone_on_its_cpu():
    engine = cluster([(0, 0, 1000, 0)])
    assert move(engine, 0, 1, 50, 300) == RUNNING
    record = finished(engine)[0]
    # 300 there, 50 on its way, 700 here.
    assert record["finish_ns"] == 1050
    assert parts(record) == {"cpu": 1000, "migration": 50}
    assert (record["node"], record["migrations"], record["moves"]) == (1, 1, 0)
    assert engine.nodes["cpu_busy_ns"].tolist() == [300, 700]


def test_a_task_that_waits_for_the_cpu():
    engine = cluster([(0, 0, 1000, 0), (0, 0, 1000, 0)])
    # Task 0 has had 0-100, task 1 runs since 110.
    assert move(engine, 0, 1, 0, 150) == READY
    found = finished(engine)
    assert found[0]["finish_ns"] == 150 + 900
    assert parts(found[0]) == {"cpu": 1000, "cpu_queue": 50}
    assert found[1]["finish_ns"] == 110 + 1000


def test_the_running_one_of_two():
    engine = cluster([(0, 0, 1000, 0), (0, 0, 1000, 0)])
    assert move(engine, 1, 1, 20, 150) == RUNNING
    found = finished(engine)
    # It has had 110-150. Task 0 gets the CPU at 150, after a switch.
    assert found[1]["finish_ns"] == 170 + 960
    assert parts(found[1]) == {"cpu": 1000, "cpu_queue": 110, "migration": 20}
    assert found[0]["finish_ns"] == 160 + 900
    assert parts(found[0]) == {"cpu": 1000, "cpu_queue": 60}


def test_a_task_to_which_the_cpu_is_switching_has_waited_until_now():
    engine = cluster([(0, 0, 1000, 0), (0, 0, 1000, 0)])
    assert move(engine, 1, 1, 0, 105) == RUNNING
    found = finished(engine)
    assert found[1]["finish_ns"] == 105 + 1000
    assert parts(found[1]) == {"cpu": 1000, "cpu_queue": 105}
    assert found[0]["finish_ns"] == 115 + 900
    assert parts(found[0]) == {"cpu": 1000, "cpu_queue": 15}


def gaps(task, rate_per_ms, cpu_ns):
    return [access.gap_ns for access in accesses_of(RUN_KEY, task, cpu_ns, rate_per_ms, 1.0, 1.0, 0, SEEK, 0.0)]


def test_a_request_in_service_is_served_to_its_end_before_the_task_leaves():
    rate, cpu_ns = 2000.0, 3000
    first, *_ = found_gaps = gaps(0, rate, cpu_ns)
    engine = cluster([(0, 0, cpu_ns, rate)])
    assert move(engine, 0, 1, 50, first + 400) == AT_DISK
    record = finished(engine)[0]
    count = len(found_gaps)
    assert record["requests"] == count > 1
    assert record["finish_ns"] == cpu_ns + 1000 * count + 50
    assert parts(record) == {"cpu": cpu_ns, "io": 1000 * count, "migration": 50}
    assert engine.nodes["disk_busy_ns"].tolist() == [1000, 1000 * (count - 1)]


def test_a_request_that_waits_is_made_anew_at_the_target_and_the_queue_closes_up():
    rate, cpu_ns = 100_000.0, 40
    lone = gaps(0, rate, cpu_ns)[0]
    engine = cluster([(0, 0, cpu_ns, rate), (0, 0, cpu_ns, rate), (0, 0, cpu_ns, rate)], seek_ns=[10_000, 3000])
    engine.serve(1000)
    # All three have asked: the first is served from its first gap on, the second and third wait.
    assert engine.tasks["state"][:3].tolist() == [AT_DISK] * 3
    waits_since = int(engine.tasks["since_ns"][1])
    assert move(engine, 1, 1, 70, 1000) == AT_DISK
    engine.serve(1070 + 3000 + 1)
    moved = engine.tasks[1]
    assert moved["io_queue_ns"] == 1000 - waits_since
    assert moved["io_ns"] == 3000
    assert moved["migration_ns"] == 70
    engine.serve(lone + 10_000 + 1)
    # The third follows the first.
    assert engine.tasks["task"][engine.nodes["disk_head"][0]] == 2
    assert engine.nodes["disk_end_ns"][0] == lone + 20_000
    finished(engine)


def test_a_faster_node_needs_less_time_for_what_is_left():
    engine = cluster([(0, 0, 1000, 0)], speed=[1.0, 4.0])
    move(engine, 0, 1, 0, 200)
    record = finished(engine)[0]
    assert record["finish_ns"] == 200 + 800 / 4
    assert record["cpu_ns"] == 400


def test_who_makes_no_access_makes_none_on_a_faster_node_either():
    engine = cluster([(0, 0, 1000, 0)], speed=[0.001, 1000.0])
    move(engine, 0, 1, 0, 200)
    assert engine.tasks["gap_left_ns"][engine.slot_of(1, 0)] == NEVER


def test_a_newcomer_that_has_not_entered_is_executed_remotely():
    engine = cluster([(0, 500, 1000, 0), (0, 700, 1000, 0)])
    engine.serve(100)
    assert engine.candidates(0, 100, CANDIDATE)["task"].tolist() == [0, 1]
    engine.migrate(engine.slot_of(0, 0), 1, 50, 100)
    # On its way from its arrival on; once sent it is not sent again.
    assert not len(engine.candidates(1, 100, CANDIDATE))
    found = finished(engine)
    assert found[0]["finish_ns"] == 500 + 50 + 1000
    assert (found[0]["moves"], found[0]["migrations"], found[0]["migration_ns"]) == (1, 0, 50)
    assert found[1]["finish_ns"] == 1700


jobs = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 3000), st.integers(1, 4000), st.sampled_from([0.0, 300.0, 5000.0])),
    min_size=1, max_size=8,
)  # fmt: skip
moves = st.lists(
    st.tuples(st.integers(1, 12_000), st.integers(0, 7), st.integers(0, 2), st.integers(0, 900)), max_size=12
)


def lived(work, journeys, window_ns=None, memory_kb=2500):
    """All jobs on three nodes, with migrations (when, which of those that can, to where, cost)."""
    engine = cluster(work, 3, user_memory_kb=memory_kb, fault_rate_per_ms=731.7)
    now_ns = 0
    sent = 0
    for when_ns, choice, target, cost_ns in sorted(journeys):
        while now_ns < when_ns:
            now_ns = when_ns if window_ns is None else min(when_ns, now_ns + window_ns)
            engine.serve(now_ns)
        movable = [
            (task, node)
            for node in range(3)
            if node != target
            for task in engine.candidates(node, now_ns, CANDIDATE)["task"]
        ]
        if movable:
            by_task = [engine.slot_of(node, task) for task, node in sorted(movable)]
            engine.migrate(by_task[choice % len(by_task)], target, cost_ns, now_ns)
            sent += 1
    while window_ns is not None and engine.live and now_ns < 10**6:
        now_ns += window_ns
        engine.serve(now_ns)
    engine.serve(2**60)
    assert engine.live == 0
    return engine, sent


@settings(max_examples=50)
@given(jobs, moves, st.sampled_from([1_500, 2_500, 100_000]))
def test_nothing_is_lost_run_twice_or_paid_twice(work, journeys, memory_kb):
    engine, sent = lived(work, journeys, memory_kb=memory_kb)
    stayed, _ = lived(work, [], memory_kb=memory_kb)
    records = np.sort(engine.records, order="task")
    at_home = np.sort(stayed.records, order="task")
    assert records["task"].tolist() == list(range(len(work)))
    assert records["cpu_ns"].tolist() == [cpu_ns for _, _, cpu_ns, _ in work]
    assert records["requests"].tolist() == at_home["requests"].tolist()
    assert records["io_ns"].tolist() == (records["requests"] * SEEK).tolist()
    assert records["isolated_io_ns"].tolist() == at_home["isolated_io_ns"].tolist()
    # A task that had not entered yet was executed remotely, the others migrated.
    assert records["migrations"].sum() + records["moves"].sum() == sent
    wall_ns = records["finish_ns"] - records["arrival_ns"]
    assert sum(records[f"{part}_ns"] for part in BREAKDOWN).tolist() == wall_ns.tolist()
    nodes = engine.nodes
    for name in ("demand_kb", "transit_kb", "tasks", "in_transit", "stream", "ready_count", "running", "in_device"):
        assert not nodes[name].any(), name
    for name in ("ready_head", "ready_tail", "disk_head", "disk_tail", "transit_head", "member_head"):
        assert (nodes[name] == NONE).all(), name
    assert nodes["disk_busy_ns"].sum() == records["io_ns"].sum() + 777 * records["faults"].sum()
    assert nodes["cpu_busy_ns"].sum() == records["cpu_ns"].sum()
    assert len(set(engine.tables.free.tolist())) == len(engine.tasks)


@pytest.mark.slow
@settings(max_examples=60)
@given(jobs, moves, st.integers(1, 2000))
def test_windows_change_nothing(work, journeys, window_ns):
    whole, _ = lived(work, journeys)
    pieces, _ = lived(work, journeys, window_ns)
    for name in whole.records.dtype.names:
        assert whole.sorted_records()[name].tolist() == pieces.sorted_records()[name].tolist(), name


def test_a_newcomer_that_has_been_asking_is_sent_on_and_loses_no_time():
    """Its manager asked others for 30 ns in vain, then sends it on at a cost of 50."""
    nodes = empty_nodes(2)
    nodes["speed"], nodes["quantum_ns"], nodes["user_memory_kb"] = 1.0, QUANTUM, 10_000
    table = np.zeros(1, JOB)
    table["cpu_ms"], table["tasks"], table["arrival_ns"] = 200e-6, 1, 7
    engine = EngineState(nodes, table, RUN_KEY)
    engine.admit(*(np.array([value]) for value in (0, 0, 0, 0, 30)))
    engine.migrate(int(np.flatnonzero(engine.tasks["state"])[0]), 1, 50, 0)
    record = finished(engine)[0]
    assert record["finish_ns"] == 7 + 30 + 50 + 200
    assert parts(record) == {"migration": 80, "cpu": 200}


def test_a_read_for_others_gets_the_bus_before_a_request_that_still_seeks():
    """Two channels: a request seeks until 1,000 ns after it was made; 100 ns after it was made a disk is to read what
    takes the bus 2,000 ns. The request ends when the bus is free again and has transferred its 1 KB, in 1 ns."""
    engine = cluster([(0, 0, 4000, 500.0)], count=1, channels=2, ns_per_kb=1.0)
    now_ns = 0
    while engine.tasks["state"][0] != AT_DISK:
        now_ns += 1
        engine.serve(now_ns)
    asked_ns = int(engine.tasks["since_ns"][0])
    engine.serve(asked_ns + 100)
    assert engine.read(0, 2.0, asked_ns + 100) == asked_ns + 2100
    engine.serve(asked_ns + 2101)
    assert engine.tasks["io_ns"][0] == 0
    engine.serve(asked_ns + 2102)
    assert (engine.tasks["io_ns"][0], engine.tasks["io_queue_ns"][0]) == (SEEK + 1, 1100)
