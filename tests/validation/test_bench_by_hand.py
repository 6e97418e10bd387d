"""The bench on an ideal machine: its commands to each process, and its results from their answers."""

from __future__ import annotations

import os

import pytest
from ideal_machine import MS, IdealCrew, clock_in, computing

from cluster_abm.validation import bench as module
from cluster_abm.validation.bench import Bench, shared_instant
from cluster_abm.validation.crew import DeadlinePassed
from cluster_abm.validation.plans import Disk, Program, ProgramRow
from cluster_abm.validation.proc_files import Ticks


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(module, "TICKS_PER_S", 100)
    return clock_in(monkeypatch, module)


@pytest.fixture
def made(clock):
    """Make a bench and its crew; events of the making are dropped."""

    def make(count, cores, *disk_and_file):
        crew = IdealCrew(count, clock)
        bench = Bench(crew, cores, *disk_and_file)
        crew.events.clear()
        return bench, crew

    return make


@pytest.mark.parametrize(("iteration_ns", "iterations"), [(50, 4000), (1000, 200), (160, 1250), (3_000_000, 1)])
def test_a_unit_takes_a_fifth_of_a_millisecond(clock, iteration_ns, iterations):
    """1000 iterations are measured: 4000 of 50 ns are 0.2 ms. One of 3 ms is longer than that, and is the least."""
    crew = IdealCrew(3, clock)
    crew.unit_ns[0] = 1000 * iteration_ns
    assert Bench(crew, (7, 3)).iterations == iterations
    assert crew.events[:3] == [(0, "bind", 7, 3), (1, "bind", 7, 3), (2, "bind", 7, 3)]
    asked = [event for event in crew.told if event[1] != "answer"]
    # The first 50 units after a sleep warm up, and are not counted.
    assert asked == [(0, "unit", 1000), (0, "alone", 50, 100), *[(number, "unit", iterations) for number in range(3)]]


def test_on_one_core_units_are_measured_one_after_another(made):
    bench, crew = made(4, (5,))
    crew.unit_ns |= {0: 100, 1: 200, 2: 300}
    assert bench.alone(3) == [100.0, 200.0, 300.0]
    measured = [number for number in range(3) for _ in range(2)]
    assert [event[0] for event in crew.told] == measured
    assert [event for event in crew.events if event[1] == "bind"] == [(number, "bind", 5) for number in (0, 1, 2)] * 2


def test_on_two_cores_two_units_are_measured_at_a_time(made, clock):
    """The first three of five processes are measured. The fourth only keeps the other core busy for the third."""
    bench, crew = made(5, (7, 3))
    crew.unit_ns |= {number: 100 * (number + 1) for number in range(5)}
    assert bench.alone(3) == [125.0, 250.0, 375.0]
    until_s = clock.now_s + 20.0
    assert crew.events == [
        event
        for first, second in ((0, 1), (2, 3))
        for event in (
            (first, "bind", 7), (second, "bind", 3), (first, "alone", 50, 100), (second, "alone", 50, 100),
            (first, "answer", until_s), (second, "answer", until_s), (first, "bind", 7, 3), (second, "bind", 7, 3),
        )
    ]  # fmt: skip


def test_an_even_number_of_processes_needs_no_extra_one(made):
    bench, crew = made(5, (7, 3))
    assert len(bench.alone(4)) == 4
    assert [event[0] for event in crew.events if event[1] == "alone"] == [0, 1, 2, 3]


def test_the_first_process_runs_again_beside_the_last_one(made):
    bench, crew = made(3, (7, 3))
    crew.unit_ns |= {0: 100, 1: 200, 2: 300}
    assert bench.alone(3) == [125.0, 250.0, 375.0]
    assert [event[0] for event in crew.events if event[1] == "alone"] == [0, 1, 2, 0]


def test_how_much_slower_cores_are_while_all_are_busy(made):
    """Alone 100 and 300 ns; together 1.5 and 1.1 times as long: (150 + 330) / (100 + 300) = 1.2."""
    bench, crew = made(4, (7, 3))
    crew.unit_ns |= {0: 100, 1: 300}
    crew.slower |= {0: 1.5, 1: 1.1}
    assert bench.slower_together() == pytest.approx(1.2)
    # Four times side by side, on a core each, and four times alone, on the first core.
    assert [crew.events.count((1, "bind", core)) for core in (3, 7)] == [4, 4]
    assert [crew.events.count((0, "bind", core)) for core in (3, 7)] == [0, 8]
    assert {event[0] for event in crew.events} == {0, 1}
    assert made(4, (7,))[0].slower_together() is None


def test_a_machine_that_slows_down_is_no_slower_together(made, monkeypatch):
    """A unit takes 100 ns more at each measurement. The kinds alternate, so their ratio hardly changes."""
    bench, crew = made(2, (7, 3))
    side_by_side = bench._side_by_side
    measured = []

    def slowing(workers, cores=()):
        measured.append(bool(cores))
        crew.unit_ns |= dict.fromkeys((0, 1), 1000 + 100 * len(measured))
        return side_by_side(workers, cores)

    monkeypatch.setattr(bench, "_side_by_side", slowing)
    assert bench.slower_together() == pytest.approx(1.25, rel=0.1)
    assert sum(measured) == len(measured) / 2 == 4


PROGRAMS = (Program(0.0, (ProgramRow(40, False),)), Program(2.5, (ProgramRow(20, True), ProgramRow(7, False)), 100.0))


