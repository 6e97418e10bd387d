"""Ratios of policies on common random numbers: how many times a measure is what it is under the baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.study.statistics.estimates import Key, PairedDifference, corrected, paired

# From here on the largest over the median of a policy's seeds is unlike that of the other one: see `tails_unlike`.
UNLIKE_TAILS = 2.0


@dataclass(frozen=True)
class Ratio:
    """a over b, seed by seed.

    Attributes:
        typical: the geometric mean of the ratios over the seeds; NaN: a value is missing, or 0.
        ci95: its interval; None with fewer than two seeds. Corrected, it holds 1 exactly if the ratio is not
            significant.
        p_value: of the t test on the logarithms.
        significant: whether the ratio differs from 1, by Holm's correction over all that are tested together; None
            where nothing can be tested.
        tails_unlike: whether one policy's seeds reach much further beyond their median than the other's.
    """

    typical: float
    ci95: tuple[float, float] | None
    p_value: float
    significant: bool | None
    tails_unlike: bool


def have_ratios(*values: Sequence[float]) -> bool:
    """Whether values can be compared by ratios: all of them are numbers above 0."""
    return all(0.0 < value < math.inf for each in values for value in each)


def ratios(pairs: Mapping[Key, tuple[Sequence[float], Sequence[float]]]) -> dict[Key, Ratio]:
    """The ratios of several pairs, tested together: Student's t on log(a) - log(b), corrected by Holm.

    Args:
        pairs: of each pair the values of a and b, one a seed, for the same seeds in the same order; `have_ratios`.
    """
    logs = {key: paired(_logs(a), _logs(b)) for key, (a, b) in pairs.items()}
    return {key: _ratio(found, *pairs[key]) for key, found in corrected(logs).items()}


def _logs(values: Sequence[float]) -> list[float]:
    return np.log(np.asarray(values, float)).tolist()


def _ratio(of_logs: PairedDifference, a: Sequence[float], b: Sequence[float]) -> Ratio:
    ends = of_logs.difference.ci95
    significant = None if len(a) < 2 else of_logs.significant
    return Ratio(
        math.exp(of_logs.difference.mean),
        None if ends is None else (math.exp(ends[0]), math.exp(ends[1])),
        of_logs.p_value,
        significant,
        tails_unlike(a, b),
    )


def tails_unlike(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether the largest of one policy's seeds is much further above its median than the other's.

    Then a ratio of typical values says nothing about means: a rare bad run may cost more than all usual ones save.
    """
    reaches = [_reach(np.asarray(values, float)) for values in (a, b)]
    return bool(max(reaches) > UNLIKE_TAILS * min(reaches))


def _reach(values: Floats) -> float:
    median = float(np.median(values))
    return float(values.max()) / median if median > 0.0 else math.inf


Verdict = Literal["better", "worse", "typically better", "typically worse", "not significant", "not tested"]


def verdict(ratio: Ratio, difference: float, more_is_better: bool = False) -> Verdict:
    """What may be said of a against b.

    "better" and "worse" need a significant ratio, a difference of the means of the same sign, and tails that are alike.
    "typically" is left where the ratio alone is significant.

    Args:
        ratio: a over b.
        difference: mean of a - b.
        more_is_better: of the metric.
    """
    if ratio.significant is None:
        return "not tested"
    if not ratio.significant:
        return "not significant"
    is_more = ratio.typical > 1.0
    is_better = is_more == more_is_better
    holds_for_means = not ratio.tails_unlike and (difference > 0.0) == is_more and difference != 0.0
    if holds_for_means:
        return "better" if is_better else "worse"
    return "typically better" if is_better else "typically worse"
