"""Profiles, page faults by oversize, and kills: small machines whose every instant is worked by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import FINISHED, JOB, KILLED, NEVER, PHASE, empty_nodes
from cluster_abm.formulas import paging_rate_per_s

MS = 1_000_000
# Of a test's phases: CPU [ms], memory [KB], accesses, memory asked anew [KB/s].
Phase = tuple[float, int, int, int]


def machine(
    programs: list[list[Phase]],
    at_ms: list[float],
    nodes: int = 1,
    homes: list[int] | None = None,
    width: int = 1,
    **node,
) -> EngineState:
    """Jobs that run these programs, one each, on nodes of 100,000 KB whose disk takes 10 ms for anything."""
    table = empty_nodes(nodes)
    values = {
        "speed": 1.0, "memory_kb": 100_000, "user_memory_kb": 100_000, "seek_ns": 10 * MS, "fault_ns": 10 * MS,
        "fault_ratio_cap": np.inf, "quantum_ns": 10 * MS, "by_oversize": 1,
    }  # fmt: skip
    for name, value in (values | node).items():
        table[name] = value
    # A fifth number is a pause [ns]; most have none.
    phases = np.array([(*phase, 0)[:5] for program in programs for phase in program], dtype=PHASE)
    jobs = np.zeros(len(programs), JOB)
    jobs["arrival_ns"] = np.array(at_ms) * MS
    jobs["home"] = homes or 0
    jobs["tasks"] = width
    jobs["first_task"] = np.arange(len(programs)) * width
    jobs["cpu_ms"] = [sum(phase[0] for phase in program) for program in programs]
    jobs["phases"] = [len(program) for program in programs]
    jobs["first_phase"] = np.cumsum(jobs["phases"]) - jobs["phases"]
    return EngineState(table, jobs, 1, 10 * MS, False, phases)


def run(engine: EngineState, until_ms: float = 1e9, targets: list[int] | None = None, every_ms: float | None = None):
    """All tasks set out at their submission, to `targets` or home; records by task."""
    width = int(engine.jobs["tasks"][0])
    jobs = np.repeat(np.arange(len(engine.jobs)), width)
    member = np.tile(np.arange(width), len(engine.jobs))
    zeros = np.zeros(len(jobs), np.int64)
    where = engine.jobs["home"][jobs].astype(np.int64) if targets is None else np.array(targets)
    engine.admit(jobs, member, zeros, where, zeros)
    if every_ms is not None:
        for border in np.arange(every_ms, until_ms, every_ms):
            engine.serve(int(border * MS))
    engine.serve(int(until_ms * MS))
    return np.sort(engine.records, order="task")


def test_accesses_stand_in_the_middle_of_their_parts_of_a_phase():
    # 40 ms of CPU, accesses after 10 and 30; then 10 ms without. Each access takes 10 ms: 40 + 10 + 20 = 70 ms.
    engine = machine([[(40.0, 1000, 2, 0), (10.0, 5000, 0, 0)]], [0.0])
    engine.admit(*(np.zeros(1, np.int64),) * 5)
    seen = {}
    for ms in (9, 11, 25, 41, 55, 65):
        engine.serve(ms * MS)
        seen[ms] = (int(engine.nodes["requests"][0]), int(engine.nodes["demand_kb"][0]))
    engine.serve(1000 * MS)
    assert seen == {9: (0, 1000), 11: (1, 1000), 25: (1, 1000), 41: (2, 1000), 55: (2, 1000), 65: (2, 5000)}
    assert engine.records["finish_ns"].tolist() == [70 * MS]
    assert engine.records["isolated_io_ns"].tolist() == [20 * MS]


def test_a_program_sleeps_between_two_phases():
    """30 ms, 70 asleep, 30 ms: alone it ends at 130 ms, and so it would in its dedicated run. Beside 100 ms that enter
    with it, by turns of 10 ms: the sleeper has had its 30 at 50, goes on at 120, and both have 5 turns more or less."""
    sleeper = [(30.0, 10, 0, 0, 70 * MS), (30.0, 10, 0, 0, 0)]
    (alone,) = run(machine([sleeper], [0.0]))
    assert alone["finish_ns"] == 130 * MS
    assert alone["isolated_cpu_ns"] + alone["isolated_barrier_ns"] == 130 * MS
    assert (alone["cpu_ns"], alone["barrier_ns"]) == (60 * MS, 70 * MS)
    # The sleeper: 0-10, 20-30, 40-50. The other one, alone, has 20 + 70 at 120: the last 10 of its 100 come first.
    both = run(machine([sleeper, [(100.0, 10, 0, 0)]], [0.0, 0.0]))
    assert both["finish_ns"].tolist() == [160 * MS, 130 * MS]
    assert both["cpu_queue_ns"].tolist() == [(20 + 10) * MS, 30 * MS]
    # However the time is cut.
    cut = run(machine([sleeper, [(100.0, 10, 0, 0)]], [0.0, 0.0]), until_ms=1000.0, every_ms=10.0)
    assert cut["finish_ns"].tolist() == both["finish_ns"].tolist()


def test_a_faster_node_goes_through_the_phases_faster():
    records = run(machine([[(40.0, 1000, 2, 0), (10.0, 5000, 0, 0)]], [0.0], speed=2.0))
    assert records["finish_ns"].tolist() == [(25 + 20) * MS]


def test_a_phase_ends_on_the_node_that_the_task_has_migrated_to():
    # Frozen after 20 of its first 40 ms, 5 ms on the way, goes on at twice the speed: 10 ms, and 10/2 ms.
    engine = machine([[(40.0, 1000, 0, 0), (10.0, 5000, 0, 0)]], [0.0], nodes=2)
    engine.nodes["speed"][1] = 2.0
    engine.admit(*(np.zeros(1, np.int64),) * 5)
    engine.serve(20 * MS)
    assert engine.migrate(engine.slot_of(0, 0), 1, 5 * MS, 20 * MS) == 25 * MS
    assert engine.nodes["demand_kb"].tolist() == [0, 0]
    engine.serve(34 * MS)
    assert engine.nodes["demand_kb"].tolist() == [0, 1000]
    engine.serve(36 * MS)
    assert engine.nodes["demand_kb"].tolist() == [0, 5000]
    engine.serve(1000 * MS)
    assert engine.records["finish_ns"].tolist() == [40 * MS]


def test_faults_come_at_the_rate_of_the_oversized_share():
    # One task that asks 150 MB of 100: Q_o = 0.5, 100.63 faults per second of its 10 s of CPU.
    engine = machine([[(10_000.0, 150_000, 0, 0)]], [0.0])
    records = run(engine)
    faults = int(10 * paging_rate_per_s(0.5, 0))
    assert records["faults"].tolist() == [faults]
    assert records["finish_ns"].tolist() == [(10_000 + 10 * faults) * MS]
    # Alone it would have paged as much: its slowdown is 1 but for the fraction of a fault that it did not reach.
    assert records["isolated_paging_ns"][0] == pytest.approx(10 * faults * MS, abs=10 * MS)


def test_faults_fall_on_who_asks_for_memory_anew():
    # Two tasks of 75 MB, Q_o = 0.5, R = 100.63; evenness 0.2: 0.2 R for both, and 0.8 R x 2 for the one that grows.
    programs = [[(20_000.0, 75_000, 0, 0)], [(20_000.0, 75_000, 0, 700)]]
    engine = machine(programs, [0.0, 0.0], fault_evenness=0.2)
    run(engine, 5_000)
    stable, growing = engine.tasks["faults"][[engine.slot_of(0, task) for task in (0, 1)]]
    cpu_s = engine.tasks["cpu_ns"][[engine.slot_of(0, task) for task in (0, 1)]] / 1e9
    rate = paging_rate_per_s(0.5, 0)
    assert stable == pytest.approx(0.2 * rate * cpu_s[0], abs=2)
    assert growing == pytest.approx((0.2 + 1.6) * rate * cpu_s[1], abs=2)


def test_the_io_of_the_tasks_on_the_node_adds_faults_and_leaves_with_them():
    # 3,000 accesses first: 0.061 x 3,000 - 174.98 = 8.02 faults a second more.
    busy = [[(30.0, 10_000, 3_000, 0), (3_000.0, 150_000, 0, 0)]]
    records = run(machine(busy, [0.0], seek_ns=0))
    assert records["faults"].tolist() == [int(3.0 * paging_rate_per_s(0.5, 3_000))]


def test_a_newcomer_that_exceeds_ram_and_swap_is_killed():
    programs = [[(100.0, 120_000, 0, 0)], [(100.0, 120_000, 0, 0)]]
    engine = machine(programs, [0.0, 50.0], limit_kb=200_000, by_oversize=0)
    records = run(engine)
    assert records["outcome"].tolist() == [FINISHED, KILLED]
    assert records["finish_ns"].tolist() == [100 * MS, 50 * MS]
    assert engine.nodes["demand_kb"][0] == 0
    assert engine.live == 0


def test_growth_kills_whoever_was_submitted_last():
    # The first job grows after 30 ms of CPU: in turns of 10 ms with the two others that is after 70 ms.
    grows = [(30.0, 50_000, 0, 0), (30.0, 150_000, 0, 0)]
    programs = [grows, [(200.0, 60_000, 0, 0)], [(200.0, 60_000, 0, 0)]]
    records = run(machine(programs, [0.0, 0.0, 1.0], limit_kb=215_000, by_oversize=0))
    assert records["outcome"].tolist() == [FINISHED, FINISHED, KILLED]
    assert records["finish_ns"][2] == 70 * MS


def test_who_is_killed_in_service_ends_with_it_and_the_disk_goes_on():
    # Both access the disk at once: the second waits for it; the newest is killed while it is served or waits.
    programs = [[(2.0, 50_000, 1, 0), (50.0, 150_000, 0, 0)], [(2.0, 50_000, 1, 0), (50.0, 60_000, 0, 0)]]
    # The elder: CPU 0-1, disk 1-11, CPU from 11: grows at 12. The newest: CPU 1-2, disk 11-21.
    engine = machine(programs, [0.0, 0.5], limit_kb=199_000, by_oversize=0, quantum_ns=MS)
    records = run(engine)
    assert records["outcome"].tolist() == [FINISHED, KILLED]
    assert records["finish_ns"].tolist() == [62 * MS, 21 * MS]
    assert engine.nodes["disk_busy_ns"][0] == 20 * MS


def test_the_tasks_of_a_killed_job_die_with_it_at_the_slices_border():
    # Three tasks, the third alone on a node that has no room for it: it dies at once, the others at 10 ms.
    engine = machine([[(100.0, 150_000, 0, 0)]], [1.0], nodes=2, width=3, limit_kb=320_000, by_oversize=0)
    engine.nodes["limit_kb"][1] = 100_000
    records = run(engine, targets=[0, 0, 1])
    assert records["outcome"].tolist() == [KILLED] * 3
    assert records["finish_ns"].tolist() == [10 * MS, 10 * MS, 1 * MS]
    assert engine.live == 0
    assert not engine.nodes["demand_kb"].any()
    assert not engine.counters[4]


def test_the_buffer_lives_in_free_memory_and_makes_room_for_programs():
    # Three accesses of 1 MB beside 10 MB; then the program grows to 98.5 of 100 MB, and 1.5 MB are left.
    engine = machine([[(40.0, 10_000, 3, 0), (40.0, 98_500, 0, 0), (40.0, 20_000, 0, 0)]], [0.0], buffer_kb=50_000)
    engine.jobs["request_kb"] = 1000.0
    engine.admit(*(np.zeros(1, np.int64),) * 5)
    seen = []
    for ms in (60, 100, 140):
        engine.serve(ms * MS)
        loads = engine.empty_loads()
        engine.measure(ms * MS, loads)
        seen.append([float(loads[name][0]) for name in ("cache_mb", "free_mb", "oversize")])
    # What it gave up does not come back.
    assert seen == [
        pytest.approx([3.0, 87.0, -0.9]), pytest.approx([1.5, 0.0, -0.015]), pytest.approx([1.5, 78.5, -0.8]),
    ]  # fmt: skip


@pytest.mark.parametrize(("buffer_kb", "hits"), [(0, False), (2_000, True)])
def test_accesses_are_hits_only_while_the_buffer_holds_something(buffer_kb, hits):
    engine = machine([[(1000.0, 10_000, 200, 0)]], [0.0], buffer_kb=buffer_kb)
    engine.jobs["request_kb"], engine.jobs["io_per_ms"], engine.jobs["reaccess_rate"] = 10.0, 0.2, 20.0
    records = run(engine)
    assert (records["hits"][0] > 20) == hits
    assert records["requests"][0] + records["hits"][0] == 200


def test_load_managers_count_hits_by_the_buffer_that_there_is():
    """d_data = 0.02 x 150 x 1000/2 = 1500 KB: an empty buffer serves none, one of 600 KB half x 600/1500 = 0.2, and
    the 300 KB that are left when the program has grown 0.1."""
    program = [(50.0, 10_000, 1, 0), (50.0, 10_000, 0, 0), (50.0, 99_700, 0, 0)]
    engine = machine([program], [0.0], buffer_kb=600)
    engine.jobs["request_kb"], engine.jobs["io_per_ms"], engine.jobs["reaccess_rate"] = 1000.0, 0.02, 1.0
    engine.admit(*(np.zeros(1, np.int64),) * 5)
    seen = []
    for ms in (10, 80, 140):
        engine.serve(ms * MS)
        loads = engine.empty_loads()
        engine.measure(ms * MS, loads)
        seen.append(float(loads["io_load"][0]))
    assert seen == pytest.approx([0.02, 0.016, 0.018])


fitting = st.lists(
    st.tuples(
        st.sampled_from([5.0, 40.0]), st.sampled_from([0, 60_000, 99_000, 100_000]), st.integers(0, 12),
        st.sampled_from([0, 700]), st.sampled_from([0, 3 * MS]),
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@pytest.mark.slow
@given(fitting, st.sampled_from([0.0, 300.0, 50_000.0]), st.sampled_from([0.5, 9.0]), st.sampled_from([40.0, 900.0]))
@settings(max_examples=60)
def test_who_is_alone_has_the_hits_of_its_dedicated_run(program, buffer_kb, reaccess_rate, request_kb):
    engine = machine([program], [0.0], buffer_kb=buffer_kb)
    engine.jobs["request_kb"], engine.jobs["reaccess_rate"] = request_kb, reaccess_rate
    engine.jobs["io_per_ms"] = sum(phase[2] for phase in program) / sum(phase[0] for phase in program)
    (alone,) = run(engine)
    isolated_ns = alone["isolated_cpu_ns"] + alone["isolated_io_ns"] + alone["isolated_barrier_ns"]
    assert alone["finish_ns"] - alone["arrival_ns"] == isolated_ns


@pytest.mark.slow
def test_what_is_computed_again_is_no_part_of_the_dedicated_run():
    # Two phases that fill the memory, with accesses before, between and behind; the node fails in the last one.
    program = [(20.0, 10_000, 20, 0), (20.0, 100_000, 4, 0), (60.0, 10_000, 60, 0)]

    def isolated_io_ns(fails):
        engine = machine([program], [0.0], nodes=2, buffer_kb=50_000)
        engine.jobs["request_kb"], engine.jobs["reaccess_rate"], engine.jobs["io_per_ms"] = 10.0, 9.0, 0.84
        engine.admit(*(np.zeros(1, np.int64),) * 5)
        engine.serve(200 * MS)
        slot = engine.slot_of(0, 0)
        # It has lost its buffer by the second phase, and has one again.
        assert engine.tasks["phase"][slot] == 2
        assert engine.tasks["phase_accesses"][slot] > 5
        if fails:
            engine.orphan_tasks(0, 200 * MS)
            engine.resume(slot, 1, 0, 200 * MS)
        engine.serve(2000 * MS)
        return engine.records["isolated_io_ns"].tolist()

    assert isolated_io_ns(True) == isolated_io_ns(False)


phases = st.tuples(
    st.sampled_from([1.0, 7.0, 33.0]), st.sampled_from([0, 20_000, 70_000, 130_000]), st.integers(0, 4),
    st.sampled_from([0, 100, 5_000]),
)  # fmt: skip
profiles = st.lists(phases, min_size=1, max_size=4)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(st.tuples(profiles, st.sampled_from([0.0, 3.0, 40.0]), st.integers(0, 1)), min_size=1, max_size=7),
    st.sampled_from([NEVER, 100_000, 180_000]), st.integers(1, 3), st.sampled_from([10.0, 70.0]),
)  # fmt: skip
def test_memory_stays_within_ram_and_swap_and_nobody_is_lost(drawn, limit_kb, width, every_ms):
    programs, at_ms, homes = [list(part) for part in zip(*sorted(drawn, key=lambda job: job[1]), strict=True)]
    make = {"nodes": 2, "homes": homes, "width": width, "limit_kb": limit_kb, "fault_evenness": 0.1}
    engine = machine(programs, at_ms, **make)
    most = []
    serve = engine.serve
    engine.serve = lambda end_ns: (serve(end_ns), most.append(int(engine.nodes["demand_kb"].max())))
    records = run(engine, 3_000, every_ms=every_ms)
    assert max(most) <= limit_kb
    # Tasks that are still there page and go on; none is in two places.
    live = engine.tasks["task"][(engine.tasks["state"] != 0) & (engine.tasks["state"] != 5)]
    assert sorted([*records["task"], *live]) == list(range(len(programs) * width))
    parts = ("cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier", "blocked")
    assert np.array_equal(sum(records[f"{part}_ns"] for part in parts), records["finish_ns"] - records["arrival_ns"])
    for job in range(len(programs)):
        outcomes = records["outcome"][records["job"] == job]
        assert not (outcomes == KILLED).any() or (len(outcomes) == width and (outcomes == KILLED).sum() >= 1)
    # The same, however the windows lie.
    again = run(machine(programs, at_ms, **make), 3_000)
    assert all(np.array_equal(again[name], records[name]) for name in records.dtype.names)
