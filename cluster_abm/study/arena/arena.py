"""The arena's runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from cluster_abm.limits import check_runs, counted
from cluster_abm.policies import available
from cluster_abm.study.arena.regimes import FACTORS, headline_of, sample, scenario_of
from cluster_abm.study.arena.verdicts import BESIDE, RegimeVerdict, logs_of, verdicts
from cluster_abm.study.design.policies import check_policies, with_policy
from cluster_abm.study.runner.tasks import RunsOutcome, SeededRun, Where, run_all
from cluster_abm.workload.laws.estimated import Estimated, estimated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cluster_abm.results.figures.options import Look

SAMPLE_SEED, FIRST_SEED = 2026, 1
METRICS = (BESIDE, "p95_slowdown", "messages_per_job", "remote_executions", "migrations", "jobs.submitted")
# What is left out where all policies are asked for, and why.
LEFT_OUT = {
    "pooled": "the pooled reference, no policy",
    "data-access": "needs files", "data-class": "needs files", "data-majority": "needs files",
    "learned": "needs a file of weights",
    "no-ls": "none, with another name", "no-ls-blocking": "holds jobs until memory is free, as IOCM's NLS does",
}  # fmt: skip


class ArenaSize(NamedTuple):
    """How large an arena is."""

    regimes: int  # how many points of the space are run
    seeds: int  # how many seeds of each
    # tasks_per_core, least_tasks: how long each run is (regimes.settings_of)
    tasks_per_core: int
    least_tasks: int


FULL, QUICK = ArenaSize(60, 6, 16, 800), ArenaSize(24, 4, 12, 600)


@dataclass(frozen=True)
class Arena:
    """A finished arena."""

    regimes: pd.DataFrame  # index regime, a column a factor
    runs: pd.DataFrame  # a row a run: regime, policy, seed, the headline, and METRICS
    outcome: RunsOutcome  # what became of each run
    found: dict[int, RegimeVerdict]  # the verdict on each regime of which all runs have finished
    settings: Mapping[str, object]  # keys that were laid over all regimes
    estimated: Estimated | None = None  # what the metrics estimate, over all regimes

    @property
    def headline(self) -> str:
        """The measure that regret is of."""
        return headline_of(self.settings)

    def plot(self, metric: str = "regret", **look: Unpack[Look]) -> Figure:
        """Draw how far from the best each policy is, or where which policy is the best.

        Args:
            metric: "regret" or "map".
            look: size, labels, title, style; of regrets policies, of the map colours (results.figures.options.Look).

        Returns:
            A Matplotlib figure; a notebook shows it, and `.savefig("mine.pdf")` writes it.

        Raises InputError: no regime has all its runs, no such picture, or an option that it does not take.
        """
        from cluster_abm.study.arena.figures import figure_of

        return figure_of(self.regimes, self.runs, self.found, self.headline, metric, look)

    @property
    def logs(self) -> pd.DataFrame:
        """Logarithms of the headline (verdicts.logs_of)."""
        return logs_of(self.runs, self.headline)


def contestants(own: Sequence[str] = ()) -> list[str]:
    """All policies that compete: those of this package and of entry points, and the user's own first."""
    others = [name for name in available() if name not in LEFT_OUT and name not in own]
    return [*own, *others]


def hold(
    policies: Sequence[str],
    plan: ArenaSize,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
    more: Mapping[str, object] | None = None,
) -> Arena:
    """Let policies compete.

    Args:
        policies: names; the pooled reference `pooled` runs beside them.
        plan: how large the arena is.
        workers, quiet, where: as in `run_all`.
        more: keys of a scenario that are laid over all regimes.

    Raises InputError: unknown policies, or whatever a run finds wrong in what it was given.
    """
    check_policies(policies)
    names = list(dict.fromkeys([*policies, "none", "pooled"]))
    check_runs(f"{counted(plan.regimes)} regimes, {plan.seeds} seeds, {len(names)} policies",
               plan.regimes * plan.seeds * len(names))  # fmt: skip
    points, headline = sample(plan.regimes, SAMPLE_SEED), headline_of(more or {})
    metrics = list(dict.fromkeys([headline, *METRICS]))
    labels, tasks, scenarios = [], [], []
    for number, point in enumerate(points):
        scenario = scenario_of(point, plan.tasks_per_core, plan.least_tasks, more)
        scenarios.append(scenario)
        variants = {name: with_policy(scenario, name) for name in names}
        for seed in range(FIRST_SEED, FIRST_SEED + plan.seeds):
            for name in names:
                labels.append((number, name, seed))
                tasks.append(SeededRun(variants[name], seed))
    outcome = run_all(tasks, workers, label="arena", quiet=quiet, where=where)
    rows = [
        {"regime": number, "policy": name, "seed": seed, **{metric: row.get(metric, np.nan) for metric in metrics}}
        for (number, name, seed), row in zip(labels, outcome.rows, strict=True)
        if row is not None
    ]
    runs = pd.DataFrame(rows, columns=["regime", "policy", "seed", *metrics])
    # A regime counts once all its runs are there.
    complete = runs.groupby("regime")[headline].count()
    whole = complete.index[complete == plan.seeds * len(names)]
    regimes = pd.DataFrame(points, columns=[factor.name for factor in FACTORS]).rename_axis("regime")
    kept = runs[runs["regime"].isin(whole)]
    of_regimes: list[list[Mapping[str, Any]]] = [[] for _ in scenarios]
    for (number, _, _), row in zip(labels, outcome.rows, strict=True):
        if row is not None:
            of_regimes[number].append(row)
    window = estimated([*zip(scenarios, of_regimes, strict=True)])
    return Arena(regimes, runs, outcome, verdicts(kept, headline) if len(kept) else {}, dict(more or {}), window)
