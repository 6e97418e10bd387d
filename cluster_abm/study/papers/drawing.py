"""Pictures of a reproduction, and its numbers as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from cluster_abm.study.papers.plan import PaperPlan, Series, X
from cluster_abm.study.papers.points import Point
from cluster_abm.study.statistics.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cluster_abm.results.pictures import Curve

# The picture of the numbers that are drawn on top of each other.
STACKED = "breakdown"


def picture_names(plan: PaperPlan, points: Sequence[Point]) -> tuple[str, ...]:
    """ "" for the picture of the plan's own metric, and the names of further ones of which there are points."""
    measured = {point.series for point in points}
    names = [""]
    for also in plan.also:
        if any(f"{series.name}: {also.name}" in measured for series in plan.series):
            names.append(STACKED if also.stacked else also.name)
    return tuple(dict.fromkeys(names))


def title_of(plan: PaperPlan, picture: str, seeds: str, verdict: str) -> str:
    """What stands above one of `picture_names`; seeds and verdict in words."""
    if _is_stacked(plan, picture):
        return f"{plan.paper}: {stacked_where(plan)} ({seeds})"
    return f"{plan.paper}: {plan.title} ({seeds}; {verdict})"


def figure_of(plan: PaperPlan, points: Sequence[Point], picture: str, title: str, series: Sequence[str]) -> Figure:
    """One of `picture_names`.

    Args:
        plan: what was reproduced.
        points: all its numbers.
        picture: the name.
        title: what stands above.
        series: names of those that are drawn, in order.
    """
    from cluster_abm.results.pictures import reproduction_figure
    from cluster_abm.results.stacked import stacked_figure

    chosen = sorted((one for one in plan.series if one.name in series), key=lambda one: series.index(one.name))
    if _is_stacked(plan, picture):
        parts = stacked_parts(plan, points)
        return stacked_figure(title, parts.attrs["label"], parts.loc[[n for n in series if n in parts.index]])
    names = [str(x) for x in dict.fromkeys(point.x for point in points) if isinstance(x, str)]
    if picture:
        label = next(also.label for also in plan.also if also.name == picture and not also.stacked)
        drawn = _curves(chosen, points, names, f": {picture}")
    else:
        label = plan.metric_label
        drawn = _curves([one for one in chosen if not one.apart], points, names)
    return reproduction_figure(title, plan.axis.label, label, drawn, names)


def _is_stacked(plan: PaperPlan, picture: str) -> bool:
    """Whether it is the picture of the numbers that are drawn on top of each other."""
    return picture == STACKED and all(also.name != picture or also.stacked for also in plan.also)


def _curves(of: Sequence[Series], points: Sequence[Point], names: list[str], suffix: str = "") -> list[Curve]:
    from cluster_abm.results.pictures import Curve

    drawn = []
    for series in of:
        own = [point for point in points if point.series == series.name + suffix]
        drawn.append(
            Curve(
                series.name,
                series.policy,
                [names.index(point.x) if isinstance(point.x, str) else point.x for point in own],
                [point.published for point in own],
                [point.measured.mean for point in own],
                [point.measured.ci95 for point in own],
            )
        )
    return [curve for curve in drawn if len(curve.x)]


def stacked_parts(plan: PaperPlan, points: Sequence[Point]) -> pd.DataFrame:
    """The means of the plan's stacked numbers: a row a series, a column a part; their label is in `attrs`."""
    stacked = [also for also in plan.also if also.stacked]
    parts: dict[str, dict[str, float]] = {}
    for also in stacked:
        for series in plan.series:
            own = [point.measured.mean for point in points if point.series == f"{series.name}: {also.name}"]
            if own:
                parts.setdefault(series.name, {})[also.name] = own[0]
    table = pd.DataFrame.from_dict(parts, orient="index")
    table.attrs["label"] = stacked[0].label if stacked else ""
    return table


def stacked_where(plan: PaperPlan) -> str:
    """What the stacked numbers are about."""
    points = next(also.at for also in plan.also if also.stacked)
    at = ", ".join(x if isinstance(x, str) else f"{plan.axis.column} {x:g}" for x in points)
    return f"where the time went, {at}"


def value_words(x: X) -> str:
    """A place on the axis."""
    return x if isinstance(x, str) else f"{x:g}"


def measured_words(found: Estimate | None) -> str:
    """A mean with its interval, where there is one."""
    if found is None:
        return "not measured"
    return f"{found.mean:.4g}" + ("" if found.ci95 is None else " [{:.4g}, {:.4g}]".format(*found.ci95))
