"""From errors and conditions to a verdict: quantiles with intervals, the noise floor, what makes a machine noisy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from cluster_abm.arrays import Floats, Integers

Verdict = Literal["within the goal", "outside the goal", "inconclusive"]
WITHIN: Final = "within the goal"
OUTSIDE: Final = "outside the goal"
INCONCLUSIVE: Final = "inconclusive"
RESAMPLES = 1000
# Sets below which no interval is worth its name.
FEWEST_SETS = 8


@dataclass(frozen=True)
class Limits:
    """Beyond these a machine is too noisy to tell; none of them looks at the error of a prediction."""

    idle_others: float = 0.05  # of the cores' time, used by others while the validation sleeps, before or after
    others: float = 0.05  # the same while it measures
    steal: float = 0.02  # of the cores' time, given to others by the hypervisor
    delivered: float = 0.95  # least share of the CPU that the own processes could have used and got
    # 90th percentile, over the runs of sets, of the change of a unit's CPU from before to after, measured alone
    drift: float = 0.03


LIMITS = Limits()


@dataclass(frozen=True)
class Goal:
    """The largest errors that were aimed at: the median, and the 90th percentile."""

    median: float
    p90: float


CPU_GOAL, MIXED_GOAL, MEMORY_GOAL = Goal(0.03, 0.08), Goal(0.03, 0.10), 0.05


@dataclass(frozen=True)
class Conditions:
    """What was going on while sets were measured; shares as in `Limits`."""

    others: float
    steal: float
    delivered: float
    drift: float

    def worst(self, other: Conditions) -> Conditions:
        """The worse of each."""
        return Conditions(
            max(self.others, other.others), max(self.steal, other.steal), min(self.delivered, other.delivered),
            max(self.drift, other.drift),
        )  # fmt: skip


@dataclass(frozen=True)
class ErrorQuantile:
    """A quantile and its 95 % interval."""

    value: float
    low: float
    high: float

    def as_json(self) -> dict[str, Any]:
        """For a document."""
        return {"value": self.value, "ci95": [self.low, self.high]}


def quantiles_of_errors(errors: Floats, sets: Integers, shares: Sequence[float], seed: int = 1) -> list[ErrorQuantile]:
    """Quantiles of relative errors with bootstrap intervals over sets, whose processes are not independent.

    Args:
        errors: of each response, shape (responses,).
        sets: the set of each.
        shares: of the quantiles; 0.5 is the median.
        seed: of the resampling.
    """
    rng = np.random.default_rng(seed)
    groups = [errors[sets == one] for one in np.unique(sets)]
    found = np.empty((RESAMPLES, len(shares)))
    for position in range(RESAMPLES):
        chosen = rng.integers(0, len(groups), len(groups))
        found[position] = np.quantile(np.concatenate([groups[one] for one in chosen]), shares)
    values, (lows, highs) = np.quantile(errors, shares), np.quantile(found, [0.025, 0.975], axis=0)
    return [ErrorQuantile(*map(float, one)) for one in zip(values, lows, highs, strict=True)]


def repeat_noise(first: Floats, second: Floats) -> Floats:
    """The error that noise alone makes of a response that was measured twice.

    Two measurements of standard deviation s differ by sqrt(2) s in theirs, so that the difference over sqrt(2) is
    distributed as the error of one against the truth.

    >>> repeat_noise(np.array([100.0]), np.array([110.0])).round(4).tolist()
    [0.0673]
    """
    return np.asarray(np.abs(first - second) / ((first + second) / 2.0) / np.sqrt(2.0))


def noise_reasons(conditions: Conditions, floor: Goal | None, goal: Goal, limits: Limits = LIMITS) -> list[str]:
    """Why nothing can be concluded; [] of a quiet machine.

    Args:
        conditions: while it was measured.
        floor: the noise floor; None: no set was repeated.
        goal: what the errors are held to.
        limits: of the conditions.
    """
    found = []
    if conditions.others > limits.others:
        found.append(f"others used {conditions.others:.1%} of the cores meanwhile (limit {limits.others:.0%})")
    if conditions.steal > limits.steal:
        found.append(
            f"the hypervisor gave {conditions.steal:.1%} of the cores' time to others (limit {limits.steal:.0%})"
        )
    if conditions.delivered < limits.delivered:
        found.append(
            f"of the CPU that they could have used the processes got {conditions.delivered:.1%} (limit "
            f"{limits.delivered:.0%})"
        )
    if conditions.drift > limits.drift:
        found.append(
            f"the CPU of the same work, alone, changed by {conditions.drift:.1%} within a set in one of ten "
            f"(limit {limits.drift:.0%})"
        )
    if floor is None:
        found.append("no set was repeated, so that the noise is not known")
    elif floor.median > goal.median or floor.p90 > goal.p90:
        found.append(
            f"repeats of the same set differ by as much as errors of {floor.median:.1%} / {floor.p90:.1%} would "
            f"(goal {goal.median:.0%} / {goal.p90:.0%})"
        )
    return found


def idle_reasons(before: tuple[float, float], after: tuple[float, float], limits: Limits = LIMITS) -> list[str]:
    """The same of what was seen while the validation slept: shares used by others and stolen, before and after."""
    found = []
    for words, (others, steal) in (("before", before), ("after", after)):
        if others > limits.idle_others:
            found.append(
                f"{words} the measurements others used {others:.1%} of the cores (limit {limits.idle_others:.0%})"
            )
        if steal > limits.steal:
            found.append(
                f"{words} the measurements {steal:.1%} of the cores' time was stolen (limit {limits.steal:.0%})"
            )
    return found


def verdict_of(
    median: ErrorQuantile, p90: ErrorQuantile, goal: Goal, sets: int, reasons: Sequence[str]
) -> tuple[Verdict, list[str]]:
    """The verdict, and the reasons of an inconclusive one.

    Noise goes first, whatever the errors are. Then: within the goal if both intervals end below it, outside if one
    begins above it.
    """
    if reasons:
        return INCONCLUSIVE, list(reasons)
    if sets < FEWEST_SETS:
        return INCONCLUSIVE, [f"{sets} sets are too few (at least {FEWEST_SETS}); give it more --seconds"]
    if median.high <= goal.median and p90.high <= goal.p90:
        return WITHIN, []
    if median.low > goal.median or p90.low > goal.p90:
        return OUTSIDE, []
    return INCONCLUSIVE, ["the interval of an error contains its goal: more sets are needed (--seconds)"]
