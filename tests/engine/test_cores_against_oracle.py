"""Several cores and disk channels: the compiled engine against the slow, exact oracles."""

from __future__ import annotations

import math
from dataclasses import replace

import oracle_memory
import pytest
import test_engine_against_oracle as by_rate
import test_memory_against_oracle as by_oversize
from cases_by_hand import PAGING, task
from cases_of_channels import CHANNEL_CASES, PHASE_CASES
from cases_of_cores import CORE_CASES
from engine_hardware import seek_purposes
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle import drawn_seek, run_oracle, task_key
from oracle_memory import NS_PER_MS as MS
from oracle_memory import OracleTask, Phase


@pytest.mark.parametrize(
    "case", [case for case in CORE_CASES + CHANNEL_CASES if not case.draws_matter], ids=lambda case: case.name
)
@pytest.mark.parametrize("window_ns", [None, 1, 37])
def test_schedules_worked_by_hand(case, window_ns):
    by_rate.assert_as_worked(case, window_ns)


@pytest.mark.parametrize("case", PHASE_CASES.values(), ids=PHASE_CASES)
@pytest.mark.parametrize("steps_ns", [[], [333_333] * 200], ids=["in one go", "in windows"])
def test_programs_with_phases_worked_by_hand(case, steps_ns):
    engine = by_oversize.engine_run(case.node, list(case.tasks), steps_ns)
    by_oversize.assert_same(engine, oracle_memory.run_oracle(case.node, case.tasks))


# -- random lives ------------------------------------------------------------------------------------------------------
def several(nodes, quanta_ns):
    """Such nodes with cores and channels; of a page fault nothing, a part or all is seek."""
    return st.builds(
        lambda node, quantum_ns, cores, channels, seeks: replace(
            node, quantum_ns=quantum_ns, cores=cores, channels=channels, fault_seek_ns=int(node.fault_ns * seeks)
        ),
        nodes,
        st.sampled_from([*quanta_ns, math.inf]),
        st.integers(1, 5),
        st.integers(1, 4),
        st.sampled_from([0, 0.25, 0.9, 1]),
    )


nodes_by_rate = several(by_rate.nodes, [400_000, 10_000_000])
nodes_by_oversize = several(by_oversize.nodes, [1_000_000, 10_000_000])
windows = st.sampled_from([None, 10_000_000, 123_457])


def judge_by_rate(life, window_ns, drawn_seeks: bool = False) -> None:
    node, tasks, shape = life
    judged = run_oracle(node, tasks)
    assume(judged.closest_call_ns > by_oversize.TOO_CLOSE_NS)
    by_rate.assert_same(by_rate.engine_run(node, tasks, shape, window_ns, drawn_seeks), judged)


@pytest.mark.slow
@settings(max_examples=50)
@given(by_rate.lives(nodes_by_rate), windows)
def test_random_lives_as_in_the_oracle(life, window_ns):
    judge_by_rate(life, window_ns)


@pytest.mark.slow
@settings(max_examples=33)
@given(st.data(), windows)
def test_random_lives_with_drawn_seeks_as_in_the_oracle(data, window_ns):
    judge_by_rate(data.draw(by_rate.lives(nodes_by_rate, drawn_seeks=True)), window_ns, drawn_seeks=True)


@pytest.mark.slow
@settings(max_examples=66)
@given(by_oversize.lives(1, 9, nodes_by_oversize), by_oversize.steps, by_oversize.slices)
def test_random_programs_as_in_the_oracle(life, steps_ns, slice_ns):
    by_oversize.judge(*life, steps_ns, slice_ns)


def drawn(node, tasks):
    """The same programs, of which each request draws its seek."""
    for_access, for_fault = seek_purposes()
    keys = [task_key(by_oversize.RUN_KEY, one.id) for one in tasks]
    return [
        replace(
            one,
            seek=drawn_seek(key, for_access, node.seek_ns),
            fault_seek=drawn_seek(key, for_fault, node.fault_seek_ns),
        )
        for one, key in zip(tasks, keys, strict=True)
    ]


@pytest.mark.slow
@settings(max_examples=33)
@given(by_oversize.lives(1, 9, nodes_by_oversize), by_oversize.steps, by_oversize.slices)
def test_random_programs_with_drawn_seeks_as_in_the_oracle(life, steps_ns, slice_ns):
    node, tasks = life
    by_oversize.judge(node, drawn(node, tasks), steps_ns, slice_ns, drawn_seeks=True)


