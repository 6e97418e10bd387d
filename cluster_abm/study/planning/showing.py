"""The picture of a plan, and its table for LaTeX."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.results.figures.latex import latex_table, with_interval
from cluster_abm.results.figures.options import OF_POLICIES, FigureOptions, Look

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cluster_abm.study.planning.plan import Planned


def figure_of(found: Planned, metric: str | None, look: Look) -> Figure:
    """`Planned.plot`. Raises InputError: as said there."""
    from cluster_abm.results.of_studies.planning_picture import Ceiling, plan_figure

    question = found.question
    options = FigureOptions.of(look, OF_POLICIES | {"x"}, list(found.crossings), "picture of a plan")
    metrics = [need.metric for need in question.asked]
    if metric is not None and metric not in metrics:
        raise InputError(f"plot({shortened(metric)}): no need is about this metric; allowed: {', '.join(metrics)}")
    if options.x not in (None, question.key):
        raise InputError(f"plot(x={shortened(options.x)}): a plan is over one key; allowed: {question.key}")
    needs = [Ceiling(need.metric, need.bound, str(need)) for need in question.asked if metric in (None, need.metric)]
    values = {}
    for policy in options.policies:
        one = found.crossings[policy]
        ends = (one.value, one.value) if one.is_one_sample else (one.low, one.high)
        values[policy] = (one.value, *ends)
    table = found.frame()
    table = table[table["policy"].isin(options.policies)]
    title = options.titled(found.title)
    return options.draw(lambda: plan_figure(title, question.key, table, needs, values))


def latex_of(found: Planned) -> str:
    """`Planned.to_latex`."""
    question = found.question
    rows = []
    for policy, one in found.crossings.items():
        low, high = (math.nan if end is None else end for end in (one.low, one.high))
        value = math.nan if one.value is None else one.value
        row: dict[str, object] = {"policy": policy, f"{question.key} [95 %]": with_interval(value, low, high) or "none"}
        for need in question.asked:
            point = one.at_value
            shown = None if point is None else point.shown(need.metric)
            ends = (math.nan, math.nan) if shown is None or shown.ci95 is None else shown.ci95
            row[f"{need.metric} there [95 %]"] = "" if shown is None else with_interval(shown.mean, *ends)
        rows.append(row)
    return latex_table(rows)
