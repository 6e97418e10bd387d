"""The arena's runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from cluster_abm.limits import check_runs, counted
from cluster_abm.policies import available
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.study.arena.regimes import BASE, FACTORS, headline_of, sample, scenario_of
from cluster_abm.study.arena.rules import Rules, held_rules
from cluster_abm.study.arena.sizes import VARIANTS, effects_of_sizes
from cluster_abm.study.arena.verdicts import BESIDE, RegimeVerdict, logs_of, table_of_regret, verdicts
from cluster_abm.study.design.policies import check_policies, with_policy
from cluster_abm.study.design.settings_in_words import ages_and_dispatchers
from cluster_abm.study.design.traits import Traits, traits_of
from cluster_abm.study.runner.tasks import RunsOutcome, SeededRun, Where, run_all
from cluster_abm.workload.laws.estimated import Estimated, estimated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cluster_abm.results.figures.options import Look

SAMPLE_SEED, FIRST_SEED = 2026, 1
METRICS = (BESIDE, "p95_slowdown", "messages_per_job", "remote_executions", "migrations", "jobs.submitted")
# Policies of which rules are sought: the best, and the textbook's.
RULES_OF_BEST = 10
TEXTBOOK = (
    "random", "round-robin", "power-of-d", "jsq", "lwl", "central-queue", "easy", "tetris", "jiq", "cpu-based", "none",
)  # fmt: skip
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
    paired: int = 0  # how many of the regimes are also run with sizes changed (sizes.VARIANTS), with half of the seeds

    @property
    def paired_regimes(self) -> int:
        """How many regimes are paired."""
        return min(self.paired, self.regimes)

    @property
    def paired_seeds(self) -> int:
        """Seeds of each of these."""
        return max(2, self.seeds // 2)

    @property
    def cells(self) -> int:
        """Regimes times seeds, of all that is run."""
        return self.regimes * self.seeds + self.paired_regimes * self.paired_seeds * len(VARIANTS)


FULL, QUICK = ArenaSize(60, 6, 16, 800, 12), ArenaSize(24, 4, 12, 600, 6)


class Draw(NamedTuple):
    """Which regimes are drawn, and which seeds they are run from."""

    sample: int  # the seed of the hypercube
    first_seed: int


# What an arena is found by, and what `--verify` holds it against.
FOUND, FRESH = Draw(SAMPLE_SEED, FIRST_SEED), Draw(SAMPLE_SEED + 1, FIRST_SEED + 1000)


@dataclass(frozen=True)
class Arena:
    """A finished arena."""

    regimes: pd.DataFrame  # index regime, a column a factor
    runs: pd.DataFrame  # a row a run: regime, policy, seed, the headline, and METRICS
    outcome: RunsOutcome  # what became of each run
    found: dict[int, RegimeVerdict]  # the verdict on each regime of which all runs have finished
    settings: Mapping[str, object]  # keys that were laid over all regimes
    estimated: Estimated | None = None  # what the metrics estimate, over all regimes
    # runs of the regimes whose sizes are changed, with a column `variant` beside those of `runs`; None: there are none
    pairs: pd.DataFrame | None = None
    traits: Mapping[str, Traits] = field(default_factory=dict)  # what each policy knows and may do; {}: not said
    setting: str = ""  # how old reports are and how many dispatchers there are, over all regimes; "": not said

    @property
    def head(self) -> list[str]:
        """What the numbers estimate, and how old information is, a line each."""
        return [*([] if self.estimated is None else self.estimated.words), *([self.setting] if self.setting else [])]

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

    @cached_property
    def logs(self) -> pd.DataFrame:
        """Logarithms of the headline in the regimes of which all runs have finished (verdicts.logs_of)."""
        return logs_of(self.runs[self.runs["regime"].isin(list(self.found))], self.headline)

    @cached_property
    def table(self) -> pd.DataFrame:
        """How far from the best each policy is (verdicts.table_of_regret)."""
        return table_of_regret(self.runs, self.found, self.traits or None)

    @cached_property
    def rules(self) -> Rules:
        """Rules among the best policies and the textbook's, found in half of the regimes and held on the other half."""
        chosen = [*self.table["policy"].head(RULES_OF_BEST), *TEXTBOOK]
        names = [name for name in dict.fromkeys(chosen) if name in set(self.table["policy"])]
        return held_rules(self.regimes, self.logs, names)

    @cached_property
    def sizes(self) -> dict[str, pd.DataFrame]:
        """What changed sizes do to each policy (sizes.effects_of_sizes)."""
        return {} if self.pairs is None else effects_of_sizes(self.pairs, self.headline)


