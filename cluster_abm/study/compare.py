"""Policies compared on the same jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.limits import check_runs, counted
from cluster_abm.policies import available, create
from cluster_abm.scenario import Scenario, nearest
from cluster_abm.study.runs import Outcome, Task, run_all
from cluster_abm.study.statistics import Estimate, PairedDifference, all_pairs, corrected, estimate


@dataclass(frozen=True)
class Comparison:
    """A finished comparison.

    Attributes:
        scenario: what was run.
        policies: names, in the order asked for.
        seeds: seeds for which every policy finished; the statistics are over these.
        runs: one row a run: policy, seed, all metrics (parts of the breakdown as breakdown_ms.<part>), jobs.<state>.
        outcome: what became of each run.
    """

    scenario: Scenario
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    runs: pd.DataFrame
    outcome: Outcome

    def values(self, policy: str, metric: str) -> list[float]:
        """One policy's metric, one value a seed."""
        chosen = self.runs[(self.runs["policy"] == policy) & self.runs["seed"].isin(self.seeds)]
        return [float(value) for value in chosen.sort_values("seed")[metric]]

    def estimate(self, policy: str, metric: str) -> Estimate:
        """One policy's mean of a metric over seeds."""
        return estimate(self.values(policy, metric))

    def pairs(self, metric: str = "mean_slowdown") -> dict[tuple[str, str], PairedDifference]:
        """Every pair of policies (a before b in the order asked for); significance Holm-corrected over all."""
        return corrected(all_pairs({name: self.values(name, metric) for name in self.policies}))

    def best(self, metric: str = "mean_slowdown") -> tuple[str, ...]:
        """The policy of least mean, and those that are not told apart from it; the first one leads.

        A single name wins by more than noise: its paired difference to every other is significant, Holm-corrected.
        """
        ranked = sorted(self.policies, key=lambda name: _last_if_nan(self.estimate(name, metric).mean))
        pairs = self.pairs(metric)
        leader = ranked[0]
        return tuple(
            name
            for name in ranked
            if name == leader or not (pairs.get((leader, name)) or pairs[name, leader]).significant
        )

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm compare --json` prints."""
        metrics = [name for name in self.runs.columns if name not in ("policy", "seed")]
        policies: dict[str, Any] = {}
        pairs: list[dict[str, Any]] = []
        if self.seeds:
            for policy in self.policies:
                slowdown = self.estimate(policy, "mean_slowdown")
                entry: dict[str, Any] = {"mean_slowdown": finite(slowdown.mean), "ci95": _listed(slowdown)}
                for metric in metrics:
                    if metric != "mean_slowdown":
                        _put(entry, metric, self.estimate(policy, metric).mean)
                policies[policy] = entry
            for (a, b), pair in self.pairs().items():
                pairs.append(
                    {
                        "a": a,
                        "b": b,
                        "ratio": finite(pair.ratio),
                        "difference": finite(pair.difference.mean),
                        "ci95": _listed(pair.difference),
                        "significant": pair.significant,
                    }
                )
        return {
            "scenario": self.scenario.name,
            "seeds": list(self.seeds),
            "policies": policies,
            "pairs": pairs,
        }


def compare(
    scenario: Scenario,
    policies: Sequence[str] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    quiet: bool = False,
) -> Comparison:
    """Run each policy from the same seeds (the scenario's, and those that follow it).

    Args:
        scenario: the scenario; parameters of its own policy are kept for every policy that knows them.
        policies: names; default: the scenario's `compare.policies`.
        seeds: how many; default: the scenario's `compare.seeds`.
        workers, quiet: as in `run_all`.

    Raises:
        InputError: unknown policies, or whatever a run finds wrong in what it was given.
    """
    names = tuple(policies or scenario.compare.policies)
    check_policies(names)
    first = scenario.run.seed
    count = seeds or scenario.compare.seeds
    check_seeds(first, count)
    check_runs(f"{counted(count)} seeds of {len(names)} policies", count * len(names))
    wanted = range(first, first + count)
    variants = {name: with_policy(scenario, name) for name in names}
    for variant in variants.values():
        create(variant.policy)
    # Seed by seed, so that what is finished when somebody interrupts can be compared.
    tasks = [Task(variants[name], seed) for seed in wanted for name in names]
    outcome = run_all(tasks, workers, label=f"compare {scenario.name}", quiet=quiet)
    runs = runs_frame(summary for summary in outcome.summaries if summary is not None)
    complete = tuple(seed for seed in wanted if sum(runs["seed"] == seed) == len(names)) if len(runs) else ()
    return Comparison(scenario, names, complete, runs, outcome)


def check_seeds(first: int, count: int) -> None:
    """Raise InputError if a run's seed would not fit into 63 bits."""
    if first + count > 2**63:
        said = f"seeds from {counted(first)} on, {counted(count)} of them"
        raise InputError(f"{said}: a seed must be below 2^63 = {2**63:,}")


def check_policies(names: Sequence[str]) -> None:
    """Raise InputError for unknown or repeated policies, all at once."""
    known = list(available())
    problems = [f"policies: {name!r}: no such policy; {nearest(name, known)}" for name in names if name not in known]
    problems += [f"policies: {name!r} is named twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    if not names:
        problems.append(f"policies: none named; allowed: {', '.join(known)}")
    if problems:
        raise InputError(problems)


def with_policy(scenario: Scenario, name: str) -> Scenario:
    """The same scenario under another policy."""
    return scenario.model_copy(update={"policy": scenario.policy.model_copy(update={"name": name})})


def runs_frame(summaries: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Summaries as a table: policy, seed, every metric a column, and how many jobs are in which state."""
    rows = []
    for summary in summaries:
        row: dict[str, Any] = {"policy": summary["policy"], "seed": summary["seed"]}
        for name, value in summary["metrics"].items():
            if isinstance(value, dict):
                row |= {f"{name}.{part}": float("nan") if x is None else x for part, x in value.items()}
            else:
                row[name] = float("nan") if value is None else value
        row |= {f"jobs.{state}": count for state, count in summary["jobs"].items()}
        rows.append(row)
    return pd.DataFrame(rows)


def finite(value: float) -> float | None:
    """A number for JSON: what does not exist (no job finished, say) is None."""
    return value if math.isfinite(value) else None


def _last_if_nan(mean: float) -> float:
    return math.inf if math.isnan(mean) else mean


def _listed(found: Estimate) -> list[float] | None:
    return None if found.ci95 is None or not all(map(math.isfinite, found.ci95)) else list(found.ci95)


def _put(entry: dict[str, Any], metric: str, mean: float) -> None:
    value = finite(mean)
    section, _, part = metric.partition(".")
    if part:
        entry.setdefault(section, {})[part] = value
    else:
        entry[metric] = value
