"""What a reproduction runs: the scenario of each series at each point of the axis, with the caller's keys in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, load_scenario, shipped_path
from cluster_abm.scenario.unused import dotted
from cluster_abm.study.papers.plan import PaperPlan, Series, Setting, X

# Keys that come with a trace, in place of the plan's own.
OF_TRACE = ("workload.kind", "workload.trace")


class PaperCell(NamedTuple):
    """A series at a point of the axis: what was published there, by series, and what is run."""

    x: X
    published: Mapping[str, float]
    series: Series
    scenario: Scenario
    settings: dict[str, object]


def cells_of(plan: PaperPlan, quick: bool, overrides: Mapping[str, object]) -> list[PaperCell]:
    """The cells of a plan, with dotted keys laid over its scenario.

    Raises:
        InputError: a trace that the plan does not take; a key that its axis or its series set; whatever is wrong with
            a key. All before a run.
    """
    if "workload.trace.file" in overrides and not plan.takes_trace:
        raise InputError(f"--trace: {plan.name} is about the jobs its paper describes, and takes none from a trace")
    of_trace = {key: value for key, value in overrides.items() if key.startswith(OF_TRACE)}
    if of_trace:
        of_trace = {**plan.trace_overrides, **of_trace}
    return [
        _cell(plan, x, published, series, of_trace, overrides)
        for x, published in axis_of(plan, quick)
        for series in plan.series
        if not series.at or x in series.at
    ]


def _cell(
    plan: PaperPlan,
    x: X,
    published: Mapping[str, float],
    series: Series,
    of_trace: Mapping[str, object],
    overrides: Mapping[str, object],
) -> PaperCell:
    chosen = {**settings_at(plan, x), "policy.name": series.policy, **series.overrides}
    alone: dict[str, object] = {**plan.overrides, **chosen, **of_trace}
    settings = alone | dict(overrides)
    scenario = load_scenario(plan.scenario, settings)
    if set(overrides) - set(of_trace):
        tables, own = (one.model_dump() for one in (scenario, load_scenario(plan.scenario, alone)))
        varied = [key for key in dotted(chosen) if _value(tables, key) != _value(own, key)]
        if varied:
            given = ", ".join(key for key in overrides if key not in of_trace)
            changes = "" if given == varied[0] else f"changes {varied[0]}, which "
            raise InputError(
                f"--set {given}: {changes}{'is set' if changes else 'is what is set'} by the points or series of "
                f"{plan.name}: allowed are other keys"
            )
    return PaperCell(x, published, series, scenario, settings)


def _value(tables: object, key: str) -> object:
    for part in key.split("."):
        tables = tables.get(part) if isinstance(tables, Mapping) else None
    return tables


def axis_of(plan: PaperPlan, quick: bool) -> list[tuple[X, dict[str, float]]]:
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


def settings_at(plan: PaperPlan, x: X) -> dict[str, Setting]:
    """The keys that a point of the axis sets."""
    axis = plan.axis
    settings = dict(axis.settings.get(x if isinstance(x, str) else f"{x:g}", {}))
    if axis.key:
        settings[axis.key] = x if isinstance(x, str) else x * axis.scale
    return settings


def metric_of(plan: PaperPlan, series: Series, x: X) -> tuple[str, float]:
    """What is measured of a series at a point of the axis: the metric, and by what it is multiplied."""
    if series.metric:
        return series.metric, 1.0
    at_point = plan.axis.metrics.get(x if isinstance(x, str) else f"{x:g}")
    return (plan.metric, plan.scale) if at_point is None else (at_point.metric, at_point.scale)


def _published(plan: PaperPlan) -> pd.DataFrame:
    path = shipped_path("published", plan.published)
    table = pd.read_csv(path)
    columns = {plan.axis.column, *(series.column for series in plan.series if series.column)}
    missing = columns - set(table.columns)
    if missing:
        raise InputError(f"{path}: no column {', '.join(sorted(missing))}; it has {', '.join(table.columns)}")
    return table
