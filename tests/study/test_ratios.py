"""Ratios on common random numbers, the words that follow from them, and intervals of skewed means."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.paired import (
    Contrast,
    PairedDifference,
    are_tails_unlike,
    corrected,
    have_ratios,
    paired,
)
from cluster_abm.study.statistics.skewed import hall_interval


def test_the_typical_ratio_is_the_geometric_mean_of_the_seeds_ratios():
    """2 and 4: the logarithms have mean log sqrt(8) and standard error log(2) / 2; t is 3, of one degree of freedom."""
    found = paired([2.0, 8.0], [1.0, 2.0])
    assert found.ratio == pytest.approx(math.sqrt(8.0))
    arm = 12.7062047 * math.log(2.0) / 2
    assert found.ratio_ci95 == pytest.approx((math.sqrt(8.0) * math.exp(-arm), math.sqrt(8.0) * math.exp(arm)))
    assert found.p_value == pytest.approx(0.2048328)
    assert found.significant is False


def test_the_interval_holds_1_exactly_if_the_ratio_is_not_significant():
    """By Holm: of two pairs with p = 0.036 and 0.5 neither is significant, alone the first one is."""
    alone = paired([1.12, 1.17, 1.25], [1.0, 1.0, 1.0])
    both = corrected({"near": alone, "far": paired([1.1, 0.9, 1.3], [1.0, 1.0, 1.0])})["near"]
    assert corrected({"near": alone})["near"].significant
    assert alone.ratio_ci95[0] > 1.0
    assert both.ratio == alone.ratio
    assert not both.significant
    assert both.ratio_ci95[0] <= 1.0 <= both.ratio_ci95[1]


def test_one_seed_is_not_tested():
    found = paired([3.0], [2.0])
    assert (found.ratio, found.ratio_ci95, found.p_value) == (pytest.approx(1.5), None, 1.0)


def test_with_a_zero_differences_are_tested():
    """1 and 2: mean 1.5, standard error 0.5; t is 3 with one degree of freedom."""
    found = paired([1.0, 4.0], [0.0, 2.0])
    assert (found.ratio, found.ratio_ci95) == (2.5, None)
    assert found.p_value == pytest.approx(0.2048328)
    assert found.difference.mean == 1.5
    assert found.difference.ci95 == pytest.approx((1.5 - 12.7062047 * 0.5, 1.5 + 12.7062047 * 0.5))


@pytest.mark.parametrize(
    ("values", "have"), [([1.0, 2.0], True), ([0.0, 2.0], False), ([math.nan], False), ([math.inf], False)]
)
def test_zeros_and_missing_values_have_no_ratio(values, have):
    assert have_ratios([1.0], values) is have


def test_tails_are_unlike_where_one_policy_has_a_rare_bad_run():
    """Largest over median: 1.5 and 5."""
    assert are_tails_unlike([2.0, 2.0, 3.0], [2.0, 2.0, 10.0])
    assert not are_tails_unlike([2.0, 2.0, 3.0], [2.0, 2.0, 6.0])


@pytest.mark.parametrize(
    ("typical", "significant", "unlike", "difference", "more_is_better", "word"),
    [
        (0.8, True, False, -1.0, False, "better"),
        (0.8, True, False, -1.0, True, "worse"),
        (1.2, True, False, 1.0, False, "worse"),
        # Typical runs are better, and the mean is worse; or a rare run decides about the mean.
        (0.8, True, False, 1.0, False, "typically better"),
        (0.8, True, True, -1.0, False, "typically better"),
        (1.2, True, True, 1.0, False, "typically worse"),
        (0.8, False, False, -1.0, False, "not significant"),
        (0.8, None, False, -1.0, False, "not tested"),
    ],
)
def test_better_is_said_only_where_ratio_means_and_tails_agree(
    typical, significant, unlike, difference, more_is_better, word
):
    tested = Contrast(math.log(typical), 0.01, 8, True)
    found = PairedDifference(typical, Estimate(difference, None), 0.01, significant, None, unlike, tested)
    assert found.verdict(more_is_better) == word


def test_from_sixteen_seeds_on_means_must_differ_themselves():
    """a is 0.8 of b on fifteen seeds of sixteen, and twice b on the last: about as much as it saves on all others."""
    b = [15.0, *[10.0] * 15]
    a = [12.0, *(8.0 + 0.01 * seed for seed in range(14))]
    rare = paired([*a, 21.0], b)
    assert (rare.difference.mean < 0.0, rare.significant, rare.means_differ) == (True, True, False)
    assert not rare.tails_unlike
    assert rare.verdict() == "typically better"
    assert paired(a, b[:15]).means_differ is None
    assert paired([*a, 8.0], b).means_differ
    assert paired([*a, 8.0], b).verdict() == "better"


def test_without_skewness_halls_interval_is_students():
    """1, 2, 3: mean 2, standard error 1 / sqrt(3), t of two degrees of freedom 4.3026527."""
    arm = 4.3026527 / math.sqrt(3.0)
    assert hall_interval([1.0, 2.0, 3.0]) == pytest.approx((2.0 - arm, 2.0 + arm))


@pytest.mark.filterwarnings("error")
def test_halls_interval_knows_no_unit():
    values = [1.0, 2.0, 2.0, 7.0]
    low, high = hall_interval(values)
    for unit in (1e-200, 1e200):
        assert hall_interval([unit * value for value in values]) == pytest.approx((unit * low, unit * high))


def test_halls_interval_reaches_further_to_the_side_of_the_long_tail():
    values = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0]
    low, high = hall_interval(values)
    assert high - 2.0 > 2.0 - low > 0.0


@pytest.mark.parametrize(("values", "ends"), [([1.0], None), ([1.0, math.nan, 3.0], None), ([2.0] * 4, (2.0, 2.0))])
def test_one_missing_or_equal_values_have_no_skewness(values, ends):
    assert hall_interval(values) == ends


def test_two_values_have_no_skewness():
    assert hall_interval([1.0, 2.0]) == pytest.approx((1.5 - 12.7062047 / 2, 1.5 + 12.7062047 / 2))


@pytest.mark.slow
def test_halls_interval_of_exponential_means_holds_more_often_than_students():
    """Of 4,000 samples of 16: Student's t holds the mean in 90 to 91 %; standard errors 0.4 and 0.5 %."""
    rng = np.random.default_rng(7)
    held = [low <= 1.0 <= high for low, high in map(hall_interval, rng.exponential(1.0, (4000, 16)))]
    assert np.mean(held) > 0.925
