"""Means and quantiles over seeds with confidence intervals; differences of pairs on common random numbers."""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.special
import scipy.stats

from cluster_abm.arrays import Floats
from cluster_abm.study.statistics.bounds import UNBOUNDED, Bounds

CONFIDENCE = 0.95
LEVEL = 1 - CONFIDENCE

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds (or a number made of several means) and its 95 % interval; None with fewer than two seeds."""

    mean: float
    ci95: tuple[float, float] | None


def estimate(values: Sequence[float], bounds: Bounds = UNBOUNDED) -> Estimate:
    """Mean and 95 % interval of independent values.

    Student's t where nothing bounds the values. Else it is applied to log(mean - least), by the delta method: the ends
    are least + (mean - least) exp(-+ arm/(mean - least)), with t's own arm; with two bounds the same on the logit. Such
    an interval keeps to what is possible, is t's where the arm is small beside the distance to the bound, and reaches
    further up where it is not: there a tail is likely that the seeds have not shown (docs/concepts/statistics.md:
    coverage).

    Args:
        values: one a seed.
        bounds: of the metric.
    """
    data = np.asarray(values, float)
    mean = float(data.mean())
    if len(data) < 2:
        return Estimate(mean, None)
    if not np.isfinite(data).all():
        return Estimate(mean, (math.nan, math.nan))
    kept, arm = bounds.of(data), _quantile(LEVEL, len(data)) * _standard_error(data)
    return Estimate(mean, (min(mean, kept.moved(mean, -arm)), max(mean, kept.moved(mean, arm))))


def _quantile(level: float, count: int) -> float:
    """Half of Student's t interval of `count` values that misses at `level`, in standard errors."""
    return -float(scipy.special.stdtrit(count - 1, level / 2))


def _standard_error(data: Floats) -> float:
    """The standard error of the mean: exactly 0 if all values are equal; squares make it neither 0 nor infinite."""
    away = data - data.mean()
    largest = float(np.abs(away).max())
    if not np.ptp(data) or not largest:
        return 0.0
    return largest * math.sqrt(float(np.square(away / largest).sum()) / (len(data) - 1) / len(data))


@dataclass(frozen=True)
class QuantileEstimate:
    """A quantile over seeds and its interval of at least 95 %; None with too few seeds (the median takes six)."""

    value: float
    ci95: tuple[float, float] | None


def estimate_quantile(values: Sequence[float], share: float = 0.5) -> QuantileEstimate:
    """A quantile of independent values with the interval between two of them.

    How many of n values lie below the true quantile is binomial, whatever the law: the interval between two order
    statistics is exact where a bootstrap of a handful of values is not (it knows nothing beyond the largest of them).
    It can only be wider than asked: with ten seeds the median's covers 97.9 % (scipy.stats.quantile_test; Conover 1999,
    Practical Nonparametric Statistics, section 3.2).

    Args:
        values: one a seed.
        share: 0.5 for the median.
    """
    data = np.asarray(values, float)
    value = float(np.quantile(data, share))
    if not np.isfinite(data).all():
        return QuantileEstimate(value, None)
    found = scipy.stats.quantile_test(data, p=share).confidence_interval(CONFIDENCE)
    ends = (float(found.low), float(found.high))
    return QuantileEstimate(value, ends if all(map(math.isfinite, ends)) else None)


class Reach(NamedTuple):
    """How far the 95 % interval of one difference alone goes.

    Attributes:
        t: half of the paired t interval.
        below, above: from the mean down and up; not less than t.
        seeds: how many.
    """

    t: float
    below: float
    above: float
    seeds: int


@dataclass(frozen=True)
class PairedDifference:
    """a - b over common seeds.

    Attributes:
        ratio: mean of a over mean of b.
        difference: mean of a - b and its interval. It holds 0 exactly if the difference is not significant: of `paired`
            alone, at 95 %; of `corrected` all together, by Holm.
        p_value: of the paired t test; 1 with fewer than two seeds.
        significant: whether the difference survives Holm's correction over all pairs of the comparison at 5 %; None
            where both are one sample each, of which nothing can be tested.
        reach: of the 95 % interval alone; None with fewer than two seeds, or where a value is missing.
    """

    ratio: float
    difference: Estimate
    p_value: float
    significant: bool | None = False
    reach: Reach | None = None


def paired(a: Sequence[float], b: Sequence[float], bounds: Bounds = UNBOUNDED) -> PairedDifference:
    """The difference of two policies that got the same jobs: one value a seed, in the same order.

    The test is Student's t on the differences: exact if they are normal, and too careful rather than too bold if the
    policies are alike and tails heavy. Its interval alone is too short where one policy's tail is much longer than the
    other's. So the interval also goes as far as the difference does if both means move together, each on its own scale
    (Bounds.moved), by t standard errors in the direction in which the difference grows fastest (or falls). Towards 0 it
    goes no further than t's if that leaves 0 out.

    Args:
        a, b: of each policy.
        bounds: of the metric.
    """
    first, second = np.asarray(a, float), np.asarray(b, float)
    differences = first - second
    # As plain floats: what is too large is infinite, and no warning.
    means = float(first.mean()), float(second.mean())
    ratio = means[0] / means[1] if means[1] != 0 else math.nan
    mean, count = float(differences.mean()), len(differences)
    if count < 2:
        return PairedDifference(ratio, Estimate(mean, None), 1.0)
    if not np.isfinite(differences).all():
        return PairedDifference(ratio, Estimate(mean, (math.nan, math.nan)), 1.0)
    error = _standard_error(differences)
    # Equal runs differ by nothing, others that differ by the same on every seed by exactly that much. Not scipy's
    # ttest_1samp: it warns of differences that are nearly the same, which pairs on common random numbers hope for.
    distance = abs(mean) / error if error else math.inf
    p_value = float(2 * scipy.stats.t.sf(distance, count - 1)) if mean else 1.0
    reach = _reach(first, second, error, bounds)
    return PairedDifference(ratio, Estimate(mean, _interval(mean, reach, p_value <= LEVEL)), p_value, reach=reach)


