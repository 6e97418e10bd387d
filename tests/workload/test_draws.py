"""Each kind of distribution against the same law of SciPy, or written out from its description.

The seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others. Every statistical assertion raises a false alarm with
a chance of about 1e-6 (5 standard errors, or that p-value): the some thirty of this module once in 30,000 seeds.
"""

import math
import os
from typing import get_args

import numpy as np
import pytest
from scipy import stats

from cluster_abm.scenario.distributions import Distribution
from cluster_abm.workload.drawing.draws import Stream, draw, mean_of, square_of

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
RARE = 1e-6
ERRORS = 5.0
COUNT = 200_000
KINDS = get_args(Distribution.model_fields["kind"].annotation)


def lognormal(mean, sd):
    """By mean and deviation: E X = exp(m + s^2/2) and Var X = (E X)^2 (exp(s^2) - 1), solved for m and s."""
    variance = math.log(1 + (sd / mean) ** 2)
    return stats.lognorm(math.sqrt(variance), scale=math.exp(math.log(mean) - variance / 2))


# Parameters of a scenario, and the law they describe.
LAWS = {
    "exponential": ({"mean": 40.0}, stats.expon(scale=40)),
    "uniform": ({"mean": 40.0}, stats.uniform(0, 80)),
    # Shape (mean/sd)^2, scale sd^2/mean.
    "gamma": ({"mean": 100.0, "sd": 50.0}, stats.gamma(4, scale=25)),
    "gamma, wide": ({"mean": 10.0, "sd": 20.0}, stats.gamma(0.25, scale=40)),
    "lognormal": ({"mean": 40.0, "sd": 60.0}, lognormal(40, 60)),
    # Least value: mean (shape - 1)/shape.
    "pareto": ({"mean": 12.0, "shape": 3.0}, stats.pareto(3, scale=8)),
    "pareto, default tail": ({"mean": 4.0}, stats.pareto(1.5, scale=4 / 3)),
    "lifetime": ({"shape": 1.0, "minimum": 1000.0, "maximum": 1_600_000.0}, stats.truncpareto(1, 1600, scale=1000)),
    "lifetime, short": ({"shape": 1.5, "minimum": 2.0, "maximum": 20.0}, stats.truncpareto(1.5, 10, scale=2)),
    # Log-linear between its quantiles: with quantiles of a log-uniform law it is that law.
    "quantiles": ({"values": [2.0, 8.0, 32.0], "scale": 0.5}, stats.loguniform(1, 16)),
    "quantiles, unevenly": ({"values": [1.0, 2.0, 16.0], "probabilities": [0.0, 0.25, 1.0]}, stats.loguniform(1, 16)),
}
# Finite fourth moments: the sample's mean and variance have intervals of their own.
LIGHT = ["exponential", "uniform", "gamma", "gamma, wide", "lifetime, short", "quantiles"]


def drawn(name, count=COUNT):
    parameters, law = LAWS[name]
    distribution = Distribution(kind=name.split(",")[0], **parameters)
    return draw(distribution, np.random.default_rng([SEED, *name.encode()]), count), law, distribution


