"""A comparison as a document: what `cluster-abm compare --json` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from cluster_abm.policies import class_of
from cluster_abm.policy.bounds import SRPT_POOL
from cluster_abm.results.asked import is_more_better
from cluster_abm.results.metrics import place_in_json
from cluster_abm.study.comparison_words import about, notes_of
from cluster_abm.study.design.traits import traits_of
from cluster_abm.study.heads import estimated_by_runs
from cluster_abm.study.reference import Referred, corrected_policies
from cluster_abm.study.statistics.gap import BOUNDED
from cluster_abm.workload import bound_ms
from cluster_abm.workload.homes import count_of_homes

if TYPE_CHECKING:
    import pandas as pd

    from cluster_abm.scenario import Scenario
    from cluster_abm.study.statistics.estimates import Estimate
    from cluster_abm.study.statistics.pairs import Pairs


class ComparedPolicies(Referred, Protocol):
    """What the document reads of a comparison (study.comparison.Comparison)."""

    @property
    def scenario(self) -> Scenario:
        """What was run."""

    @property
    def runs(self) -> pd.DataFrame:
        """One row a run."""

    @property
    def bound(self) -> Mapping[int, float] | None:
        """The lower bound on the mean response by seed [ms], where it was wanted."""

    @property
    def replications(self) -> int:
        """How many seeds give different runs."""

    @property
    def baseline(self) -> str:
        """The policy that the others are compared with."""

    def estimate(self, policy: str, metric: str) -> Estimate:
        """Mean and interval of a metric."""

    def pairs(self, metric: str | None = ...) -> Pairs:
        """Each policy against the baseline, or all pairs; by the headline, where no metric is named."""

    def gap_closed(self, policy: str) -> Estimate | None:
        """The share of the gap to the pooled reference that a policy closes."""


def document_of(found: ComparedPolicies) -> dict[str, Any]:
    """What was compared, each policy's means, and every pair's difference; numbers that do not exist are None."""
    metrics = [name for name in found.runs.columns if name not in ("policy", "seed")]
    policies: dict[str, Any] = {}
    pairs: list[dict[str, Any]] = []
    corrected = corrected_policies(found, found.headline) if found.seeds else []
    if found.seeds:
        for policy in found.policies:
            slowdown = found.estimate(policy, "mean_slowdown")
            closed = found.gap_closed(policy)
            entry: dict[str, Any] = {
                "mean_slowdown": finite(slowdown.mean),
                "ci95": _listed(slowdown),
                "gap_closed": None if closed is None else closed.mean,
                "gap_closed_ci95": None if closed is None else _listed(closed),
            }
            for metric in metrics:
                if metric != "mean_slowdown":
                    _put(entry, metric, finite(found.estimate(policy, metric).mean))
            for metric in found.scenario.measure.metrics:
                section, _, part = place_in_json(metric).rpartition(".")
                place = f"{section}_ci95.{part}" if section else f"{metric}_ci95"
                _put(entry, place, _listed(found.estimate(policy, metric)))
            entry["is_corrected"] = policy in corrected
            # Stored runs may be of a policy in a file that this process has not read.
            traits = None if class_of(policy) is None else traits_of(found.scenario, policy)
            entry["information"] = None if traits is None else traits.information
            entry["may_refuse"] = None if traits is None else traits.may_refuse
            policies[policy] = entry
        if found.bound is not None:
            bound = finite(found.estimate(SRPT_POOL, BOUNDED).mean)
            policies[SRPT_POOL] = dict.fromkeys(policies[found.policies[0]]) | {BOUNDED: bound}
        raw = found.pairs("mean_slowdown")
        for (a, b), pair in found.pairs().items():
            difference = raw[a, b].difference
            pairs.append(
                {
                    "a": a,
                    "b": b,
                    "ratio": finite(pair.ratio),
                    "ratio_ci95": None if pair.ratio_ci95 is None else list(pair.ratio_ci95),
                    "significant": pair.significant,
                    "tails_unlike": pair.tails_unlike,
                    "verdict": pair.verdict(is_more_better(found.headline)),
                    "difference": finite(difference.mean),
                    "ci95": _listed(difference),
                    "means_differ": pair.means_differ,
                }
            )
    return {
        "scenario": found.scenario.name,
        **estimated_by_runs(found.scenario, found.runs).as_json(),
        "seeds": list(found.seeds),
        "replications": found.replications,
        "intervals_about": about(found.scenario) if found.replications > 1 else None,
        "notes": notes_of(found.scenario),
        "reference_seeds": None if found.reference is None else len(found.reference.rows),
        "headline": found.headline,
        "bound_ms": bound_ms(found.scenario),
        "baseline": found.baseline,
        "dispatchers": count_of_homes(found.scenario),
        "policies": policies,
        **_recorded(policies, found.baseline),
        "pairs": pairs,
    }


def _recorded(policies: Mapping[str, Any], baseline: str) -> dict[str, Any]:
    """The waits in the log, of the jobs that finished under the baseline; nothing where the log has none."""
    name = "recorded_wait_s"
    return {name: policies[baseline][name]} if name in policies.get(baseline, {}) else {}


def finite(value: float) -> float | None:
    """A number for JSON: what does not exist (no job finished, say) is None."""
    return value if math.isfinite(value) else None


def _listed(found: Estimate) -> list[float] | None:
    return None if found.ci95 is None or not all(map(math.isfinite, found.ci95)) else list(found.ci95)


def _put(entry: dict[str, Any], metric: str, value: Any) -> None:
    section, _, part = place_in_json(metric).partition(".")
    if part:
        entry.setdefault(section, {})[part] = value
    else:
        entry[metric] = value
