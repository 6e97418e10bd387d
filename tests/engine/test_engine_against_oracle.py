"""The compiled engine against hand-worked schedules and against the slow, exact, independent oracle."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from cases_by_hand import HAND_CASES, HandCase
from engine_hardware import engine_nodes, seek_purposes
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import OracleNode, OracleTask, accesses_of, drawn_seek, run_oracle, task_key
from oracle_live import PARTS
from oracle_machine import OracleRun

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import JOB

RUN_KEY = 0x5EED_CAFE_F00D_BEEF


def begun(node: OracleNode, tasks, shape: int = 0, drawn_seeks: bool = False) -> EngineState:
    """The same node and tasks in the engine, at time 0."""
    nodes = engine_nodes(node, drawn_seeks)
    for name in ("speed", "fault_rate_per_ms", "fault_ratio_cap", "buffer_kb"):
        nodes[name] = getattr(node, name)
    jobs = np.zeros(len(tasks), JOB)
    for row, task in zip(jobs, tasks, strict=True):
        row["arrival_ns"], row["first_task"], row["tasks"] = task.enter_ns, task.id, 1
        row["cpu_ms"] = task.cpu_ms or task.cpu_ns * node.speed / 1e6
        row["memory_mb"], row["io_per_ms"] = task.memory_kb / 1000, task.lam_per_ms
        row["request_kb"], row["request_shape"], row["reaccess_rate"] = task.size_kb, shape, task.reaccess
    engine = EngineState(nodes, jobs, RUN_KEY)
    count = len(tasks)
    engine.admit(
        np.arange(count), np.zeros(count, int), np.zeros(count, int), np.zeros(count, int), np.zeros(count, int)
    )
    return engine


def engine_run(
    node: OracleNode, tasks, shape: int = 0, window_ns: int | None = None, drawn_seeks: bool = False
) -> EngineState:
    """The same node and tasks in the engine, served to their end in one go or in windows."""
    engine = begun(node, tasks, shape, drawn_seeks)
    end_ns = 0
    while engine.live:
        end_ns = 2**60 if window_ns is None else end_ns + window_ns
        engine.serve(end_ns)
    return engine


def outcome(engine: EngineState) -> dict[int, tuple[int, ...]]:
    """Task to finish, the five parts, requests, hits, faults."""
    names = ("finish_ns", *(f"{part}_ns" for part in PARTS), "requests", "hits", "faults")
    return {int(record["task"]): tuple(int(record[name]) for name in names) for record in engine.records}


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in HAND_CASES if not case.draws_matter], ids=lambda case: case.name)
@pytest.mark.parametrize("window_ns", [None, 1, 37])
def test_schedules_worked_by_hand(case, window_ns):
    assert_as_worked(case, window_ns)


def assert_as_worked(case: HandCase, window_ns: int | None) -> None:
    # A task's demand at speed 1, from which the engine takes its CPU on the node.
    tasks = [task if task.cpu_ms else replace(task, cpu_ms=task.cpu_ns * case.node.speed / 1e6) for task in case.tasks]
    engine = engine_run(case.node, tasks, window_ns=window_ns)
    found = outcome(engine)
    for task, expected in case.expected.items():
        finish, cpu, cpu_queue, io, io_queue, paging, requests, hits, faults = found[task]
        assert (finish, cpu, cpu_queue, io, io_queue, paging, requests, faults) == (
            expected.finish_ns, expected.cpu, expected.cpu_queue, expected.io, expected.io_queue, expected.paging,
            expected.requests, expected.faults,
        )  # fmt: skip
        assert expected.hits is None or hits == expected.hits
    assert engine.nodes["switches"][0] == case.switches
    assert engine.nodes["disk_busy_ns"][0] == case.disk_busy_ns


# Fault rates that are no round decimals: no page fault falls on another event by more than chance.
nodes = st.builds(
    OracleNode,
    quantum_ns=st.sampled_from([400_000, 10_000_000]),
    switch_ns=st.sampled_from([0, 100_000]),
    user_memory_kb=st.just(1000),
    speed=st.sampled_from([1.0, 0.6180339887, 2.0]),
    fault_rate_per_ms=st.sampled_from([0.0, 0.0271828182845, 0.314159265358979]),
    fault_ratio_cap=st.sampled_from([math.inf, 1.41421356237]),
    fault_ns=st.just(8_100_000),
    seek_ns=st.just(8_000_000),
    ns_per_kb=st.just(25_000.0),
    buffer_kb=st.sampled_from([0.0, 700.0, 1e6]),
)


@st.composite
def lives(draw, nodes=nodes, drawn_seeks: bool = False):
    node = draw(nodes)
    shape = draw(st.sampled_from([0, 1, 4]))
    tasks = []
    for number in range(draw(st.integers(1, 7))):
        cpu_ms = draw(st.sampled_from([0.001, 3.0, 25.0, 140.0]))
        lam, size_kb = draw(st.sampled_from([0.0, 0.02, 0.7])), draw(st.sampled_from([4.0, 100.0]))
        cpu_ns = max(1, math.floor(cpu_ms * 1e6 / node.speed + 0.5))
        seek = fault_seek = None
        if drawn_seeks:
            key, (for_access, for_fault) = task_key(RUN_KEY, number), seek_purposes()
            seek = drawn_seek(key, for_access, node.seek_ns)
            fault_seek = drawn_seek(key, for_fault, node.fault_seek_ns)
        accesses = accesses_of(
            RUN_KEY, number, cpu_ns, lam, node.speed, size_kb, shape, node.seek_ns, node.ns_per_kb, seek
        )
        tasks.append(
            OracleTask(
                number,
                draw(st.integers(0, 60)) * 1_000_000 + draw(st.sampled_from([0, 1, 333_333])),
                cpu_ns,
                draw(st.sampled_from([0, 150, 450, 1200])),
                tuple(accesses),
                lam,
                size_kb,
                cpu_ms,
                draw(st.sampled_from([0.0, 1.0, 5.0])),
                fault_seek,
            )
        )
    return node, tasks, shape


@pytest.mark.slow
@settings(max_examples=50)
@given(lives(), st.sampled_from([None, 10_000_000, 123_457]))
def test_random_lives_as_in_the_oracle(life, window_ns):
    node, tasks, shape = life
    assert_same(engine_run(node, tasks, shape, window_ns), run_oracle(node, tasks))


def assert_same(engine: EngineState, judged: OracleRun) -> None:
    assert outcome(engine) == {
        result.id: (
            result.finish_ns, *(result.breakdown[part] for part in PARTS), result.requests, result.hits, result.faults,
        )
        for result in judged.results
    }  # fmt: skip
    row = engine.nodes[0]
    assert row["switches"] == judged.switches
    assert row["cpu_busy_ns"] == judged.cpu_busy_ns
    assert row["disk_busy_ns"] == judged.disk_busy_ns


def test_the_comparison_meets_every_mechanism():
    """A life in which the oracle itself has queues, faults, hits and misses; otherwise agreement would be cheap."""
    node = OracleNode(
        10_000_000, 100_000, 1000, fault_rate_per_ms=0.0271828182845, fault_ns=8_100_000, seek_ns=8_000_000,
        ns_per_kb=25_000.0, buffer_kb=700.0,
    )  # fmt: skip
    tasks = []
    for number in range(6):
        accesses = accesses_of(RUN_KEY, number, 140_000_000, 0.05, 1.0, 100.0, 4, node.seek_ns, node.ns_per_kb)
        tasks.append(OracleTask(number, number * 1_000_000, 140_000_000, 450, tuple(accesses), 0.05, 100.0, 140.0, 5.0))
    judged = run_oracle(node, tasks)
    for part in PARTS:
        assert sum(result.breakdown[part] for result in judged.results) > 0
    assert min(sum(getattr(result, name) for result in judged.results) for name in ("requests", "hits", "faults")) > 5
    assert outcome(engine_run(node, tasks, shape=4))[0][0] == judged.results[0].finish_ns