def contestants(own: Sequence[str] = ()) -> list[str]:
    """All policies that compete: those of this package and of entry points, and the user's own first."""
    others = [name for name in available() if name not in LEFT_OUT and name not in own]
    return [*own, *others]


class _Cell(NamedTuple):
    """One run before it is carried out."""

    regime: int
    variant: str  # of sizes.VARIANTS; "": the regime as it was drawn
    policy: str
    seed: int
    scenario: Scenario


def hold(
    policies: Sequence[str],
    plan: ArenaSize,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
    more: Mapping[str, object] | None = None,
    draw: Draw = FOUND,
) -> Arena:
    """Let policies compete.

    Args:
        policies: names; the pooled reference `pooled` runs beside them.
        plan: how large the arena is.
        workers, quiet, where: as in `run_all`.
        more: keys of a scenario that are laid over all regimes.
        draw: which regimes, and which seeds.

    Raises InputError: unknown policies, or whatever a run finds wrong in what it was given.
    """
    check_policies(policies)
    names = list(dict.fromkeys([*policies, "none", "pooled"]))
    check_runs(f"{counted(plan.regimes)} regimes, {plan.seeds} seeds, {len(names)} policies", plan.cells * len(names))
    points, headline = sample(plan.regimes, draw.sample), headline_of(more or {})
    metrics = list(dict.fromkeys([headline, *METRICS]))
    cells, scenarios = _cells(points, names, plan, draw, more)
    outcome = run_all([SeededRun(cell.scenario, cell.seed) for cell in cells], workers,
                      label="arena" if draw == FOUND else "fresh arena", quiet=quiet, where=where)  # fmt: skip
    rows: list[dict[str, Any]] = []
    of_regimes: list[list[Mapping[str, Any]]] = [[] for _ in scenarios]
    for cell, row in zip(cells, outcome.rows, strict=True):
        if row is not None:
            named = {"regime": cell.regime, "policy": cell.policy, "seed": cell.seed, "variant": cell.variant}
            rows.append({**named, **{metric: row.get(metric, np.nan) for metric in metrics}})
            if not cell.variant:
                of_regimes[cell.regime].append(row)
    table = pd.DataFrame(rows, columns=["regime", "policy", "seed", "variant", *metrics])
    is_paired = table["variant"] != ""
    runs = table[~is_paired].drop(columns="variant").reset_index(drop=True)
    # A regime counts once all its runs are there.
    complete = runs.groupby("regime")[headline].count()
    whole = complete.index[complete == plan.seeds * len(names)]
    regimes = pd.DataFrame(points, columns=[factor.name for factor in FACTORS]).rename_axis("regime")
    kept = runs[runs["regime"].isin(whole)]
    base = load_scenario(BASE, dict(more or {}))
    window = estimated([*zip(scenarios, of_regimes, strict=True)])
    return Arena(
        regimes, runs, outcome, verdicts(kept, headline) if len(kept) else {}, dict(more or {}), window,
        pairs=table[is_paired].reset_index(drop=True),
        traits={name: traits_of(base, name) for name in names if name != "pooled"},
        setting=ages_and_dispatchers(scenarios),
    )  # fmt: skip


def _cells(
    points: Sequence[Mapping[str, float]],
    names: Sequence[str],
    plan: ArenaSize,
    draw: Draw,
    more: Mapping[str, object] | None,
) -> tuple[list[_Cell], list[Scenario]]:
    """All runs of an arena, and the scenario of each regime."""
    cells: list[_Cell] = []
    scenarios = [scenario_of(point, plan.tasks_per_core, plan.least_tasks, more) for point in points]
    paired = [
        (number, variant, scenario_of({**point, **factors}, plan.tasks_per_core, plan.least_tasks, more))
        for number, point in enumerate(points[: plan.paired_regimes]) for variant, factors in VARIANTS.items()
    ]  # fmt: skip
    drawn = [(number, "", scenario, plan.seeds) for number, scenario in enumerate(scenarios)]
    for number, variant, scenario, seeds in [*drawn, *((*one, plan.paired_seeds) for one in paired)]:
        variants = {name: with_policy(scenario, name) for name in names if not variant or name != "pooled"}
        for seed in range(draw.first_seed, draw.first_seed + seeds):
            cells += [_Cell(number, variant, name, seed, one) for name, one in variants.items()]
    return cells, scenarios
