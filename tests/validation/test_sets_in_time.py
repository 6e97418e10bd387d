"""Sets on an ideal machine: the outcome of each set, and whether a set still begins in the time that is left."""

from __future__ import annotations

import pytest
from ideal_machine import IdealCrew, clock_in

from cluster_abm.validation import bench as module
from cluster_abm.validation.bench import Bench
from cluster_abm.validation.correction import Corrected
from cluster_abm.validation.crew import DeadlinePassed
from cluster_abm.validation.plans import Disk, Program, ProgramRow

NOW_S = 1000.0


@pytest.fixture
def scripted(monkeypatch):
    """Make a bench; the times of units alone and of sets come from lists."""

    def make(cores=1, walls_s=(), units=(), disk=None):
        clock = clock_in(monkeypatch, module, NOW_S)
        bench = Bench(IdealCrew(4, clock), range(cores), disk)
        asked, walls_left, units_left = [], iter(walls_s), iter(units)

        def carry_out(programs, deadline_s):
            asked.append((programs, deadline_s))
            wall_s = next(walls_left, 0.0)
            clock.now_s += wall_s
            return [Corrected(0.0, 1.0, 2.0, 3.0)] * len(programs), 0.9, 0.05, 0.01, wall_s

        def alone(count):
            asked.append(count)
            return next(units_left, [100.0] * count)

        monkeypatch.setattr(bench, "carry_out", carry_out)
        monkeypatch.setattr(bench, "alone", alone)
        return bench, asked

    return make


def one_of(*units, start_ms=0.0):
    """A set of one process; each of its rows computes one of these numbers of units."""
    return (Program(start_ms, tuple(ProgramRow(count, False) for count in units)),)


SECOND = one_of(2000, 3000)


def test_the_outcomes_of_two_sets(scripted):
    """A unit is measured before, between and after the repeats; an outcome has the mean of the two around it."""
    units = [[100.0, 200.0], [110.0, 190.0], [99.0, 209.0], [50.0, 60.0], [50.0, 75.0], [50.0, 75.0]]
    bench, asked = scripted(walls_s=(0.5, 0.7, 0.5, 0.5), units=units)
    pair, other = one_of(10) * 2, one_of(20) * 2
    found = [*bench.outcomes(iter([pair, other]), NOW_S + 100, latest_s=NOW_S + 222)]
    assert [(one.number, one.repeat, one.programs) for one in found] == [
        (0, 0, pair), (0, 1, pair), (1, 0, other), (1, 1, other),
    ]  # fmt: skip
    assert [one.unit_ns for one in found] == [(105.0, 195.0), (104.5, 199.5), (50.0, 67.5), (50.0, 75.0)]
    # The units change by 10 % and 5 %; by 10 % both; by 0 and 25 %; not at all.
    assert [one.drift for one in found] == pytest.approx([0.075, 0.1, 0.125, 0.0])
    latest = NOW_S + 222
    assert asked == [2, (pair, latest), 2, (pair, latest), 2, 2, (other, latest), 2, (other, latest), 2]
    first = found[0]
    assert first.found == (Corrected(0.0, 1.0, 2.0, 3.0),) * 2
    assert (first.delivered_share, first.others_share, first.steal_share, first.wall_s) == (0.9, 0.05, 0.01, 0.5)


@pytest.mark.parametrize(("programs", "cores", "one_s"), [
    # 1.5 x the undisturbed time, 30 ms to the start, and 60 ms for 150 units of a process alone, before and after.
    (SECOND, 1, 1.5 + 0.03 + 0.06),
    (SECOND, 2, 0.75 + 0.03 + 0.06),
    # 2500 units of 0.2 ms twice are 1 s of CPU; the last process starts after 2 s; two processes are measured alone.
    ((*one_of(2500), *one_of(2500, start_ms=2000.0)), 1, 1.5 * 3 + 0.03 + 0.12),
    # 5000 units are 1 s. Four reads of 4 + 2 ms take 24 ms; the read of the other process comes meanwhile.
    ((Program(0.0, (ProgramRow(1500, True), ProgramRow(1500, False)), 100.0),
      Program(0.0, (ProgramRow(500, True),) * 4, 100.0)), 1,
     1.5 * 1.024 + 0.03 + 0.12),
    # Three reads of 4 + 20 ms are 72 ms, longer than four of 4 + 2 ms.
    ((Program(0.0, (ProgramRow(1000, True),) * 3, 1000.0), Program(0.0, (ProgramRow(500, True),) * 4, 100.0)), 1,
     1.5 * 1.072 + 0.03 + 0.12),
])  # fmt: skip
@pytest.mark.parametrize("repeats", [1, 2])
def test_a_set_is_begun_if_it_is_likely_to_be_over_in_time(scripted, programs, cores, one_s, repeats):
    for left_s, expected in ((0.999 * one_s * repeats, 0), (1.001 * one_s * repeats, repeats)):
        bench, asked = scripted(cores, disk=Disk(4.0, 50.0))
        found = [*bench.outcomes(iter([programs]), NOW_S + left_s, NOW_S + 999, repeats)]
        assert len(found) == expected
        assert bool(asked) == bool(expected)


# After sets of 0.1 s undisturbed comes a set of 1 s. Its expected time follows from the times of the sets before.
@pytest.mark.parametrize(("walls_s", "thought_s"), [
    # A stretch of 3: from 1.5 it goes 0.3 of the way to 1.2 x 3, and once more: 1.5 + 0.3 x 2.1, 2.13 + 0.3 x 1.47.
    ([0.3], 2.13),
    ([0.3, 0.3], 2.571),
    # A stretch of 1: 0.3 of the way to 1.2.
    ([0.1], 1.41),
    # A stretch of 0.1: 1.2 x 0.1 is below the least stretch, 1. It goes 0.3 of the way to 1, and once more.
    ([0.01], 1.35),
    ([0.01, 0.01], 1.245),
])  # fmt: skip
def test_the_expected_time_of_a_set_follows_from_those_before(scripted, walls_s, thought_s):
    carried = len(walls_s)
    needed_s = sum(walls_s) + thought_s + 0.09
    for left_s, expected in ((needed_s - 0.002, carried), (needed_s + 0.002, carried + 1)):
        bench, _ = scripted(walls_s=walls_s)
        sets = [one_of(500)] * carried + [SECOND]
        assert len([*bench.outcomes(iter(sets), NOW_S + left_s, NOW_S + 999, repeats=1)]) == expected


def test_a_set_is_carried_out_twice_by_default(scripted):
    bench, _ = scripted()
    assert [one.repeat for one in bench.outcomes(iter([SECOND]), NOW_S + 9, NOW_S + 9)] == [0, 1]


def test_a_set_that_is_given_up_ends_the_block(scripted, monkeypatch):
    bench, _ = scripted()

    def gives_up(programs, deadline_s):
        raise DeadlinePassed("late")

    monkeypatch.setattr(bench, "carry_out", gives_up)
    with pytest.raises(DeadlinePassed, match="late"):
        next(bench.outcomes(iter([SECOND]), NOW_S + 9, NOW_S + 9))
