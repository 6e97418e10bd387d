"""Pictures of a comparison: means, where the time went and each seed; and ratios to a baseline with their intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results import style
from cluster_abm.results.colours import INK, PAPER, REMARK
from cluster_abm.results.figures.options import DWARFED, label_for
from cluster_abm.results.looks import colours_of
from cluster_abm.results.of_studies.study_axes import scaled_label_of
from cluster_abm.results.words import line_words

Interval = tuple[float, float] | None
# Of the axis of ratios: the room beside the outermost number or end of an interval, as a factor.
ROOM = 1.06
# An interval that goes further than this factor beyond the outermost ratio leaves the picture.
FURTHEST = 3.0


class Against(NamedTuple):
    """A policy against the baseline: value, its interval, and whether it is significant (None: not tested)."""

    value: float
    interval: Interval
    significant: bool | None


def ratio_figure(title: str, metric: str, baseline: str, against: Mapping[str, Against], are_ratios: bool) -> Figure:
    """Each policy over the baseline by one metric, with paired 95 % intervals; filled where it is significant.

    Args:
        title: what stands above.
        metric: by which they are compared.
        baseline: the policy that the others are divided by, or that is subtracted.
        against: the other policies, in the order of the picture.
        are_ratios: whether the values are ratios (a logarithmic axis), or differences.
    """
    names = list(against)
    figure = style.new_figure(7.0, 1.9 + 0.42 * max(len(names), 2), title)
    axes = figure.subplots()
    neutral = 1.0 if are_ratios else 0.0
    sizes = [abs(one.value) for one in against.values() if np.isfinite(one.value)]
    divisor, label = (1.0, _short(metric)) if are_ratios else scaled_label_of(metric, max(sizes, default=1.0))
    values, ends = [neutral], [neutral]
    for y, (name, colour) in enumerate(zip(names, colours_of(names), strict=True)):
        value, interval, significant = against[name]
        if not np.isfinite(value):
            axes.annotate(" no value", (neutral, y), va="center", color=REMARK)
            continue
        value /= divisor
        values.append(value)
        text = style.plain(value, 3)
        if interval is not None and np.isfinite(interval).all():
            low, high = interval[0] / divisor, interval[1] / divisor
            ends += [low, high]
            axes.plot([low, high], [y, y], color=colour, linewidth=2.2)
            text += f" [{style.plain(low, 3)}, {style.plain(high, 3)}]"
        look: dict[str, Any] = {"mfc": PAPER if significant is False else colour, "mew": 1.6}
        axes.plot(value, y, marker="o", markersize=7, color=colour, **look)
        axes.annotate(text, (1.02, y), xycoords=("axes fraction", "data"), va="center", fontsize=style.points(9))
    axes.axvline(neutral, color=REMARK, linewidth=1, zorder=0)
    if are_ratios:
        low, high = min(values), max(values)
        low, high = max(low / FURTHEST, min(low, *ends)), min(high * FURTHEST, max(high, *ends))
        axes.set_xlim(low / ROOM, high * ROOM)
        style.log_ticks(axes)
    axes.set_yticks(np.arange(len(names)), [label_for(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    how = f"{label} / {label_for(baseline)}'s" if are_ratios else f"{label}, less {label_for(baseline)}'s"
    style.tidy(axes, "", f"{how}, 95 % interval (Holm)", "", grid="x")
    rows = [(name, baseline, metric, one.value, *(one.interval or (np.nan, np.nan)), one.significant)
            for name, one in against.items()]  # fmt: skip
    kind = "ratio" if are_ratios else "difference"
    columns = ["policy", "baseline", "metric", kind, "low", "high", "significant"]
    figure.data = pd.DataFrame(rows, columns=columns)
    return figure


def comparison_figure(
    title: str,
    runs: pd.DataFrame,
    means: Mapping[str, tuple[float, Interval]],
    metric: str = "mean_slowdown",
    baseline: str | None = None,
) -> Figure:
    """Means of a metric with intervals, where the time went, and each seed's value over that of the baseline.

    A row for each policy, so that names stay readable however many there are. Means have a logarithmic axis where the
    largest is more than DWARFED times the smallest; its label says so.

    Args:
        runs: one row a run: policy, seed, the metric, breakdown_ms.<part> [ms]; NaN where no job finished.
        means: policy to its mean and 95 % interval, in the order of the picture.
        metric: the column.
        baseline: the policy that seeds are drawn against; None: the first one that has values.
    """
    names = list(means)
    is_wide = style.columns_with_room(3, 4.0) == 3
    rows = 0.42 * max(len(names), 3)
    figure = style.new_figure(12, 2.2 + rows if is_wide else 3 * (1.0 + rows) + 0.8, title)
    places: dict[str, Any] = {"ncols": 3, "width_ratios": (1, 1.25, 1)} if is_wide else {"nrows": 3}
    bars, parts, seeds = figure.subplots(sharey=True, **places)
    table = runs.assign(**{metric: runs[metric].astype(float)})
    table = table.pivot_table(index="seed", columns="policy", values=metric, dropna=False).reindex(
        index=sorted(runs["seed"].unique()), columns=names
    )
    colours = dict(zip(names, colours_of(names), strict=True))
    _draw_means(bars, means, table, colours, metric)
    _draw_breakdowns(parts, names, runs)
    _draw_seeds(seeds, table, colours, metric, baseline)
    bars.set_yticks(np.arange(len(names)), [label_for(name) for name in names])
    middle, half = (len(names) - 1) / 2, max(len(names), 3) / 2
    bars.set_ylim(middle + half, middle - half)
    for panel in (bars, parts, seeds):
        panel.tick_params(axis="y", length=0)
    handles, labels = parts.get_legend_handles_labels()
    style.legend_below(figure, handles, labels)
    columns = [f"breakdown_ms.{part}" for part in BREAKDOWN]
    figure.data = runs[["policy", "seed", metric, *columns]]
    return figure


def _short(metric: str) -> str:
    """A metric in words, without the remark in brackets."""
    return line_words(metric).partition(" (")[0]


def _draw_means(
    axes: Axes,
    means: Mapping[str, tuple[float, Interval]],
    table: pd.DataFrame,
    colours: Mapping[str, str],
    metric: str,
) -> None:
    known = [mean for mean, _ in means.values() if np.isfinite(mean)]
    largest, least = max(known, default=1.0), min(known, default=1.0)
    is_log = 0 < least * DWARFED < largest
    divisor, label = scaled_label_of(metric, largest)
    largest, least, tops = largest / divisor, least / divisor, [0.0]
    for y, (name, (mean, interval)) in enumerate(means.items()):
        if not np.isfinite(mean):
            idle = int(table[name].isna().sum())
            where = "" if idle == len(table) else f" in {idle} of {len(table)} seeds"
            axes.annotate(f" no job finished{where}", (0, y), va="center", color=REMARK)
            continue
        mean /= divisor
        if is_log:
            # A bar has a length, and a logarithmic axis no 0 from which it could begin.
            axes.plot(mean, y, marker="o", markersize=7, color=colours[name])
        else:
            axes.barh(y, mean, height=0.7, color=colours[name])
        tops.append(mean)
        text = style.plain(mean, 3)
        if interval is not None and np.isfinite(interval).all():
            low, high = interval[0] / divisor, interval[1] / divisor
            axes.errorbar(mean, y, xerr=[[mean - low], [high - mean]], color=INK, capsize=4, linewidth=1.2)
            tops.append(high)
            text += f" [{style.plain(low, 3)}, {style.plain(high, 3)}]"
        # In a column of their own, the numbers meet neither bars nor caps.
        axes.annotate(text, (1.02, y), xycoords=("axes fraction", "data"), va="center", fontsize=style.points(9))
    # With two or three seeds an interval can be many times the mean: it may leave the picture, the bars may not shrink.
    if is_log:
        axes.set_xlim(0.7 * least, 1.4 * min(max(tops), 2 * largest))
        style.log_ticks(axes)
        label += "\n(logarithmic: largest / smallest > 10)"
    else:
        axes.set_xlim(0, 1.05 * min(max(tops), 2 * largest) or 1.0)
    basis = f"mean of {len(table)} seeds, 95 % interval" if len(table) > 1 else "one seed"
    if len(table) > 1 and all(interval is None for _, interval in means.values()):
        basis = f"one sample: {len(table)} seeds, the same runs"
    words = line_words(metric)
    heading = "Slowdown" if "slowdown" in metric else words[:1].upper() + words[1:]
    style.tidy(axes, f"{heading} ({basis})", label, "", grid="x")


def _draw_breakdowns(axes: Axes, names: list[str], runs: pd.DataFrame) -> None:
    columns = [f"breakdown_ms.{part}" for part in BREAKDOWN]
    means_s = runs[columns].astype(float).groupby(runs["policy"]).mean().reindex(names) / 1000
    unit = style.time_unit(means_s.sum(axis=1).max())
    left = np.zeros(len(names))
    for part, column in zip(BREAKDOWN, columns, strict=True):
        lengths = means_s[column].fillna(0.0).to_numpy() / style.TIME_UNITS_S[unit]
        if lengths.sum() > 0:
            words = style.BREAKDOWN_WORDS.get(part, part)
            axes.barh(np.arange(len(names)), lengths, 0.7, left, label=words, **style.look_of_part(part))
            left += lengths
    for y in np.flatnonzero(means_s.isna().all(axis=1)):
        axes.annotate(" no task finished", (0, float(y)), va="center", color=REMARK)
    axes.set_xlim(0, 1.05 * left.max() or 1.0)
    style.tidy(axes, "Where a task's time went", f"mean wall time of a task [{unit}]", "", grid="x")


def _draw_seeds(axes: Axes, table: pd.DataFrame, colours: Mapping[str, str], metric: str, baseline: str | None) -> None:
    what = _short(metric)
    wanted = [*([] if baseline is None else [baseline]), *table]
    first = next((name for name in wanted if table[name].notna().any()), None)
    if first is None:
        style.remark(axes, "no job finished")
        style.tidy(axes, "Seed by seed", what, "", grid="x")
        return
    alone = len(table.columns) == 1
    values = table if alone else table.div(table[first], axis=0)
    # A seed has the same height within every row, so that it can be found again.
    heights = np.linspace(-0.25, 0.25, len(table)) if len(table) > 1 else np.zeros(1)
    # Policies under which all seeds gave the same run: one sample, one dot.
    constant = {name for name in table if (table[name] == table[name].iloc[0]).all()}
    for y, name in enumerate(table):
        several = len(table) if {name, first} - constant else 1
        at = y + (heights if several > 1 else np.zeros(1))
        axes.scatter(values[name][:several], at, color=colours[str(name)], edgecolors=PAPER, linewidths=0.5, s=34)
    title = "One sample" if len(table) > 1 and constant == {*table} else "Seed by seed"
    known = values.to_numpy()[np.isfinite(values.to_numpy())]
    axes.margins(x=0.1)
    if alone:
        style.tidy(axes, title, what, "", grid="x")
        return
    axes.axvline(1.0, color=REMARK, linewidth=1, zorder=0)
    if len(known) and known.max() > DWARFED * known.min():
        style.log_ticks(axes)
    style.tidy(axes, f"{title}, on the same jobs", f"{what} / {label_for(str(first))}'s", "", grid="x")
