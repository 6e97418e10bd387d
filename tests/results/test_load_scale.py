"""Scales of loads: round, as long as the loads ask for, and never back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shown import near

from cluster_abm.results.load_scale import LoadScale, SeenLoads, joint, low_end, round_full, scale_to

LOADS = st.lists(st.floats(1e-4, 1e5), min_size=1, max_size=30)


@pytest.mark.parametrize(("largest", "full"), [(0, 2), (2, 2), (2.1, 4), (9, 10), (11, 20), (21, 40), (190, 200)])
def test_the_end_is_round(largest, full):
    assert round_full(largest, 2.0) == pytest.approx(full)


@given(st.lists(LOADS, min_size=1, max_size=8))
def test_a_scale_holds_all_that_was_seen_and_only_grows(frames):
    seen, before = SeenLoads(1.0, 0.01), LoadScale(1.0)
    for loads in frames:
        seen.add(np.array(loads))
        assert seen.scale.full >= max(loads) * (1 - 1e-9)
        assert seen.scale.full >= before.full
        # A legend that goes back and forth cannot be read.
        assert not (before.low and not seen.scale.low)
        before = seen.scale
    assert before.full <= max(1.0, 2.5 * max(map(max, frames))) * (1 + 1e-9)


def test_it_is_logarithmic_where_most_loads_are_far_below_the_largest_one():
    seen = SeenLoads(1.0, 0.01)
    seen.add(np.array([0.0, 0.5, 0.6, 2.0, 3.0]))
    assert seen.scale == LoadScale(5.0)
    seen.add(np.array([0.0, 0.5, 0.4, 80.0, 3.0]))
    assert seen.scale == LoadScale(100.0, 0.1)
    assert seen.scale.ticks == pytest.approx([0, 0.1, 1, 10, 100])
    # Idle nodes do not count: many of them would make every scale logarithmic.
    idle = SeenLoads(1.0, 0.01)
    idle.add(np.concatenate([np.zeros(1000), [3.0, 4.0, 5.0]]))
    assert idle.scale == LoadScale(5.0)


@pytest.mark.parametrize("scale", [LoadScale(5.0), LoadScale(100.0, 0.1), LoadScale(50.0, 0.1)])
def test_shares_rise_from_0_to_1_and_lead_back_to_their_loads(scale):
    loads = np.concatenate([[0.0], np.geomspace(1e-3, scale.full, 200)])
    shares = scale.share(loads)
    assert shares[0] == 0
    assert shares[-1] == pytest.approx(1)
    assert (np.diff(shares) > 0).all()
    assert scale.load(shares) == pytest.approx(loads)
    assert float(scale.share(10 * scale.full)) == 1


def test_each_decade_has_the_same_room():
    shares = LoadScale(100.0, 0.1).share([0.1, 1.0, 10.0, 100.0])
    assert np.diff(shares) == pytest.approx([0.25] * 3)


def test_two_runs_beside_each_other_have_one_scale():
    assert joint([LoadScale(5.0), LoadScale(2.0)]) == LoadScale(5.0)
    assert joint([LoadScale(5.0), LoadScale(100.0, 0.1)]) == LoadScale(100.0, 0.1)


def test_an_even_scale_has_its_middle_load_at_the_root_of_a_half():
    scale = LoadScale(8.0)
    assert scale.share([0.0, 2.0, 8.0, 9.0, -1.0]).tolist() == near([0, 0.5, 1, 1, 0])
    assert scale.load([0.0, 0.5, 1.0, 2.0]).tolist() == near([0, 2, 8, 8])
    assert scale.ticks == [0, 4, 8]


def test_a_logarithmic_scale_is_even_below_its_first_power_and_has_as_much_room_for_it_as_for_a_decade():
    scale = LoadScale(100.0, 1.0)
    assert scale.share([0.5, 1.0, 10.0, 100.0]).tolist() == near([1 / 6, 1 / 3, 2 / 3, 1])
    assert scale.load([1 / 6, 1 / 3, 2 / 3, 1]).tolist() == near([0.5, 1, 10, 100])


@pytest.mark.parametrize(("full", "expected"), [
    (50.0, [0, 1, 10, 50]), (20.0, [0, 1, 10, 20]), (18.0, [0, 1, 18]), (100.0, [0, 1, 10, 100]),
])  # fmt: skip
def test_a_power_just_below_the_end_has_no_tick(full, expected):
    assert LoadScale(full, 1.0).ticks == near(expected)


@pytest.mark.parametrize(("full", "least", "low"), [(100.0, 0.01, 0.1), (200.0, 0.01, 1.0), (100.0, 1.0, 1.0)])
def test_a_logarithmic_scale_has_three_decades_at_most(full, least, low):
    assert low_end(full, least) == pytest.approx(low)


@pytest.mark.parametrize(
    ("largest", "wide", "low"), [(90.0, False, 0), (90.0, True, 1), (4.9, True, 0), (9.0, True, 1)]
)
def test_a_scale_of_less_than_five_times_its_beginning_is_even(largest, wide, low):
    assert scale_to(largest, wide, 1.0, 1.0).low == low


def test_loads_of_nothing_leave_a_scale_as_it_is():
    seen = SeenLoads(2.0, 1.0)
    seen.add(np.zeros(4))
    assert (seen.largest, seen.is_wide, seen.scale) == (0, False, LoadScale(2.0))
    seen.add(np.array([5.0]))
    seen.add(np.array([3.0]))
    assert (seen.largest, seen.scale) == (5, LoadScale(10.0))


@pytest.mark.parametrize(("largest", "wide"), [(25.0, True), (19.0, False)])
def test_a_scale_is_wide_above_sixteen_times_the_median(largest, wide):
    """The median's bin of a tenth of a decade ends at 10^0.1 = 1.26 or below: 16 times that is 20.1."""
    seen = SeenLoads(2.0, 1.0)
    seen.add(np.array([1.1, 1.1, 1.1, largest]))
    assert seen.is_wide == wide


def test_round_ends_and_joint_scales():
    assert round_full(float("nan"), 2.0) == 2
    # Of two logarithmic scales the later beginning counts, up to the farther end.
    assert joint([LoadScale(50.0, 0.1), LoadScale(20.0, 1.0)]) == LoadScale(50.0, 1.0)
