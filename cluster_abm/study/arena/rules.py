"""Rules that a reader can keep: at which value of which factor one policy becomes better than another one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from cluster_abm.arrays import Floats
from cluster_abm.study.arena.regimes import BY_NAME, halves
from cluster_abm.study.statistics.estimates import LEVEL, estimate
from cluster_abm.study.statistics.paired import holm

# The most rules of one policy.
MOST_OF_A_POLICY = 3
# Regimes in a third, at least.
FEWEST = 5


class RegimeRule(NamedTuple):
    """Above a value of a factor one policy is better than another one, and below it is not.

    As a rule is found, its gains are those of the regimes in which the factor is least, or largest (`ends_of`); as it
    is reported (`measured`), those of the other regimes below and above the value.
    """

    factor: str  # its name
    value: float  # of the factor, at which they change places: where a straight line through the regimes crosses 0
    # below, above: the policy that is better on each side
    below: str
    above: str
    # gain_below, gain_above: by how much: the other one's measure over its own, less 1, in the geometric mean over
    # regimes
    gain_below: float
    gain_above: float
    # ci_below, ci_above: their 95 % intervals over regimes
    ci_below: tuple[float, float]
    ci_above: tuple[float, float]
    chance: float = math.nan  # as `measured`: of such gains on both sides, were one of them 0 or less

    @property
    def holds(self) -> bool:
        """Whether both sides gain where the rule was measured, at 5 %."""
        return self.chance <= LEVEL

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


class Rules(NamedTuple):
    """Rules that were found in one half of the regimes, and what the other half says of them."""

    found: list[RegimeRule]  # as found
    held: list[RegimeRule]  # those that hold on the other half, as measured there

    @property
    def in_words(self) -> str:
        """How many there are."""
        return f"{len(self.found)} found, {len(self.held)} held"


def held_rules(regimes: pd.DataFrame, logs: pd.DataFrame, policies: Sequence[str]) -> Rules:
    """Find rules in half of the regimes, and measure them on the other half (regimes.halves).

    A rule holds if on the other half the policy that it names is better on each side of its value, by one-sided t tests
    over regimes at 5 %: a false one would have to pass by luck.

    Args:
        regimes, logs, policies: as of `rules`.
    """
    first, second = halves([int(number) for number in logs.index.unique("regime")])
    found = rules(regimes, logs.loc[first], policies) if first else []
    means = logs.loc[second].groupby(level="regime").mean()
    told = [measured(rule, regimes, means) for rule in found]
    return Rules(found, [one for one in told if one is not None and one.holds])


def measured(rule: RegimeRule, regimes: pd.DataFrame, means: pd.DataFrame) -> RegimeRule | None:
    """A rule with what it gains in other regimes than those in which it was found.

    Args:
        rule: the rule.
        regimes: index regime, a column a factor.
        means: mean logarithms of the measure, index regime, a column a policy.

    Returns:
        None if on one side of its value there are fewer than FEWEST regimes.
    """
    values = regimes.loc[means.index, rule.factor].to_numpy()
    gaps = (means[rule.above] - means[rule.below]).to_numpy()
    sides = gaps[values <= rule.value], -gaps[values > rule.value]
    if min(map(len, sides)) < FEWEST:
        return None
    gains, intervals = zip(*map(_gain, sides), strict=True)
    chance = max(float(stats.ttest_1samp(side, 0.0, alternative="greater").pvalue) for side in sides)
    return rule._replace(gain_below=gains[0], gain_above=gains[1], ci_below=intervals[0], ci_above=intervals[1],
                         chance=chance)  # fmt: skip


def _gain(logs: Floats) -> tuple[float, tuple[float, float]]:
    """The gain of logarithms of ratios, and its interval."""
    found = estimate(logs.tolist())
    low, high = found.ci95 or (np.nan, np.nan)
    return float(np.expm1(found.mean)), (float(np.expm1(low)), float(np.expm1(high)))


def rules(regimes: pd.DataFrame, logs: pd.DataFrame, policies: Sequence[str], most: int = 20) -> list[RegimeRule]:
    """Find the factors by which pairs of policies change places, as far as the regimes show it.

    Two things are asked of a rule. The factor decides: the rank correlation between it and the logarithm of the ratio
    of slowdowns (Spearman) is significant at 5 %, with Holm's correction over all pairs and factors. And one policy is
    better in the third of the regimes in which the factor is least, the other one where it is largest, each by a t test
    over regimes at 5 %. Of a pair the factor is taken that would cost most to get wrong.

    Args:
        regimes: index regime, a column a factor.
        logs: logarithms of slowdowns, index (regime, seed), a column a policy.
        policies: the names to pair.
        most: how many at most, those first that would cost most to get wrong; MOST_OF_A_POLICY of each policy.
    """
    means = logs.groupby(level="regime").mean()
    regimes = regimes.loc[means.index]
    pairs = [*combinations(policies, 2)]
    tried = [(pair, factor) for pair in pairs for factor in regimes]
    decides = holm([chance_of(regimes[factor], means[a] - means[b]) for (a, b), factor in tried])
    best: dict[tuple[str, str], RegimeRule] = {}
    for ((a, b), factor), significant in zip(tried, decides, strict=True):
        if not significant:
            continue
        rule = rule_at(regimes[factor], (means[a] - means[b]).to_numpy(), a, b)
        if rule is not None and ((a, b) not in best or rule.stake > best[a, b].stake):
            best[a, b] = rule
    kept: list[RegimeRule] = []
    named: Counter[str] = Counter()
    for rule in sorted(best.values(), key=lambda rule: -rule.stake):
        if max(named[rule.below], named[rule.above]) < MOST_OF_A_POLICY:
            kept.append(rule)
            named.update((rule.below, rule.above))
    return kept[:most]


def chance_of(values: pd.Series, differences: pd.Series) -> float:
    """The probability of as strong a rank correlation by chance; 1 where one of them is constant."""
    if np.ptp(values) == 0.0 or np.ptp(differences) == 0.0:
        return 1.0
    return float(stats.spearmanr(values, differences).pvalue)


def rule_at(values: pd.Series, differences: Floats, a: str, b: str) -> RegimeRule | None:
    """The rule by a factor; None: the policies do not change places between its ends, significantly.

    Args:
        values: of the factor, a value a regime, with the factor's name.
        differences: log slowdown of a less that of b, shape (regimes,).
        a, b: the policies.
    """
    factor = BY_NAME[str(values.name)]
    sides = ends_of(values, differences)
    if min(map(len, sides)) < FEWEST:
        return None
    if sides[0].mean() * sides[1].mean() >= 0.0:
        return None
    if any(float(stats.ttest_1samp(side, 0.0).pvalue) > 0.05 for side in sides):
        return None
    scale = np.log(values.to_numpy()) if factor.is_log else values.to_numpy()
    line = stats.linregress(scale, differences)
    crossing = float(np.clip(-line.intercept / line.slope, scale.min(), scale.max()))
    # Of the better policy on each side: what the other one's slowdown is more.
    better = [(a, -1.0) if side.mean() < 0.0 else (b, 1.0) for side in sides]
    gains, intervals = zip(*(_gain(sign * side) for (_, sign), side in zip(better, sides, strict=True)), strict=True)
    value = float(np.exp(crossing)) if factor.is_log else crossing
    return RegimeRule(factor.name, value, better[0][0], better[1][0], gains[0], gains[1], intervals[0], intervals[1])


def ends_of(values: pd.Series, differences: Floats) -> tuple[Floats, Floats]:
    """The differences in the third of the regimes in which a factor is least, and that in which it is largest.

    Of a factor with names they are all regimes of its first, and of its last value.
    """
    factor, given = BY_NAME[str(values.name)], values.to_numpy()
    if factor.names:
        return differences[given == factor.low], differences[given == factor.high]
    order = np.argsort(given, kind="stable")
    third = len(order) // 3
    return differences[order[:third]], differences[order[len(order) - third :]]
