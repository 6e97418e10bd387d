"""Means and quantiles over seeds, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.special
import scipy.stats

from cluster_abm.arrays import Floats
from cluster_abm.study.statistics.bounds import UNBOUNDED, Bounds

CONFIDENCE = 0.95
LEVEL = 1 - CONFIDENCE


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds (or a number made of several means) and its 95 % interval; None with fewer than two seeds."""

    mean: float
    ci95: tuple[float, float] | None


def estimate(values: Sequence[float], bounds: Bounds = UNBOUNDED, are_replicates: bool = False) -> Estimate:
    """Mean and 95 % interval of independent values.

    Student's t where nothing bounds the values. Else it is applied to log(mean - least), by the delta method: the ends
    are least + (mean - least) exp(-+ arm/(mean - least)), with t's own arm; with two bounds the same on the logit. Such
    an interval keeps to what is possible, is t's where the arm is small beside the distance to the bound, and reaches
    further up where it is not: there a tail is likely that the seeds have not shown (docs/concepts/statistics.md:
    coverage).

    Args:
        values: one a seed.
        bounds: of the metric.
        are_replicates: as of `standard_error`.
    """
    data = np.asarray(values, float)
    mean = float(data.mean())
    if len(data) < 2:
        return Estimate(mean, None)
    if not np.isfinite(data).all():
        return Estimate(mean, (math.nan, math.nan))
    kept, arm = bounds.of(data), _quantile(LEVEL, len(data)) * standard_error(data, are_replicates)
    return Estimate(mean, (min(mean, kept.moved(mean, -arm)), max(mean, kept.moved(mean, arm))))


def _quantile(level: float, count: int) -> float:
    """Half of Student's t interval of `count` values that misses at `level`, in standard errors."""
    return -float(scipy.special.stdtrit(count - 1, level / 2))


def standard_error(data: Floats, are_replicates: bool = False) -> float:
    """The standard error of the mean: exactly 0 if all values are equal; squares make it neither 0 nor infinite.

    Args:
        data: independent values, shape (n,).
        are_replicates: whether each is a statistic of one sample that was drawn anew (a resampled log). Then their
            deviation s is itself the standard error of the statistic, however many there are (Efron and Tibshirani
            1993, chapter 6), and s/sqrt(n) is that of the centre which n draws find: together s sqrt(1 + 1/n).
    """
    away = data - data.mean()
    largest = float(np.abs(away).max())
    if not np.ptp(data) or not largest:
        return 0.0
    error = largest * math.sqrt(float(np.square(away / largest).sum()) / (len(data) - 1) / len(data))
    return error * math.sqrt(len(data) + 1) if are_replicates else error


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
