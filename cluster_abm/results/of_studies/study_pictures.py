"""Pictures of a study: tables in, PNG and SVG out; policies are distinct in grey by markers, lines and hatches."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results import style
from cluster_abm.results.colours import MARK, PAPER
from cluster_abm.results.figures.options import DWARFED, label_for
from cluster_abm.results.figures.picture import Picture
from cluster_abm.results.load_scale import scale_to, shades_of_loads
from cluster_abm.results.of_studies.study_axes import WIDEST_LINEAR, Layout, Panel, distinct_texts, scaled_label_of
from cluster_abm.results.of_studies.study_grid import Looks, grid_of, outer_labels
from cluster_abm.results.words import line_words

MOST_TICKS = 8
LABEL_WIDTH = 44


def draw_lines(
    path: Path, title: str, metric: str, estimates: pd.DataFrame, layout: Layout, looks: Looks
) -> list[Path]:
    """Write `lines_figure` to a PNG and an SVG file, whose path is without the ending."""
    return style.save_both(lines_figure(title, metric, estimates, layout, looks), path)


def lines_figure(title: str, metric: str, estimates: pd.DataFrame, layout: Layout, looks: Looks) -> Figure:
    """A metric over the points of a study, a line a policy, its 95 % interval a band.

    Args:
        estimates: columns point, policy, mean, low, high (NaN where there is no interval).
    """
    figure, panels = _panels(title, layout)
    given = estimates
    estimates, label = _in_short_numbers(metric, estimates)
    names = [name for name in looks.policies if (estimates["policy"] == name).any()]
    for axes, panel in zip(panels, layout.panels, strict=True):
        for number, name in enumerate(names):
            rows = _rows(estimates, name, panel)
            _draw_curve(axes, rows, looks[name], layout, _shift(number, len(names), layout, panel))
    cut = _finish(panels, layout, label, estimates, names)
    handles = looks.handles(names, _are_joined(layout)) if not layout.is_single else []
    if estimates["low"].notna().any():
        handles.append(_interval_handle(layout, cut))
    style.legend_below(figure, handles)
    figure.data = given
    return figure


def draw_differences(
    path: Path, title: str, metric: str, differences: pd.DataFrame, layout: Layout, looks: Looks, reference: str
) -> list[Path]:
    """Write `differences_figure` to a PNG and an SVG file, whose path is without the ending."""
    return style.save_both(differences_figure(title, metric, differences, layout, looks, reference), path)


def differences_figure(
    title: str, metric: str, differences: pd.DataFrame, layout: Layout, looks: Looks, reference: str
) -> Figure:
    """Ratios to one policy on the same jobs, with corrected intervals, or differences where there are zeros; filled
    markers where they are significant.

    Args:
        differences: columns point, policy, mean, low, high, significant: policy over reference, or policy less
            reference; and is_ratio, which of the two: without it, or with both, differences.
        reference: the policy that all are compared with.
    """
    figure, panels = _panels(title, layout)
    given = differences
    is_ratio = bool(len(differences)) and "is_ratio" in differences and bool(differences["is_ratio"].all())
    if is_ratio:
        label = f"{line_words(metric)} / {label_for(reference)}'s"
    else:
        differences, label = _in_short_numbers(metric, differences)
        label = f"{label},\nless that of {label_for(reference)}"
    names = [name for name in looks.policies if (differences["policy"] == name).any()]
    for axes, panel in zip(panels, layout.panels, strict=True):
        axes.axhline(1.0 if is_ratio else 0.0, color=MARK, linewidth=1.2, zorder=1)
        for number, name in enumerate(names):
            rows = _rows(differences, name, panel)
            shift = _shift(number, len(names), layout, panel)
            look = looks[name]
            _draw_curve(axes, rows, look | {"marker": ""}, layout, shift)
            for real, fill in ((True, look["color"]), (False, PAPER)):
                chosen = rows[rows["significant"].map(bool) == real]
                marks = look | {"linestyle": "none", "mfc": fill, "markersize": 6}
                axes.plot(chosen["x"] + shift, chosen["mean"], **marks, zorder=4)
    cut = _finish(panels, layout, label, differences, names)
    handles = looks.handles(names, _are_joined(layout)) if not layout.is_single else []
    handles.append(_interval_handle(layout, cut, "95 % interval (Holm)"))
    untested = ", or one sample" if differences["significant"].isna().any() else ""
    for words, fill in (("significant (Holm, 5 %)", MARK), (f"not significant{untested}", PAPER)):
        handles.append(Line2D([], [], color=MARK, linestyle="none", marker="o", mfc=fill, markersize=6, label=words))
    style.legend_below(figure, handles)
    figure.data = given
    return figure


def draw_distributions(
    path: Path, title: str, panels: Sequence[tuple[str, Mapping[str, Sequence[float]]]], looks: Looks
) -> list[Path]:
    """Distribution functions of jobs' slowdowns.

    Args:
        path, title, looks: as of draw_lines.
        panels: of each point its words, and policy to the least value, each percentile and the largest, shape (101,).
    """
    figure, grid = grid_of(title, len(panels), sharex=True)
    names = [name for name in looks.policies if any(name in curves for _, curves in panels)]
    values = [value for _, curves in panels for quantiles in curves.values() for value in quantiles]
    for axes, (words, curves) in zip(grid, panels, strict=False):
        for number, name in enumerate(names):
            if name in curves:
                look = looks[name] | {"markevery": slice(5 + 4 * number, 100, 25), "linewidth": 1.6, "markersize": 5}
                axes.plot(curves[name], np.linspace(0, 1, len(curves[name])), **look)
        axes.set_ylim(0, 1.01)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, symbol=None))
        style.tidy(axes, textwrap.fill(words, LABEL_WIDTH), "", "")
    if values and min(values) > 0:
        # The last percent, often ten times as long as all the others together, leaves the picture.
        ends = [quantiles[99] for _, curves in panels for quantiles in curves.values()]
        grid[0].set_xlim(min(values), max(1.3 * max(ends), 1.1 * min(values)))
        for axes in grid:
            style.log_ticks(axes)
    elif not values:
        style.remark(grid[0], "no job finished")
    outer_labels(grid, len(panels), "slowdown (wall / isolated time)", "jobs with at most this slowdown [%]")
    style.legend_below(figure, looks.handles(names))
    return style.save_both(figure, path)


def draw_breakdowns(path: Path, title: str, panels: Sequence[tuple[str, pd.DataFrame]]) -> list[Path]:
    """Where a task's time went, a bar a policy.

    Args:
        path, title: as of draw_differences.
        panels: of each point its words, and a table: index policy, columns cpu, cpu_queue, ... [ms].
    """
    bars = max((len(table) for _, table in panels), default=1)
    figure, grid = grid_of(title, len(panels), sharey=True, height=0.9 + 0.4 * max(bars, 3))
    longest = max((float(table.sum(axis=1).max()) for _, table in panels if len(table)), default=0.0)
    longest_s = (longest if np.isfinite(longest) else 0.0) / 1000
    unit = style.time_unit(longest_s)
    seen: dict[str, Any] = {}
    for axes, (words, table) in zip(grid, panels, strict=False):
        left = np.zeros(len(table))
        for part in BREAKDOWN:
            lengths = table[part].fillna(0.0).to_numpy(float) / 1000 / style.TIME_UNITS_S[unit]
            # A part of which nothing would be seen has no entry in the legend either.
            if lengths.max(initial=0.0) > 0.002 * longest_s / style.TIME_UNITS_S[unit]:
                seen[part] = axes.barh(np.arange(len(table)), lengths, 0.72, left, **style.look_of_part(part))
            left += lengths
        for y, end in enumerate(left):
            axes.annotate(
                f" {style.plain(float(end), 3)}" if end else " no task finished",
                (end, y),
                va="center",
                fontsize=style.points(9),
            )
        axes.set_yticks(np.arange(len(table)), [label_for(str(name)) for name in table.index])
        axes.set_ylim(max(len(table), 3) - 0.5 - (max(0, 3 - len(table)) / 2), -0.5 - max(0, 3 - len(table)) / 2)
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, 1.18 * longest_s / style.TIME_UNITS_S[unit] or 1.0)
        style.tidy(axes, textwrap.fill(words, LABEL_WIDTH), "", "", grid="x")
    outer_labels(grid, len(panels), f"mean wall time of a task [{unit}]", "")
    ordered = [part for part in BREAKDOWN if part in seen]
    words_of = [style.BREAKDOWN_WORDS.get(part, part) for part in ordered]
    if ordered:
        style.legend_below(figure, [seen[part] for part in ordered], words_of)
    return style.save_both(figure, path)


def draw_loads(path: Path, title: str, loads: Mapping[str, Mapping[str, Any]]) -> list[Path]:
    """Tasks on each node over time, a panel a policy, on one scale.

    Args:
        path, title: as of draw_differences.
        loads: policy to time_ms (list) and tasks (a list a node).
    """
    figure, grid = grid_of(title, len(loads), sharey=True, sharex=True)
    most = max(float(np.max(load["tasks"])) for load in loads.values())
    longest_s = max(load["time_ms"][-1] for load in loads.values()) / 1000
    unit = style.time_unit(longest_s)
    image = None
    for axes, (name, load) in zip(grid, loads.items(), strict=False):
        tasks = np.asarray(load["tasks"], float)
        edges = np.concatenate([[0.0], np.asarray(load["time_ms"]) / 1000 / style.TIME_UNITS_S[unit]])
        # Of all that is measured once in a while, what was seen last stands for the time since the time before.
        scale: dict[str, Any] = {"cmap": shades_of_loads(), "norm": scale_to(max(1.0, most))}
        image = axes.pcolormesh(edges, np.arange(len(tasks) + 1) - 0.5, tasks, rasterized=True, **scale)
        axes.set_xlim(0, longest_s / style.TIME_UNITS_S[unit])
        axes.yaxis.set_major_locator(style.whole_numbers())
        style.tidy(axes, label_for(name), "", "")
        axes.grid(visible=False)
    outer_labels(grid, len(loads), f"time [{unit}]", "node")
    if image is not None:
        shown = [axes for axes in grid if axes.get_visible()]
        style.colour_bar(image, shown, "tasks on the node")
    return style.save_both(figure, path)


def _in_short_numbers(metric: str, table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The table with times in a unit in which they are short, and the label of the axis."""
    divisor, label = scaled_label_of(metric, float(table["mean"].abs().max()))
    columns = ["mean", "low", "high"]
    return table.assign(**{name: table[name] / divisor for name in columns}), label


