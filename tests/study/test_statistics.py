"""Statistics against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.study.statistics.estimates import estimate, estimate_quantile
from cluster_abm.study.statistics.paired import holm, paired


def test_interval_of_four_values_by_hand():
    """1, 2, 3, 4: mean 2.5, s^2 = 5/3, standard error sqrt(5/12) = .645497, t(.975, 3) = 3.182446."""
    found = estimate([1, 2, 3, 4])
    assert found.mean == 2.5
    assert found.ci95 == pytest.approx((2.5 - 2.054260, 2.5 + 2.054260), abs=1e-5)


def test_one_value_has_no_interval():
    assert estimate([7.0]).ci95 is None
    assert paired([7.0], [3.0]).difference.ci95 is None
    assert paired([7.0], [3.0]).p_value == 1.0


def test_paired_difference_by_hand():
    """Differences 1, 2, 3, one value 0: mean 2, standard error 1/sqrt(3), t = 3.464102, 2 degrees: p = .074180."""
    found = paired([1, 4, 9], [0, 2, 6])
    assert found.difference.mean == 2
    assert found.ratio == pytest.approx(14 / 8)
    assert found.p_value == pytest.approx(0.074180, abs=1e-5)
    assert found.difference.ci95 == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5), abs=1e-5)


def test_equal_runs_differ_by_nothing_and_constant_ratios_are_certain():
    assert paired([1.0, 2.0], [1.0, 2.0]).p_value == 1.0
    assert paired([2.0, 4.0], [1.0, 2.0]).p_value == 0.0
    assert paired([1.0, 2.0], [0.0, 1.0]).p_value == 0.0


@pytest.mark.filterwarnings("error")
def test_the_p_value_knows_no_unit_and_no_warning():
    """Those by hand in units whose squares are too small for a number, or large; and nearly the same ones."""
    for unit in (1e-200, 1e100):
        assert paired([unit, 4 * unit, 9 * unit], [0, 2 * unit, 6 * unit]).p_value == pytest.approx(0.074180, abs=1e-5)
        ratios = [paired([2 * one, 8 * one], [one, 2 * one]).p_value for one in (1.0, unit)]
        assert ratios[0] == pytest.approx(ratios[1])
    assert paired([0.3, 0.6, 0.9], [0.1, 0.2, 0.3]).p_value < 1e-20


def test_holm_by_hand():
    """Sorted .01 .02 .03 .04 against .05/4, .05/3, .05/2, .05: only the first is below its own bound."""
    assert holm([0.03, 0.01, 0.04, 0.02]) == [False, True, False, False]
    assert holm([0.001, 0.004, 0.6]) == [True, True, False]
    assert holm([]) == []


def test_median_of_ten_by_hand():
    """P(1 < Binomial(10, 1/2) < 9) = 1 - 22/1024 = .979, P(2 < ... < 8) = .891: from the second to the ninth value."""
    found = estimate_quantile([7, 1, 9, 3, 5, 2, 8, 10, 4, 6])
    assert found.value == 5.5
    assert found.ci95 == (2, 9)


def test_few_values_have_no_interval_of_a_quantile():
    """Five: 1 - 2/32 = .9375 is not enough; six: 1 - 2/64 = .969. For the 95th percentile above all values: .95^n <=
    .025."""
    assert estimate_quantile([1, 2, 3, 4, 5]).ci95 is None
    assert estimate_quantile([1, 2, 3, 4, 5, 6]).ci95 == (1, 6)
    assert estimate_quantile(list(range(70)), 0.95).ci95 is None
    assert estimate_quantile(list(range(100)), 0.95).ci95 is not None
    assert estimate_quantile([1.0, float("nan"), 2.0]).ci95 is None


@pytest.mark.slow
def test_the_median_s_interval_covers_at_least_as_often_as_it_says():
    """Of a lopsided law: exponential, median ln 2. With ten values 97.9 %."""
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(500):
        low, high = estimate_quantile(rng.exponential(1.0, 10).tolist()).ci95
        covered += low <= np.log(2) <= high
    # Binomial(500, .979): four standard deviations are 13.
    assert covered >= 489 - 13


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_rejects_between_bonferroni_and_uncorrected(p_values):
    rejected = np.array(holm(p_values), bool)
    p = np.array(p_values)
    assert (rejected[p <= 0.05 / max(1, len(p))]).all()
    assert not rejected[p > 0.05].any()


def test_the_interval_covers_the_truth_in_95_of_100():
    rng = np.random.default_rng(7)
    covered = sum(
        low <= 3.0 <= high for low, high in (estimate(rng.normal(3.0, 2.0, 6).tolist()).ci95 for _ in range(2000))
    )
    # Binomial(2000, .95): four standard deviations are 39.
    assert 1900 - 39 <= covered <= 1900 + 39
