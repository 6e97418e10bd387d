"""Submission times against the laws that the scenario's keys describe.

The seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others. Every statistical assertion raises a false alarm with
a chance of 1e-5 at most: all of this module together about once in 5,000 seeds.
"""

import math
import os

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from cluster_abm.errors import InputError
from cluster_abm.scenario.arrivals import Arrivals
from cluster_abm.workload.drawing.arrivals import submission_times_s

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
RARE = 1e-5
RATE = 5.6


def times_s(window_s, number=0, jobs=None, rate=RATE, **law):
    rng = np.random.default_rng([SEED, number])
    found = submission_times_s(Arrivals(**law), rng, window_s, jobs, rate)
    assert (np.diff(found) >= 0).all()
    assert found.min(initial=0.0) >= 0
    assert found.max(initial=0.0) <= window_s
    return found


def interval(values):
    """At 1 - 1e-5, of the mean of independent numbers."""
    values = np.asarray(values, float)
    return stats.t.interval(1 - RARE, len(values) - 1, values.mean(), stats.sem(values))


def dispersion(times, window_s, piece_s, mean_count):
    """Mean squared deviation of the counts from their true mean, over that mean."""
    counts = np.histogram(times, np.arange(0, window_s + piece_s / 2, piece_s))[0]
    return ((counts - mean_count) ** 2).mean() / mean_count


def test_poisson_comes_at_the_rate_evenly_and_without_bursts():
    window_s, piece_s = 20_000.0, 10.0
    times = times_s(window_s)
    low, high = stats.poisson.interval(1 - RARE, RATE * window_s)
    assert low <= len(times) <= high
    assert stats.kstest(times / window_s, "uniform").pvalue > RARE
    assert stats.kstest(np.diff(times), stats.expon(scale=1 / RATE).cdf).pvalue > RARE
    pieces = window_s / piece_s
    low, high = stats.chi2.interval(1 - RARE, pieces)
    # (Count - mean)^2/mean of large counts is nearly the square of a normal; 1 % for "nearly".
    assert 0.99 * low < dispersion(times, window_s, piece_s, RATE * piece_s) * pieces < 1.01 * high


def test_poisson_has_no_edges():
    """As many at the very start of short windows as at their very end, whatever the window holds."""
    window_s = 3.0
    times = np.concatenate([times_s(window_s, number, rate=40.0) for number in range(600)])
    low, high = stats.poisson.interval(1 - RARE, 600 * window_s * 40)
    assert low <= len(times) <= high
    assert stats.kstest(times / window_s, "uniform").pvalue > RARE


SCALES = {"kind": "multiscale", "scales_s": [30.0], "variations": [0.8]}
COURSE = {"daily": [1.0, 3.0], "weekly": [2.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0], "starts_h": 6.0}


@pytest.mark.parametrize("kind", ["poisson", "bursty", "lognormal-window", "multiscale"])
@pytest.mark.parametrize("more", [{}, {"batch_mean": 4.0, "batch_gap_s": 3.0}, COURSE])
def test_a_given_number_of_jobs_is_that_number(kind, more):
    law = {**(SCALES if kind == "multiscale" else {}), **more, "kind": kind}
    for jobs in (1, 7, 5000):
        assert len(times_s(100.0, jobs=jobs, **law)) == jobs


def test_a_given_number_of_jobs_comes_evenly():
    assert stats.kstest(times_s(100.0, jobs=50_000) / 100, "uniform").pvalue > RARE


@pytest.mark.slow
@pytest.mark.parametrize(
    "law", [{}, {"burst_factor": 6.0, "burst_s": 30.0, "quiet_s": 40.0}, {"burst_factor": 1.3, "burst_s": 500.0}]
)
def test_bursts_keep_the_mean_rate_from_the_first_instant_on(law):
    """Over many short windows: a source that does not start in a burst as often as bursts are begins too slow."""
    window_s, windows = 50.0, 2000
    counts = [len(times_s(window_s, number, kind="bursty", **law)) for number in range(windows)]
    low, high = interval(counts)
    assert low <= RATE * window_s <= high
    # A rate not normalised is 1 + share (factor - 1) times as high: by 14 %, 214 %, 15 %.
    assert (high - low) / 2 < 0.08 * RATE * window_s


