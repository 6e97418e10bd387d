"""Where a series of observations has forgotten how it started: MSER."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BATCH = 5
# The statistic of the last few batches is a matter of luck: a handful of values that happen to be alike.
LEAST_KEPT = 5


@dataclass(frozen=True)
class Truncation:
    """What to leave out of the front of a series.

    Attributes:
        cut: the number of leading observations that are left out.
        settled: False if the series shows no steady state: it is too short, or the statistic is least in its second
            half. Then `cut` is half of the series (0 if it is too short to judge), and what is left is not to be
            trusted.
    """

    cut: int
    settled: bool


def mser(series: Sequence[float] | npt.NDArray[np.generic], batch: int = BATCH) -> Truncation:
    """MSER-m truncation: the cut that gives the mean of the rest the least standard error.

    Of the means z_1..z_n of batches of m = 5 observations it leaves out the first d that make
    sum_{j>d} (z_j - mean(z_{d+1..n}))^2 / (n - d)^2 least (White 1997, "An effective truncation heuristic for bias
    reduction in simulation output", Simulation 69:323; White, Cobb and Spratt 2000). A least value in the second half
    says that the series is too short (Hoad, Robinson and Davies 2010, J. Oper. Res. Soc. 61:1389), and the last five
    batches are no candidates (ibid.).

    Args:
        series: observations in the order in which they were made, e.g. slowdowns of jobs by arrival.
        batch: observations averaged into one.
    """
    values = np.asarray(series, float)
    count = len(values) // batch
    if count < 2 * LEAST_KEPT:
        return Truncation(0, settled=False)
    means = values[: count * batch].reshape(count, batch).mean(axis=1)
    # Of the tail from d on, for all d at once: what each further batch adds to the sum of squares about the mean
    # (Welford) is never negative, and nothing where the tail is constant.
    tail = (means - means[-1])[::-1]
    counts = np.arange(1, count + 1)
    averages = np.cumsum(tail) / counts
    added = (tail[1:] - averages[:-1]) ** 2 * (counts[:-1] / counts[1:])
    statistic = (np.concatenate([[0.0], np.cumsum(added)]) / counts**2)[::-1]
    best = int(np.argmin(statistic[: count - LEAST_KEPT + 1]))
    half = count // 2
    return Truncation(min(best, half) * batch, settled=best <= half)
