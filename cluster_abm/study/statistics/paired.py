"""Two policies on common random numbers: by how much, and how many times, a measure differs, and what may be said."""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import scipy.special
import scipy.stats

from cluster_abm.arrays import Floats
from cluster_abm.study.statistics.estimates import LEVEL, Estimate, estimate, standard_error
from cluster_abm.study.statistics.skewed import hall_interval

Key = TypeVar("Key", bound=Hashable)

# Where one policy's largest seed is more than so many times further beyond its median than the other's, tails are
# unlike: rare bad runs may decide about means.
UNLIKE_TAILS = 2.0
# Of fewer seeds nothing is said about means (docs/concepts/statistics.md: how often such a word is false).
LEAST_SEEDS_OF_MEANS = 16

Verdict = Literal["better", "worse", "typically better", "typically worse", "not significant", "not tested"]


class Contrast(NamedTuple):
    """What is tested of a pair: the mean over the seeds of log(a) - log(b), or where there are zeros of a - b."""

    mean: float
    error: float  # its standard error
    seeds: int
    is_ratio: bool
    are_replicates: bool = False  # whether the seeds are draws of one log, which more seeds do not make more exact

    @property
    def p_value(self) -> float:
        """Of Student's t; 1 with fewer than two seeds, or where a value is missing."""
        if self.seeds < 2 or not math.isfinite(self.mean) or not self.mean:
            return 1.0
        # Equal runs differ by nothing, others that differ by the same on every seed by exactly that much.
        distance = abs(self.mean) / self.error if self.error else math.inf
        return float(2 * scipy.stats.t.sf(distance, self.seeds - 1))

    def interval(self, is_significant: bool, level: float, own_level: float) -> tuple[float, float]:
        """The interval of the mean, which leaves 0 out exactly if the test does.

        Args:
            is_significant: what the test says.
            level: the interval's.
            own_level: not below it; of the end on this side of 0 where at `level` it would lie beyond.
        """
        arm, mean = self._arm(level), self.mean
        if not is_significant:
            return min(mean - arm, 0.0), max(mean + arm, 0.0)
        near = arm if arm < abs(mean) else self._arm(own_level)
        # Where rounding decides, the test has the word.
        end = max(abs(mean) - near, math.ulp(0.0))
        return (end, mean + arm) if mean > 0 else (mean - arm, -end)

    def _arm(self, level: float) -> float:
        return -float(scipy.special.stdtrit(self.seeds - 1, level / 2)) * self.error


@dataclass(frozen=True)
class PairedDifference:
    """a against b over common seeds.

    Attributes:
        ratio: a over b, the geometric mean over the seeds; where a value is 0 or missing, mean of a over mean of b.
        difference: mean of a - b, and its interval: Hall's; of replicates Student's. Where there is no ratio it is the
            test's.
        p_value: of the test (`tested`).
        significant: whether the ratio differs from 1, or without one the difference from 0: of `paired` alone, at 5 %;
            of `corrected` all together, by Holm. None where both are one sample each, of which nothing can be tested.
        ratio_ci95: the ratio's interval. It leaves 1 out exactly if the ratio is significant. None without a ratio.
        tails_unlike: whether rare bad runs may decide about the means (`are_tails_unlike`).
        tested: what is tested; None where nothing is.
        means_differ: whether Hall's and Student's interval of the difference (of replicates Student's alone) leave 0
            out, of this pair alone. None with fewer than LEAST_SEEDS_OF_MEANS seeds: most of such samples lack the rare
            bad seeds that decide about a mean.
    """

    ratio: float
    difference: Estimate
    p_value: float
    significant: bool | None = False
    ratio_ci95: tuple[float, float] | None = None
    tails_unlike: bool = False
    tested: Contrast | None = None
    means_differ: bool | None = None

    def verdict(self, more_is_better: bool = False) -> Verdict:
        """What may be said of a against b.

        "better" and "worse" need significance, means that say the same, which from LEAST_SEEDS_OF_MEANS seeds on must
        differ themselves, and tails that are alike; "typically" is left where the ratio alone is significant.

        Args:
            more_is_better: of the metric.
        """
        if self.significant is None:
            return "not tested"
        if not self.significant or self.tested is None:
            return "not significant"
        is_more = self.tested.mean > 0.0
        difference = self.difference.mean
        do_means_agree = bool(difference) and (difference > 0.0) == is_more and self.means_differ is not False
        if do_means_agree and not self.tails_unlike:
            return "better" if is_more == more_is_better else "worse"
        return "typically better" if is_more == more_is_better else "typically worse"


def have_ratios(*values: Sequence[float]) -> bool:
    """Whether values can be compared by ratios: all of them are finite and above 0."""
    return all(0.0 < value < math.inf for each in values for value in each)


