"""Page faults by oversize, phases and the memory limit: the compiled engine against a slow, exact oracle."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pytest
from engine_hardware import engine_nodes
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle_live import PARTS
from oracle_machine import OracleRun
from oracle_memory import OracleNode, OracleTask, Phase, faults_per_s, run_oracle

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import BREAKDOWN, FINISHED, JOB, KILLED, NEVER, PHASE

MS = 1_000_000
RUN_KEY = 1
# What floating-point credits may be off, in ns of CPU: a few thousand roundings at the slowest rates.
TOO_CLOSE_NS = Fraction(1, 10_000)


class Fate(NamedTuple):
    """What became of a task: its end, whether it was killed, its time by parts, its requests and page faults."""

    finish_ns: int
    killed: bool
    parts: tuple[int, ...]
    requests: int
    faults: int


def begun(node: OracleNode, tasks: list[OracleTask], slice_ns: int, drawn_seeks: bool = False) -> EngineState:
    """The same node and tasks in the engine, at time 0."""
    nodes = engine_nodes(node, drawn_seeks)
    nodes["fault_evenness"] = node.fault_evenness
    nodes["speed"], nodes["by_oversize"], nodes["fault_ratio_cap"] = 1.0, 1, math.inf
    nodes["memory_kb"] = node.user_memory_kb
    nodes["limit_kb"] = NEVER if node.limit_kb is None else node.limit_kb
    jobs = np.zeros(len(tasks), JOB)
    profiles = []
    for number, (row, task) in enumerate(zip(jobs, tasks, strict=True)):
        row["arrival_ns"], row["first_task"], row["tasks"] = task.arrival_ns, task.id, 1
        row["cpu_ms"] = sum(phase.cpu_ns for phase in task.phases) / MS
        row["memory_mb"] = max(phase.memory_kb for phase in task.phases) / 1000
        row["request_kb"] = task.size_kb
        row["program"], row["first_phase"], row["phases"] = number, len(profiles), len(task.phases)
        profiles += [
            (phase.cpu_ms, phase.memory_kb, phase.accesses, phase.allocated_kb_per_s, 0) for phase in task.phases
        ]
    engine = EngineState(nodes, jobs, RUN_KEY, slice_ns, False, np.array(profiles, PHASE))
    count = len(tasks)
    delays = np.array([task.delay_ns for task in tasks])
    engine.admit(np.arange(count), np.zeros(count, int), np.zeros(count, int), np.zeros(count, int), delays)
    return engine


def engine_run(
    node: OracleNode, tasks: list[OracleTask], steps_ns=(), slice_ns: int = 10 * MS, drawn_seeks: bool = False
) -> EngineState:
    """The same node and tasks in the engine, served to their end, with stops on the way."""
    engine = begun(node, tasks, slice_ns, drawn_seeks)
    for border_ns in accumulate(steps_ns):
        engine.serve(border_ns)
    engine.serve(2**60)
    return engine


def in_engine(engine: EngineState) -> dict[int, Fate]:
    for record in engine.records:
        assert sum(record[f"{part}_ns"] for part in BREAKDOWN) == record["finish_ns"] - record["arrival_ns"]
        assert record["outcome"] in (FINISHED, KILLED)
    return {
        int(record["task"]): Fate(
            int(record["finish_ns"]),
            bool(record["outcome"] == KILLED),
            tuple(int(record[f"{part}_ns"]) for part in PARTS),
            int(record["requests"]),
            int(record["faults"]),
        )
        for record in engine.records
    }


def in_oracle(judged: OracleRun) -> dict[int, Fate]:
    return {
        result.id: Fate(
            result.finish_ns, result.killed, tuple(result.breakdown[part] for part in PARTS), result.requests,
            result.faults,
        )
        for result in judged.results
    }  # fmt: skip


def assert_same(engine: EngineState, judged: OracleRun) -> None:
    assert in_engine(engine) == in_oracle(judged)
    row = engine.nodes[0]
    for name in ("switches", "cpu_busy_ns", "disk_busy_ns"):
        assert row[name] == getattr(judged, name), name
    # A task that has left takes everything along.
    for name in ("tasks", "demand_kb", "accesses", "allocated_kb_per_s"):
        assert row[name] == 0, name


# -- cases worked by hand ----------------------------------------------------------------------------------------------
def hand_node(**other) -> OracleNode:
    """Quantum 10 ms; a request of 100 KB takes 5 + 1 ms, a page fault 8 ms; 1000 KB for programs."""
    return OracleNode(
        **{
            "quantum_ns": 10 * MS, "switch_ns": 0, "user_memory_kb": 1000, "fault_ns": 8 * MS, "seek_ns": 5 * MS,
            "ns_per_kb": 10_000.0, **other,
        }
    )  # fmt: skip


class HandCase(NamedTuple):
    node: OracleNode
    tasks: list[OracleTask]
    expected: dict[int, Fate]


def fate(finish_ms: float, parts_ms: tuple[float, ...], requests: int = 0, faults: int = 0, killed: bool = False):
    """`parts_ms`: CPU, CPU queue, I/O, I/O queue, paging."""
    return Fate(round(finish_ms * MS), killed, tuple(round(part * MS) for part in parts_ms), requests, faults)


HAND_CASES = {
    # Task 0 computes 40 ms, its accesses come after 1/4 and 3/4: CPU 0-10, disk 10-16, CPU 16-36, disk 36-42,
    # CPU 42-52. The other two fit exactly into its absences.
    "accesses after a quarter and three quarters": HandCase(
        hand_node(),
        [
            OracleTask(0, 0, (Phase(40.0, 0, 2),), 100.0),
            OracleTask(1, 12 * MS, (Phase(4.0, 0),)),
            OracleTask(2, 37 * MS, (Phase(5.0, 0),)),
        ],
        {0: fate(52, (40, 0, 12, 0, 0), requests=2), 1: fate(16, (4, 0, 0, 0, 0)), 2: fate(42, (5, 0, 0, 0, 0))},
    ),
    # Q = (2000 - 1000) / 1000 = 1, R = 120 - 4 / (0.31 + 0.19 + 0.034) = 60.08 / 0.534 a second: one fault in
    # 8 888 149.13 ns, two in 17 776 298.27 ns of CPU. The task stops at the next whole ns, 8 888 150, keeps the excess,
    # and so stops again at 17 776 299: one ns before its end, which two gaps of 8 888 150 ns would just reach.
    "two faults at Q = 1, the first one's excess kept": HandCase(
        hand_node(), [OracleTask(0, 0, (Phase(17.7763, 2000),))], {0: fate(33.7763, (17.7763, 0, 0, 0, 16), faults=2)}
    ),
    # The same without that last ns: the demand is used up at the very instant of the second fault, and goes first.
    "the end goes before a fault": HandCase(
        hand_node(),
        [OracleTask(0, 0, (Phase(17.776299, 2000),))],
        {0: fate(25.776299, (17.776299, 0, 0, 0, 8), faults=1)},
    ),
    # 3000 accesses of 6 ms, and then Q = 1: 0.061 * 3000 - 174.98 = 8.02 more than 112.5 a second are 120 at most, one
    # fault in 8 333 333.3 ns. By Q alone it would come after 8.9 ms, and the second phase is over before.
    "a fault for the many accesses": HandCase(
        hand_node(),
        [OracleTask(0, 0, (Phase(30.0, 0, 3000), Phase(8.5, 2000)), 100.0)],
        {0: fate(18_046.5, (38.5, 0, 18_000, 0, 8), requests=3000, faults=1)},
    ),
    # Again Q = 1. Half of the faults fall on all alike, half on task 0, which alone asks anew: r = R (0.5 + 0.5 * 2)
    # for task 0, one fault in 17 776 298.27 / 3 = 5 925 432.76 ns; 0.5 R for task 1, one in 17.8 ms. Task 0 stops at
    # 5 925 433, task 1 computes its 6 ms until 11 925 433, task 0 is back at 13 925 433 for the 74 567 ns it lacks.
    "faults for those that grow": HandCase(
        hand_node(fault_evenness=0.5),
        [OracleTask(0, 0, (Phase(6.0, 1000, 0, 100),)), OracleTask(1, 0, (Phase(6.0, 1000),))],
        {0: fate(14, (6, 0, 0, 0, 8), faults=1), 1: fate(11.925433, (6, 5.925433, 0, 0, 0))},
    ),
    # Task 0's first phase takes a whole quantum: it rotates, task 1 computes 10-13, task 0 13-15.
    "a phase ends with the quantum": HandCase(
        hand_node(),
        [OracleTask(0, 0, (Phase(10.0, 0), Phase(2.0, 0))), OracleTask(1, 4 * MS, (Phase(3.0, 0),))],
        {0: fate(15, (12, 3, 0, 0, 0)), 1: fate(13, (3, 6, 0, 0, 0))},
    ),
    # Task 0 computes 0-10, task 1 10-11 and asks the disk, which serves it 11-17. At 13 task 0's phase changes:
    # 2500 + 1000 > 3000 KB, the later one dies (of equal arrivals the greater number), its end is that of the service.
    # Task 0 computes 2 ms more, waits for the disk 15-17, is served until 23 and computes its last 2 ms. No task asks
    # for more memory than there is.
    "killed while the disk serves it": HandCase(
        hand_node(user_memory_kb=10_000, limit_kb=3000),
        [
            OracleTask(0, 0, (Phase(12.0, 1000), Phase(4.0, 2500, 1)), 100.0),
            OracleTask(1, 0, (Phase(2.0, 1000, 1),), 100.0),
        ],
        {0: fate(25, (16, 1, 6, 2, 0), requests=1), 1: fate(17, (1, 10, 6, 0, 0), requests=1, killed=True)},
    ),
    # Task 0 is the first submitted and the last to come, at 3: 2500 + 2 * 500 > 2900 KB. First task 2 goes, from the
    # ready queue, and then task 1, from the CPU; task 0 computes after the switch, 4-9.
    "the last submitted is killed, not the last to come": HandCase(
        hand_node(user_memory_kb=10_000, limit_kb=2900, switch_ns=1 * MS),
        [
            OracleTask(0, 0, (Phase(5.0, 2500),), delay_ns=3 * MS),
            OracleTask(1, 1 * MS, (Phase(9.0, 500),)),
            OracleTask(2, 2 * MS, (Phase(9.0, 500),)),
        ],
        {
            0: fate(9, (5, 1, 0, 0, 0)),
            1: fate(3, (2, 0, 0, 0, 0), killed=True),
            2: fate(3, (0, 1, 0, 0, 0), killed=True),
        },
    ),
}


@pytest.mark.parametrize("case", HAND_CASES.values(), ids=HAND_CASES)
def test_cases_worked_by_hand(case):
    judged = run_oracle(case.node, case.tasks)
    assert in_oracle(judged) == case.expected
    assert_same(engine_run(case.node, case.tasks), judged)
    assert_same(engine_run(case.node, case.tasks, [333_333] * 200), judged)


@pytest.mark.parametrize("others", [[], [OracleTask(1, 9 * MS, (Phase(3.0, 0),))]], ids=["alone", "another ready"])
def test_credit_outlives_the_oversize(others):
    """The first phase ends in the very ns in which one page fault is earned at Q = 1; the second needs no more memory
    than there is. The end of the phase goes first, and then, at once, the fault: disk until 16.88815, CPU to the end.
    """
    tasks = [OracleTask(0, 0, (Phase(8.88815, 2000), Phase(20.0, 1000))), *others]
    judged = run_oracle(hand_node(), tasks)
    assert in_oracle(judged)[0] == fate(36.88815, (28.88815, 0, 0, 0, 8), faults=1)
    assert_same(engine_run(hand_node(), tasks), judged)


def test_the_law_of_faults():
    assert faults_per_s(Fraction(0), 10_000) == 0
    # 4 / (0.31 + 0.19 + 0.034) = 7.49 fewer than 120, whatever the accesses up to 2868: 0.061 * 2868 = 174.948.
    assert faults_per_s(Fraction(1), 0) == faults_per_s(Fraction(1), 2868) == Fraction(6008, 100) / Fraction(534, 1000)
    # 0.061 * 2900 = 176.9, 1.92 more than 174.98; 0.061 * 3000 = 183 makes up for all that is missing at Q = 1.
    assert faults_per_s(Fraction(1), 2900) - faults_per_s(Fraction(1), 0) == Fraction(192, 100)
    assert faults_per_s(Fraction(1), 3000) == 120


# -- random lives ------------------------------------------------------------------------------------------------------
# Most durations are whole ms, so that events of all kinds meet at one instant.
odd_ns = st.sampled_from([0, 0, 0, 1, 333_333])

nodes = st.builds(
    OracleNode,
    quantum_ns=st.just(10 * MS),
    switch_ns=st.sampled_from([0, 100_000, 1_000_000]),
    user_memory_kb=st.just(10_000),
    fault_evenness=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    fault_ns=st.sampled_from([1_000_000, 8_100_000]),
    seek_ns=st.sampled_from([3_000_000, 8_000_000]),
    ns_per_kb=st.sampled_from([25_000.0, 24_414.0625]),
    limit_kb=st.sampled_from([None, None, 14_000, 21_000, 30_000]),
)
phases = st.builds(
    lambda cpu_ms, odd, memory_kb, accesses, fresh: Phase((cpu_ms * MS + odd) / MS, memory_kb, accesses, fresh),
    st.integers(1, 60),
    odd_ns,
    st.sampled_from([0, 1000, 4000, 5003, 9999, 10_050, 12_345, 20_000]),
    st.sampled_from([0, 0, 1, 2, 3, 6]),
    st.sampled_from([0, 100, 5000]),
)


@st.composite
def lives(draw, least: int = 1, most: int = 5, nodes=nodes):
    node = draw(nodes)
    tasks = [
        OracleTask(
            number,
            draw(st.integers(0, 80)) * MS + draw(odd_ns),
            tuple(draw(st.lists(phases, min_size=1, max_size=4))),
            draw(st.sampled_from([0.0, 40.0, 33.3])),
            draw(st.sampled_from([0, 0, 0, 7 * MS])),
        )
        for number in range(draw(st.integers(least, most)))
    ]
    return node, tasks


steps = st.lists(st.sampled_from([1, 123_457, 5 * MS, 10 * MS, 12_345_678, 90 * MS]), max_size=12)
slices = st.sampled_from([10 * MS, 1 * MS, 777_777])


def judge(
    node: OracleNode, tasks: list[OracleTask], steps_ns: list[int], slice_ns: int, drawn_seeks: bool = False
) -> None:
    judged = run_oracle(node, tasks)
    assume(judged.closest_call_ns > TOO_CLOSE_NS)
    assert_same(engine_run(node, tasks, steps_ns, slice_ns, drawn_seeks), judged)


@pytest.mark.slow
@settings(max_examples=133)
@given(lives(), steps, slices)
def test_random_lives_as_in_the_oracle(life, steps_ns, slice_ns):
    judge(*life, steps_ns, slice_ns)


# One fault at Q = 1, and two: at the instants at which phases and quanta end, and at which accesses come.
ONE_FAULT_NS, TWO_FAULTS_NS = 8_888_150, 17_776_299

coinciding_phases = st.builds(
    lambda cpu_ns, memory_kb, accesses: Phase(cpu_ns / MS, memory_kb, accesses),
    st.sampled_from([ONE_FAULT_NS, TWO_FAULTS_NS, 2 * ONE_FAULT_NS, 4 * ONE_FAULT_NS]),
    st.sampled_from([20_000, 20_000, 10_000, 0]),
    st.integers(0, 2),
)


@st.composite
def coinciding_lives(draw, nodes=nodes, most: int = 3):
    """Lives in which page faults fall due together with other reasons to stop."""
    node = replace(draw(nodes), quantum_ns=draw(st.sampled_from([ONE_FAULT_NS, TWO_FAULTS_NS, 10 * MS])))
    profiles = draw(st.lists(st.lists(coinciding_phases, min_size=1, max_size=4), min_size=1, max_size=most))
    tasks = [
        OracleTask(number, draw(st.sampled_from([0, 0, ONE_FAULT_NS])), tuple(profile))
        for number, profile in enumerate(profiles)
    ]
    return node, tasks


@pytest.mark.slow
@settings(max_examples=66)
@given(coinciding_lives(), steps, slices)
def test_lives_full_of_coincidences_as_in_the_oracle(life, steps_ns, slice_ns):
    judge(*life, steps_ns, slice_ns)


@st.composite
def busy_lives(draw):
    """Lives in which one task makes so many accesses that their number matters (2869 and more) while others come."""
    node, others = draw(lives(1, 3))
    node = replace(node, seek_ns=draw(st.sampled_from([1_000, 12_345])), limit_kb=draw(st.sampled_from([None, 30_000])))
    busy = Phase(30.0, draw(st.sampled_from([1000, 11_000])), draw(st.sampled_from([2860, 2900, 3000])))
    oversized = [
        replace(phase, memory_kb=phase.memory_kb + 10_001) for phase in draw(st.lists(phases, min_size=1, max_size=3))
    ]
    return node, [*others, OracleTask(len(others), 0, (busy, *oversized))]


@pytest.mark.slow
@settings(max_examples=12)
@given(busy_lives(), steps, slices)
def test_lives_with_very_many_accesses_as_in_the_oracle(life, steps_ns, slice_ns):
    judge(*life, steps_ns, slice_ns)