def _are_joined(layout: Layout) -> bool:
    return layout.joined and not layout.names


def _rows(table: pd.DataFrame, policy: str, panel: Panel) -> pd.DataFrame:
    """A policy's rows of the panel's points, with `x`."""
    own = table[table["policy"] == policy].set_index("point")
    rows = own.reindex([point for point in panel.points if point in own.index])
    return rows.assign(x=[x for point, x in zip(panel.points, panel.x, strict=True) if point in own.index])


def _shift(number: int, count: int, layout: Layout, panel: Panel) -> float:
    """Where no lines are, policies stand beside each other."""
    if _are_joined(layout):
        return 0.0
    width = 0.5 if layout.names else 0.2 * (max(panel.x) - min(panel.x)) / max(1, len(panel.x))
    return 0.0 if count == 1 else width * (number / (count - 1) - 0.5)


def _draw_curve(axes: Axes, rows: pd.DataFrame, look: dict[str, Any], layout: Layout, shift: float) -> None:
    x, known = rows["x"] + shift, rows["low"].notna()
    if _are_joined(layout):
        axes.fill_between(
            x[known], rows["low"][known], rows["high"][known], color=look["color"], alpha=0.2, linewidth=0
        )
        axes.plot(x, rows["mean"], **look, linewidth=1.7, markersize=6, zorder=3)
    else:
        axes.vlines(x[known], rows["low"][known], rows["high"][known], color=look["color"], linewidth=1.6, alpha=0.8)
        axes.plot(x, rows["mean"], **(look | {"linestyle": "none"}), markersize=6, zorder=3)


