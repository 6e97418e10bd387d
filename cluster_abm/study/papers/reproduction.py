"""A finished reproduction: its claims, its verdict, its table, its pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from cluster_abm import displays
from cluster_abm.arguments import TEXT, check_arguments, shortened
from cluster_abm.errors import InputError
from cluster_abm.results.figures.latex import latex_table, with_interval
from cluster_abm.results.figures.options import OF_POLICIES, FigureOptions, Look
from cluster_abm.study.papers.claims import Curve, check_claim, measure_number
from cluster_abm.study.papers.drawing import figure_of, measured_words, picture_names, title_of, value_words
from cluster_abm.study.papers.plan import PaperPlan, X
from cluster_abm.study.papers.points import Point, StatedNumber, percent_off, stated_number
from cluster_abm.study.runner.tasks import RunsOutcome
from cluster_abm.study.statistics.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a verdict says.
MEANINGS = {
    "reproduced": "every claim holds, and the numbers are near the published ones",
    "shape": "every claim holds; the numbers are not all near the published ones, or none is published",
    "not reproduced": "a claim fails, or a part is missing",
}


@dataclass(frozen=True, repr=False)
class Reproduction(displays.Displayed):
    """A finished reproduction; a notebook shows it as a table beside the published numbers, the verdict, the picture.

    Example:
        >>> import cluster_abm as ca
        >>> found = ca.reproduce("iolb-table-1", quick=True, workers=1, quiet=True)
        >>> list(found.rows.columns)
        ['x', 'series', 'published', 'measured', 'low', 'high']

    Attributes:
        plan: what was to be reproduced.
        seeds: how many seeds were asked for.
        points: those points of which at least one run finished.
        outcome: what became of each run.
        quick: whether it was a smoke run.
        axis_points: how many points the plan's whole axis has; 0: not known.
        overrides: dotted keys that were laid over the plan's scenario.
    """

    plan: PaperPlan
    seeds: int
    points: tuple[Point, ...]
    outcome: RunsOutcome
    quick: bool
    axis_points: int = 0
    overrides: Mapping[str, object] = field(default_factory=dict)

    def curve(self, series: str) -> Curve:
        """Points of one curve, and its values at them, shape (points, seeds finished everywhere)."""
        check_arguments(series=(series, TEXT))
        own = [point for point in self.points if point.series == series]
        if not own:
            return [], np.zeros((0, 0))
        complete = np.isfinite([point.by_seed for point in self.points]).all(axis=0)
        return [point.x for point in own], np.array([point.by_seed for point in own])[:, complete]

    def mape_percent(self) -> dict[str, float]:
        """Mean absolute percentage error of each series of which a curve was published; points of 0 have none."""
        found = {}
        for series in self.plan.series:
            own = [point for point in self.points if point.series == series.name]
            errors = [percent_off(p.measured.mean, p.published) for p in own if p.published]
            if errors:
                found[series.name] = float(np.mean(errors))
        return found

    def claims(self) -> list[tuple[str, bool]]:
        """Each claim in words with what was measured, and whether it holds."""
        return [check_claim(claim, self.curve) for claim in self.plan.claim]

    def numbers(self) -> list[StatedNumber]:
        """The published numbers about the curves, beside the measured ones."""
        return [stated_number(self.plan, number, measure_number(number, self.curve)) for number in self.plan.number]

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
        judged = [stated for stated in self.numbers() if stated.number.judged]
        near = near and all(stated.is_near(self.plan.number_percent) for stated in judged)
        return "reproduced" if near and (errors or judged) else "shape"

    @property
    def notes(self) -> str:
        """The plan's notes, what each claim came to, and what limits this run."""
        lines = [self.plan.notes.strip()]
        if self.overrides:
            lines.append(f"with {self.set_words}: this is not the paper's own scenario, which the numbers are about")
        lines += [f"{'holds' if holds else 'FAILS'}: {text}" for text, holds in self.claims()]
        if self.left_out:
            what = "interrupted" if self.outcome.interrupted else "a smoke run"
            lines.append(f"{what} has no verdict: left out {self.left_out}")
        elif self.seeds < self.plan.seeds:
            lines.append(f"from {self.seeds_words}; the plan asks for {self.plan.seeds}")
        return "\n".join(line for line in lines if line)

    @property
    def rows(self) -> pd.DataFrame:
        """Every number as a table: x (the place on the axis; of a number in words the claim), series, published (NaN:
        no curve), measured (the mean over seeds), low and high (its 95 % interval, NaN of one seed)."""
        missing = {"published": math.nan, "measured": math.nan}
        rows = []
        for row in self.as_json()["rows"]:
            low, high = row.pop("ci95") or (math.nan, math.nan)
            known = {name: missing[name] for name in missing if row[name] is None}
            rows.append({**row, **known, "low": low, "high": high})
        return pd.DataFrame(rows, columns=["x", "series", "published", "measured", "low", "high"])

    @property
    def verdict_words(self) -> str:
        """The verdict; of a smoke run, or an interrupted one, that there is none."""
        return self.verdict or ("interrupted: no verdict" if self.outcome.interrupted else "smoke run: no verdict")

    @property
    def seeds_words(self) -> str:
        """1 seed, 4 seeds."""
        words = f"{self.seeds} seed{'' if self.seeds == 1 else 's'}"
        return f"{words}, with {self.set_words}" if self.overrides else words

    @property
    def set_words(self) -> str:
        """The keys that were laid over the plan's scenario, in words; "" of none."""
        return ", ".join(
            f"trace {Path(str(value)).name}" if key == "workload.trace.file" else f"{key}={shortened(value, '')}"
            for key, value in self.overrides.items()
            if (key, value) != ("workload.kind", "trace")
        )

    @property
    def verdict_explained(self) -> str:
        """`verdict_words`, and what the verdict means."""
        return f"{self.verdict} ({MEANINGS[self.verdict]})" if self.verdict else self.verdict_words

    @property
    def pictures(self) -> tuple[str, ...]:
        """What `plot` can draw: "" (the table or figure itself), and the plan's further numbers by name."""
        return picture_names(self.plan, self.points)

    def plot(self, metric: str = "", *, picture: str = "", **look: Unpack[Look]) -> Figure:
        """Draw published against measured, as `cluster-abm reproduce` does.

        Args:
            metric: one of `pictures`; "": the table or figure itself.
            picture: the same, by its name before.
            look: policies (names of series), size ("column", "page" or inches), labels, colours, title, style
                (results.figures.options.Look).

        Returns:
            A Matplotlib figure; a notebook shows it, and `.savefig("mine.pdf")` writes it.

        Raises:
            InputError: no run has finished, there is no such picture, or an option that cannot be.
        """
        check_arguments(metric=(metric, TEXT), picture=(picture, TEXT))
        picture = metric or picture
        if not self.points:
            raise InputError([f"{self.plan.name}: no run has finished", *self.outcome.problems])
        if picture not in self.pictures:
            allowed = ", ".join(repr(name) for name in self.pictures)
            raise InputError(f"picture = {picture!r:.60}: no such picture of {self.plan.name}; allowed: {allowed}")
        series = list(dict.fromkeys(series.name for series in self.plan.series))
        options = FigureOptions.of(look, OF_POLICIES, series, "picture of a reproduction")
        title = options.titled(title_of(self.plan, picture, self.seeds_words, self.verdict_words))
        return options.draw(lambda: figure_of(self.plan, self.points, picture, title, options.policies))

    def to_latex(self) -> str:
        """Published and measured numbers for LaTeX's booktabs: a row for each place on the axis, or claim, and series.

        Raises InputError: no run has finished.
        """
        if not self.points:
            raise InputError([f"{self.plan.name}: no run has finished", *self.outcome.problems])
        return latex_table(
            [
                {
                    self.plan.axis.column: value_words(row["x"]),
                    "series": row["series"],
                    "published": "" if math.isnan(row["published"]) else f"{row['published']:.4g}",
                    "measured [95 %]": with_interval(row["measured"], row["low"], row["high"]),
                }
                for row in self.rows.to_dict("records")
            ]
        )

    def __repr__(self) -> str:
        return f"<Reproduction of {self.plan.name}, {self.plan.paper}, {self.seeds_words}: {self.verdict_words}>"

    def _parts(self) -> Iterator[str]:
        plan = self.plan
        yield displays.headline(f"{plan.paper}: {plan.title}", f"{self.seeds_words}; {self.verdict_words}")
        if self.outcome.problems:
            yield displays.paragraph("\n".join(self.outcome.problems))
        if not self.points:
            yield displays.paragraph("no run has finished: there is nothing to show")
            return
        shown = [*dict.fromkeys(series.name for series in plan.series)]
        rows: dict[X, dict[str, object]] = {}
        for point in self.points:
            if point.series in shown:
                row = rows.setdefault(point.x, {plan.axis.column: value_words(point.x), **dict.fromkeys(shown, "")})
                before = "" if point.published is None else f"{point.published:g} | "
                row[point.series] = before + measured_words(point.measured)
        yield displays.paragraph(f"{plan.metric_label}: {'published | ' if plan.published else ''}measured [95 %]")
        yield displays.table([*rows.values()])
        stated = [
            {
                "the paper says": f"{one.number.claim} [{one.unit}]", "published": f"{one.published:g}",
                "measured": measured_words(one.measured),
            }
            for one in self.numbers()
        ]  # fmt: skip
        yield displays.table(stated)
        errors = ", ".join(f"{name} {value:.1f} %" for name, value in self.mape_percent().items())
        if errors:
            yield displays.paragraph(f"mean absolute percentage error: {errors}")
        yield displays.paragraph(f"verdict: {self.verdict_explained}")
        yield displays.folded("notes", displays.paragraph(self.notes))
        from cluster_abm.results.figures.picture import png_of

        yield displays.image(png_of(self.plot()), f"{plan.paper}: published against measured")

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm reproduce --json` prints."""
        rows = [_row(point.x, point.series, point.published, point.measured) for point in self.points]
        rows += [
            _row(stated.number.claim, stated.series, stated.published, stated.measured) for stated in self.numbers()
        ]
        return {
            "name": self.plan.name,
            "paper": self.plan.paper,
            "set": dict(self.overrides),
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
