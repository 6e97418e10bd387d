"""Rank policies by which is better than which, as their pairs say (`PairedDifference.verdict`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from cluster_abm.study.statistics.paired import PairedDifference
from cluster_abm.study.statistics.pairs import turned


@dataclass(frozen=True)
class RankedPolicy:
    """Where a policy stands.

    Attributes:
        policy: its name.
        mean: of the metric, over the seeds that all policies finished.
        best: one more than the number of policies that are better.
        worst: the number of policies less those that are worse. Where `best` and `worst` are the same, the place is
            certain.
        like: those that are neither better nor worse, in the ranking's order. That is no equality: a may be like b and
            b like c, and a still better than c.
    """

    policy: str
    mean: float
    best: int
    worst: int
    like: tuple[str, ...]


def ranking(
    means: Mapping[str, float], pairs: Mapping[tuple[str, str], PairedDifference], more_is_better: bool = False
) -> list[RankedPolicy]:
    """Policies from the best mean to the worst; a mean that is NaN comes last.

    Args:
        means: of each policy.
        pairs: corrected differences (statistics.corrected) of every pair, in either order.
        more_is_better: of the metric.
    """
    sign = -1.0 if more_is_better else 1.0
    order = sorted(means, key=lambda name: math.inf if math.isnan(means[name]) else sign * means[name])

    def better(a: str, b: str) -> bool:
        """Whether a is; and by more than the rounding of the means that stand beside it."""
        pair = pairs[a, b] if (a, b) in pairs else turned(pairs[b, a])
        return pair.verdict(more_is_better) == "better" and sign * means[a] < sign * means[b]

    ranked = []
    for name in order:
        others = [other for other in order if other != name]
        above = sum(better(other, name) for other in others)
        below = sum(better(name, other) for other in others)
        like = tuple(other for other in others if not better(other, name) and not better(name, other))
        ranked.append(RankedPolicy(name, means[name], 1 + above, len(order) - below, like))
    return ranked


# Its name before.
Place = RankedPolicy
