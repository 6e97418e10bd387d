"""Responses corrected by the CPU that was delivered: logs made by hand, and a planted load of others."""

from __future__ import annotations

import numpy as np
import pytest

from cluster_abm.validation.correction import DeliveredClock, corrected, intervals
from cluster_abm.validation.worker import ASKED, COMPUTED, SERVED, START

MS = 1_000_000


def log(*rows):
    """Rows (kind, wall ms, CPU ms)."""
    return np.array([(kind, wall * MS, cpu * MS) for kind, wall, cpu in rows], np.int64)


def computing(start, end, cpu, before=0):
    return log((START, start, before), (COMPUTED, end, before + cpu))


def test_half_the_cpu_makes_half_the_time():
    (one,), delivered = corrected([computing(0, 100, 50)], 1)
    assert one.wall_ms == 100
    assert one.response_ms == pytest.approx(50)
    assert one.cpu_ms == 50
    assert delivered == pytest.approx(0.5)


def test_two_that_share_a_core_of_their_own_need_no_correction():
    found, delivered = corrected([computing(0, 100, 50, before=7), computing(0, 100, 50, before=1)], 1)
    assert [one.response_ms for one in found] == pytest.approx([100, 100])
    assert delivered == pytest.approx(1)


@pytest.mark.parametrize(("tasks", "cores"), [(3, 2), (2, 2), (1, 2), (5, 4)])
def test_what_could_be_used_is_no_more_than_the_cores_and_the_processes(tasks, cores):
    each = 60 * min(1, cores / tasks)
    found, delivered = corrected([computing(0, 60, each)] * tasks, cores)
    assert [one.response_ms for one in found] == pytest.approx([60] * tasks)
    assert delivered == pytest.approx(1)


def test_load_of_others_in_a_part_of_the_time():
    (one,), _ = corrected([log((START, 0, 0), (COMPUTED, 50, 50), (COMPUTED, 100, 75))], 1)
    assert one.response_ms == pytest.approx(75)


def test_an_access_counts_as_it_is_while_others_have_the_cpu():
    rows = [(START, 0, 0), (COMPUTED, 20, 10), (ASKED, 20, 10), (SERVED, 35, 10), (COMPUTED, 55, 20)]
    (one,), delivered = corrected([log(*rows)], 1, bin_ns=5 * MS)
    assert one.wall_ms == 55
    assert one.response_ms == pytest.approx(10 + 15 + 10)
    assert delivered == pytest.approx(0.5)


def test_a_bin_in_which_a_process_computes_and_reads():
    # Half of each bin of 20 ms is an access; the other half was delivered in full.
    rows = [(START, 0, 0), (COMPUTED, 10, 10), (ASKED, 10, 10), (SERVED, 20, 10), (COMPUTED, 30, 20)]
    (one,), delivered = corrected([log(*rows)], 1, bin_ns=20 * MS)
    assert one.response_ms == pytest.approx(30)
    assert delivered == pytest.approx(1)


def test_starts_follow_the_clock_of_what_was_delivered_and_gaps_the_wall_clock():
    first, second, third = computing(0, 100, 50), computing(150, 160, 10), computing(160, 170, 10)
    found, _ = corrected([first, second, third], 1)
    assert [one.start_ms for one in found] == pytest.approx([0, 100, 110])


def test_intervals_in_which_a_process_is_runnable():
    rows = [(START, 1, 0), (COMPUTED, 2, 1), (ASKED, 3, 2), (SERVED, 9, 2), (COMPUTED, 12, 4)]
    begins, ends = intervals(log(*rows))
    assert (begins / MS).tolist() == [1, 9]
    assert (ends / MS).tolist() == [3, 12]


def test_a_planted_load_of_others_is_taken_out_exactly():
    """A core shared evenly by processes, whose speed changes from bin to bin: what is left is processor sharing."""
    rng = np.random.default_rng(5)
    speed = rng.uniform(0.1, 1.0, 400)
    demands, starts = [90.0, 300.0, 35.0, 160.0], [0, 20, 40, 160]

    def shared(speeds, instants):
        """Logs of processor sharing in steps of a tenth of a millisecond."""
        left, rows = list(demands), [[(START, start, 0.0)] for start in instants]
        now = 0.0
        while any(one > 1e-9 for one in left):
            runnable = [place for place, one in enumerate(left) if one > 1e-9 and now >= instants[place] - 1e-9]
            now += 0.1
            for place in runnable:
                left[place] -= 0.1 * speeds[min(int((now - 0.05) // 10), len(speeds) - 1)] / len(runnable)
                rows[place].append((COMPUTED, now, demands[place] - left[place]))
        return [log(*one) for one in rows]

    disturbed, delivered = corrected(shared(speed, starts), 1)
    assert delivered < 0.8
    # Without others, and with the same starts by the clock of what is delivered.
    undisturbed, _ = corrected(shared(np.ones(1), [one.start_ms for one in disturbed]), 1)
    for one, other in zip(disturbed, undisturbed, strict=True):
        assert one.response_ms == pytest.approx(other.response_ms, abs=0.5)
        assert one.wall_ms > 1.2 * one.response_ms


def test_the_clock_stands_still_where_nothing_was_delivered():
    clock = DeliveredClock([log((START, 0, 0), (COMPUTED, 10, 10), (COMPUTED, 30, 10), (COMPUTED, 40, 20))], 1)
    assert (clock.at_ns(np.array([0, 10, 20, 30, 40]) * MS) / MS).tolist() == pytest.approx([0, 10, 10, 10, 20])
