"""The oracles judge the engine; here hand-worked schedules and plain laws judge the oracles."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import oracle_memory
import pytest
from cases_by_hand import HAND_CASES, PLAIN, HandCase, reading, task
from cases_of_channels import CHANNEL_CASES, PHASE_CASES, Fate, PhaseCase
from cases_of_cores import CORE_CASES
from oracle import GAP, Access, OracleNode, OracleTask, accesses_of, mix, run_oracle, task_key, uniform
from oracle_live import PARTS

CASES = HAND_CASES + CORE_CASES + CHANNEL_CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_schedule_worked_by_hand(case: HandCase) -> None:
    run = run_oracle(case.node, case.tasks)
    assert [result.id for result in run.results] == sorted(case.expected)
    for result in run.results:
        expected = case.expected[result.id]
        assert result.finish_ns == expected.finish_ns
        assert result.breakdown == {part: getattr(expected, part) for part in PARTS}
        assert (result.requests, result.faults) == (expected.requests, expected.faults)
        assert expected.hits in (None, result.hits)
    assert run.switches == case.switches
    assert tuple(run.disk_order) == case.disk_order
    assert run.disk_busy_ns == case.disk_busy_ns
    assert run.cpu_busy_ns == sum(expected.cpu for expected in case.expected.values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_hand_work_adds_up(case: HandCase) -> None:
    """The data themselves: every part of a task's stay is booked once."""
    for one in case.tasks:
        expected = case.expected[one.id]
        assert sum(getattr(expected, part) for part in PARTS) == expected.finish_ns - one.enter_ns
        assert expected.cpu == one.cpu_ns


@pytest.mark.parametrize("case", PHASE_CASES.values(), ids=PHASE_CASES)
def test_programs_with_phases_worked_by_hand(case: PhaseCase) -> None:
    run = oracle_memory.run_oracle(case.node, case.tasks)
    found = {
        result.id: Fate(
            result.finish_ns / 1e6, tuple(ns / 1e6 for ns in result.breakdown.values()), result.requests, result.faults,
            result.killed,
        )
        for result in run.results
    }  # fmt: skip
    assert found == case.expected
    assert (run.switches, run.disk_busy_ns / 1e6) == (case.switches, case.disk_busy_ms)
    assert run.cpu_busy_ns / 1e6 == sum(fate.parts_ms[0] for fate in case.expected.values())
    # The hand work itself: every part of a stay, from 0 on, is booked once.
    assert all(sum(fate.parts_ms) == pytest.approx(fate.finish_ms) for fate in case.expected.values())


def random_life(seed: int) -> tuple[OracleNode, list[OracleTask]]:
    """A busy node: everything happens, and with times this small much of it at one instant."""
    draw = random.Random(seed)
    node = OracleNode(
        quantum_ns=draw.choice([7, 50, 1000, math.inf]),
        switch_ns=draw.choice([0, 3]),
        user_memory_kb=1000,
        speed=draw.choice([1.0, 2.0]),
        fault_rate_per_ms=draw.choice([0.0, 3000.0]),
        fault_ratio_cap=draw.choice([math.inf, 1.5]),
        fault_ns=40,
        fault_seek_ns=25,
        buffer_kb=draw.choice([0.0, 100.0]),
        cores=draw.choice([1, 1, 2, 3]),
        channels=draw.choice([1, 1, 2, 3]),
    )
    tasks = []
    for id in range(1, draw.randint(2, 8)):
        accesses = [
            Access(draw.randint(1, 60), draw.randint(30, 60), draw.random(), draw.randint(0, 30))
            for _ in range(draw.randint(0, 9))
        ]
        one = OracleTask(id, draw.randint(0, 300), draw.randint(1, 400), draw.randint(0, 700), tuple(accesses))
        tasks.append(reading(one) if draw.random() < 0.7 else one)
    return node, tasks


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_laws_of_any_life(seed: int) -> None:
    node, tasks = random_life(seed)
    run = run_oracle(node, tasks)
    assert [result.id for result in run.results] == [one.id for one in tasks]
    for one, result in zip(tasks, run.results, strict=True):
        happened = done = 0
        for access in one.accesses:  # those whose CPU time comes before the task's end
            done += access.gap_ns
            happened += done < one.cpu_ns
        assert result.breakdown["cpu"] == one.cpu_ns
        assert sum(result.breakdown.values()) == result.finish_ns - one.enter_ns
        assert min(result.breakdown.values()) >= 0
        assert result.requests + result.hits == happened
        assert result.breakdown["paging"] >= result.faults * node.fault_ns
    assert run.cpu_busy_ns == sum(one.cpu_ns for one in tasks)
    assert len(run.disk_order) == sum(result.requests + result.faults for result in run.results)
    served = sum(result.breakdown["io"] + result.faults * node.fault_ns for result in run.results)
    assert run.disk_busy_ns == served if node.channels == 1 else run.disk_busy_ns <= served
    # The node is never idle with a task in it: its busy cores and disk, and its switches, cover all stays.
    stays = covered(tasks, [result.finish_ns for result in run.results])
    assert stays <= run.cpu_busy_ns + run.disk_busy_ns + run.switches * node.switch_ns


def covered(tasks: list[OracleTask], finishes: list[int]) -> int:
    """Ns during which at least one task is in the node."""
    total = reached = 0
    for enter, finish in sorted((one.enter_ns, finish) for one, finish in zip(tasks, finishes, strict=True)):
        total += max(0, finish - max(enter, reached))
        reached = max(reached, finish)
    return total


