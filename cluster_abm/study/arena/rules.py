"""Rules that a reader can keep: at which value of which factor one policy becomes better than another one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from cluster_abm.study.arena.regimes import BY_NAME
from cluster_abm.study.statistics.estimates import estimate, holm

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
    def stake(self) -> float:
        """What the wrong choice costs where it costs less: the smaller of the two gains."""
        return min(self.gain_below, self.gain_above)

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
    """Find the factors and values at which pairs of policies change places, as far as the regimes show it.

    Two things are asked of a rule. The factor decides: the rank correlation between it and the logarithm of the ratio
    of slowdowns (Spearman) is significant at 5 %, with Holm's correction over all pairs and factors. And on both sides
    of the value the better policy is so by more than noise: the interval over the regimes there leaves out 0, at a
    level that counts all the values of the factor that were tried (`rule_at`). Of a pair the factor is taken that would
    cost most to get wrong.

    Args:
        regimes: index regime, a column a factor.
        logs: logarithms of slowdowns, index (regime, seed), a column a policy.
        policies: the names to pair.
        most: how many at most, those first that would cost most to get wrong.
    """
    means = logs.groupby(level="regime").mean()
    regimes = regimes.loc[means.index]
    pairs = [*combinations(policies, 2)]
    tried = [(pair, factor) for pair in pairs for factor in regimes]
    decides = holm([chance_of(regimes[factor], means[a] - means[b]) for (a, b), factor in tried])
    best: dict[tuple[str, str], Rule] = {}
    for ((a, b), factor), significant in zip(tried, decides, strict=True):
        if not significant:
            continue
        rule = rule_at(regimes[factor], (means[a] - means[b]).to_numpy(), a, b)
        if rule is not None and ((a, b) not in best or rule.stake > best[a, b].stake):
            best[a, b] = rule
    return sorted(best.values(), key=lambda rule: -rule.stake)[:most]


def chance_of(values: pd.Series, differences: pd.Series) -> float:
    """The probability of as strong a rank correlation by chance; 1 where one of them is constant."""
    if np.ptp(values) == 0.0 or np.ptp(differences) == 0.0:
        return 1.0
    return float(stats.spearmanr(values, differences).pvalue)


def rule_at(values: pd.Series, differences: Floats, a: str, b: str) -> Rule | None:
    """The value of a factor at which a and b change places; None: they do not, by more than noise.

    Args:
        values: of the factor, a value a regime, with the factor's name.
        differences: log slowdown of a less that of b, shape (regimes,).
        a, b: the policies.
    """
    given = values.to_numpy()
    splits = [value for value in np.unique(given)[1:] if min((given >= value).sum(), (given < value).sum()) >= FEWEST]
    stakes = {value: _stake(differences[given < value], differences[given >= value]) for value in splits}
    if not stakes or max(stakes.values()) <= 0.0:
        return None
    value = max(stakes, key=lambda one: stakes[one])
    sides = differences[given < value], differences[given >= value]
    level = 0.05 / (2 * len(splits))
    if any(low <= 0.0 <= high for low, high in (_interval(side, level) for side in sides)):
        return None
    # Of the better policy on each side: what the other one's slowdown is more.
    better = [(a, -1.0) if side.mean() < 0.0 else (b, 1.0) for side in sides]
    gains = [float(np.expm1(sign * side.mean())) for (_, sign), side in zip(better, sides, strict=True)]
    intervals = []
    for (_, sign), side in zip(better, sides, strict=True):
        low, high = estimate((sign * side).tolist()).ci95 or (np.nan, np.nan)
        intervals.append((float(np.expm1(low)), float(np.expm1(high))))
    edge = given[given < value].max()
    factor = BY_NAME[str(values.name)]
    middle = float(np.sqrt(edge * value)) if factor.is_log else float(edge + value) / 2.0
    return Rule(factor.name, middle, better[0][0], better[1][0], gains[0], gains[1], intervals[0], intervals[1])


def _stake(below: Floats, above: Floats) -> float:
    """What the wrong choice costs on the side where it costs less, added up over regimes; 0: one policy is better on
    both sides."""
    low, high = float(below.sum()), float(above.sum())
    return min(abs(low), abs(high)) if low * high < 0.0 else 0.0


def _interval(values: Floats, level: float) -> tuple[float, float]:
    """Student's interval of the mean at 1 - level."""
    half = float(stats.t.ppf(1.0 - level / 2.0, len(values) - 1) * stats.sem(values))
    return float(values.mean()) - half, float(values.mean()) + half