def _reach(first: Floats, second: Floats, error: float, bounds: Bounds) -> Reach:
    """How far the interval of the mean of first - second goes, of which `error` is the standard error."""
    count, differences = len(first), first - second
    arm = _quantile(LEVEL, count) * error
    if not arm:
        return Reach(0.0, 0.0, 0.0, count)
    kept = bounds.of(np.concatenate([first, second]))
    away = differences - differences.mean()
    away /= np.abs(away).max()
    # Covariance of each mean with the mean difference, over the standard error of that: their difference is `error`.
    towards = _quantile(LEVEL, count) * away / math.sqrt(float(np.square(away).sum()) * (count - 1) * count)
    steps = [float(((values - values.mean()) * towards).sum()) for values in (first, second)]
    means = float(first.mean()), float(second.mean())
    mean = means[0] - means[1]
    up, down = (kept.moved(means[0], sign * steps[0]) - kept.moved(means[1], sign * steps[1]) for sign in (1, -1))
    return Reach(arm, max(arm, mean - down), max(arm, up - mean), count)


def _interval(
    mean: float, reach: Reach, told_apart: bool, level: float = LEVEL, own_level: float = LEVEL
) -> tuple[float, float]:
    """The interval of a difference that leaves 0 out exactly if the test does.

    Args:
        mean: of the differences.
        reach: of the 95 % interval.
        told_apart: what the test says.
        level: the interval's.
        own_level: not below it; of the end on this side of 0 where at `level` it would lie beyond.
    """
    alone = _quantile(LEVEL, reach.seeds)
    grown = _quantile(level, reach.seeds) / alone
    low, high = mean - reach.below * grown, mean + reach.above * grown
    if not told_apart:
        return min(low, 0.0), max(high, 0.0)
    near = reach.t * grown
    if near >= abs(mean):
        near = reach.t * _quantile(own_level, reach.seeds) / alone
    # Where rounding decides, the test has the word.
    end = max(abs(mean) - near, math.ulp(0.0))
    return (end, high) if mean > 0 else (low, -end)


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of several hypotheses to reject so that the chance of any false rejection is at most `level`."""
    order = np.argsort(p_values)
    reject = [False] * len(p_values)
    for rank, index in enumerate(order):
        if p_values[index] > level / (len(p_values) - rank):
            break
        reject[int(index)] = True
    return reject


def all_pairs(
    values: Mapping[str, Sequence[float]], bounds: Bounds = UNBOUNDED, one_sample: Container[str] = ()
) -> dict[tuple[str, str], PairedDifference]:
    """Every pair of policies, the earlier one first, not yet corrected for how many there are.

    Args:
        values: of each policy, one a seed, for the same seeds in the same order.
        bounds: of the metric.
        one_sample: the policies of which every seed gave the same run. Between two of them there is a difference, and
            nothing to test it by.
    """
    return {
        (a, b): of_one_sample(values[a][0], values[b][0]) if a in one_sample and b in one_sample
        else paired(values[a], values[b], bounds)
        for a, b in combinations(values, 2)
    }  # fmt: skip


def of_one_sample(a: float, b: float) -> PairedDifference:
    """The difference a - b of two numbers that are one sample: without interval and test."""
    return PairedDifference(a / b if b else math.nan, Estimate(a - b, None), math.nan, None)


def corrected(pairs: Mapping[Key, PairedDifference]) -> dict[Key, PairedDifference]:
    """The same with `significant` by Holm's correction over all of them, and intervals that say the same.

    The family is whatever is passed. With m pairs each interval is at 1 - 5 %/m (Bonferroni): all of them hold what
    they are about with 95 %. Holm tells more pairs apart than these intervals do; of such a pair the end at 0 is the
    one at the level of Holm's own step, 5 % over the number of pairs that Holm has not told apart before. Intervals as
    short as Holm's steps throughout would hold together less often (docs/concepts/statistics.md).
    """
    found = dict(pairs)
    # What is one sample is no hypothesis.
    pairs = {key: pair for key, pair in pairs.items() if pair.significant is not None}
    rejected = holm([pair.p_value for pair in pairs.values()])
    ranks = np.argsort(np.argsort([pair.p_value for pair in pairs.values()]))
    count = len(pairs)
    for (key, pair), significant, rank in zip(pairs.items(), rejected, ranks, strict=True):
        if pair.reach is not None:
            ends = _interval(pair.difference.mean, pair.reach, significant, LEVEL / count, LEVEL / (count - int(rank)))
            pair = replace(pair, difference=replace(pair.difference, ci95=ends))
        found[key] = replace(pair, significant=significant)
    return found
