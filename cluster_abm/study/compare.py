"""Policies compared on the same jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.limits import check_runs, counted
from cluster_abm.policies import AnyPolicy, available
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.study.design.policies import check_policies, variants_of, with_policy
from cluster_abm.study.runner.tasks import Outcome, Task, Where, run_all
from cluster_abm.study.statistics.bounds import bounds_of
from cluster_abm.study.statistics.estimates import Estimate, PairedDifference, all_pairs, corrected, estimate
from cluster_abm.study.statistics.gap import share_of_gap

# The policies between which a gap is closed: no balancing, and all nodes in one at no cost.
WORST, BEST = "none", "ideal"


@dataclass(frozen=True)
class Comparison:
    """A finished comparison.

    Attributes:
        scenario: what was run.
        policies: names, in the order asked for (`variants_of`).
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
        """One policy's mean of a metric over seeds, with an interval that keeps to what the metric can be."""
        return estimate(self.values(policy, metric), bounds_of(metric))

    def pairs(self, metric: str = "mean_slowdown") -> dict[tuple[str, str], PairedDifference]:
        """Every pair of policies (a before b in the order asked for); significance and intervals Holm-corrected."""
        return corrected(all_pairs({name: self.values(name, metric) for name in self.policies}, bounds_of(metric)))

    @property
    def has_gap(self) -> bool:
        """Whether both ends of the gap that policies close ran: `none` and `ideal`."""
        return bool(self.seeds) and {WORST, BEST} <= set(self.policies)

    def gap_closed(self, policy: str, metric: str = "mean_slowdown") -> Estimate | None:
        """The share of the gap between `none` and `ideal` that a policy closes: 0 = as `none`, 1 = as `ideal`.

        (none - policy) / (none - ideal) of the means, as `mean`, and Fieller's 95 % interval of this policy alone (see
        statistics.gap). It may lie outside 0..1: a policy can be worse than none.

        Args:
            policy: one of those compared.
            metric: one of which less is better.

        Returns:
            None where one of the two did not run, or `ideal` has no better mean than `none`; without an interval on one
            seed, or where the gap itself is not told apart from 0.
        """
        if not self.has_gap:
            return None
        return share_of_gap(*(self.values(name, metric) for name in (WORST, policy, BEST)))

    def best(self, metric: str = "mean_slowdown") -> tuple[str, ...]:
        """Return the policy of least mean, and after it those that do not differ from it by more than noise.

        A single name wins by more than noise: its paired difference to every other is significant, Holm-corrected.
        A bound, such as `ideal`, is no policy: it leads only where nothing else ran.
        """
        known = available()
        bounds = {name for name in self.policies if name in known and known[name].pooled}
        ranked = sorted(
            [name for name in self.policies if name not in bounds] or self.policies,
            key=lambda name: _last_if_nan(self.estimate(name, metric).mean),
        )
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
                closed = self.gap_closed(policy)
                entry: dict[str, Any] = {
                    "mean_slowdown": finite(slowdown.mean),
                    "ci95": _listed(slowdown),
                    "gap_closed": None if closed is None else closed.mean,
                    "gap_closed_ci95": None if closed is None else _listed(closed),
                }
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
    scenario: Scenario | str | Path,
    policies: Sequence[AnyPolicy] | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
) -> Comparison:
    """Run each policy from the same seeds (the scenario's, and those that follow it).

    Args:
        scenario: a scenario, the name of a shipped one, or the path of a TOML file; parameters of its own policy are
            kept for every policy that knows them.
        policies: names, FILE.py:CLASS, classes, or objects, which carry their parameters; default: the scenario's
            `compare.policies`.
        seeds: how many; default: the scenario's `compare.seeds`.
        workers, quiet, where: as in `run_all`.

    Raises:
        InputError: unknown policies, or whatever a run finds wrong in what it was given.
    """
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    variants = _variants(scenario, policies)
    names = tuple(variants)
    first = scenario.run.seed
    count = seeds or scenario.compare.seeds
    check_seeds(first, count)
    check_runs(f"{counted(count)} seeds of {len(names)} policies", count * len(names))
    wanted = range(first, first + count)
    # Seed by seed, so that what is finished at an interrupt can be compared.
    places = [(name, seed) for seed in wanted for name in names]
    tasks = [Task(variants[name], seed) for name, seed in places]
    outcome = run_all(tasks, workers, label=f"compare {scenario.name}", quiet=quiet, where=where)
    finished = zip(places, outcome.rows, strict=True)
    runs = runs_frame((name, seed, row) for (name, seed), row in finished if row is not None)
    complete = tuple(seed for seed in wanted if sum(runs["seed"] == seed) == len(names)) if len(runs) else ()
    return Comparison(scenario, names, complete, runs, outcome)


def _variants(scenario: Scenario, policies: Sequence[AnyPolicy] | None) -> dict[str, Scenario]:
    if policies:
        return variants_of(scenario, policies)
    # Data: a name there is a name, and never a file.
    check_policies(scenario.compare.policies)
    return {name: with_policy(scenario, name) for name in scenario.compare.policies}


def check_seeds(first: int, count: int) -> None:
    """Raise InputError if a run's seed would not fit into 63 bits."""
    if first + count > 2**63:
        seeds_words = f"seeds from {counted(first)} on, {counted(count)} of them"
        raise InputError(f"{seeds_words}: a seed must be below 2^63 = {2**63:,}")


def runs_frame(rows: Iterable[tuple[str, int, Mapping[str, Any]]]) -> pd.DataFrame:
    """Runs as a table: policy, seed, every metric of the whole run a column, and how many jobs are in which state."""
    return pd.DataFrame(
        [
            {"policy": policy, "seed": seed}
            | {name: value for name, value in row.items() if not isinstance(value, list) and _is_of_run(name)}
            for policy, seed, row in rows
        ]
    )


def _is_of_run(name: str) -> bool:
    return not name.startswith("programs.")


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