def test_every_kind_is_held_against_a_law_here():
    assert {name.split(",")[0] for name in LAWS} | {"fixed", "hbd97"} == set(KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_it_follows_the_law(name):
    """Kolmogorov-Smirnov: with 200,000 numbers a shift of 0.7 % of probability anywhere is seen."""
    values, law, _ = drawn(name)
    assert values.shape == (COUNT,)
    assert stats.kstest(values, law.cdf).pvalue > RARE


@pytest.mark.parametrize("name", LAWS)
def test_its_quantiles_are_the_laws(name):
    """The share of numbers below each of the law's quantiles is binomial."""
    values, law, _ = drawn(name)
    for probability in (0.01, 0.1, 0.5, 0.9, 0.99, 0.999):
        below = np.count_nonzero(values <= law.ppf(probability)) / COUNT
        assert abs(below - probability) < ERRORS * math.sqrt(probability * (1 - probability) / COUNT)


@pytest.mark.parametrize("name", LIGHT)
def test_its_mean_and_variance_are_the_laws(name):
    values, law, _ = drawn(name)
    assert abs(values.mean() - law.mean()) < ERRORS * law.std() / math.sqrt(COUNT)
    fourth = float(law.stats("k")) + 3.0
    assert abs(values.var() / law.var() - 1) < ERRORS * math.sqrt((fourth - 1) / COUNT)


@pytest.mark.parametrize(
    ("kind", "parameters"), [("lognormal", {"sd": 60.0}), ("pareto", {"shape": 3.0}), ("hbd97", {})]
)
def test_its_mean_is_the_one_asked_for_in_spite_of_a_long_tail(kind, parameters):
    """By the deviation of the law: sd of the lognormal, mean/sqrt(shape (shape - 2)) of Pareto, and 13.5 means at most
    of the 1997 traces (their coefficient of variation)."""
    mean, count = 40.0, 2_000_000
    sd = {"lognormal": 60.0, "pareto": mean / math.sqrt(3), "hbd97": 14 * mean}[kind]
    values = draw(Distribution(kind=kind, mean=mean, **parameters), np.random.default_rng([SEED, 1]), count)
    assert abs(values.mean() - mean) < ERRORS * sd / math.sqrt(count)


@pytest.mark.parametrize("name", LAWS)
def test_the_mean_that_sets_the_rate_is_the_laws(name):
    _, law, distribution = drawn(name, 1)
    assert mean_of(distribution) == pytest.approx(law.mean(), rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_the_second_moment_is_the_laws(name):
    _, law, distribution = drawn(name, 1)
    assert square_of(distribution) == pytest.approx(law.var() + law.mean() ** 2, rel=1e-6)


def test_fixed_is_fixed():
    distribution = Distribution(kind="fixed", mean=7.25)
    assert draw(distribution, np.random.default_rng(SEED), 5).tolist() == [7.25] * 5
    assert mean_of(distribution) == 7.25


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("lifetime", "quantiles")])
def test_mean_zero_gives_zeros_and_twice_the_mean_twice_the_numbers(kind):
    zeros = draw(Distribution(kind=kind, mean=0.0), np.random.default_rng(SEED), 100)
    assert zeros.tolist() == [0.0] * 100
    spread = 0.5 if kind in ("gamma", "lognormal") else 0.0
    once, twice = (
        draw(Distribution(kind=kind, mean=mean, sd=spread * mean), np.random.default_rng(SEED), 100)
        for mean in (40.0, 80.0)
    )
    assert twice == pytest.approx(2 * once, rel=1e-12)


def hbd97_law():
    """Distribution function of the fitted law, in seconds: 92.93 % a lognormal cut at 1 s, 7.07 % a Pareto from 1 s
    to the longest job, 1573.5 s."""
    short, long = stats.lognorm(1.575, scale=math.exp(-3.651)), stats.truncpareto(1.28, 1573.5)

    def below(x):
        return (1 - 0.0707) * np.minimum(short.cdf(x) / short.cdf(1), 1) + 0.0707 * long.cdf(x)

    # Mean of the cut lognormal by the integral of its survival function; the tail's in closed form.
    x = np.linspace(0, 1, 2_000_001)
    short_mean = float(np.trapezoid(1 - short.cdf(x) / short.cdf(1), x))
    return below, (1 - 0.0707) * short_mean + 0.0707 * float(long.mean())


@pytest.mark.slow
@pytest.mark.parametrize("mean", [500.0, 370.0, 0.25])
def test_hbd97_is_the_fitted_law_scaled_to_its_mean(mean):
    law, mean_s = hbd97_law()
    # The traces' mean CPU time is 0.37 s; the fit of both parts comes within a tenth of it.
    assert mean_s == pytest.approx(0.37, rel=0.1)
    values = draw(Distribution(kind="hbd97", mean=mean), np.random.default_rng([SEED, 2]), COUNT)
    in_seconds = values * (mean_s / mean)
    assert stats.kstest(in_seconds, law).pvalue > RARE
    over_one_second = np.count_nonzero(in_seconds > 1) / COUNT
    assert abs(over_one_second - 0.0707) < ERRORS * math.sqrt(0.0707 * (1 - 0.0707) / COUNT)
    assert in_seconds.max() <= 1573.5 * (1 + 1e-9)


def test_hbd97_is_near_the_traces():
    """Published facts of the 184,612 jobs: mean 0.37 s, coefficient of variation 13.5, 7 % last over 1 s, the longest
    1573 s. The law is a fit to the lengths, not to the mean: the tolerances are its own, many times the errors."""
    values_s = draw(Distribution(kind="hbd97", mean=0.37), np.random.default_rng([SEED, 3]), 2_000_000)
    assert (values_s >= 1).mean() == pytest.approx(0.0707, rel=0.1)
    assert values_s.std() / values_s.mean() == pytest.approx(13.5, rel=0.3)
    assert values_s.max() == pytest.approx(1573, rel=0.2)


@pytest.mark.parametrize("name", [*LAWS, "fixed", "hbd97"])
def test_blocks_are_parts_of_what_is_drawn_at_once(name):
    parameters = LAWS[name][0] if name in LAWS else {"mean": 370.0}
    distribution = Distribution(kind=name.split(",")[0], **parameters)
    whole = draw(distribution, np.random.default_rng(SEED), 5000)
    stream = Stream(distribution, np.random.default_rng(SEED), 5000)
    blocks = [stream.next(count) for count in (1, 1024, 0, 975, 3000)]
    assert np.concatenate(blocks).tobytes() == whole.tobytes()