def test_bursts_keep_the_mean_rate_over_days():
    window_s = 200_000.0
    # Dispersion of counts over times much longer than the bursts: 1 + 2 variance x tau / rate = 68.6, see below.
    error = math.sqrt(68.6 * RATE * window_s)
    assert abs(len(times_s(window_s, kind="bursty")) - RATE * window_s) < 4.5 * error


@pytest.mark.slow
@pytest.mark.parametrize(("piece_s", "by_hand", "published"), [(10.0, 4.27, 4), (60.0, 17.76, 18)])
def test_bursts_have_the_dispersion_of_the_1997_traces(piece_s, by_hand, published):
    """Rates r and 1.7 r, r = 5.6/(1 + 0.2 x 0.7) = 4.912 jobs/s, a burst 125/(125 + 500) = 0.2 of the time: variance of
    the rate 0.2 x 0.8 x (0.7 r)^2 = 1.892. It forgets itself with tau = 1/(1/125 + 1/500) = 100 s. So counts in
    windows of T have the dispersion 1 + 2 x 1.892/5.6 (tau - tau^2/T (1 - exp(-T/tau))):
    T = 10: 1 + 0.6757 x 4.837 = 4.27; T = 60: 1 + 0.6757 x 24.80 = 17.76. The description's "about" is rounding.
    """
    window_s = 12_000.0
    found = [
        dispersion(times_s(window_s, number, kind="bursty"), window_s, piece_s, RATE * piece_s) for number in range(150)
    ]
    low, high = interval(found)
    assert low <= by_hand <= high
    assert (high - low) / 2 < 0.15 * by_hand
    assert round(by_hand) == published


def test_bursts_of_a_given_number_of_jobs_are_as_uneven():
    """6000 jobs in 1000 s, five times the rate in half of the time, so about 2 and 10 per second: the counts' mean
    squared deviation is some 1600 + 60, their dispersion 28; that of even arrivals is 1."""
    law = {"kind": "bursty", "burst_factor": 5.0, "burst_s": 100.0, "quiet_s": 100.0}
    found = [dispersion(times_s(1000.0, number, jobs=6000, **law), 1000.0, 10.0, 60.0) for number in range(60)]
    assert interval(found)[0] > 14


@pytest.mark.parametrize(("mu", "sigma", "window_s"), [(3.5, 3.5, 3600.0), (6.0, 0.5, 400.0), (1.0, 1.0, 1e6)])
def test_lognormal_window_is_the_lognormal_that_falls_into_the_window(mu, sigma, window_s):
    law = stats.lognorm(sigma, scale=math.exp(mu))
    found = times_s(window_s, jobs=100_000, kind="lognormal-window", mu=mu, sigma=sigma)
    assert stats.kstest(found, lambda t: law.cdf(t) / law.cdf(window_s)).pvalue > RARE


@pytest.mark.slow
@pytest.mark.parametrize(
    "law",
    [
        SCALES,
        {"kind": "multiscale", "scales_s": [20.0, 500.0], "variations": [1.5, 0.3]},
        {"batch_mean": 3.0, "batch_gap_s": 2.0},
        {"batch_mean": 3.0, "batch_gap_s": 2.0, "daily": [1.0, 4.0, 2.0]},
    ],
)
def test_factors_batches_and_courses_keep_the_mean_rate_from_the_first_instant_on(law):
    window_s, windows = 50.0, 2000
    counts = [len(times_s(window_s, number, **law)) for number in range(windows)]
    low, high = interval(counts)
    assert low <= RATE * window_s <= high


