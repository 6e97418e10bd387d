"""The arithmetic of reservations, against one that counts every slice apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.policy.parts.reservations import Profile, first_backfill, planned

# Beyond all that these jobs need.
HORIZON = 400


def whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def by_slice(profile: Profile) -> np.ndarray:
    """Free cores in each slice from now on."""
    places = np.searchsorted(profile.times, np.arange(HORIZON) + profile.times[0], "right") - 1
    return profile.free[places]


def test_by_hand():
    """Of eight cores two are free; one is released at 5, five at 10."""
    profile = Profile(0, 2, whole(10, 5, 10), whole(3, 1, 2))
    assert (profile.times.tolist(), profile.free.tolist()) == ([0, 5, 10], [2, 3, 8])
    assert [profile.earliest(width, 7) for width in (1, 2, 3, 4, 8)] == [0, 0, 5, 10, 10]
    profile.take(6, 10, 10)
    # Two of those released at 10 are left until 20.
    assert by_slice(profile)[[9, 10, 19, 20]].tolist() == [3, 2, 2, 8]
    assert profile.earliest(3, 5) == 5
    assert profile.earliest(3, 6) == 20
    assert profile.holds(3, 5, 5)
    assert not profile.holds(3, 5, 6)


def test_backfilling_by_hand():
    """The head asks for six of these: it can have them at 10, with two to spare. Two for eleven slices fit beside it;
    three do not, and only if they ended by 10; three are not free now."""
    profile = Profile(0, 2, whole(10, 5, 10), whole(3, 1, 2))
    assert first_backfill(profile, whole(6, 3, 2), whole(9, 3, 11)) == (2, 10)
    assert first_backfill(Profile(0, 3, whole(10), whole(5)), whole(6, 3), whole(9, 11)) == (-1, 10)
    assert first_backfill(Profile(0, 3, whole(10), whole(5)), whole(6, 3), whole(9, 10)) == (1, 10)


def test_a_plan_by_hand():
    """Six cores at 10 for ten slices; two fit beside them now, for eleven; three for three get the next room, at 20."""
    profile = Profile(0, 2, whole(10, 5, 10), whole(3, 1, 2))
    starts, made_anew = planned(profile, whole(6, 2, 3), whole(10, 11, 3), whole(-1, -1, -1))
    assert (starts.tolist(), made_anew) == ([10, 0, 20], False)
    # Two slices later all running jobs have ended: each takes the earliest there is, in order.
    starts, made_anew = planned(Profile(2, 8, whole(), whole()), whole(6, 2, 3), whole(10, 11, 3), whole(10, 2, 20))
    assert (starts.tolist(), made_anew) == ([2, 2, 12], False)
    # At 11 none has: the first reservation is past.
    late = Profile(11, 2, whole(12), whole(6))
    starts, made_anew = planned(late, whole(6, 3), whole(10, 3), whole(10, 20))
    assert (starts.tolist(), made_anew) == ([12, 22], True)


running = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 4)), max_size=6)
waiting = st.lists(st.tuples(st.integers(1, 8), st.integers(1, 20)), min_size=1, max_size=8)


def profile_of(free: int, jobs: list[tuple[int, int]]) -> Profile:
    released = np.array(jobs, np.int64).reshape(-1, 2)
    return Profile(0, free, released[:, 0], released[:, 1])


@given(st.integers(8, 12), running, st.integers(1, 8), st.integers(1, 40))
def test_the_anchor_point_is_the_first_slice_from_which_there_is_room(free, jobs, width, length):
    profile = profile_of(free - 8, jobs)
    profile.free = profile.free + max(0, 8 - int(profile.free[-1]))
    profile.take(min(2, int(profile.free.min())), 3, 20)
    room = by_slice(profile) >= width
    slow = next(at for at in range(HORIZON) if room[at : at + length].all())
    assert profile.earliest(width, length) == slow


@given(st.integers(0, 3), running, waiting)
def test_a_backfill_leaves_the_head_its_reservation(free, jobs, queue):
    profile = profile_of(free, [*jobs, (31, 8)])
    widths, lengths = (np.array(column, np.int64) for column in zip(*queue, strict=True))
    if widths[0] <= free:
        return
    place, shadow = first_backfill(profile, widths, lengths)
    assert shadow == profile.earliest(int(widths[0]), int(lengths[0]))
    for other in range(1, len(queue)):
        with_it = profile.copy()
        if widths[other] > free:
            continue
        with_it.take(int(widths[other]), 0, int(lengths[other]))
        delays = not with_it.holds(int(widths[0]), shadow, int(lengths[0]))
        # It is the first of those that do not delay the head.
        if not delays:
            assert 0 < place <= other
            break
        assert place != other


@given(running, waiting, waiting, st.integers(0, 6), st.data())
def test_a_plan_keeps_what_was_reserved_and_never_takes_more_than_there_is(jobs, queue, new, ends, data):
    """Some running jobs end earlier than they requested, and further ones join the queue."""
    first = profile_of(0, [*jobs, (31, 8)])
    widths, lengths = (np.array(column, np.int64) for column in zip(*queue, strict=True))
    before, _ = planned(first, widths, lengths, np.full(len(queue), -1))
    early = [(data.draw(st.integers(1, at)) if place < ends else at, width) for place, (at, width) in enumerate(jobs)]
    all_widths, all_lengths = (np.array(column, np.int64) for column in zip(*queue, *new, strict=True))
    profile = profile_of(0, [*early, (31, 8)])
    after, made_anew = planned(profile, all_widths, all_lengths, np.append(before, np.full(len(new), -1)))
    assert not made_anew
    assert (after[: len(queue)] <= before).all()
    used = np.zeros(HORIZON, int)
    for width, length, start in zip(all_widths, all_lengths, after, strict=True):
        used[start : start + length] += width
    assert (used <= by_slice(profile)).all()
