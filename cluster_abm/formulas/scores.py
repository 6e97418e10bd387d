"""Scores of nodes, 0 to 100, the higher the better: plugins of Kubernetes' scheduler.

KEP-61 is Trimaran, real load aware scheduling, and KEP-624 disk IO aware scheduling, both of
kubernetes-sigs/scheduler-plugins.
"""

from __future__ import annotations

import math

from cluster_abm.formulas._formula import formula


@formula
def whole_score(score: float) -> float:
    """Round a score, as the plugins do, to the nearest whole number; a half upwards."""
    return math.floor(score + 0.5)


@formula
def target_load_score(load_percent: float, target_percent: float) -> float:
    """Score of a node by its CPU utilisation u with the new task, packed up to x: KEP-61, TargetLoadPacking.

    (100 - x) u/x + x for u <= x; x (100 - u)/(100 - x) for x < u <= 100; 0 beyond. At u = x it is 100, and falls to x
    as u falls to 0; just above x it drops to x, and falls to 0 at u = 100.

    Args:
        load_percent: u, expected CPU utilisation of the node [%].
        target_percent: x, its target, above 0 and up to 100 [%].
    """
    if load_percent <= target_percent:
        return (100.0 - target_percent) * load_percent / target_percent + target_percent
    if load_percent <= 100.0:
        return target_percent * (100.0 - load_percent) / (100.0 - target_percent)
    return 0.0


@formula
def risk_score(mean: float, deviation: float, margin: float, sensitivity: float) -> float:
    """Score of a node by one resource, 100 (1 - r): KEP-61, LoadVariationRiskBalancing, as its plugin computes it.

    r = (mu + min(1, margin sigma^(1/sensitivity)))/2, where mu and sigma are clipped to [0, 1]; halved, since both are
    at most 1. A node's score is the least over its resources. (The KEP's text has 1 - min(1, mu + sigma) instead.)

    Args:
        mean: mean utilisation of the resource and what the new task requests, as a share of the capacity.
        deviation: standard deviation of that utilisation, as such a share.
        margin: how much the deviation counts.
        sensitivity: root that is taken of it, above 0; above 1 it magnifies small deviations.
    """
    mu, sigma = min(1.0, max(0.0, mean)), min(1.0, max(0.0, deviation))
    root = sigma if sensitivity == 1.0 else sigma ** (1.0 / sensitivity)
    spread = min(1.0, margin * root)
    return 100.0 * (1.0 - (mu + spread) / 2.0)


@formula
def least_allocated_score(available: float, needed: float) -> float:
    """Score of a node by its disk bandwidth, 100 (T - R)/T: KEP-624, the more is left the higher; 0 if R does not fit.

    The KEP prints it under "most allocated" and R/T under "least allocated". Elsewhere in Kubernetes "least allocated"
    favours the nodes of which least is in use, which is what (T - R)/T does with T as the KEP defines it.

    Args:
        available: T, disk bandwidth of the node that is not in use [MB/s].
        needed: R, disk bandwidth that the new task needs there [MB/s].
    """
    return 100.0 * (available - needed) / available if available > 0.0 and needed <= available else 0.0


@formula
def most_allocated_score(available: float, needed: float) -> float:
    """Score of a node by its disk bandwidth, 100 R/T: KEP-624, the less is left the higher; 0 if R does not fit.

    Args are those of `least_allocated_score`.
    """
    return 100.0 * needed / available if available > 0.0 and needed <= available else 0.0