@pytest.mark.slow
@pytest.mark.parametrize("piece_s", [10.0, 30.0])
def test_a_factor_has_the_dispersion_worked_by_hand(piece_s):
    """A factor of variation v that holds for s: counts over T <= s have 1 + 2 rate v^2 (T/2 - T^2/(6 s)). With rate
    5.6, v = 0.8, s = 30, T = 10 that is 1 + 7.168 (5 - 0.5556) = 32.86, and with T = 30: 1 + 7.168 (15 - 5) = 72.68."""
    window_s = 6000.0
    found = [
        dispersion(times_s(window_s, number, **SCALES), window_s, piece_s, RATE * piece_s) for number in range(150)
    ]
    low, high = interval(found)
    by_hand = {10.0: 32.86, 30.0: 72.68}[piece_s]
    assert low <= by_hand <= high
    assert (high - low) / 2 < 0.2 * by_hand


def test_batches_have_geometric_sizes():
    """All at one instant: sizes of mean 4 are k with probability (3/4)^(k-1)/4."""
    times = times_s(20_000.0, batch_mean=4.0)
    sizes = np.unique(times, return_counts=True)[1]
    counts = np.bincount(np.minimum(sizes, 12), minlength=13)[1:]
    law = 0.25 * 0.75 ** np.arange(11)
    assert stats.chisquare(counts, len(sizes) * np.append(law, 1 - law.sum())).pvalue > RARE


def test_jobs_of_a_batch_come_one_gap_after_another():
    """Batches of mean 2, far apart, with gaps of 0.01 s: of the gaps between jobs those of batches are exponential; a
    batch has one gap less than jobs."""
    times = times_s(50_000.0, rate=0.1, batch_mean=2.0, batch_gap_s=0.01)
    gaps = np.diff(times)
    short = gaps[gaps < 0.3]
    # A gap between batches is as short as that with probability 0.3 x 0.05.
    assert stats.binomtest(len(short), len(gaps), 0.5 + 0.5 * 0.015).pvalue > RARE
    # Other gaps, of which 0.3/(20 x 0.01) = 1.5 % are among them, are spread evenly.
    assert stats.kstest(short, stats.expon(scale=0.01).cdf).statistic < 0.03 + 2.5 / math.sqrt(len(short))


def test_the_hours_of_the_day_and_the_days_of_the_week_have_their_rates():
    """Halves of the day 1 : 3, days 2 : 1 : 1 : 1 : 1 : 0 : 0; three weeks from 6 h on Monday."""
    window_s, begin_h = 3 * 7 * 86_400.0, 6.0
    times = times_s(window_s, rate=0.02, **COURSE)
    hour = times / 3600.0 + begin_h
    half = (hour % 24 >= 12).astype(int)
    day = (hour // 24 % 7).astype(int)
    found = np.bincount(day * 2 + half, minlength=14)
    assert found[10:].tolist() == [0] * 4
    # The week begins and ends at 6 h: the whole of every half is in it, three times.
    rates = np.array([(1.0, 3.0)[number % 2] * (2.0, 1.0, 1.0, 1.0, 1.0)[number // 2] for number in range(10)])
    assert stats.chisquare(found[:10], len(times) * rates / rates.sum()).pvalue > RARE
    low, high = stats.poisson.interval(1 - RARE, 0.02 * window_s)
    assert low <= len(times) <= high


@pytest.mark.parametrize(("law", "said"), [
    ({"kind": "multiscale"}, "scales_s: kind 'multiscale' needs one or more"),
    ({"kind": "multiscale", "scales_s": [1.0, 2.0], "variations": [1.0]}, "1 of them for 2 scales_s"),
    ({"weekly": [1.0, 2.0]}, "weekly: 2 numbers"),
    ({"daily": [0.0, 0.0]}, "at least one number above 0"),
    ({"batch_mean": 0.5}, "greater than or equal to 1"),
])  # fmt: skip
def test_what_is_no_law_is_refused(law, said):
    with pytest.raises(ValidationError) as caught:
        Arrivals(**law)
    assert said in str(caught.value)


def test_more_factors_than_fit_into_memory_are_refused():
    with pytest.raises(InputError, match=r"workload\.arrivals\.scales_s"):
        times_s(1e11, rate=1e-9, kind="multiscale", scales_s=[1e-3], variations=[1.0])
