"""Means and quantiles over seeds with confidence intervals; differences of pairs on common random numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np
import scipy

CONFIDENCE = 0.95

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and its 95 % Student-t interval; None with fewer than two seeds."""

    mean: float
    ci95: tuple[float, float] | None


@dataclass(frozen=True)
class PairedDifference:
    """a - b over common seeds.

    Attributes:
        ratio: mean of a over mean of b.
        difference: mean of a - b and its 95 % interval.
        p_value: of the paired t test; 1 with fewer than two seeds.
        significant: whether the difference survives Holm's correction over all pairs of the comparison at 5 %.
    """

    ratio: float
    difference: Estimate
    p_value: float
    significant: bool = False


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and 95 % Student-t interval of independent values."""
    data = np.asarray(values, float)
    mean = float(data.mean())
    if len(data) < 2:
        return Estimate(mean, None)
    half = float(scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, len(data) - 1) * scipy.stats.sem(data))
    return Estimate(mean, (mean - half, mean + half))


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


def paired(a: Sequence[float], b: Sequence[float]) -> PairedDifference:
    """The difference of two policies that got the same jobs: one value a seed, in the same order."""
    first, second = np.asarray(a, float), np.asarray(b, float)
    differences = first - second
    # As plain floats: what is too large is infinite, and no warning.
    ratio = float(first.mean()) / float(second.mean()) if second.mean() != 0 else math.nan
    found = estimate(differences.tolist())
    if len(differences) < 2:
        return PairedDifference(ratio, found, 1.0)
    if not np.isfinite(differences).all():
        return PairedDifference(ratio, found, 1.0)
    if np.ptp(differences) == 0.0:
        # The t test divides by the spread: equal runs differ by nothing, others by exactly that much.
        return PairedDifference(ratio, found, 1.0 if differences[0] == 0.0 else 0.0)
    # The test knows no unit, but squares of what is very small or large are 0 or infinite. Not scipy's ttest_1samp: it
    # warns of differences that are nearly the same, which are what pairs on common random numbers hope for.
    scaled = differences / np.abs(differences).max()
    spread = float(scipy.stats.sem(scaled))
    distance = abs(float(scaled.mean())) / spread if spread else math.inf
    return PairedDifference(ratio, found, float(2 * scipy.stats.t.sf(distance, len(scaled) - 1)))


def holm(p_values: Sequence[float], level: float = 1 - CONFIDENCE) -> list[bool]:
    """Which of several hypotheses to reject so that the chance of any false rejection is at most `level`."""
    order = np.argsort(p_values)
    reject = [False] * len(p_values)
    for rank, index in enumerate(order):
        if p_values[index] > level / (len(p_values) - rank):
            break
        reject[int(index)] = True
    return reject


def all_pairs(values: Mapping[str, Sequence[float]]) -> dict[tuple[str, str], PairedDifference]:
    """Every pair of policies, the earlier one first, not yet corrected for how many there are.

    Args:
        values: of each policy, one a seed, for the same seeds in the same order.
    """
    return {(a, b): paired(values[a], values[b]) for a, b in combinations(values, 2)}


def corrected(pairs: Mapping[Key, PairedDifference]) -> dict[Key, PairedDifference]:
    """The same with `significant` by Holm's correction over all of them: the family is whatever is passed."""
    rejected = holm([pair.p_value for pair in pairs.values()])
    return {
        key: replace(pair, significant=significant)
        for (key, pair), significant in zip(pairs.items(), rejected, strict=True)
    }
