"""Pictures of a run, of a comparison and of a reproduction: tables in, PNG files out."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from cluster_abm.arrays import Floats
from cluster_abm.results import style
from cluster_abm.results.colours import ALONE, BREAKDOWN_COLOURS, MARK, PAPER
from cluster_abm.results.figures.options import current, label_for
from cluster_abm.results.load_scale import scale_to, shades_of_loads
from cluster_abm.results.looks import colours_of, markers_of
from cluster_abm.results.of_studies.comparison_picture import Interval, comparison_figure

# Curves over a wider range are drawn on a logarithmic scale.
WIDEST_LINEAR = 15.0
MOST_BINS = 200
# Of more values than this a distribution's picture shows some.
MOST_VALUES = 1_000_000
# What the picture of a run shows of its nodes.
OF_NODES = ("time_ms", "node", "tasks", "cpu_busy_ms", "disk_busy_ms")
# The most points that have a tick each, where they are numbers of something and nothing lies between them.
MOST_NUMBERED = 6
# Letters of a line beside a panel's axes.
LABEL_WIDTH, LABEL_HEIGHT = 52, 36


@dataclass(frozen=True)
class Curve:
    """One series of a reproduction: name, x, published and measured values, intervals of the measured ones.

    A value that is missing is None or NaN.
    """

    name: str
    policy: str
    x: Sequence[float]
    published: Sequence[float | None]
    measured: Sequence[float | None]
    ci95: Sequence[Interval]


def draw_comparison(
    path: Path, title: str, runs: pd.DataFrame, slowdowns: Mapping[str, tuple[float, Interval]]
) -> Path:
    """Write `comparison_figure` to a PNG file."""
    return style.save(comparison_figure(title, runs, slowdowns), path)


def draw_reproduction(
    path: Path, title: str, x_label: str, y_label: str, curves: Sequence[Curve], names: Sequence[str] = ()
) -> Path:
    """Write `reproduction_figure` to a PNG file."""
    return style.save(reproduction_figure(title, x_label, y_label, curves, names), path)


def reproduction_figure(
    title: str, x_label: str, y_label: str, curves: Sequence[Curve], names: Sequence[str] = ()
) -> Figure:
    """Published (dashed, open) against measured (solid, filled): all together, then each series with its intervals.

    Where the axis has `names`, x counts them from 0, and no lines join the points.
    """
    groups = [list(curves), *([curve] for curve in curves)] if len(curves) > 1 else [list(curves)]
    columns = style.columns_of(len(groups))
    width = max(7.0, 3.9 * columns)
    figure, panels = style.panel_grid(title, len(groups), columns, width, 3.6, 1.3, sharex=True, sharey=True)
    policies = [curve.policy for curve in curves]
    # Colours that a user gives are those of series, which may be of one policy.
    chosen = current().colours
    # Curves may coincide: the later ones are thinner, with smaller markers, and show the earlier ones beneath.
    weights = np.linspace(1.0, 0.0, len(curves)) if len(curves) > 1 else np.zeros(1)
    found = zip(curves, colours_of(policies), markers_of(policies), weights, strict=True)
    styles: dict[str, tuple[str, Any, float]]
    styles = {
        curve.name: (chosen.get(curve.name, colour), marker, float(weight)) for curve, colour, marker, weight in found
    }
    for panel, group in zip(panels, groups, strict=False):
        for curve in group:
            colour, marker, weight = styles[curve.name]
            weight *= len(group) > 1
            look: dict[str, Any] = {"color": colour, "marker": marker, "alpha": 1 - 0.3 * weight}
            look["markersize"] = 5 + 7 * weight
            if len(group) == 1:
                _draw_intervals(panel, curve, colour)
            measured, published = ("none", "none") if names else ("-", "--")
            panel.plot(curve.x, _floats(curve.measured), linestyle=measured, linewidth=1.3 + 4 * weight, **look)
            look |= {"linestyle": published, "mfc": PAPER}
            panel.plot(curve.x, _floats(curve.published), linewidth=1 + 1.5 * weight, **look)
        style.tidy(panel, "all series" if len(group) > 1 else label_for(group[0].name), "", "")
    # Panels above a hidden one are the lowest of their column, and keep their numbers.
    for number, panel in enumerate(panels[: len(groups)]):
        panel.set_ylabel(textwrap.fill(y_label, LABEL_HEIGHT) if number % columns == 0 else "")
        if number + columns >= len(groups):
            panel.set_xlabel(textwrap.fill(x_label, LABEL_WIDTH))
            panel.tick_params(labelbottom=True)
    xs = {x for curve in curves for x in curve.x}
    if names:
        # Each name has its part of the panel's width, and long ones go over several lines.
        width = max(8, LABEL_WIDTH // len(names) - 2)
        panels[0].set_xticks(range(len(names)), [textwrap.fill(name, width, break_long_words=False) for name in names])
    elif len(xs) == 1 or (len(xs) <= MOST_NUMBERED and all(float(x).is_integer() for x in xs)):
        panels[0].set_xticks(sorted(xs), [style.plain(x) for x in sorted(xs)])
    panels[0].margins(x=0.5 / len(names) if names else 0.06)
    values = [value for curve in curves for value in (*curve.published, *curve.measured) if value is not None]
    ends = [end for curve in curves for interval in curve.ci95 if interval is not None for end in interval]
    known = _floats(values)[np.isfinite(_floats(values))]
    if len(known) and known.min() > 0 and known.max() > WIDEST_LINEAR * known.min():
        low, high = float(known.min()), float(known.max())
        # An interval may end at or below 0, where a logarithm has no place for it.
        panels[0].set_ylim(low / 2, max(high, min(2 * high, max(ends, default=high))) * 1.1)
        style.log_ticks(panels[0], of_y=True)
        cut = any(end < low / 2 or end > 2.2 * high for end in ends)
    else:
        cut = style.limit(panels[0], _floats(values), _floats(ends))
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=6, label=label_for(name))
        for name, (colour, marker, _) in styles.items()
    ]
    handles += [Line2D([], [], color=MARK, linestyle="-", marker="o", markersize=5, label="measured")]
    if any(value is not None for curve in curves for value in curve.published):
        handles.append(
            Line2D([], [], color=MARK, linestyle="--", marker="o", mfc=PAPER, markersize=5, label="published")
        )
    if any(interval is not None for curve in curves for interval in curve.ci95):
        words = "95 % interval" + (" (cut by the frame: few seeds)" if cut else "")
        handles.append(
            Line2D([], [], color=MARK, linestyle="", marker="|", markersize=14, mew=5, alpha=0.3, label=words)
        )
    style.legend_below(figure, handles)
    rows = [
        (curve.name, names[int(x)] if names else x, published, measured, *(interval or (np.nan, np.nan)))
        for curve in curves
        for x, published, measured, interval in zip(curve.x, curve.published, curve.measured, curve.ci95, strict=True)
    ]
    columns_of_data = ["series", "x", "published", "measured", "low", "high"]
    figure.data = pd.DataFrame(rows, columns=columns_of_data)
    return figure


def _draw_intervals(axes: Axes, curve: Curve, colour: str) -> None:
    known = [(x, *c) for x, c in zip(curve.x, curve.ci95, strict=True) if c is not None and np.isfinite(c).all()]
    if known:
        xs, low, high = zip(*known, strict=True)
        axes.vlines(xs, low, high, color=colour, linewidth=5, alpha=0.3)


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array(values, dtype=float)


def draw_run(
    path: Path, title: str, nodes: pd.DataFrame, slowdowns: Floats, cores: float = 1.0, channels: int = 1
) -> Path:
    """Write `run_figure` to a PNG file."""
    return style.save(run_figure(title, nodes, slowdowns, cores, channels), path)


def run_figure(
    title: str,
    nodes: pd.DataFrame,
    slowdowns: Floats,
    cores: float = 1.0,
    channels: int = 1,
    *,
    finished: int | None = None,
) -> Figure:
    """Utilisation and tasks over time, load of each node over time, and the distribution of slowdowns.

    Args:
        nodes: columns OF_NODES, at least, of the model's nodes_frame.
        slowdowns: of each finished task, shape (tasks,).
        cores: cores a node, on average.
        channels: the most that a disk has.
        finished: how many tasks finished, if these are fewer numbers.
    """
    of_cpu = "CPU, all cores" if cores > 1 else "CPU"
    # Of several channels a disk is busy while one is: it may be able to do more.
    of_disk = "disk, a channel or more" if channels > 1 else "disk"
    # The legend needs the room beside it.
    over_time = "Utilisation" if cores > 1 or channels > 1 else "Utilisation between measurements"
    is_wide = style.columns_with_room(2, 6.0) == 2
    figure = style.new_figure(12, 7.2 if is_wide else 14.4, title)
    busy, tasks, heat, distribution = figure.subplots(*((2, 2) if is_wide else (4, 1))).ravel()
    times_s = np.sort(nodes["time_ms"].unique()) / 1000
    unit = style.time_unit(times_s[-1])
    # A long run has more measurements than a panel has room for: some in a row make one bin.
    last = np.unique(np.linspace(0, len(times_s), min(len(times_s), MOST_BINS) + 1).astype(int)[1:]) - 1
    first = np.concatenate([[0], last[:-1] + 1])
    edges_s = np.concatenate([[0.0], times_s[last]])
    edges = edges_s / style.TIME_UNITS_S[unit]
    for column, label, colour, servers in (("cpu_busy_ms", of_cpu, "cpu", cores), ("disk_busy_ms", of_disk, "io", 1.0)):
        busy_s = nodes.groupby("time_ms")[column].mean().to_numpy()[last] / 1000 / servers
        percent = np.diff(busy_s, prepend=0.0) / np.diff(edges_s) * 100
        look = {"color": BREAKDOWN_COLOURS[colour], "linestyle": "--" if colour == "cpu" else "-"}
        busy.stairs(percent, edges, baseline=None, linewidth=1.6, label=label, **look)
    busy.set_ylim(0, 105)
    seen = nodes.pivot_table(index="node", columns="time_ms", values="tasks").to_numpy()
    means = np.add.reduceat(seen, first, axis=1) / (last - first + 1)
    if len(seen) > 1:
        least, most = np.minimum.reduceat(seen.min(axis=0), first), np.maximum.reduceat(seen.max(axis=0), first)
        tasks.stairs(most, edges, baseline=least, fill=True, color=ALONE, alpha=0.2, label="least to most")
    tasks.stairs(means.mean(axis=0), edges, baseline=None, color=ALONE, linewidth=1.6, label="mean")
    tasks.set_ylim(0, 1.05 * max(1.0, seen.max()))
    scale: dict[str, Any] = {"cmap": shades_of_loads(), "norm": scale_to(max(1.0, means.max()))}
    image = heat.pcolorfast(edges, np.arange(len(seen) + 1) - 0.5, means, **scale)
    tasks.yaxis.set_major_locator(style.whole_numbers())
    heat.yaxis.set_major_locator(style.whole_numbers())
    style.colour_bar(image, heat, "tasks")
    for panel, name, y in (
        (busy, over_time, "busy, mean of all nodes [%]"),
        (tasks, "Tasks on a node when measured", "tasks"),
        (heat, "Tasks on each node when measured", "node"),
    ):
        panel.set_xlim(0, edges[-1])
        style.tidy(panel, name, f"time [{unit}]", y)
    heat.grid(visible=False)
    style.legend_beside_title(busy)
    if len(seen) > 1:
        style.legend_beside_title(tasks)
    _draw_distribution(distribution, np.sort(slowdowns), len(slowdowns) if finished is None else finished)
    return figure


def _draw_distribution(axes: Axes, values: Floats, tasks: int) -> None:
    """Draw the distribution of ascending values, which are those of `tasks` tasks or distributed like them; of very
    many values some, from the least to the largest, evenly in number."""
    drawn = values
    if len(values) > MOST_VALUES:
        drawn = values[np.linspace(0, len(values) - 1, MOST_VALUES).round().astype(np.int64)]
    if len(values):
        axes.ecdf(drawn, color=ALONE, linewidth=1.6)
        axes.set_xlim(values[0] / 1.1, values[-1] * 1.1)
        style.log_ticks(axes)
    else:
        style.remark(axes, "no task finished")
    axes.set_ylim(0, 1.01)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=None))
    sampled = f", {MOST_VALUES:,} of them drawn" if drawn is not values else ""
    style.tidy(
        axes,
        f"Slowdown of {tasks:,} finished tasks{sampled}",
        "slowdown (wall / isolated time)",
        "tasks with at most this slowdown [%]",
    )
