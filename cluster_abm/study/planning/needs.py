"""What is asked of a cluster: metrics of a run that have to stay below, or above, a value."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.results.words import why_absent
from cluster_abm.study.design.metrics import nearest_metric
from cluster_abm.study.statistics.estimates import Estimate

ALLOWED = 'allowed is METRIC<=VALUE (or <, >=, >), several joined by "and", e.g. "bounded_slowdown<=3"'
PATTERN = re.compile(r"([A-Za-z_][\w.-]*)\s*(<=|>=|<|>)\s*(\S+)")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Need:
    """One thing that is asked."""

    metric: str  # of a run, in the mean over seeds
    relation: str  # <=, <, >= or >
    bound: float  # in the metric's unit

    def __str__(self) -> str:
        return f"{self.metric}{self.relation}{self.bound:.12g}"

    @property
    def is_ceiling(self) -> bool:
        """Whether the metric has to stay below the bound."""
        return self.relation in ("<", "<=")

    def holds(self, value: float) -> bool:
        """Whether a value keeps the need; NaN, where no job finished, never does."""
        match self.relation:
            case "<=":
                return value <= self.bound
            case "<":
                return value < self.bound
            case ">=":
                return value >= self.bound
        return value > self.bound

    def holds_surely(self, found: Estimate) -> bool:
        """Whether all of the 95 % interval keeps the need."""
        return found.ci95 is not None and all(map(self.holds, found.ci95))

    def fails_surely(self, found: Estimate) -> bool:
        """Whether none of the 95 % interval keeps the need."""
        return found.ci95 is not None and not any(map(self.holds, found.ci95))

    def margin(self, value: float) -> float:
        """How far a value is on the right side of the bound, in bounds (of a bound of 0: in the metric's unit)."""
        if math.isnan(value):
            return -math.inf
        away = self.bound - value if self.is_ceiling else value - self.bound
        return away / (abs(self.bound) or 1.0)


def metrics_named(texts: Sequence[str]) -> tuple[str, ...]:
    """The names of the metrics in what may be needs, whether or not there are such metrics."""
    parts = [part.strip() for text in texts for part in re.split(r"\s+and\s+", text.strip())]
    return tuple(match[1] for part in parts if (match := PATTERN.fullmatch(part)))


def needs_of(texts: Sequence[str], metrics: Collection[str]) -> tuple[Need, ...]:
    """The needs that a user asks for.

    Args:
        texts: each METRIC<=VALUE, or several joined by `and`.
        metrics: those that a run has.

    Raises InputError: what is no need, an unknown metric, no finite number; all at once.
    """
    found: list[Need] = []
    problems = []
    for text in texts:
        for part in re.split(r"\s+and\s+", text.strip()):
            match = PATTERN.fullmatch(part.strip())
            number = match[3] if match else ""
            if match is None:
                problems.append(f"--need {shortened(text)}: {ALLOWED}")
            elif match[1] not in metrics:
                hint = why_absent(match[1]) or f": {nearest_metric(match[1], metrics)}"
                problems.append(f"--need {shortened(text)}: no such metric{hint}")
            elif not NUMBER.fullmatch(number) or not math.isfinite(float(number)):
                problems.append(f"--need {shortened(text)}: {shortened(number)} is no finite number; {ALLOWED}")
            else:
                found.append(Need(match[1], match[2], float(number)))
    problems += [f"--need {need}: is given twice" for need in dict.fromkeys(found) if found.count(need) > 1]
    if problems:
        raise InputError(problems)
    return tuple(found)


@dataclass(frozen=True)
class JudgedValue:
    """What a value of the key came to under a policy."""

    value: float  # of the key
    estimates: Mapping[str, Estimate]  # of each metric that is asked about, over the seeds
    is_kept: bool  # whether the means keep all needs
    is_sure: bool  # whether the intervals do
    is_doomed: bool  # whether the interval of some metric keeps none of its need
    margin: float  # of the need that is furthest from being kept
    unfinished: float = 0.0  # jobs that did not finish, in the mean over the seeds
    one_sample: bool = False  # whether every seed gave the same run: the interval is one number, and none to be shown
    from_s: float = 0.0  # jobs that arrive before are left out, at every seed [s]
    unsettled: int = 0  # runs in which MSER found no steady state

    def shown(self, metric: str) -> Estimate:
        """The estimate of a metric as it is shown: without an interval where there is one sample."""
        found = self.estimates[metric]
        return Estimate(found.mean, None) if self.one_sample else found


def judged(
    needs: Sequence[Need],
    value: float,
    estimates: Mapping[str, Estimate],
    unfinished: float = 0.0,
    one_sample: bool = False,
) -> JudgedValue:
    """Hold the estimates at a value against the needs; where a mean is missing no need is kept, nor could it be."""
    found = [(need, estimates[need.metric]) for need in needs]
    is_missing = any(math.isnan(one.mean) for _, one in found)
    is_kept = all(need.holds(one.mean) for need, one in found)
    return JudgedValue(
        value=value,
        estimates=estimates,
        is_kept=is_kept,
        is_sure=is_kept and all(need.holds_surely(one) for need, one in found),
        is_doomed=is_missing or (not is_kept and any(need.fails_surely(one) for need, one in found)),
        margin=min(need.margin(one.mean) for need, one in found),
        unfinished=unfinished,
        one_sample=one_sample,
    )