def test_commands_to_the_processes_of_a_set(made, clock, monkeypatch):
    """An access of 100 KB takes 4 + 2 ms; the set begins 30 ms after the command."""
    bench, crew = made(3, (7, 3), Disk(4.0, 50.0), 5)
    crew.logs |= {0: computing(0, 100, 80), 1: computing(0, 100, 70)}
    monkeypatch.setattr(module, "ticks_of", lambda cores: crew.events.append((None, "ticks", cores)) or Ticks(0, 0, 0))
    bench.carry_out(PROGRAMS, deadline_s=1234.5)
    begins_ns = 1000_030 * MS
    assert crew.events == [
        (None, "ticks", (7, 3)),
        (0, "run", begins_ns, [(40, 0, 0)], 5),
        (1, "run", begins_ns + 2_500_000, [(10, 6 * MS, 10), (7, 0, 0)], 5),
        (0, "answer", 1234.5), (1, "answer", 1234.5),
        (None, "ticks", (7, 3)),
        (0, "log"), (1, "log"),
    ]  # fmt: skip


def test_without_a_disk_processes_have_no_file(made, monkeypatch):
    bench, crew = made(1, (7,))
    crew.logs[0] = computing(0, 100, 80)
    monkeypatch.setattr(module, "ticks_of", lambda _: Ticks(0, 0, 0))
    bench.carry_out(PROGRAMS[:1], deadline_s=1234.5)
    assert crew.events[0][-1] == -1


@pytest.mark.parametrize(("cores", "delivered"), [((7, 3), 0.75), ((7,), 1.5)])
def test_the_cpu_that_processes_of_a_set_got(made, clock, monkeypatch, cores, delivered):
    """They computed 80 + 70 ms, 15 ticks, within 100 ms. The cores had 40 ticks: 25 busy, 10 idle, 5 stolen."""
    bench, crew = made(2, cores)
    crew.logs |= {0: computing(500, 600, 80), 1: computing(500, 600, 70)}
    crew.ends_s |= {0: clock.now_s + 0.25, 1: clock.now_s + 0.75}
    looks = iter([Ticks(1000, 2000, 3000), Ticks(1025, 2010, 3005)])
    monkeypatch.setattr(module, "ticks_of", lambda _: next(looks))
    found, share, others, steal, wall_s = bench.carry_out(PROGRAMS, 2000.0)
    assert [one.cpu_ms for one in found] == pytest.approx([80.0, 70.0])
    assert [one.wall_ms for one in found] == pytest.approx([100.0, 100.0])
    assert share == pytest.approx(delivered)
    assert others == pytest.approx((25 - 15) / 40)
    assert steal == pytest.approx(5 / 40)
    assert wall_s == pytest.approx(0.75)


def test_a_set_shorter_than_a_tick(made, monkeypatch):
    bench, crew = made(2, (7,))
    crew.logs |= {0: computing(0, 1, 1), 1: computing(0, 1, 0)}
    monkeypatch.setattr(module, "ticks_of", lambda _: Ticks(5, 5, 5))
    _, _, others, steal, _ = bench.carry_out(PROGRAMS, 2000.0)
    # No tick was busy, but the processes computed 1 ms, a tenth of a tick.
    assert others == pytest.approx(-0.1)
    assert steal == 0


def switches_of(monkeypatch, *looks):
    """Let each look at /proc find the next involuntary switches of each process."""
    left = {str(number): [look[number] for look in looks] for number in range(3)}

    def text_of(path):
        number = path.removeprefix("/proc/").removesuffix("/status")
        return f"voluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t{left[number].pop(0)}\n"

    monkeypatch.setattr(module, "text_of", text_of)


def test_the_effective_slice(made, clock, monkeypatch):
    """Three processes compute 20, 20 and 24 ms and are switched 4, 5 and 7 times: 64 ms over 16 switches."""
    bench, crew = made(4, (7, 3), Disk(), 5)
    crew.logs |= {0: computing(0, 60, 20), 1: computing(0, 60, 20), 2: computing(0, 60, 24)}
    switches_of(monkeypatch, (10, 20, 30), (14, 25, 37))
    assert bench.slice_ms(0.3, deadline_s=1010.0) == pytest.approx(4.0)
    three = range(3)
    # 0.3 s of the core are 1500 units, a third of them for each process.
    assert crew.events == [
        *[(number, "bind", 7) for number in three],
        *[(number, "run", 1000_030 * MS, [[500, 0, 0]], -1) for number in three],
        *[(number, "answer", 1010.0) for number in three],
        *[(number, "log") for number in three],
        *[(number, "bind", 7, 3) for number in three],
    ]


def test_no_slice_without_switches(made, monkeypatch):
    bench, crew = made(3, (7,))
    crew.logs |= dict.fromkeys(range(3), computing(0, 60, 20))
    switches_of(monkeypatch, (1, 2, 3), (1, 2, 3))
    assert bench.slice_ms(0.0001, 1010.0) is None
    # Each process computes at least one unit.
    assert [event[3] for event in crew.told if event[1] == "run"] == [[[1, 0, 0]]] * 3


def test_no_slice_of_a_process_that_has_ended(made, monkeypatch):
    bench, _ = made(3, (7,))
    monkeypatch.setattr(module, "text_of", lambda _: None)
    with pytest.raises(DeadlinePassed, match="a process of the validation has ended"):
        bench.slice_ms(0.3, 1010.0)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="needs Linux")
def test_shared_memory_begins_with_a_free_disk_and_is_closed():
    with pytest.raises(KeyboardInterrupt), shared_instant() as file:  # noqa: PT012
        assert os.pread(file, 100, 0) == bytes(8)
        raise KeyboardInterrupt
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(file)
