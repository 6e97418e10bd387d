"""Shares of the gap between no balancing and the lower bound: by hand, and how often their intervals hold the truth."""

from __future__ import annotations

import math
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support import scenario

from cluster_abm.study.compare import Comparison, compare
from cluster_abm.study.runner.tasks import RunsOutcome
from cluster_abm.study.statistics.gap import share_of_gap

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))


def comparison(bound=None, **responses):
    """One of these mean responses, one a seed, and of this lower bound."""
    runs = pd.DataFrame(
        {"policy": name, "seed": seed, "mean_response_ms": value, "mean_slowdown": value, "bounded_slowdown": value}
        for name, values in responses.items()
        for seed, value in enumerate(values, start=1)
    )
    seeds = tuple(range(1, 1 + len(next(iter(responses.values())))))
    bounds = None if bound is None else dict(zip(seeds, bound, strict=True))
    return Comparison(scenario(), tuple(responses), seeds, runs, RunsOutcome([]), bounds)


def test_by_hand():
    """Means 10, 4 and 2: (10 - 4)/(10 - 2). A policy that is worse than none closes less than nothing."""
    found = comparison(none=[9.0, 11.0], jsq=[3.0, 5.0], bound=[1.0, 3.0], bad=[13.0, 15.0])
    assert found.gap_closed("jsq").mean == pytest.approx(6 / 8)
    assert found.gap_closed("bad").mean == pytest.approx(-4 / 8)
    assert found.gap_closed("none").mean == 0.0
    assert found.gap_closed("srpt-pool").mean == 1.0
    thirds = [[1.1, 1.3, 1.7], [0.1, 0.2, 0.4]]
    assert share_of_gap(thirds[0], thirds[1], thirds[1]).mean == 1.0
    # On both seeds the same: no interval is shorter.
    assert found.gap_closed("jsq").ci95 == pytest.approx((6 / 8, 6 / 8))
    entry = found.as_json()["policies"]["jsq"]
    assert (entry["gap_closed"], entry["gap_closed_ci95"]) == (pytest.approx(0.75), pytest.approx([0.75, 0.75]))


def test_an_interval_by_hand():
    """None less bound 4 6 4 6, none less policy 3 3 3 3: with t = 3.182446 and the gap's standard error .57735 the ends
    solve (3 - 5 g)^2 = (t .57735 g)^2, so they are 3/(5 +- 1.837386)."""
    found = share_of_gap([10.0, 10, 10, 10], [7.0, 7, 7, 7], [6.0, 4, 6, 4])
    assert found.mean == pytest.approx(3 / 5)
    assert found.ci95 == pytest.approx((3 / (5 + 1.837386), 3 / (5 - 1.837386)), rel=1e-6)


def test_where_there_is_no_gap_there_is_no_share():
    assert comparison(none=[3.0, 4.0], bound=[3.0, 4.0]).gap_closed("none") is None
    assert comparison(none=[3.0, 4.0], bound=[4.0, 5.0]).gap_closed("none") is None
    assert comparison(none=[3.0, math.nan], bound=[1.0, 2.0]).gap_closed("none") is None
    without = comparison(none=[3.0, 4.0], jsq=[1.0, 2.0])
    assert without.gap_closed("jsq") is None
    assert not without.has_gap
    entry = without.as_json()["policies"]["jsq"]
    assert entry["gap_closed"] is None
    assert entry["gap_closed_ci95"] is None


def test_a_gap_that_may_be_none_gives_no_interval():
    """None less bound 1 and 3: 2 with a t interval of +- 12.7. And one seed gives none at all."""
    found = share_of_gap([4.0, 6.0], [3.0, 4.0], [3.0, 3.0])
    assert found.mean == pytest.approx(3 / 4)
    assert found.ci95 is None
    assert share_of_gap([4.0], [3.0], [2.0]).ci95 is None
    assert share_of_gap([4.0], [3.0], [2.0]).mean == 0.5


rows = st.integers(2, 6).flatmap(
    lambda count: st.lists(st.lists(st.floats(0, 10), min_size=count, max_size=count), min_size=3, max_size=3)
)


@pytest.mark.slow
@given(rows)
def test_its_ends_are_where_the_paired_test_begins_to_reject(found):
    worst, values, best = (np.array(row) + shift for row, shift in zip(found, (20.0, 5.0, 0.0), strict=True))
    share = share_of_gap(worst.tolist(), values.tolist(), best.tolist())
    if share.ci95 is None:
        return
    low, high = share.ci95
    assert low <= share.mean <= high
    for end in (low, high):
        left = (worst - values) - end * (worst - best)
        arm = stats.t.ppf(0.975, len(left) - 1) * stats.sem(left)
        assert abs(left.mean()) == pytest.approx(arm, rel=1e-5, abs=1e-6)


@pytest.mark.slow
def test_two_policies_and_the_bound():
    small = scenario(workload__duration_s=20.0, workload__utilisation=0.8, workload__home__kind="skewed")
    found = compare(small, ["none", "jsq", "srpt-pool"], seeds=2, workers=1, quiet=True)
    means = [found.estimate(name, "mean_response_ms").mean for name in ("none", "jsq", "srpt-pool")]
    assert found.gap_closed("jsq").mean == pytest.approx((means[0] - means[1]) / (means[0] - means[2]))
    assert 0 < found.gap_closed("jsq").mean < 1


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 16])
@pytest.mark.parametrize("spread", [(0.5, 0.2), (1.0, 1.0)])
def test_the_interval_covers_heavy_tails(count, spread):
    """Lognormal excesses of means 30, 15 and 1. Where the gap is told apart the interval holds the share; an interval
    that is not there says nothing wrong."""
    rng = np.random.default_rng([SEED, count, int(10 * spread[1])])
    held = told = 0
    while told < 2000:
        logs = spread[0] * rng.normal(size=(1, count)) + spread[1] * rng.normal(size=(3, count))
        table = 1 + np.array([[30.0], [15.0], [1.0]]) * np.exp(logs - (spread[0] ** 2 + spread[1] ** 2) / 2)
        share = share_of_gap(*table.tolist())
        if share is None or share.ci95 is None:
            continue
        told += 1
        held += share.ci95[0] <= 15 / 29 <= share.ci95[1]
    # Binomial(2000, .95): four standard deviations are 39.
    assert held >= 1900 - 39
