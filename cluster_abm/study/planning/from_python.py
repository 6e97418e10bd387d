"""Capacity planning from Python: the smallest cluster, or the highest load, that meets a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from cluster_abm.arguments import COUNT, NUMBER, TEXT, Kind, check_arguments, or_none
from cluster_abm.errors import InputError
from cluster_abm.policies import AnyPolicy, Policy, name_of
from cluster_abm.results.files import out_folder
from cluster_abm.scenario import Scenario, scenario_of
from cluster_abm.scenario.filling.overriding import laid_over
from cluster_abm.study.design.policies import LIST_OF_POLICIES, default_policies
from cluster_abm.study.planning import plan as planning
from cluster_abm.study.planning.plan import Planned, PlanningQuestion
from cluster_abm.study.runner.calling import place_of, seeds_of
from cluster_abm.study.runner.tasks import Where

ONE_OR_MORE = Kind(
    LIST_OF_POLICIES.words, lambda value: isinstance(value, str | type | Policy) or LIST_OF_POLICIES.fits(value)
)
# What a misspelt keyword may mean.
ARGUMENTS = (
    "scenario", "need", "over", "policies", "low", "high", "seeds", "workers", "quiet", "where", "overrides", "out",
)  # fmt: skip
NEEDS = Kind(
    "a text as 'bounded_slowdown<=3', or a list of them,",
    lambda value: (
        isinstance(value, str)
        or (isinstance(value, Sequence) and bool(value) and all(isinstance(one, str) for one in value))
    ),
)


def plan(
    scenario: Scenario | str | Path,
    need: str | Sequence[str],
    over: str,
    policies: Sequence[AnyPolicy] | AnyPolicy | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    seeds: int = 8,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
    overrides: Mapping[str, object] | None = None,
    out: str | Path | None = None,
    **keywords: object,
) -> Planned:
    """Find the smallest cluster, or the highest load, that meets a target, policy by policy.

    The jobs stay those of the scenario while the key changes; all values and policies get the same seeds. Runs are
    spread over the processors; a script that does so needs `if __name__ == "__main__":` around the call.

    Example:
        >>> import cluster_abm as ca
        >>> found = ca.plan("quickstart", "p95_slowdown<=20", "cluster.nodes", "jsq", low=16, high=32, seeds=2,
        ...                 workers=1, quiet=True, workload__duration_s=30)
        >>> list(found.values)
        ['jsq']

    Args:
        scenario: a scenario, the name of a shipped one, or the path of a TOML file.
        need: the target, on average over seeds: METRIC<=VALUE (or <, >=, >), several joined by "and", or a list.
        over: the key that is planned, e.g. "cluster.nodes".
        policies: names, FILE.py:CLASS or classes; default: the scenario's `compare.policies`. Parameters are keys:
            policy__d=3.
        low, high: the range of the key; default: from 1/32 to 32 times of what the scenario says.
        seeds: runs of each value under each policy, 2 at least.
        workers: processes at most; None: one for each processor; 1: all runs in this process.
        quiet: no progress bar.
        where: another executor (Dask, Slurm), in place of `workers`.
        overrides: dotted keys laid over the scenario, {"cluster.cores": 4}.
        out: a folder that keeps finished runs; the same call, interrupted or repeated, does only those that it lacks.
        keywords: the same as `overrides`, `__` for the dot: cluster__cores=4.

    Returns:
        What was found: `values` (of the key, by policy), `frame()` (every value that was run), `plot()`.

    Raises:
        InputError: the target, the key, its range, or whatever a run finds wrong in what it was given.
    """
    place = place_of(workers, quiet, where, out)
    check_arguments(
        need=(need, NEEDS), over=(over, TEXT), policies=(policies, or_none(ONE_OR_MORE)),
        low=(low, or_none(NUMBER)), high=(high, or_none(NUMBER)), seeds=(seeds, COUNT),
    )  # fmt: skip
    checked = scenario_of(scenario, laid_over(overrides, keywords, ARGUMENTS))
    chosen = default_policies(checked).names if policies is None else _names(policies)
    needs = (need,) if isinstance(need, str) else tuple(need)
    ends = tuple(None if end is None else float(end) for end in (low, high))
    question = PlanningQuestion(checked, needs, over.strip(), tuple(chosen), ends[0], ends[1], seeds_of(seeds, 8))
    with nullcontext() if out is None else out_folder(Path(out)) as folder:
        return planning.plan(question, quiet=quiet, where=place, folder=folder)


def _names(policies: Sequence[AnyPolicy] | AnyPolicy) -> list[str]:
    several = [policies] if isinstance(policies, str | type | Policy) else policies
    for one in several:
        if isinstance(one, Policy) and one.parameters != type(one).Parameters():
            raise InputError(
                f"policies = {type(one).__name__}(...): an object's parameters are not planned with: name its class, "
                "and give parameters as keys, as policy__d=3"
            )
    return [name_of(one) for one in several]
