"""An interval of a mean that corrects for skewed values: Hall's transformed t."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.stats

from cluster_abm.study.statistics.estimates import CONFIDENCE, standard_error


def hall_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """An interval of the mean of independent values, by Hall's transformation of t that removes skewness.

    With a = skewness / sqrt(n), g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6 is all but normal; it grows with T, and
    T = 3 / a ((1 + a (g - a / 6))^(1/3) - 1). Hall 1992, On the Removal of Skewness by Transformation.

    Args:
        values: one a seed.
        confidence: of the interval.

    Returns:
        its ends; None with fewer than two values, or where one is missing. Two values have no skewness: Student's t.
    """
    data = np.asarray(values, float)
    count = len(data)
    if count < 2 or not np.isfinite(data).all():
        return None
    mean, error = float(data.mean()), standard_error(data)
    if not error:
        return mean, mean
    away = data - data.mean()
    # Of their shape alone: cubes of the values themselves may have no room in a float.
    slant = float(scipy.stats.skew(away / np.abs(away).max())) / math.sqrt(count)
    quantile = float(scipy.stats.t.isf((1.0 - confidence) / 2.0, count - 1))
    return mean - error * _untransformed(quantile, slant), mean - error * _untransformed(-quantile, slant)


def _untransformed(transformed: float, slant: float) -> float:
    """T of g(T)."""
    if abs(slant) < 1e-9:
        return transformed
    return 3.0 / slant * (math.cbrt(1.0 + slant * (transformed - slant / 6.0)) - 1.0)
