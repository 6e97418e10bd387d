"""Sums and quantiles of numbers that come in groups."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.results.sums import ExactSum, Histogram, Values, whole_sum

numbers = st.floats(-1e15, 1e15, allow_subnormal=True)


def grouped(values, cuts):
    """The numbers in groups that end at these places."""
    return np.split(np.array(values), sorted(cut % (len(values) + 1) for cut in cuts))


def added(to, groups):
    for group in groups:
        if len(group):
            to.add(group)
    return to


@given(values=st.lists(numbers, min_size=1, max_size=60), cuts=st.lists(st.integers(0, 60)), random=st.randoms())
def test_a_mean_is_exact_in_whatever_order_and_groups(values, cuts, random):
    exact = float(sum(map(Fraction, values)) / len(values))
    assert added(ExactSum(), grouped(values, cuts)).mean == exact
    random.shuffle(values)
    assert added(ExactSum(), grouped(values, cuts)).mean == exact


def test_numbers_of_unlike_size_do_not_swallow_each_other():
    # In floats 1e16 + 1 - 1e16 is 0.
    assert added(ExactSum(), [np.array([1e16]), np.array([1.0]), np.array([-1e16])]).mean == 1.0 / 3.0


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_whole_numbers_do_not_overflow(values):
    assert whole_sum(np.array(values, np.int64)) == sum(values)


@given(
    values=st.lists(st.floats(1e-6, 1e12), min_size=1, max_size=80),
    cuts=st.lists(st.integers(0, 80)),
    shares=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5),
)
def test_quantiles_are_within_half_a_per_cent(values, cuts, shares):
    histogram = added(Histogram(), grouped(values, cuts))
    found = histogram.quantiles(np.array(shares))
    assert found == pytest.approx(np.quantile(values, shares).tolist(), rel=0.005)
    assert found == added(Histogram(), [np.array(values[::-1])]).quantiles(np.array(shares))
    assert histogram.quantiles(np.array([0.0, 1.0])) == [min(values), max(values)]


def test_zeros_count_and_have_no_logarithm():
    histogram = added(Histogram(), [np.array([0.0, 0.0, 0.0, 8.0])])
    assert histogram.quantiles(np.array([0.5, 1.0])) == [0.0, 8.0]
    assert Histogram().quantiles(np.array([0.5])) == []


def test_numbers_to_draw_are_spread_as_those_that_came():
    values = np.random.default_rng(1).exponential(size=50_000)
    drawn = added(Histogram(), np.split(values, 5)).spread(1000)
    assert len(drawn) == 1000
    assert drawn == pytest.approx(np.quantile(values, (np.arange(1000) + 0.5) / 1000), rel=0.005)
    assert len(added(Histogram(), [values[:7]]).spread(1000)) == 7


def test_a_missing_number_makes_the_mean_none_and_leaves_the_quantiles_of_the_others():
    values = added(Values(), [np.array([1.0, math.nan, 3.0])])
    assert values.count == 3
    assert math.isnan(values.mean)
    assert values.histogram.quantiles(np.array([1.0])) == [3.0]
    assert Values().mean is None
