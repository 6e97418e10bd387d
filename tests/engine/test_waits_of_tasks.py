"""How long a task has now been waiting for the disk or for a core, worked by hand on the nodes of task_by_hand.py."""

from __future__ import annotations

import pytest
from task_by_hand import MS, engine_of, send, start

from cluster_abm.engine.pooled.state import PooledState
from cluster_abm.policy.tasks import CANDIDATE

# Three tasks at 0 on three cores, X without its memory: each computes 25 ms and then asks for 10.5 ms of the disk. The
# first has it from 25 to 35.5, the second to 46, the third to 56.5; the seek of each is 8 ms.
THREE = ({}, {}, {})


def waits(engine, at_ms, node=0):
    """Of each candidate of a node at a time, by number: its waits for the disk and for a core [ms]."""
    engine.serve(round(at_ms * MS))
    rows = engine.candidates(node, round(at_ms * MS), CANDIDATE)
    return {int(row["task"]): (float(row["disk_wait_ms"]), float(row["cpu_wait_ms"])) for row in rows}


def crowd(**hardware):
    engine = engine_of(*THREE, memory_kb=10, **({"cores": 3} | hardware))
    for job in range(3):
        start(engine, job)
    return engine


@pytest.mark.parametrize(
    ("at_ms", "by_hand"),
    [
        (20, [0, 0, 0]),
        (30, [0, 5, 5]),
        # Task 0 computes again; task 1 is served, so waits no more; task 2 still does.
        (40, [0, 0, 15]),
        (46, [0, 0, 21]),
        (50, [0, 0, 0]),
    ],
)
def test_three_requests_at_one_disk(at_ms, by_hand):
    assert waits(crowd(), at_ms) == {number: (pytest.approx(ms), 0) for number, ms in enumerate(by_hand)}


def test_a_request_in_the_device_does_not_wait_whether_or_not_it_has_the_bus():
    """Two channels: at 34 the seeks of tasks 0 and 1 are over, and task 0 has the bus until 35.5."""
    found = waits(crowd(channels=2), 34)
    assert found == {0: (0, 0), 1: (0, 0), 2: (pytest.approx(9), 0)}


def test_a_page_fault_waits_as_a_request_does():
    """At speed 2, 1500 KB on 1000: X faults after 83.33 ms of CPU, at 104.33 (two accesses before), and the disk reads
    2 MB from 104 to 154."""
    engine = engine_of()
    start(engine)
    engine.serve(104 * MS)
    engine.read(0, 2.0, 104 * MS)
    assert waits(engine, 110) == {0: (pytest.approx(110 - 21 - 250 / 3), 0)}


def test_a_task_waits_anew_for_a_core_after_each_quantum():
    """Tasks that only compute, one core, 10 ms each and 2 ms to switch: 0-10, 12-22, 24-34, 36-46, ..."""
    engine = engine_of(*({"io_per_ms": 0.0, "phases": 0},) * 3, memory_kb=10)
    for job in range(3):
        start(engine, job)
    assert waits(engine, 5) == {0: (0, 0), 1: (0, 5), 2: (0, 5)}
    assert waits(engine, 20) == {0: (0, 10), 1: (0, 0), 2: (0, 20)}
    # A core that switches to a task has been given to it.
    assert waits(engine, 23) == {0: (0, 13), 1: (0, 1), 2: (0, 0)}
    # After 20 rounds of 36 ms it is as at 720 - 720 + 41: task 0 runs from 36 to 46.
    assert waits(engine, 41 + 20 * 36) == {0: (0, 0), 1: (0, 19), 2: (0, 7)}


def test_a_migrated_task_waits_anew_at_its_target():
    """The disk of node 0 reads from 20 to 95, and task 0 asks at 25; sent at 40 it asks the disk of node 1 at 70, which
    reads from 60 to 110."""
    engine = engine_of(memory_kb=10)
    start(engine)
    engine.serve(20 * MS)
    engine.read(0, 3.0, 20 * MS)
    assert waits(engine, 40) == {0: (15, 0)}
    send(engine, 0, 1, 40)
    engine.serve(60 * MS)
    engine.read(1, 2.0, 60 * MS)
    assert waits(engine, 65, node=1) == {}
    assert waits(engine, 80, node=1) == {0: (10, 0)}


def test_what_has_not_entered_its_node_waits_for_neither():
    engine = engine_of()
    start(engine, delay_ms=30)
    assert waits(engine, 10) == {0: (0, 0)}


def test_no_node_of_a_pooled_cluster_has_a_task_of_its_own_to_send():
    engine = engine_of(*THREE, memory_kb=10, kind=PooledState)
    for job in range(3):
        start(engine, job)
    assert waits(engine, 30) == {}
