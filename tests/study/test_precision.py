"""When it is enough: numbers by hand, and what the rule does to the coverage it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.study.statistics.estimates import estimate
from cluster_abm.study.statistics.precision import enough, more_seeds, relative_half_width


def test_half_width_by_hand():
    """1, 2, 3, 4: half-width 2.054260 (see test_statistics) over the mean 2.5."""
    assert relative_half_width([1, 2, 3, 4]) == pytest.approx(0.821704, abs=1e-5)
    assert relative_half_width([-1, -2, -3, -4]) == pytest.approx(0.821704, abs=1e-5)
    assert relative_half_width([3.0]) == math.inf
    assert relative_half_width([]) == math.inf
    assert relative_half_width([0.0, 0.0]) == 0.0
    assert relative_half_width([-1.0, 1.0]) == math.inf
    assert relative_half_width([1.0, math.nan, 1.0]) == math.inf


def test_the_number_of_further_seeds_by_hand():
    """Five values of mean 100 and standard deviation 10: t(.975, n-1) 10/sqrt(n) <= 5 needs n = 18 (t = 2.1098: 4.973);
    n = 17: 2.1199 10/4.1231 = 5.1415. One call never more than doubles the seeds."""
    five = [100 - 12.649110640673518, 100 - 6.324555320336759, 100, 100 + 6.324555320336759, 100 + 12.649110640673518]
    assert np.std(five, ddof=1) == pytest.approx(10)
    assert not enough(five, 0.05)
    assert more_seeds(five, 0.05, cap=100) == 5
    # Ten values with the same standard deviation lack eight.
    ten = (100 + 10 / np.std([-1, 1] * 5, ddof=1) * np.array([-1, 1] * 5)).tolist()
    assert more_seeds(ten, 0.05, cap=100) == 8
    assert more_seeds(ten, 0.05, cap=14) == 4
    assert [more_seeds(ten, 0.05, cap=cap) for cap in (17, 18, 19)] == [7, 8, 8]
    assert more_seeds(ten, 0.05, cap=10) == 0


def test_never_fewer_than_five_however_alike():
    assert not enough([1.0, 1.0, 1.0, 1.0], 0.05)
    assert more_seeds([1.0, 1.0], 0.05, cap=50) == 3
    assert more_seeds([], 0.05, cap=3) == 3
    assert enough([1.0] * 5, 0.05)
    assert more_seeds([1.0] * 5, 0.05, cap=50) == 0


def test_what_cannot_be_known_runs_to_the_cap():
    values = [math.nan] * 5
    asked = 0
    while more := more_seeds(values, 0.05, cap=33):
        values += [math.nan] * more
        asked += 1
    assert len(values) == 33
    assert asked <= 3


@given(st.lists(st.floats(-1e6, 1e6), max_size=30), st.floats(0.001, 0.5), st.integers(1, 40))
def test_more_are_asked_for_until_it_is_enough_or_the_cap(values, precision, cap):
    more = more_seeds(values, precision, cap)
    assert more >= 0
    assert len(values) + more <= max(cap, len(values))
    assert (more == 0) == (len(values) >= cap or enough(values, precision))


def stopped(rng, draw, precision, cap=2000):
    values = draw(rng, 5).tolist()
    while more := more_seeds(values, precision, cap):
        values += draw(rng, more).tolist()
    return values


@pytest.mark.slow
def test_stopping_early_costs_little_coverage():
    """Normal values of mean 1. To stop when it looks narrow is to stop where the spread came out small: coverage may
    be below 95 %, but not by much, and the interval is as narrow as promised."""
    rng = np.random.default_rng(20261121)
    runs = 800
    covered = 0
    for _ in range(runs):
        values = stopped(rng, lambda rng, count: rng.normal(1.0, 0.1, count), 0.05)
        assert relative_half_width(values) <= 0.05
        low, high = estimate(values).ci95
        covered += low <= 1.0 <= high
    # Binomial(800, .92): four standard deviations are 3.8 %, at .95 3.1 %.
    assert 0.92 - 0.038 <= covered / runs <= 0.95 + 0.031
