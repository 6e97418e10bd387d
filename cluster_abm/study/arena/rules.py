"""Rules that a reader can keep: at which value of which factor one policy becomes better than another one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.study.arena.regimes import BY_NAME
from cluster_abm.study.statistics.estimates import estimate

Floats = npt.NDArray[np.float64]

# Regimes on each side of a value, at least.
FEWEST = 5


class Rule(NamedTuple):
    """Beyond a value of a factor one policy is better than another one, and below it is not.

    Attributes:
        factor: its name.
        value: of the factor.
        below, above: the policy that is better on each side.
        gain_below, gain_above: by how much: the other one's slowdown over its own, less 1, in the geometric mean over
            the regimes there.
        ci_below, ci_above: their 95 % intervals over regimes.
    """

    factor: str
    value: float
    below: str
    above: str
    gain_below: float
    gain_above: float
    ci_below: tuple[float, float]
    ci_above: tuple[float, float]

    @property
    def in_words(self) -> str:
        """The rule as a sentence."""
        factor = BY_NAME[self.factor]
        value = f"{self.value:.2g}"
        return (
            f"{factor.more.format(value)}: {self.above} rather than {self.below} ({self.gain_above:+.0%}); "
            f"{factor.less.format(value)}: {self.below} ({self.gain_below:+.0%})"
        )


def rules(regimes: pd.DataFrame, logs: pd.DataFrame, policies: Sequence[str], most: int = 12) -> list[Rule]:
    """Find the factor and value at which each pair of policies changes places, as far as the regimes show it.

    A rule is kept if on both sides the better policy is so by more than noise: the 95 % interval, over the regimes
    there, of the logarithm of the ratio of slowdowns leaves out 0, at a level that counts all pairs, and all the values
    and factors that were tried for each (Bonferroni).

    Args:
        regimes: index regime, a column a factor.
        logs: logarithms of slowdowns, index (regime, seed), a column a policy.
        policies: the names to pair.
        most: how many at most, those first that would cost most to get wrong.
    """
    means = logs.groupby(level="regime").mean()
    pairs = [*combinations(policies, 2)]
    found = [
        rule
        for a, b in pairs
        if (rule := rule_of(regimes.loc[means.index], (means[a] - means[b]).to_numpy(), a, b, len(pairs))) is not None
    ]
    return sorted(found, key=lambda rule: -min(rule.gain_below, rule.gain_above))[:most]


def rule_of(regimes: pd.DataFrame, differences: Floats, a: str, b: str, pairs: int = 1) -> Rule | None:
    """The rule that tells when a is better than b; None: none does by more than noise.

    Args:
        regimes: a row each, a column a factor.
        differences: log slowdown of a less that of b, shape (regimes,).
        a, b: the policies.
        pairs: among how many pairs rules are sought.
    """
    best: tuple[float, str, float] | None = None
    tried = 0
    for factor in regimes:
        values = regimes[factor].to_numpy()
        for value in np.unique(values)[1:]:
            above = values >= value
            if min(above.sum(), (~above).sum()) < FEWEST:
                continue
            tried += 1
            low, high = differences[~above].sum(), differences[above].sum()
            if low * high < 0.0 and (best is None or min(abs(low), abs(high)) > best[0]):
                best = (min(abs(low), abs(high)), str(factor), float(value))
    if best is None:
        return None
    _, factor, value = best
    above = regimes[factor].to_numpy() >= value
    sides = differences[~above], differences[above]
    bounds = [_interval(side, 0.05 / (2 * pairs * max(1, tried))) for side in sides]
    if any(low <= 0.0 <= high for low, high in bounds):
        return None
    below_is_a = sides[0].mean() < 0.0
    # Of the better policy on each side: what the other one's slowdown is more.
    signs = (-1.0, 1.0) if below_is_a else (1.0, -1.0)
    gains = [float(np.expm1(sign * side.mean())) for sign, side in zip(signs, sides, strict=True)]
    intervals = []
    for sign, side in zip(signs, sides, strict=True):
        low, high = estimate((sign * side).tolist()).ci95 or (np.nan, np.nan)
        intervals.append((float(np.expm1(low)), float(np.expm1(high))))
    below, above_it = (a, b) if below_is_a else (b, a)
    edge = regimes[factor][regimes[factor] < value].max()
    middle = float(np.sqrt(edge * value)) if BY_NAME[factor].is_log else (edge + value) / 2.0
    return Rule(factor, float(middle), below, above_it, gains[0], gains[1], intervals[0], intervals[1])


def _interval(values: Floats, level: float) -> tuple[float, float]:
    """Student's interval of the mean at 1 - level."""
    from scipy import stats

    half = float(stats.t.ppf(1.0 - level / 2.0, len(values) - 1) * stats.sem(values))
    return float(values.mean()) - half, float(values.mean()) + half