@pytest.mark.parametrize("seed", range(20))
def test_one_channel_serves_a_request_whatever_part_of_it_is_seek(seed: int) -> None:
    node, tasks = random_life(seed)
    node = replace(node, channels=1)
    whole = [replace(one, accesses=tuple(access._replace(seek_ns=0) for access in one.accesses)) for one in tasks]
    assert run_oracle(replace(node, fault_seek_ns=0), whole) == run_oracle(node, tasks)


@pytest.mark.parametrize("seed", range(20))
def test_with_cores_and_channels_for_all_no_task_waits(seed: int) -> None:
    """No switches, and transfers of no time: each task is as if alone."""
    node, tasks = random_life(seed)
    node = replace(node, cores=8, channels=8, switch_ns=0, fault_rate_per_ms=0.0, buffer_kb=0.0)
    seeking = [
        replace(one, accesses=tuple(access._replace(seek_ns=access.service_ns) for access in one.accesses))
        for one in tasks
    ]
    for one, result in zip(seeking, run_oracle(node, seeking).results, strict=True):
        served = sum(access.service_ns for access in one.accesses[: result.requests])
        assert result.breakdown == {"cpu": one.cpu_ns, "cpu_queue": 0, "io": served, "io_queue": 0, "paging": 0}
        assert result.finish_ns == one.enter_ns + one.cpu_ns + served


@pytest.mark.parametrize("seed", range(10))
def test_neither_the_clock_nor_the_order_of_the_list_matters(seed: int) -> None:
    node, tasks = random_life(seed)
    run = run_oracle(node, tasks)
    assert run_oracle(node, reversed(tasks)) == run
    later = run_oracle(node, [replace(one, enter_ns=one.enter_ns + 10**12) for one in tasks])
    assert [result.finish_ns - 10**12 for result in later.results] == [result.finish_ns for result in run.results]
    assert [result.breakdown for result in later.results] == [result.breakdown for result in run.results]


def test_a_short_quantum_comes_near_processor_sharing() -> None:
    """Under sharing, demands 100 and 300 end at 200 and 400; rotating by 1 ns is at most 1 ns off."""
    run = run_oracle(replace(PLAIN, quantum_ns=1, switch_ns=0), [task(1, 0, 100), task(2, 0, 300)])
    assert [result.finish_ns for result in run.results] == [199, 400]


def test_a_short_quantum_shares_two_cores_among_three_tasks() -> None:
    """Each gets two thirds of a core: 200 at 300. Then the third one's other 200 take 200 more."""
    node = replace(PLAIN, quantum_ns=1, switch_ns=0, cores=2)
    run = run_oracle(node, [task(1, 0, 200), task(2, 0, 200), task(3, 0, 400)])
    for result, ns in zip(run.results, (300, 300, 500), strict=True):
        assert abs(result.finish_ns - ns) <= 2


def test_mix_is_splitmix64() -> None:
    """First outputs published for seeds 0 and 1234567."""
    assert mix(0) == 0xE220A8397B1DCDAF
    assert mix(1234567) == 6457827717110365317


def test_uniforms_are_uniform_and_streams_differ() -> None:
    key = task_key(5, 1)
    draws = [uniform(key, GAP, count) for count in range(20_000)]
    assert 0 < min(draws) < 0.001
    assert 0.999 < max(draws) < 1
    # The mean of n uniforms has standard deviation 1 / sqrt(12 n) = 0.002; four of them.
    assert abs(sum(draws) / len(draws) - 0.5) < 0.0082
    others = {
        uniform(task_key(*of), purpose, 0, d)
        for of in ((5, 1), (5, 2), (6, 1))
        for purpose in (1, 2, 3)
        for d in (0, 1)
    }
    assert len(others) == 18


@pytest.mark.slow
def test_accesses_follow_their_law() -> None:
    """At 2 per ms and speed 1, 10 s of CPU hold Poisson(20000) accesses; sizes have mean 64 kB, variance 64^2 / 4."""
    accesses = accesses_of(9, 3, 10**10, 2.0, 1.0, size_kb=64.0, shape=4, seek_ns=1_000_000, ns_per_kb=25_000.0)
    assert abs(len(accesses) - 20_000) < 4 * math.sqrt(20_000)
    assert sum(access.gap_ns for access in accesses) < 10**10
    sizes = [(access.service_ns - 1_000_000) / 25_000 for access in accesses]
    mean = sum(sizes) / len(sizes)
    assert abs(mean - 64) < 4 * 32 / math.sqrt(20_000)
    variance = sum((size - mean) ** 2 for size in sizes) / len(sizes)
    # Kurtosis of an Erlang-4 is 3 + 6/4: the sample variance's relative standard deviation is sqrt(3.5 / n) = 0.0132.
    assert abs(variance / 32**2 - 1) < 4 * 0.0132


def test_a_faster_node_shortens_the_gaps_and_shape_0_fixes_the_size() -> None:
    slow, fast = (accesses_of(9, 3, 10**8, 2.0, speed, 64.0, 0, 5, 10.0) for speed in (1.0, 2.0))
    assert len(fast) > len(slow) > 100
    assert all(abs(a.gap_ns - 2 * b.gap_ns) <= 1 for a, b in zip(slow, fast, strict=False))
    assert {access.service_ns for access in slow} == {645}
    assert accesses_of(9, 3, 10**8, 0.0, 1.0, 64.0, 0, 5, 10.0) == []


def test_an_access_due_at_the_end_never_happens() -> None:
    gaps = [access.gap_ns for access in accesses_of(9, 3, 10**8, 2.0, 1.0, 64.0, 0, 5, 10.0)]
    until = sum(gaps[:7])
    assert len(accesses_of(9, 3, until, 2.0, 1.0, 64.0, 0, 5, 10.0)) == 6
    assert len(accesses_of(9, 3, until + 1, 2.0, 1.0, 64.0, 0, 5, 10.0)) == 7