@st.composite
def deadly_lives(draw):
    """Lives in which tasks are killed while the disk seeks for them, and requests with shorter seeks come after."""
    node = replace(
        draw(nodes_by_oversize),
        user_memory_kb=draw(st.sampled_from([3000, 50_000])), limit_kb=draw(st.sampled_from([9000, 12_000])),
        channels=draw(st.integers(2, 5)), seek_ns=draw(st.sampled_from([8 * MS, 40 * MS])),
        fault_ns=8 * MS, fault_seek_ns=draw(st.sampled_from([0, 1 * MS, 8 * MS])),
    )  # fmt: skip
    phases = st.builds(Phase, st.integers(1, 12), st.sampled_from([500, 1000, 4000]), st.integers(0, 3))
    tasks = [
        OracleTask(number, draw(st.integers(0, 20)) * MS, tuple(draw(st.lists(phases, min_size=1, max_size=6))), 100.0)
        for number in range(draw(st.integers(3, 9)))
    ]
    return node, tasks


@pytest.mark.slow
@settings(max_examples=66)
@given(deadly_lives(), by_oversize.steps, by_oversize.slices)
def test_tasks_killed_at_the_disk_as_in_the_oracle(life, steps_ns, slice_ns):
    by_oversize.judge(*life, steps_ns, slice_ns)


@pytest.mark.slow
@settings(max_examples=66)
@given(deadly_lives(), by_oversize.steps, by_oversize.slices)
def test_tasks_killed_at_a_disk_with_drawn_seeks_as_in_the_oracle(life, steps_ns, slice_ns):
    node, tasks = life
    by_oversize.judge(node, drawn(node, tasks), steps_ns, slice_ns, drawn_seeks=True)


@pytest.mark.slow
@settings(max_examples=50)
@given(by_oversize.coinciding_lives(nodes_by_oversize, 7), by_oversize.steps, by_oversize.slices)
def test_programs_full_of_coincidences_as_in_the_oracle(life, steps_ns, slice_ns):
    by_oversize.judge(*life, steps_ns, slice_ns)


# Page faults after each 256 ns of CPU as long as a task of 2000 KB is present, and never otherwise: doubles hold these
# credits exactly. All times are multiples of 64 ns, but for a switch of 10.
coinciding_nodes = st.builds(
    lambda node, switch_ns, fault_ns: replace(node, switch_ns=switch_ns, fault_ns=fault_ns),
    several(st.just(replace(PAGING, fault_ratio_cap=2.0, fault_ns=256)), [64, 128, 256, 512]),
    st.sampled_from([0, 0, 64, 10]),
    st.sampled_from([256, 320, 1024]),
)
coinciding_tasks = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from([1, 2, 3, 4, 8, 9, 40]), st.sampled_from([0, 2000])),
    min_size=1,
    max_size=9,
)


@pytest.mark.slow
@settings(max_examples=100)
@given(coinciding_nodes, coinciding_tasks, st.sampled_from([None, 1000, 64, 37]))
def test_lives_full_of_coincidences_as_in_the_oracle(node, rows, window_ns):
    tasks = [
        replace(task(number, 64 * enter, 64 * cpu, memory_kb=memory_kb), cpu_ms=64 * cpu / 1e6)
        for number, (enter, cpu, memory_kb) in enumerate(rows)
    ]
    by_rate.assert_same(by_rate.engine_run(node, tasks, window_ns=window_ns), run_oracle(node, tasks))


@settings(max_examples=33)
@given(
    several(st.just(by_rate.OracleNode(100, 10, 1000)), [100]),
    st.lists(st.tuples(st.integers(0, 20_000), st.integers(1, 20_000)), min_size=1, max_size=9),
    st.sampled_from([None, 1000]),
)
def test_many_rounds_as_in_the_oracle(node, rows, window_ns):
    """Where one core leaps over rounds: long demands without other reasons to stop."""
    tasks = [
        replace(task(number, enter_ns, cpu_ns), cpu_ms=cpu_ns / 1e6) for number, (enter_ns, cpu_ns) in enumerate(rows)
    ]
    by_rate.assert_same(by_rate.engine_run(node, tasks, window_ns=window_ns), run_oracle(node, tasks))
