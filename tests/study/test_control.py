"""Means corrected by a reference that is known on more seeds: by hand, and by what their intervals cover."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from scipy import stats

from cluster_abm.study.statistics.bounds import Bounds
from cluster_abm.study.statistics.control import controlled
from cluster_abm.study.statistics.estimates import estimate

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261130"))
X = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_by_hand():
    """x_n = 3.5, Sxx = 17.5. Two more seeds of 6.5 each: x_N = (21 + 13)/8 = 4.25, 0.75 above."""
    y = np.array([10.0 + 2.0 * x for x in X])
    # It moves neither the slope nor the height of the line.
    noise = np.array([1.0, -2.0, 1.0, 1.0, -2.0, 1.0])
    assert noise.sum() == 0.0
    assert noise @ (np.array(X) - 3.5) == 0.0
    found = controlled((y + noise).tolist(), X, [6.5, 6.5])
    # 17 + 2 x 0.75.
    assert found.mean == pytest.approx(18.5)
    # s^2 = 12/4 = 3; s_x^2 = (91 + 84.5 - 8 x 4.25^2)/7 = 31/7; 3 (1/6 + 0.5625/17.5) + 4 x 31/56.
    variance = 3 * (1 / 6 + 0.5625 / 17.5) + 4 * 31 / 56
    arm = 2.7764451 * math.sqrt(variance)
    assert found.ci95 == (pytest.approx(18.5 - arm), pytest.approx(18.5 + arm))


def test_values_on_a_line_have_no_noise_but_that_of_the_reference():
    many = np.linspace(0.0, 7.0, 400).tolist()
    found = controlled([2.0 * x for x in X], X, many)
    every = [*X, *many]
    assert found.mean == pytest.approx(2 * np.mean(every))
    arm = stats.t.ppf(0.975, 4) * 2 * np.std(every, ddof=1) / math.sqrt(len(every))
    assert found.ci95[1] - found.mean == pytest.approx(arm)


@pytest.mark.parametrize(
    ("values", "reference", "more"),
    [
        (X[:5], X[:5], [3.0]),  # five seeds
        (X, X, []),  # no more seeds
        ([math.nan, *X[1:]], X, [3.0]),
        (X, X, [math.inf]),
        (X, [2.0] * 6, [3.0]),  # the reference is the same at every seed
        ([2.0] * 6, X, [3.0]),
        ([1.0, 4.0, 2.0, 6.0, 3.0, 5.0], X, [3.0]),  # a correlation of 10.5/17.5 = 0.6
    ],
)  # fmt: skip
def test_else_the_plain_mean_is_used(values, reference, more):
    assert controlled(values, reference, more) is None


def test_an_opposite_reference_serves_as_well():
    found = controlled([7.0 - x for x in X], X, [6.5, 6.5])
    assert found.mean == pytest.approx(7.0 - 4.25)


def test_the_interval_keeps_to_what_is_possible():
    values = [1.0 + 0.001 * x for x in X]
    found = controlled(values, X, [20.0, 0.1, 0.2], Bounds(1.0))
    assert found.ci95[0] > 1.0
    assert controlled(values, X, [20.0, 0.1, 0.2]).ci95[0] < 1.0


def pairs(rng, correlation, count):
    x = rng.standard_normal(count)
    return 3.0 + x, 5.0 + 2.0 * (correlation * x + math.sqrt(1 - correlation**2) * rng.standard_normal(count))


def drawn(correlation, seeds, more, repeats):
    """Corrected means and whether their intervals hold 5, and the plain means, where the correction is used."""
    rng = np.random.default_rng([SEED, seeds])
    found = []
    for _ in range(repeats):
        x, y = pairs(rng, correlation, seeds)
        others, _ = pairs(rng, correlation, more)
        one = controlled(y.tolist(), x.tolist(), others.tolist())
        if one is not None:
            found.append((one.mean, one.ci95[0] <= 5.0 <= one.ci95[1], y.mean()))
    return np.array(found).T


@pytest.mark.slow
def test_of_normal_values_intervals_cover_95_percent():
    """With a correlation of 0.98 nearly no sample of eight has less than 0.8, and with 5,000 seeds of the reference
    nothing is left but the line's own uncertainty. 4,000 intervals: 4.5 standard errors."""
    means, covered, _ = drawn(0.98, 8, 4992, 4000)
    assert len(means) > 3950
    assert abs(covered.mean() - 0.95) < 4.5 * math.sqrt(0.95 * 0.05 / len(covered))


@pytest.mark.slow
def test_with_a_hundred_seeds_they_cover_more_and_the_mean_varies_eight_times_less():
    """Most of the variance is then that of x_N, which is known better than n - 2 degrees of freedom say."""
    means, covered, plain = drawn(0.98, 8, 92, 4000)
    assert 0.95 < covered.mean() < 0.995
    # (1 - r^2) (1/8 + (1/8 - 1/100)/5), as E[1/Sxx] = 1/(n - 3) here, and r^2/100, against 1/8: 8.1 times less.
    expected = (1 / 8) / (0.0396 * (1 / 8 + (1 / 8 - 1 / 100) / 5) + 0.9604 / 100)
    assert plain.var() / means.var() == pytest.approx(expected, rel=0.15)


def test_the_interval_is_shorter_than_the_plain_one():
    rng = np.random.default_rng([SEED, 1])
    x, y = pairs(rng, 0.98, 8)
    others, _ = pairs(rng, 0.98, 192)
    found, plain = controlled(y.tolist(), x.tolist(), others.tolist()), estimate(y.tolist())
    assert found.ci95[1] - found.ci95[0] < 0.8 * (plain.ci95[1] - plain.ci95[0])
