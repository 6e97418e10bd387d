"""A paper's table or figure, run again, beside the published numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, shipped_path
from cluster_abm.study.plan import Claim, Plan, load_plan, reproduction_names
from cluster_abm.study.runs import Outcome, Task, run_all
from cluster_abm.study.statistics import Estimate, estimate

__all__ = ["Reproduction", "reproduce", "reproduction_names"]


@dataclass(frozen=True)
class Point:
    """One number of a table: where, whose, as published, as measured."""

    x: float
    series: str
    published: float
    measured: Estimate


@dataclass(frozen=True)
class Reproduction:
    """A finished reproduction.

    Attributes:
        plan: what was to be reproduced.
        seeds: how many seeds were asked for.
        points: those points of which at least one run finished.
        outcome: what became of each run.
        quick: whether it was a smoke run.
    """

    plan: Plan
    seeds: int
    points: tuple[Point, ...]
    outcome: Outcome
    quick: bool

    def curve(self, series: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, published and measured of one series, shape (points,) each."""
        own = [point for point in self.points if point.series == series]
        return (
            np.array([point.x for point in own]),
            np.array([point.published for point in own]),
            np.array([point.measured.mean for point in own]),
        )

    def mape_percent(self) -> dict[str, float]:
        """Mean absolute percentage error of each series."""
        found = {}
        for series in self.plan.series:
            _, published, measured = self.curve(series.name)
            if len(published):
                found[series.name] = float(np.mean(np.abs(measured / published - 1)) * 100)
        return found

    def claims(self) -> list[tuple[str, bool]]:
        """Each claim in words with what was measured, and whether it holds."""
        return [check_claim(claim, self.curve) for claim in self.plan.claim]

    @property
    def verdict(self) -> str:
        """reproduced: all claims hold and the errors are within bounds; shape: all claims hold; not reproduced."""
        if len(self.points) < len(self.plan.series) or not all(holds for _, holds in self.claims()):
            return "not reproduced"
        errors = self.mape_percent()
        near = all(errors[name] <= bound for name, bound in self.plan.mape_percent.items())
        return "reproduced" if near else "shape"

    @property
    def notes(self) -> str:
        """The plan's notes, what each claim came to, and what limits this run."""
        lines = [self.plan.notes.strip()]
        lines += [f"{'holds' if holds else 'FAILS'}: {text}" for text, holds in self.claims()]
        if self.quick:
            lines.append("smoke run: few seeds, few points; its verdict says little")
        if self.outcome.interrupted:
            lines.append(f"interrupted: {self.outcome.finished} of {len(self.outcome.summaries)} runs")
        return "\n".join(line for line in lines if line)

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm reproduce --json` prints."""
        return {
            "name": self.plan.name,
            "paper": self.plan.paper,
            "seeds": self.seeds,
            "rows": [
                {
                    "x": point.x,
                    "series": point.series,
                    "published": point.published,
                    "measured": point.measured.mean,
                    "ci95": None if point.measured.ci95 is None else list(point.measured.ci95),
                }
                for point in self.points
            ],
            "mape": self.mape_percent(),
            "verdict": self.verdict,
            "notes": self.notes,
        }


def reproduce(
    name: str,
    seeds: int | None = None,
    quick: bool = False,
    overrides: Mapping[str, object] | None = None,
    workers: int | None = None,
    quiet: bool = False,
) -> Reproduction:
    """Run a reproduction: every series at every published point from the same seeds.

    Args:
        name: a name of `reproduction_names()`.
        seeds: how many; default: the plan's.
        quick: a smoke run with the plan's few seeds and points.
        overrides: dotted keys laid over the plan's scenario.
        workers, quiet: as in `run_all`.

    Raises:
        InputError: unknown name, or what a run was given is wrong.
    """
    plan = load_plan(name)
    if "workload.trace.file" in (overrides or {}) and not plan.takes_trace:
        raise InputError(f"--trace: {name} is about the jobs its paper describes, and takes none from a trace")
    count = seeds or (plan.quick_seeds if quick else plan.seeds)
    table = _published(plan)
    if quick:
        table = table[table[plan.axis.column].isin(plan.quick_points)]
    cells = [(row, series) for _, row in table.iterrows() for series in plan.series]
    tasks = []
    for row, series in cells:
        settings = {plan.axis.key: float(row[plan.axis.column]), "policy.name": series.policy}
        scenario = load_scenario(plan.scenario, {**settings, **series.overrides, **(overrides or {})})
        first = scenario.run.seed
        tasks += [Task(scenario, seed) for seed in range(first, first + count)]
    outcome = run_all(tasks, workers, label=f"reproduce {name}", quiet=quiet)
    points = []
    for cell, (row, series) in enumerate(cells):
        finished = [s for s in outcome.summaries[cell * count : (cell + 1) * count] if s is not None]
        values = [s["metrics"][plan.metric] for s in finished]
        if values and all(value is not None for value in values):
            x, published = float(row[plan.axis.column]), float(row[series.column])
            points.append(Point(x, series.name, published, estimate(values)))
    return Reproduction(plan, count, tuple(points), outcome, quick)


def check_claim(claim: Claim, curve: Any) -> tuple[str, bool]:
    """A claim in words with the measured figures, and whether it holds; `curve(series)` as Reproduction.curve."""
    x, _, a = curve(claim.a)
    if not len(a):
        return f"{claim.a}: nothing measured", False
    if claim.kind == "rising":
        rank = float(stats.spearmanr(x, a).statistic) if np.ptp(a) > 0 else 0.0
        text = f"{claim.a} rises, {a[0]:.3g} to {a[-1]:.3g} (rank correlation {rank:.2f})"
        return text, bool(a[-1] > a[0] and rank > 0.8)
    other_x, _, b = curve(claim.b)
    if not np.array_equal(x, other_x):
        return f"{claim.a} and {claim.b}: not measured at the same points", False
    ratio = a / b
    span = f"{ratio.min():.3g}..{ratio.max():.3g}"
    if claim.kind == "below":
        text = f"{claim.a} below {claim.b} at {int((ratio < 1).sum())} of {len(x)} points (ratio {span})"
        return text, bool((ratio < 1).all())
    if claim.kind == "within":
        worst = float(np.abs(ratio - 1).max() * 100)
        return (
            f"{claim.a} within {claim.percent:g} % of {claim.b} (worst {worst:.1f} %)",
            worst <= claim.percent,
        )
    text = f"{claim.a}/{claim.b} in {claim.minimum:g}..{claim.maximum:g} (found {span})"
    return text, bool((ratio >= claim.minimum).all() and (ratio <= claim.maximum).all())


def _published(plan: Plan) -> pd.DataFrame:
    path = shipped_path("published", plan.published)
    table = pd.read_csv(path)
    missing = {plan.axis.column, *(series.column for series in plan.series)} - set(table.columns)
    if missing:
        raise InputError(f"{path}: no column {', '.join(sorted(missing))}; it has {', '.join(table.columns)}")
    return table
