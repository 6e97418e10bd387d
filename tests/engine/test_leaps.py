"""Leaps over whole rounds of quanta: what falls on, just before or just after a leap's end, against the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from cases_by_hand import PLAIN, task
from oracle import accesses_of, run_oracle
from test_engine_against_oracle import RUN_KEY, begun, engine_run, outcome

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import READY, RUNNING

# Two tasks, quantum 100 and switch 10: the first one's quanta end at 100, 320, 540 and so on, and all leaps there.
ROUND_NS = 220
AROUND = (-111, -110, -109, -11, -10, -9, -1, 0, 1, 109, 110, 111)


def as_in_the_oracle(engine: EngineState, node, tasks) -> None:
    judged = run_oracle(node, tasks)
    found = {task: parts[:-3] for task, parts in outcome(engine).items()}
    assert found == {result.id: (result.finish_ns, *result.breakdown.values()) for result in judged.results}
    assert engine.nodes["switches"][0] == judged.switches
    assert engine.nodes["cpu_busy_ns"][0] == judged.cpu_busy_ns
    assert engine.nodes["disk_busy_ns"][0] == judged.disk_busy_ns


@pytest.mark.parametrize("rounds", [1, 2, 9])
@pytest.mark.parametrize("off_ns", AROUND)
def test_an_arrival_around_a_leaps_end(rounds, off_ns):
    tasks = [task(0, 0, 5000), task(1, 0, 3000), task(2, 100 + ROUND_NS * rounds + off_ns, 250)]
    as_in_the_oracle(engine_run(PLAIN, tasks), PLAIN, tasks)


@pytest.mark.parametrize("rounds", [1, 2, 9])
@pytest.mark.parametrize("off_ns", AROUND)
def test_a_disk_completion_around_a_leaps_end(rounds, off_ns):
    """The first task computes until its only access; then the other two take turns until the disk is done."""
    rate_per_ms = 20_000.0
    gap_ns = accesses_of(RUN_KEY, 0, 10_000, rate_per_ms, 1.0, 1.0, 0, 1, 0.0)[0].gap_ns
    assert 1 < gap_ns < 100
    # The second task has the CPU from gap + 10, its quanta end at gap + 110 and every round later.
    node = replace(PLAIN, seek_ns=110 + ROUND_NS * rounds + off_ns, ns_per_kb=0.0)
    cpu_ns = gap_ns + 1
    accesses = accesses_of(RUN_KEY, 0, cpu_ns, rate_per_ms, 1.0, 1.0, 0, node.seek_ns, node.ns_per_kb)
    assert len(accesses) == 1
    asking = replace(task(0, 0, cpu_ns), accesses=tuple(accesses), lam_per_ms=rate_per_ms, size_kb=1.0)
    tasks = [asking, task(1, 0, 5000), task(2, 0, 3000)]
    as_in_the_oracle(engine_run(node, tasks), node, tasks)


@pytest.mark.parametrize("short", [1, 2])
@pytest.mark.parametrize("quanta", [1, 2, 9])
@pytest.mark.parametrize("off_ns", [-1, 0, 1])
def test_a_demand_around_a_whole_number_of_quanta(short, quanta, off_ns):
    """A task that uses up exactly its last quantum has finished, not been rotated: a running one and a waiting one."""
    demands = {number: 5000 + number for number in range(3)} | {short: 100 * quanta + off_ns}
    tasks = [task(number, 0, demand) for number, demand in demands.items()]
    as_in_the_oracle(engine_run(PLAIN, tasks), PLAIN, tasks)


THREE = (task(0, 0, 5000), task(1, 0, 3000), task(2, 0, 4000))


def state_at(end_ns: int, window_ns: int, tasks=THREE, cores: int = 1) -> dict[str, list[object]]:
    """Node and tasks as they are at `end_ns`, served in windows: all but the engine's own notes.

    These are when next to try a leap, and what has a meaning only while a task waits for a core, or runs.
    """
    engine = begun(replace(PLAIN, cores=cores), list(tasks))
    for border_ns in range(window_ns, end_ns, window_ns):
        engine.serve(border_ns)
    engine.serve(end_ns)
    tables = {"node": engine.nodes, "task": engine.tasks}
    fields = {f"{table} {name}": rows[name].tolist() for table, rows in tables.items() for name in rows.dtype.names}
    for name, state in (("since_ns", READY), ("leg_ns", RUNNING), ("quantum_start_ns", RUNNING), ("core", RUNNING)):
        fields[f"task {name}"] = np.where(engine.tasks["state"] == state, engine.tasks[name], 0).tolist()
    del fields["node no_leap_before_ns"]
    return fields


@pytest.mark.parametrize("end_ns", [100, 430, 760, 1090, 7690])
@pytest.mark.parametrize("off_ns", [-1, 0, 1, 10])
def test_what_happens_at_a_windows_end_belongs_to_the_next_also_after_a_leap(end_ns, off_ns):
    """Three tasks: the first one's quanta end at 100, 430, 760 and so on; so short are some windows that none leaps."""
    assert state_at(end_ns + off_ns, 10**6) == state_at(end_ns + off_ns, 1)


