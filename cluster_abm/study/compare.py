"""Policies compared on the same jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from cluster_abm.arguments import check_arguments, or_none, shortened
from cluster_abm.errors import InputError
from cluster_abm.limits import check_runs, counted
from cluster_abm.policies import BOUNDS, AnyPolicy, Policy
from cluster_abm.scenario import Scenario, scenario_of
from cluster_abm.scenario.filling.handing_over import with_graph
from cluster_abm.scenario.filling.overriding import laid_over
from cluster_abm.scenario.policy_names import current_name
from cluster_abm.study.asking import check_seeds
from cluster_abm.study.comparison import BEST, WORST, Comparison, finite
from cluster_abm.study.design.policies import (
    LIST_OF_POLICIES,
    check_policies,
    default_policies,
    variants_of,
    with_policy,
)
from cluster_abm.study.lower_bound import bounds_of_seeds
from cluster_abm.study.reference import ReferenceRuns, reference_tasks
from cluster_abm.study.runner.calling import place_of, seeds_of
from cluster_abm.study.runner.tasks import SeededRun, Where, run_all

One = TypeVar("One", bound=AnyPolicy)

# Also what others take from here.
__all__ = [
    "BEST", "WORST", "Comparison", "check_policies", "check_seeds", "compare", "finite", "runs_frame", "variants_of",
    "with_policy",
]  # fmt: skip
# What a misspelt keyword may mean.
ARGUMENTS = ("scenario", "policies", "seeds", "workers", "quiet", "where", "overrides", "out", "network", "baseline",
             "all_pairs", "reference_seeds")  # fmt: skip


def compare(
    scenario: Scenario | str | Path,
    policies: Sequence[AnyPolicy] | AnyPolicy | None = None,
    seeds: int | None = None,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
    *,
    overrides: Mapping[str, object] | None = None,
    out: str | Path | None = None,
    network: Any = None,
    baseline: str | None = None,
    all_pairs: bool = False,
    reference_seeds: int | None = None,
    **keywords: object,
) -> Comparison:
    """Run policies on the same jobs, from several seeds, and compare them.

    Every policy runs from the same seeds: the scenario's `run.seed`, and those that follow it. Runs are spread over
    the processors; a script that does so needs `if __name__ == "__main__":` around the call, a notebook does not.

    Example:
        >>> import cluster_abm as ca
        >>> found = ca.compare("quickstart", ["none", "jsq"], seeds=4, workers=1, quiet=True)
        >>> found.conclusion
        'bounded slowdown, against none: jsq better (t tests of ratios, Holm, 5 %)'
        >>> table, picture = found.estimates("p95_slowdown"), found.plot()

    Args:
        scenario: a scenario, the name of a shipped one, or the path of a TOML file; parameters of its own policy are
            kept for every policy that knows them.
        policies: names, FILE.py:CLASS, classes, or objects, which carry their parameters; default: the scenario's
            `compare.policies`, of a scenario with a script without the pooled ones. With `srpt-pool` among them the
            lower bound on mean response stands beside them.
        seeds: how many; default: the scenario's `compare.seeds`.
        workers: processes at most; None: one for each processor; 1: all runs in this process.
        quiet: no progress bar.
        where: another executor (Dask, Slurm) and its folder, in place of `workers` and `out`.
        overrides: dotted keys laid over the scenario, {"cluster.nodes": 64}.
        out: a folder that keeps finished runs; the same call, interrupted or repeated, does only those that it lacks.
        network: a networkx graph that joins the nodes, as of `load_scenario`.
        baseline: the policy that the others are compared with, one of them; default: the first one.
        all_pairs: compare every policy with every other one.
        reference_seeds: from how many seeds the pooled reference runs, to correct each policy's own mean for seeds with
            more or less work than others (docs/concepts/statistics.md); more than `seeds`. None: no mean is corrected.
        keywords: the same as `overrides`, `__` for the dot: cluster__nodes=64.

    Returns:
        The comparison: `estimates()`, `differences()`, `best()`, `conclusion`, `runs` (a row a run), `plot()`.

    Raises:
        InputError: unknown policies or keys, or whatever a run finds wrong in what it was given.
    """
    place = place_of(workers, quiet, where, out)
    scenario = scenario_of(scenario, with_graph(laid_over(overrides, keywords, ARGUMENTS), network))
    wanted, has_bound = without_bounds(_asked(scenario, policies))
    variants = variants_of(scenario, wanted)
    names = tuple(variants)
    named = current_name(baseline) if isinstance(baseline, str) else ""
    if baseline is not None and named not in names:
        raise InputError(
            f"baseline {shortened(baseline)}: not among the policies compared; allowed: {', '.join(names)}"
        )
    first = scenario.run.seed
    count = seeds_of(seeds, scenario.compare.seeds)
    check_seeds(first, count)
    check_runs(f"{counted(count)} seeds of {len(names)} policies", count * len(names))
    seeds_wanted = range(first, first + count)
    # Seed by seed, so that what is finished at an interrupt can be compared.
    labels = [(name, seed) for seed in seeds_wanted for name in names]
    more = reference_tasks(scenario, count, reference_seeds)
    tasks = [*(SeededRun(variants[name], seed) for name, seed in labels), *more]
    outcome = run_all(tasks, workers, label=f"compare {scenario.name}", quiet=quiet, where=place)
    finished = zip(labels, outcome.rows[: len(labels)], strict=True)
    of_reference = zip(more, outcome.rows[len(labels) :], strict=True)
    pooled = {task.seed: row for task, row in of_reference if row is not None}
    runs = runs_frame((name, seed, row) for (name, seed), row in finished if row is not None)
    complete = tuple(seed for seed in seeds_wanted if sum(runs["seed"] == seed) == len(names)) if len(runs) else ()
    bound: dict[int, float] | None = None
    if has_bound:
        try:
            bound = bounds_of_seeds(scenario, runs, complete)
        except KeyboardInterrupt:
            # The runs are kept all the same.
            bound, outcome.interrupted = dict.fromkeys(complete, math.nan), True
    return Comparison(
        scenario, names, complete, runs, outcome, bound=bound, named_baseline=named, are_all_paired=all_pairs,
        reference=ReferenceRuns(pooled) if more else None,
    )  # fmt: skip


def _asked(scenario: Scenario, policies: Sequence[AnyPolicy] | AnyPolicy | None) -> Sequence[AnyPolicy]:
    if isinstance(policies, str | type | Policy):
        # One alone: a text is a sequence, too.
        return [policies]
    check_arguments(policies=(policies, or_none(LIST_OF_POLICIES)))
    if policies is not None:
        if not len(policies):
            raise InputError("policies = []: at least one is needed; None takes the scenario's compare.policies")
        return policies
    # Data: a name there is a name, and never a file.
    names = default_policies(scenario).names
    check_policies(without_bounds(names)[0])
    return names


def without_bounds(policies: Sequence[One]) -> tuple[list[One], bool]:
    """Those of them that are policies, and whether the lower bound is named too. Raises InputError: it is alone."""
    found = [one for one in policies if not (isinstance(one, str) and one in BOUNDS)]
    if policies and not found:
        raise InputError(f"policies: {', '.join(map(str, policies))}: a lower bound; name a policy beside it")
    return found, len(found) < len(policies)


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
