"""A policy's mean with less noise: what the pooled reference says about the seeds, by regression (control variate)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.special

from cluster_abm.study.statistics.bounds import UNBOUNDED, Bounds
from cluster_abm.study.statistics.estimates import LEVEL, Estimate

# With fewer seeds, or a weaker correlation, the slope costs more than it gives.
LEAST_SEEDS = 6
LEAST_CORRELATION = 0.8


def controlled(
    values: Sequence[float], reference: Sequence[float], more: Sequence[float], bounds: Bounds = UNBOUNDED
) -> Estimate | None:
    """The mean y - b (x_n - x_N) of values y, with its 95 % interval; None where the plain mean is to be used.

    The n seeds have more or less work than seeds have on average. The reference x shows it: its mean x_n on these seeds
    is set against x_N on N seeds, these n among them. b is the slope of y over x, s^2 the variance of the residuals
    (n - 2 degrees of freedom), s_x^2 that of x over the N seeds. The variance of the mean is
    s^2 (1/n + (x_n - x_N)^2/Sxx) of the line at x_N, and b^2 s_x^2/N of x_N itself. The interval is Student's with
    n - 2 degrees of freedom, kept within the bounds as that of plain means is (Lavenberg and Welch 1981, Management
    Science 27:322).

    It is used from six seeds and a correlation of 0.8 on.

    Args:
        values: y, one a seed.
        reference: x of the same seeds, in the same order.
        more: x of further seeds.
        bounds: of the values.
    """
    y, x, others = (np.asarray(one, float) for one in (values, reference, more))
    count = len(y)
    if count < LEAST_SEEDS or not len(others) or not all(np.isfinite(one).all() for one in (y, x, others)):
        return None
    away_x, away_y = x - x.mean(), y - y.mean()
    s_xx, s_yy, s_xy = float(away_x @ away_x), float(away_y @ away_y), float(away_x @ away_y)
    if not (s_xx > 0.0 and s_yy > 0.0) or abs(s_xy) < LEAST_CORRELATION * math.sqrt(s_xx * s_yy):
        return None
    every_x = np.concatenate([x, others])
    slope, away = s_xy / s_xx, float(x.mean() - every_x.mean())
    residuals = away_y - slope * away_x
    residual_variance = float(residuals @ residuals) / (count - 2)
    variance = residual_variance * (1.0 / count + away**2 / s_xx)
    variance += slope**2 * float(every_x.var(ddof=1)) / len(every_x)
    mean = float(y.mean()) - slope * away
    arm = -float(scipy.special.stdtrit(count - 2, LEVEL / 2)) * math.sqrt(variance)
    kept = bounds.of(np.append(y, mean))
    return Estimate(mean, (min(mean, kept.moved(mean, -arm)), max(mean, kept.moved(mean, arm))))
