"""The arithmetic of reservations, against one that counts every slice apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.policy.parts.reservations import first_backfill, plan, reservation
from cluster_abm.policy.waiting import RUNNING

# Beyond all that these jobs need.
HORIZON = 400
NONE = float("nan")


def whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def running_of(*jobs: tuple[int, int]) -> np.ndarray:
    """Running jobs of (expected end, cores), in the order of their ends."""
    rows = np.zeros(len(jobs), RUNNING)
    for row, (ends, cores) in zip(rows, sorted(jobs), strict=True):
        row["ends"], row["cores"] = ends, cores
    return rows


def by_slice(free: int, running: np.ndarray, now: int = 0, outrun: int = 1) -> np.ndarray:
    """Free cores in each slice from now on, counted one by one."""
    room = np.full(HORIZON, free)
    for job in running:
        ends = int(job["ends"])
        room[(ends if ends > now else outrun) - now :] += job["cores"]
    return room


def anchor(room: np.ndarray, cores: int, lasts: int) -> int:
    """The first slice from which there is room for so long."""
    return next(at for at in range(HORIZON) if (room[at : at + lasts] >= cores).all())


def plan_by_slice(room, cores, lasts, reserved):
    """What `plan` does, slice by slice."""
    room, starts = room.copy(), [None if np.isnan(at) else int(at) for at in reserved]
    for width, length, start in zip(cores, lasts, starts, strict=True):
        if start is not None:
            room[start : start + length] -= width
    for job, (width, length) in enumerate(zip(cores, lasts, strict=True)):
        if starts[job] is not None:
            room[starts[job] : starts[job] + length] += width
        starts[job] = anchor(room, width, length)
        room[starts[job] : starts[job] + length] -= width
    return starts


# Of eight cores two are free; one is released at 5, five at 10.
THREE = running_of((10, 3), (5, 1), (10, 2))


def test_a_reservation_by_hand():
    assert [reservation(THREE, 2, needed, 0, 1) for needed in (3, 4, 8)] == [(5, 0), (10, 4), (10, 0)]


def test_jobs_that_have_outrun_their_request_are_expected_to_end_together():
    """At 10: one of three cores was to end at 7, one of two at 10, one of one at 12. Expected at 11, or at 13."""
    late = running_of((7, 3), (10, 2), (12, 1))
    assert reservation(late, 1, 2, 10, 11) == (11, 4)
    assert reservation(late, 1, 2, 10, 13) == (12, 0)
    assert reservation(late, 1, 3, 10, 13) == (13, 4)


def test_backfilling_by_hand():
    """The head asks for six of these: it can have them at 10, with two to spare. Two for eleven slices fit beside it;
    three do not, and only if they ended by 10; three are not free now."""
    assert reservation(THREE, 2, 6, 0, 1) == (10, 2)
    assert first_backfill(whole(6, 3, 2), whole(9, 3, 11), 2, 2, 10) == 2
    assert first_backfill(whole(6, 3), whole(9, 11), 3, 2, 10) == -1
    assert first_backfill(whole(6, 3), whole(9, 10), 3, 2, 10) == 1


def planned(running, free, now, cores, lasts, reserved):
    reserved = np.array(reserved, float)
    anew = plan(running, free, now, now + 1, whole(*cores), whole(*lasts), reserved)
    return reserved.tolist(), anew


@pytest.mark.slow
def test_a_plan_by_hand():
    """Six cores at 10 for ten slices; two fit beside them now, for eleven; three for three get the next room, at 20."""
    assert planned(THREE, 2, 0, (6, 2, 3), (10, 11, 3), [NONE] * 3) == ([10, 0, 20], 0)
    # Two slices later all running jobs have ended: each takes the earliest there is, in order.
    assert planned(running_of(), 8, 2, (6, 2, 3), (10, 11, 3), [10, 2, 20]) == ([2, 2, 12], 0)
    # At 11 none has: the first reservation is past.
    assert planned(running_of((12, 6)), 2, 11, (6, 3), (10, 3), [10, 20]) == ([12, 22], 1)


running = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 4)), max_size=6)
waiting = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 20)), min_size=1, max_size=8)


@given(st.integers(0, 7), running, st.integers(0, 12), st.integers(1, 6), st.integers(1, 40))
def test_the_shadow_time_is_the_first_slice_from_which_there_is_room(free, jobs, now, later, lasts):
    """Some of the jobs have outrun their request."""
    rows = running_of(*jobs, (31, 8))
    room = by_slice(free, rows, now, now + later)
    at, extra = reservation(rows, free, 8, now, now + later)
    assert at == now + anchor(room, 8, lasts)
    assert extra == room[at - now] - 8


@given(st.integers(0, 3), running, waiting)
def test_a_backfill_leaves_the_head_its_reservation(free, jobs, queue):
    rows = running_of(*jobs, (31, 8))
    cores, lasts = (np.array(column, np.int64) for column in zip(*queue, strict=True))
    if cores[0] <= free:
        return
    shadow, extra = reservation(rows, free, int(cores[0]), 0, 1)
    place = first_backfill(cores, lasts, free, extra, shadow)
    room = by_slice(free, rows)
    allowed = []
    for other in range(1, len(queue)):
        left = room.copy()
        left[: lasts[other]] -= cores[other]
        if cores[other] <= free and (left[shadow : shadow + lasts[0]] >= cores[0]).all():
            allowed.append(other)
    # It is the first of those that do not delay the head, or none is.
    assert place == (allowed[0] if allowed else -1)


@pytest.mark.slow
@given(running, waiting, waiting, st.integers(0, 6), st.data())
def test_a_plan_keeps_what_was_reserved_and_never_takes_more_than_there_is(jobs, queue, new, ends, data):
    """Some running jobs end earlier than they requested, and further ones join the queue."""
    cores, lasts = zip(*queue, strict=True)
    first = running_of(*jobs, (31, 8))
    before, _ = planned(first, 0, 0, cores, lasts, [NONE] * len(queue))
    assert before == plan_by_slice(by_slice(0, first), cores, lasts, [NONE] * len(queue))
    early = [(data.draw(st.integers(1, at)) if place < ends else at, width) for place, (at, width) in enumerate(jobs)]
    cores, lasts = zip(*queue, *new, strict=True)
    later = running_of(*early, (31, 8))
    reserved = [*before, *[NONE] * len(new)]
    after, anew = planned(later, 0, 0, cores, lasts, reserved)
    assert not anew
    assert after == plan_by_slice(by_slice(0, later), cores, lasts, reserved)
    assert all(now <= then for now, then in zip(after, before, strict=False))
    used = np.zeros(HORIZON, int)
    for width, length, start in zip(cores, lasts, map(int, after), strict=True):
        used[start : start + length] += width
    assert (used <= by_slice(0, later)).all()