@pytest.mark.parametrize("left_ns", range(-20, 120, 10))
def test_the_other_core_is_in_the_middle_of_a_quantum(left_ns):
    """Four tasks on two cores, 30 ns apart: one of them uses up its demand in the middle of a quantum after a leap."""
    tasks = [task(0, 0, 5000), task(1, 30, 2000 + left_ns), task(2, 40, 4000), task(3, 50, 3000)]
    node = replace(PLAIN, cores=2)
    as_in_the_oracle(engine_run(node, tasks), node, tasks)


# Some come while others have the cores: in the first round they wait for less than in any other.
IN_BETWEEN = tuple(task(number, 37 * number, 5000 + number) for number in range(7))


@pytest.mark.parametrize("cores", [1, 2, 3, 6])
@pytest.mark.parametrize("end_ns", [200, 1100, 2222, 3000])
def test_since_when_tasks_wait_does_not_depend_on_leaps(cores, end_ns):
    assert state_at(end_ns, 10**6, IN_BETWEEN, cores) == state_at(end_ns, 1, IN_BETWEEN, cores)


@pytest.mark.parametrize("count", [4, 5, 6, 9])
def test_since_when_tasks_wait_where_cores_stop_at_one_instant(count):
    """All come at 0, on four cores: these stop together."""
    tasks = [task(number, 0, 4000) for number in range(count)]
    for end_ns in (101, 775, 2000):
        assert state_at(end_ns, 10**6, tasks, 4) == state_at(end_ns, 1, tasks, 4)


def test_a_task_that_came_in_the_middle_of_a_quantum_waits_since_its_last_one_after_a_leap():
    """By hand, quantum 100, switch 10: task 0 runs from 0 to 100 at first, 1 comes at 30 and runs from 110 to 210; from
    then on 1's quanta end 220 ns apart, at 430, 650 and 870, and it waits from there on, not from 30 + 4 rounds."""
    engine = begun(PLAIN, [task(0, 0, 5000), task(1, 30, 5000)])
    engine.serve(981)
    waiting = engine.tasks[engine.tasks["state"] == READY]
    assert waiting["task"].tolist() == [0]
    assert waiting["since_ns"].tolist() == [980]
    engine = begun(PLAIN, [task(0, 0, 5000), task(1, 30, 5000)])
    engine.serve(979)
    waiting = engine.tasks[engine.tasks["state"] == READY]
    assert waiting["task"].tolist() == [1]
    assert waiting["since_ns"].tolist() == [870]
    # 70 until its first quantum begins to be switched to and 10 for that; then 120 between two quanta.
    assert waiting["cpu_queue_ns"].tolist() == [80 + 3 * 120]
