"""Which share of the gap between no balancing and the lower bound a policy closes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy

from cluster_abm.policy.bounds import SRPT_POOL
from cluster_abm.study.statistics.estimates import CONFIDENCE, Estimate

# The ends between which a gap is closed: no balancing, and the lower bound on mean response.
WORST, BEST = "none", SRPT_POOL
# What there is a lower bound on.
BOUNDED = "mean_response_ms"


def share_of_gap(
    worst: Sequence[float], values: Sequence[float], best: Sequence[float], are_replicates: bool = False
) -> Estimate | None:
    """(mean worst - mean) / (mean worst - mean best): 0 as the worst, 1 as the best; it may lie outside.

    The interval is Fieller's (1954, J. R. Stat. Soc. B 16:175): every share g for which the paired t test at 5 % does
    not reject mean((worst - value) - g (worst - best)) = 0. That is exact for normal values, and what makes a seed hard
    for all policies nearly cancels: it covers heavy tails where the interval by the ratio's standard error does not
    (docs/concepts/statistics.md). It takes a gap that is itself told apart from 0 (95 %); without it every share,
    however far away, may be the one.

    Args:
        worst, values, best: one a seed, in the same order: of no balancing, of the policy, of the bound.
        are_replicates: whether the seeds are draws of one log (`estimates.standard_error`).

    Returns:
        None where the best mean is not below the worst one, or a value is missing; without an interval where there is
        none, or fewer than two seeds.
    """
    table = np.array([worst, values, best], float)
    if not table.size or not np.isfinite(table).all():
        return None
    closed, gap = table[0] - table[1], table[0] - table[2]
    count = len(gap)
    # In units of the gap: neither squares of small nor of large values are lost.
    unit = float(gap.mean())
    if unit <= 0:
        return None
    share = float(closed.mean()) / unit
    closed, gap = closed / unit, gap / unit
    if count < 2:
        return Estimate(share, None)
    t2 = float(scipy.stats.t.ppf(0.5 + CONFIDENCE / 2, count - 1)) ** 2
    spread = np.cov(closed, gap) / (count / (count + 1) if are_replicates else count)
    # (share - g)^2 <= t^2 (var closed - 2 g cov + g^2 var gap): a parabola in g, open upwards if the gap is told apart.
    a = 1.0 - t2 * spread[1, 1]
    if not (a > 0 and math.isfinite(a)):
        return Estimate(share, None)
    b = share - t2 * spread[0, 1]
    c = share**2 - t2 * spread[0, 0]
    half = math.sqrt(max(0.0, b * b - a * c))
    return Estimate(share, (min(share, float((b - half) / a)), max(share, float((b + half) / a))))
