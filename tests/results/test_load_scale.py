"""Scales of loads: round, as long as the loads ask for, and never back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.results.load_scale import LoadScale, SeenLoads, joint, round_full

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