def paired(a: Sequence[float], b: Sequence[float], are_replicates: bool = False) -> PairedDifference:
    """Two policies that got the same jobs: one value a seed, in the same order.

    The test is Student's t on log(a) - log(b), seed by seed: about the typical ratio, and not about means. Where a
    value is 0 or missing there is no ratio, and it is Student's t on a - b.

    Args:
        a, b: of each policy.
        are_replicates: whether the seeds are draws of one log (`standard_error`).
    """
    first, second = np.asarray(a, float), np.asarray(b, float)
    differences, count = first - second, len(first)
    mean = float(differences.mean())
    if have_ratios(a, b):
        tested = _tested(np.log(first) - np.log(second), True, are_replicates)
        ratio = _ratio(tested.mean)
    else:
        tested = _tested(differences, False, are_replicates)
        # As plain floats: what is too large is infinite, and no warning.
        means = float(first.mean()), float(second.mean())
        ratio = means[0] / means[1] if means[1] != 0 else math.nan
    if count < 2:
        return PairedDifference(ratio, Estimate(mean, None), 1.0)
    if not np.isfinite(differences).all():
        return PairedDifference(ratio, Estimate(mean, (math.nan, math.nan)), 1.0)
    students = estimate(differences.tolist(), are_replicates=are_replicates).ci95
    # What Hall's transformation corrects is the skewness of a mean of n values.
    intervals = (students,) if are_replicates else (hall_interval(differences.tolist()), students)
    found = PairedDifference(
        ratio, Estimate(mean, intervals[0]), tested.p_value, tails_unlike=are_tails_unlike(a, b), tested=tested,
        means_differ=None if count < LEAST_SEEDS_OF_MEANS else not any(low <= 0.0 <= high for low, high in
                                                                       filter(None, intervals)),
    )  # fmt: skip
    return _judged(found, tested.p_value <= LEVEL, LEVEL, LEVEL)


def _tested(values: Floats, is_ratio: bool, are_replicates: bool) -> Contrast:
    is_whole = len(values) > 1 and bool(np.isfinite(values).all())
    error = standard_error(values, are_replicates) if is_whole else math.nan
    return Contrast(float(values.mean()), error, len(values), is_ratio, are_replicates)


def _judged(pair: PairedDifference, significant: bool, level: float, own_level: float) -> PairedDifference:
    """The pair with what the test says, and the interval of what is tested."""
    if pair.tested is None:
        return replace(pair, significant=significant)
    ends = pair.tested.interval(significant, level, own_level)
    if pair.tested.is_ratio:
        return replace(pair, significant=significant, ratio_ci95=(_ratio(ends[0]), _ratio(ends[1])))
    return replace(pair, significant=significant, difference=replace(pair.difference, ci95=ends))


def _ratio(log: float) -> float:
    """exp(log), infinite beyond a float's range, and 1 of 0 alone: an interval must not seem to hold it."""
    if log > math.log(math.nextafter(math.inf, 0.0)):
        return math.inf
    ratio = math.exp(log)
    return math.nextafter(1.0, math.copysign(math.inf, log)) if ratio == 1.0 and log else ratio


def are_tails_unlike(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether the largest of one policy's seeds is much further above its median than the other's.

    Then a ratio of typical values says nothing about means: a rare bad run may cost more than all usual ones save.
    """
    reaches = [_reach(np.asarray(values, float)) for values in (a, b)]
    return bool(max(reaches) > UNLIKE_TAILS * min(reaches))


def _reach(values: Floats) -> float:
    median = float(np.median(values))
    if median > 0.0:
        return float(values.max()) / median
    return math.inf if values.max() > 0.0 else 1.0


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of several hypotheses to reject so that the chance of any false rejection is at most `level`."""
    order = np.argsort(p_values)
    reject = [False] * len(p_values)
    for rank, index in enumerate(order):
        if p_values[index] > level / (len(p_values) - rank):
            break
        reject[int(index)] = True
    return reject


def all_pairs(
    values: Mapping[str, Sequence[float]],
    one_sample: Container[str] = (),
    baseline: str | None = None,
    are_replicates: bool = False,
) -> dict[tuple[str, str], PairedDifference]:
    """Pairs of policies, the later one against the earlier one, not yet corrected for how many there are.

    Args:
        values: of each policy, one a seed, for the same seeds in the same order.
        one_sample: the policies of which every seed gave the same run. Between two of them there is a difference, and
            nothing to test it by.
        baseline: the policy that all others are paired with; None: every pair.
        are_replicates: as of `paired`.
    """
    pairs = combinations(values, 2) if baseline is None else ((name, baseline) for name in values if name != baseline)
    return {
        (a, b): of_one_sample(values[a][0], values[b][0]) if a in one_sample and b in one_sample
        else paired(values[a], values[b], are_replicates)
        for a, b in pairs
    }  # fmt: skip


def of_one_sample(a: float, b: float) -> PairedDifference:
    """The difference a - b of two numbers that are one sample: without interval and test."""
    return PairedDifference(a / b if b else math.nan, Estimate(a - b, None), math.nan, None)


def corrected(pairs: Mapping[Key, PairedDifference]) -> dict[Key, PairedDifference]:
    """The same with `significant` by Holm's correction over all of them, and intervals that say the same.

    The family is whatever is passed. With m pairs each interval is at 1 - 5 %/m (Bonferroni): all of them hold what
    they are about with 95 %. Holm tells more pairs apart than these intervals do; of such a pair the end at 1 (at 0
    without a ratio) is the one at the level of Holm's own step, 5 % over the number of pairs that Holm has not told
    apart before. Intervals as short as Holm's steps throughout would hold together less often.
    """
    found = dict(pairs)
    # What is one sample is no hypothesis.
    pairs = {key: pair for key, pair in pairs.items() if pair.significant is not None}
    p_values = [pair.p_value for pair in pairs.values()]
    ranks, count = np.argsort(np.argsort(p_values)), len(pairs)
    for (key, pair), significant, rank in zip(pairs.items(), holm(p_values), ranks, strict=True):
        levels = LEVEL / count, LEVEL / (count - int(rank))
        found[key] = _judged(pair, significant, *levels)
    return found
