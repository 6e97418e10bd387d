"""A paper's table or figure, run again, beside the published numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.limits import check_runs, counted
from cluster_abm.scenario import load_scenario, shipped_path
from cluster_abm.study.papers.claims import Curve, check_claim, measure_number
from cluster_abm.study.papers.plan import Number, Plan, Setting, X, load_plan, reproduction_names
from cluster_abm.study.runner.tasks import Outcome, Task, Where, run_all
from cluster_abm.study.statistics.bounds import UNBOUNDED, Bounds, bounds_of
from cluster_abm.study.statistics.estimates import Estimate, estimate

__all__ = ["Reproduction", "reproduce", "reproduction_names"]


@dataclass(frozen=True)
class Point:
    """One number of a table: its x and series, as published (None: no curve), measured seed by seed (NaN: failed).

    `bounds` are what is possible, in the unit of the values.
    """

    x: X
    series: str
    published: float | None
    by_seed: tuple[float, ...]
    bounds: Bounds = UNBOUNDED

    @property
    def measured(self) -> Estimate:
        """The mean over seeds."""
        return estimate([value for value in self.by_seed if math.isfinite(value)], self.bounds)


@dataclass(frozen=True)
class StatedNumber:
    """A number that the paper says of its curves, beside the measured one."""

    number: Number
    published: float
    unit: str
    measured: Estimate | None

    @property
    def series(self) -> str:
        """What is compared with what."""
        old, new = self.number.old, self.number.new
        if self.number.paired:
            return " or ".join(f"{one} / {other}" for one, other in zip(old, new, strict=True))
        return f"{' or '.join(old)} / {' or '.join(new)}"

    def is_near(self, percent: float) -> bool:
        """Whether the measured number is the published one within so many percent of it."""
        return self.measured is not None and abs(self.measured.mean / self.published - 1) * 100 <= percent


@dataclass(frozen=True)
class Reproduction:
    """A finished reproduction.

    Attributes:
        plan: what was to be reproduced.
        seeds: how many seeds were asked for.
        points: those points of which at least one run finished.
        outcome: what became of each run.
        quick: whether it was a smoke run.
        axis_points: how many points the plan's whole axis has; 0: not known.
    """

    plan: Plan
    seeds: int
    points: tuple[Point, ...]
    outcome: Outcome
    quick: bool
    axis_points: int = 0

    def curve(self, series: str) -> Curve:
        """Points of one curve, and its values at them, shape (points, seeds finished everywhere)."""
        own = [point for point in self.points if point.series == series]
        if not own:
            return [], np.zeros((0, 0))
        complete = np.isfinite([point.by_seed for point in self.points]).all(axis=0)
        return [point.x for point in own], np.array([point.by_seed for point in own])[:, complete]

    def mape_percent(self) -> dict[str, float]:
        """Mean absolute percentage error of each series of which a curve was published."""
        found = {}
        for series in self.plan.series:
            own = [point for point in self.points if point.series == series.name]
            errors = [abs(p.measured.mean / p.published - 1) * 100 for p in own if p.published is not None]
            if errors:
                found[series.name] = float(np.mean(errors))
        return found

    def claims(self) -> list[tuple[str, bool]]:
        """Each claim in words with what was measured, and whether it holds."""
        return [check_claim(claim, self.curve) for claim in self.plan.claim]

    def numbers(self) -> list[StatedNumber]:
        """The published numbers about the curves, beside the measured ones."""
        return [_stated(self.plan, number, measure_number(number, self.curve)) for number in self.plan.number]

    @property
    def left_out(self) -> str:
        """What a smoke run, or an interrupted one, has left out of the plan, in words; "" of a whole run."""
        left = []
        if self.seeds < self.plan.seeds:
            left.append(f"{self.plan.seeds - self.seeds} of {self.plan.seeds} seeds")
        points = len({point.x for point in self.points})
        if self.quick and points < self.axis_points:
            left.append(f"{self.axis_points - points} of {self.axis_points} points")
        missing = len(self.outcome.rows) - self.outcome.finished
        if self.outcome.interrupted and missing:
            left.append(f"{missing} of {len(self.outcome.rows)} runs")
        return ", ".join(left) if self.quick or self.outcome.interrupted else ""

    @property
    def verdict(self) -> str | None:
        """reproduced: all claims hold and all published numbers are near; shape: all claims hold; not reproduced.

        Where no number is published, shape is all there is to reproduce. None where something is `left_out`: few seeds
        or points prove nothing.
        """
        if self.left_out:
            return None
        measured = {point.series for point in self.points}
        complete = all(series.name in measured for series in self.plan.series)
        if not complete or not all(holds for _, holds in self.claims()):
            return "not reproduced"
        errors = self.mape_percent()
        near = all(errors[name] <= bound for name, bound in self.plan.mape_percent.items())
        near = near and all(stated.is_near(self.plan.number_percent) for stated in self.numbers())
        return "reproduced" if near and (errors or self.plan.number) else "shape"

    @property
    def notes(self) -> str:
        """The plan's notes, what each claim came to, and what limits this run."""
        lines = [self.plan.notes.strip()]
        lines += [f"{'holds' if holds else 'FAILS'}: {text}" for text, holds in self.claims()]
        if self.left_out:
            what = "interrupted" if self.outcome.interrupted else "a smoke run"
            lines.append(f"{what} has no verdict: left out {self.left_out}")
        elif self.seeds < self.plan.seeds:
            lines.append(f"from {self.seeds} seeds; the plan asks for {self.plan.seeds}")
        return "\n".join(line for line in lines if line)

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm reproduce --json` prints."""
        rows = [_row(point.x, point.series, point.published, point.measured) for point in self.points]
        rows += [
            _row(stated.number.claim, stated.series, stated.published, stated.measured) for stated in self.numbers()
        ]
        return {
            "name": self.plan.name,
            "paper": self.plan.paper,
            "seeds": self.seeds,
            "rows": rows,
            "mape": self.mape_percent(),
            "verdict": self.verdict,
            "notes": self.notes,
        }


def _row(x: X, series: str, published: float | None, measured: Estimate | None) -> dict[str, Any]:
    return {
        "x": x,
        "series": series,
        "published": published,
        "measured": None if measured is None else measured.mean,
        "ci95": None if measured is None or measured.ci95 is None else list(measured.ci95),
    }


def reproduce(
    name: str,
    seeds: int | None = None,
    quick: bool = False,
    overrides: Mapping[str, object] | None = None,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
) -> Reproduction:
    """Run a reproduction: every series at every point of its axis from the same seeds.

    Args:
        name: a name of `reproduction_names()`.
        seeds: how many; default: the plan's.
        quick: a smoke run with the plan's few seeds and points.
        overrides: dotted keys laid over the plan's scenario; with a trace of several runs each seed takes another run.
        workers, quiet, where: as in `run_all`.

    Raises:
        InputError: unknown name, or what a run was given is wrong.
    """
    plan = load_plan(name)
    given = dict(overrides or {})
    runs: Sequence[int] = ()
    if "workload.trace.file" in given:
        if not plan.takes_trace:
            raise InputError(f"--trace: {name} is about the jobs its paper describes, and takes none from a trace")
        given = {**plan.trace_overrides, **given}
        runs = _runs_of(Path(str(given["workload.trace.file"])))
    count = seeds or (plan.quick_seeds if quick else plan.seeds)
    check_runs(f"{counted(count)} seeds of {name}", count * len(plan.series) * len(_axis(plan, quick)))
    cells = [(x, published, one) for x, published in _axis(plan, quick) for one in plan.series]
    tasks: list[Task] = []
    # Where its runs begin among the tasks, of each scenario: several curves may be of the same runs.
    begins: dict[str, int] = {}
    first_task = []
    for x, _, series in cells:
        chosen = {**_settings_at(plan, x), "policy.name": series.policy, **series.overrides}
        settings: dict[str, object] = {**plan.overrides, **chosen, **given}
        scenario = load_scenario(plan.scenario, settings)
        first_task.append(begins.setdefault(scenario.model_dump_json(), len(tasks)))
        if first_task[-1] < len(tasks):
            continue
        for number in range(count):
            seed = scenario.run.seed + number
            if runs:
                run = runs[number % len(runs)]
                scenario = load_scenario(plan.scenario, {**settings, "workload.trace.run": run})
            tasks.append(Task(scenario, seed))
    outcome = run_all(tasks, workers, label=f"reproduce {name}", quiet=quiet, where=where)
    points = []
    for first, (x, published, series) in zip(first_task, cells, strict=True):
        own = outcome.rows[first : first + count]
        metric, scale = (series.metric, 1.0) if series.metric else (plan.metric, plan.scale)
        of_series = published.get(series.name)
        points.append(Point(x, series.name, of_series, _values(own, metric, scale), bounds_of(metric, scale)))
        for also in plan.also:
            if (not also.at or x in also.at) and (not also.of or series.name in also.of):
                values = _values(own, also.metric, also.scale)
                bounds = bounds_of(also.metric, also.scale)
                points.append(Point(x, f"{series.name}: {also.name}", None, values, bounds))
    found = [point for point in points if any(map(math.isfinite, point.by_seed))]
    return Reproduction(plan, count, tuple(found), outcome, quick, len(_axis(plan, quick=False)))


def _settings_at(plan: Plan, x: X) -> dict[str, Setting]:
    """The keys that a point of the axis sets."""
    axis = plan.axis
    settings = dict(axis.settings.get(x if isinstance(x, str) else f"{x:g}", {}))
    if axis.key:
        settings[axis.key] = x if isinstance(x, str) else x * axis.scale
    return settings


def _values(rows: Sequence[dict[str, Any] | None], metric: str, scale: float) -> tuple[float, ...]:
    """A metric of each run; NaN where it has none."""
    return tuple(math.nan if row is None else _value(row, metric) * scale for row in rows)


def _value(row: dict[str, Any], metric: str) -> float:
    """A metric, or a sum of several, of one run."""
    return float(sum(row.get(term.strip().removeprefix("metrics."), math.nan) for term in metric.split("+")))


def _runs_of(trace: Path) -> Sequence[int]:
    """Runs that a trace file holds, if it holds several."""
    from cluster_abm.workload.traces import read_trace

    table = read_trace(trace).table
    return sorted({int(run) for run in table["run"]}) if "run" in table else ()


def _axis(plan: Plan, quick: bool) -> list[tuple[X, dict[str, float]]]:
    """Points of the axis, each with what was published there, by series."""
    points: list[tuple[X, dict[str, float]]] = [(x, {}) for x in plan.axis.points]
    if plan.published:
        table = _published(plan)
        with_curve = [series for series in plan.series if series.column]
        points = [
            (
                x if isinstance(x, str) else float(x),
                {one.name: float(row[one.column]) for one in with_curve if pd.notna(row[one.column])},
            )
            for x, (_, row) in zip(table[plan.axis.column].tolist(), table.iterrows(), strict=True)
        ]
    return [point for point in points if not quick or point[0] in plan.quick_points]


def _published(plan: Plan) -> pd.DataFrame:
    path = shipped_path("published", plan.published)
    table = pd.read_csv(path)
    columns = {plan.axis.column, *(series.column for series in plan.series if series.column)}
    missing = columns - set(table.columns)
    if missing:
        raise InputError(f"{path}: no column {', '.join(sorted(missing))}; it has {', '.join(table.columns)}")
    return table


def _stated(plan: Plan, number: Number, measured: Estimate | None) -> StatedNumber:
    path = shipped_path("published", "claims.csv")
    table = pd.read_csv(path)
    of_paper = table["paper"].map(lambda paper: plan.name.startswith(f"{paper}-"))
    found = table[of_paper & (table["claim"] == number.claim)]
    if len(found) != 1:
        raise InputError(f"{path}: {len(found)} rows of {plan.name}'s paper claim {number.claim!r}; one is needed")
    return StatedNumber(number, float(found["value"].iloc[0]), str(found["unit"].iloc[0]), measured)
