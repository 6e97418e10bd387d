"""The picture of a plan, and its table for LaTeX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.results.figures.latex import latex_table, with_interval
from cluster_abm.results.figures.options import OF_POLICIES, FigureOptions, Look

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from cluster_abm.study.planning.bracketing import Crossing
    from cluster_abm.study.planning.needs import Need


def figure_of(
    key: str,
    asked: Sequence[Need],
    crossings: Mapping[str, Crossing],
    table: pd.DataFrame,
    usual_title: str,
    metric: str | None,
    look: Look,
) -> Figure:
    """`Planned.plot`.

    Args:
        key: what is planned.
        asked: the needs.
        crossings: where they begin to be kept, by policy.
        table: every value that was run.
        usual_title: what stands above, unless the options say something else.
        metric, look: as given.

    Raises InputError: as said there.
    """
    from cluster_abm.results.of_studies.planning_picture import Ceiling, plan_figure

    options = FigureOptions.of(look, OF_POLICIES | {"x"}, list(crossings), "picture of a plan")
    metrics = [need.metric for need in asked]
    if metric is not None and metric not in metrics:
        raise InputError(f"plot({shortened(metric)}): no need is about this metric; allowed: {', '.join(metrics)}")
    if options.x not in (None, key):
        raise InputError(f"plot(x={shortened(options.x)}): a plan is over one key; allowed: {key}")
    needs = [Ceiling(need.metric, need.bound, str(need)) for need in asked if metric in (None, need.metric)]
    values = {}
    for policy in options.policies:
        one = crossings[policy]
        ends = (one.value, one.value) if one.is_one_sample else (one.low, one.high)
        values[policy] = (one.value, *ends)
    table = table[table["policy"].isin(options.policies)]
    title = options.titled(usual_title)
    return options.draw(lambda: plan_figure(title, key, table, needs, values))


def latex_of(key: str, asked: Sequence[Need], crossings: Mapping[str, Crossing]) -> str:
    """`Planned.to_latex`; the arguments are those of `figure_of`."""
    rows = []
    for policy, one in crossings.items():
        low, high = (math.nan if end is None else end for end in (one.low, one.high))
        value = math.nan if one.value is None else one.value
        row: dict[str, object] = {"policy": policy, f"{key} [95 %]": with_interval(value, low, high) or "none"}
        for need in asked:
            point = one.at_value
            shown = None if point is None else point.shown(need.metric)
            ends = (math.nan, math.nan) if shown is None or shown.ci95 is None else shown.ci95
            row[f"{need.metric} there [95 %]"] = "" if shown is None else with_interval(shown.mean, *ends)
        rows.append(row)
    return latex_table(rows)