def _interval_handle(layout: Layout, cut: bool, words: str = "95 % interval") -> Line2D:
    look: dict[str, Any] = (
        {"linewidth": 8, "alpha": 0.3}
        if _are_joined(layout)
        else {"linestyle": "none", "marker": "|", "markersize": 12, "mew": 1.6}
    )
    return Line2D([], [], color=MARK, label=words + (" (cut by the frame: few seeds)" if cut else ""), **look)


def _finish(panels: Sequence[Axes], layout: Layout, label: str, table: pd.DataFrame, names: Sequence[str]) -> bool:
    values = table["mean"].to_numpy(float)
    ends = table[["low", "high"]].to_numpy(float).ravel()
    known = values[np.isfinite(values)]
    if len(known) and known.min() > 0 and known.max() > DWARFED * known.min():
        label += "\n(logarithmic: largest / smallest > 10)"
        panels[0].set_ylim(known.min() / 1.5, known.max() * 1.5)
        style.log_ticks(panels[0], of_y=True)
        low, high = panels[0].get_ylim()
        cut = bool(((ends < low) | (ends > high)).any())
    else:
        cut = style.limit(panels[0], values, ends)
    for axes, panel, x_label in zip(panels, layout.panels, layout.labels, strict=True):
        xs = sorted(set(panel.x))
        if layout.is_single:
            shifts = [_shift(number, len(names), layout, panel) for number in range(len(names))]
            axes.set_xticks(shifts, [label_for(name) for name in names])
            axes.set_xlim(-0.5, 0.5)
        elif layout.names:
            # Lines of a key each; beside each other as long as they have room.
            lines = [name.replace(", ", "\n").replace("; ", "\n") for name in layout.names]
            width = 0.85 * style.letters_in(axes.figure.get_figwidth())  # type: ignore[union-attr]
            fits = max(len(line) for name in lines for line in name.split("\n")) + 2 <= width / len(lines)
            axes.set_xticks(xs, lines, rotation=0 if fits else 90)
            axes.set_xlim(min(xs) - 0.5, max(xs) + 0.5)
        elif min(xs) > 0 and max(xs) > WIDEST_LINEAR * min(xs):
            style.log_ticks(axes)
            if layout.joined and len(xs) <= MOST_TICKS:
                axes.set_xticks(xs, distinct_texts(xs, 4))
        elif layout.joined and len(xs) <= MOST_TICKS:
            axes.set_xticks(xs, distinct_texts(xs, 4))
        title = panel.title if layout.joined else ""
        style.tidy(axes, textwrap.fill(title, LABEL_WIDTH), x_label, "")
    columns = style.columns_of(len(panels))
    for number, axes in enumerate(panels):
        if number % columns == 0:
            axes.set_ylabel(label)
    return cut


def _panels(title: str, layout: Layout) -> tuple[Picture, list[Axes]]:
    height = 4.2 if len(layout.panels) == 1 else 3.3
    figure, grid = grid_of(title, len(layout.panels), height=height)
    return figure, grid[: len(layout.panels)]
