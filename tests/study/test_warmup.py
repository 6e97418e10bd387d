"""Truncation on series whose bias is known, and on single servers that start empty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from cluster_abm.model.observing.warmup import mser


def by_definition(series, batch):
    """White's statistic written straight down, one d at a time."""
    count = len(series) // batch
    means = [sum(series[batch * i : batch * (i + 1)]) / batch for i in range(count)]
    statistics = []
    for d in range(count - 5 + 1):
        tail = means[d:]
        mean = sum(tail) / len(tail)
        statistics.append(sum((z - mean) ** 2 for z in tail) / len(tail) ** 2)
    return statistics


@pytest.mark.slow
@given(st.lists(st.floats(-100, 100), min_size=50, max_size=150), st.integers(1, 5))
def test_the_cut_has_the_least_statistic(series, batch):
    found = mser(series, batch)
    statistics = by_definition(series, batch)
    half = len(series) // batch // 2
    assert found.cut % batch == 0
    place = found.cut // batch
    assert place <= half
    # Of equal ones rounding decides.
    slack = 1e-9 * (1 + max(statistics))
    if found.settled:
        assert statistics[place] <= min(statistics) + slack
    else:
        assert place == half
        assert min(statistics[half + 1 :]) <= min(statistics[: half + 1]) + slack


def test_a_ramp_before_a_constant_is_cut_and_no_more():
    """Any observation of the ramp that is left raises the sum of squares above 0; a shorter tail cannot be below 0."""
    ramp, flat = np.arange(40.0), np.full(160, 40.0)
    found = mser(np.concatenate([ramp, flat]))
    assert (found.cut, found.settled) == (40, True)


def test_nothing_is_cut_of_a_series_that_alternates():
    """The variance is the same from anywhere on: 1/(n - d) alone decides, and is least at d = 0."""
    assert mser(np.tile([1.0, 3.0], 100), batch=1).cut == 0


def test_a_series_that_never_settles_or_is_short_says_so():
    rising = mser(np.arange(200.0) ** 2)
    assert (rising.cut, rising.settled) == (100, False)
    short = mser(np.ones(49))
    assert (short.cut, short.settled) == (0, False)


@pytest.mark.parametrize(("wild", "flat", "batch", "found"), [
    # The flat rest has no spread, so the cut is its begin; ten batches are enough, nine are not.
    (4, 6, 1, (4, True)), (3, 6, 1, (0, False)), (20, 30, 5, (20, True)), (20, 29, 5, (0, False)),
    # In the middle it has settled; behind it has not, and half is cut.
    (6, 6, 1, (6, True)), (7, 5, 1, (6, False)), (6, 7, 1, (6, True)), (7, 6, 1, (6, False)),
    # An odd rest that fills no batch is left out.
    (20, 34, 5, (20, True)), (0, 12, 1, (0, True)),
])  # fmt: skip
def test_lengths_at_their_thresholds(wild, flat, batch, found):
    series = np.concatenate([10.0 * np.arange(wild, 0, -1), np.full(flat, 3.0)])
    truncation = mser(series, batch)
    assert (truncation.cut, truncation.settled) == found


def test_the_origin_does_not_matter():
    """Squares of values far from 0 would cancel."""
    series = np.random.default_rng(4).normal(0, 1, 400) + 5 * np.exp(-np.arange(400) / 20)
    assert mser(series + 1e8) == mser(series)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_autoregression_with_an_offset_loses_its_bias(phi):
    """x_t = phi x_{t-1} + noise, plus an offset of 10 that fades over 50 observations: bias of the whole mean 10 *
    50/2000."""
    rng = np.random.default_rng(20261121)
    offset = 10 * np.exp(-np.arange(2000) / 50)
    whole, kept = [], []
    for _ in range(400):
        # A hundred steps before the start: the noise is in its steady state.
        noise = lfilter([1.0], [1.0, -phi], rng.normal(0, 1, 2100))[100:]
        series = noise + offset
        found = mser(series)
        whole.append(series.mean())
        kept.append(series[found.cut :].mean())
    bias = offset.mean()
    assert np.mean(whole) == pytest.approx(bias, abs=4 * np.std(whole) / 20)
    error = np.mean(kept) - 0.0
    assert abs(error) < 0.35 * bias
    # And the price in variance is small against the bias squared that is gone.
    assert np.mean(np.square(kept)) < 0.7 * np.mean(np.square(whole))


def test_a_queue_that_starts_crowded_comes_nearer_to_theory():
    """M/M/1 at 0.8 behind a backlog of 100: E[T] = 1/(1 - rho) = 5. The backlog lasts some 100/(1 - rho) = 500 time
    units."""
    rng = np.random.default_rng(7)
    whole, kept = [], []
    for _ in range(60):
        service, gap = rng.exponential(1.0, 6000), rng.exponential(1.25, 6000)
        wait, series = 100.0, []
        for s, g in zip(service.tolist(), gap.tolist(), strict=True):
            series.append(wait + s)
            wait = max(0.0, wait + s - g)
        found = mser(series)
        whole.append(np.mean(series))
        kept.append(np.mean(series[found.cut :]))
    # By far outside of what chance would do.
    assert np.mean(whole) - 5 > 5 * np.std(whole) / 60**0.5
    assert abs(np.mean(kept) - 5) < 0.2 * (np.mean(whole) - 5)
