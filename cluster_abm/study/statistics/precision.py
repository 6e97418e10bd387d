"""How many seeds are enough: replications until the interval is as narrow as asked.

The rule uses the data to decide when to stop, and so it stops a little too early a little too often: where the
first seeds happen to agree. `AT_LEAST` seeds in the beginning keep that small; docs/concepts/statistics.md has the
measured coverage.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy

from cluster_abm.study.statistics.bounds import UNBOUNDED, Bounds
from cluster_abm.study.statistics.estimates import CONFIDENCE, estimate

AT_LEAST = 5


def relative_half_width(values: Sequence[float], bounds: Bounds = UNBOUNDED) -> float:
    """Half of the 95 % interval's width over the absolute mean; infinite with fewer than two values, or where the mean
    is 0 and the values are not, or where a value is missing."""
    found = estimate(values, bounds) if len(values) else None
    if found is None or found.ci95 is None or not all(map(math.isfinite, found.ci95)):
        return math.inf
    half = (found.ci95[1] - found.ci95[0]) / 2
    if found.mean == 0:
        return 0.0 if half == 0 else math.inf
    return half / abs(found.mean)


def enough(values: Sequence[float], precision: float, at_least: int = AT_LEAST, bounds: Bounds = UNBOUNDED) -> bool:
    """Whether the mean of the values, one a seed, is known to within `precision` of itself.

    Args:
        values: one a seed.
        precision: the largest half-width allowed, as a share of the mean, e.g. 0.05.
        at_least: fewer values are never enough (Law 2015, Simulation Modeling and Analysis, section 9.4.1).
        bounds: of the metric.
    """
    return len(values) >= at_least and relative_half_width(values, bounds) <= precision


def more_seeds(
    values: Sequence[float], precision: float, cap: int, at_least: int = AT_LEAST, bounds: Bounds = UNBOUNDED
) -> int:
    """How many further seeds to run before looking again; 0 when it is enough, or the cap is reached.

    So many as the spread seen until now asks for, but at most as many as there are: a spread of few values is itself
    uncertain, and every look less keeps the interval nearer to its nominal level.

    Args:
        values, precision, at_least, bounds: as of `enough`.
        cap: most seeds in all.
    """
    have = len(values)
    if have >= cap or enough(values, precision, at_least, bounds):
        return 0
    if have < at_least:
        return min(cap, at_least) - have
    wanted = _seeds_for(values, precision, min(cap, 2 * have))
    return max(1, wanted - have)


def _seeds_for(values: Sequence[float], precision: float, most: int) -> int:
    """Return the least number of seeds with an interval narrow enough, if mean and spread stayed as they are."""
    data = np.asarray(values, float)
    mean, spread = abs(float(data.mean())), float(data.std(ddof=1))
    if not math.isfinite(spread) or mean == 0:
        return most
    counts = np.arange(len(data) + 1, most + 1)
    half = scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, counts - 1) * spread / np.sqrt(counts)
    fine = counts[half <= precision * mean]
    return int(fine[0]) if len(fine) else most
