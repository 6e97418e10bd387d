"""Policies on a log and on the scenario fitted to it: are the conclusions the same?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import kendalltau

from cluster_abm.policies import AnyPolicy
from cluster_abm.scenario import Scenario
from cluster_abm.study.compare import Comparison, compare
from cluster_abm.study.statistics.paired import PairedDifference


@dataclass(frozen=True)
class Rankings:
    """Two comparisons of the same policies."""

    log: Comparison  # on the log; its seeds differ in what the log does not say
    fitted: Comparison  # on the fitted scenario, all of whose jobs a seed draws

    @property
    def metric(self) -> str:
        """The measure that policies are compared by: the log's headline."""
        return self.log.headline

    @property
    def tau(self) -> float:
        """Kendall's rank correlation of the policies' means: 1 of the same order; NaN of a single policy."""
        means = [[one.estimate(name, self.metric).mean for name in one.policies] for one in (self.log, self.fitted)]
        return float(kendalltau(*means).statistic) if len(means[0]) > 1 else math.nan

    @property
    def conclusions(self) -> list[tuple[str, str, str, str]]:
        """Of each pair of policies, a and b: which is better on the log, and on the fitted scenario; "" where neither
        is (`PairedDifference.verdict`)."""
        found = []
        fitted = self.fitted.every_pair(self.metric)
        for (a, b), pair in self.log.every_pair(self.metric).items():
            found.append((a, b, _better(a, b, pair), _better(a, b, fitted[a, b])))
        return found

    def counts(self) -> dict[str, int]:
        """How many pairs of policies there are, are decided on either, and are decided alike or the other way round."""
        found = self.conclusions
        return {
            "pairs": len(found),
            "decided_on_log": sum(bool(log) for _, _, log, _ in found),
            "decided_on_fitted": sum(bool(fitted) for _, _, _, fitted in found),
            "alike": sum(bool(log) and log == fitted for _, _, log, fitted in found),
            "opposite": sum(bool(log) and bool(fitted) and log != fitted for _, _, log, fitted in found),
        }

    def as_json(self) -> dict[str, Any]:
        """The part `policies` of `trace fit --json`."""
        return {
            "metric": self.metric,
            "tau": self.tau if math.isfinite(self.tau) else None,
            **self.counts(),
            "log": self.log.as_json(),
            "fitted": self.fitted.as_json(),
        }


def rank_on_both(
    log: Scenario, fitted: Scenario, policies: Sequence[AnyPolicy], seeds: int, workers: int | None = None
) -> Rankings | None:
    """Run each policy on the log and on the scenario fitted to it, from the same seeds; None where it was interrupted
    before there was anything to compare.

    Raises InputError: unknown policies, or whatever a run finds wrong in what it was given.
    """
    first = compare(log, policies, seeds, workers=workers)
    if first.outcome.interrupted:
        return None
    second = compare(fitted, policies, seeds, workers=workers)
    return Rankings(first, second) if first.seeds and second.seeds else None


def _better(a: str, b: str, pair: PairedDifference) -> str:
    return {"better": a, "worse": b}.get(pair.verdict(), "")
