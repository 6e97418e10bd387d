"""A picture of a plan: what the key does to each metric that is asked about, under each policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cluster_abm.results.colours import MARK
from cluster_abm.results.figures.options import label_for
from cluster_abm.results.looks import looks_of
from cluster_abm.results.of_studies.study_axes import WIDEST_LINEAR, label_of, scaled_label_of
from cluster_abm.results.style import columns_with_room, error_bars, legend_below, log_ticks, panel_grid, save, tidy

# The picture ends at this multiple of the bound: how far beyond it a metric goes does not matter.
TOP = 3.0


class Ceiling(NamedTuple):
    """A need as it is drawn: its metric, the bound, and the need in words."""

    metric: str
    bound: float
    words: str


def draw_plan(
    path: Path,
    title: str,
    key: str,
    table: pd.DataFrame,
    needs: Sequence[Ceiling],
    values: Mapping[str, tuple[float | None, float | None, float | None]],
) -> Path:
    """Write `plan_figure` as a PNG."""
    return save(plan_figure(title, key, table, needs, values), path)


def plan_figure(
    title: str,
    key: str,
    table: pd.DataFrame,
    needs: Sequence[Ceiling],
    values: Mapping[str, tuple[float | None, float | None, float | None]],
) -> Figure:
    """A panel for each need: the metric over the key, a curve for each policy, and the bound.

    Args:
        table: columns policy, the key, and of each metric itself, `METRIC low` and `METRIC high`.
        needs: in the order of the panels.
        values: of each policy, where the needs begin to be kept, and the interval's ends; None: beyond the range.
    """
    looks = looks_of(list(values))
    beside = columns_with_room(len(needs), 6.2)
    figure, panels = panel_grid(title, len(needs), beside, 6.2 * beside + 2.0, 4.5, 0.9)
    for axes, need in zip(panels, needs, strict=False):
        numbers = table[need.metric][np.isfinite(table[need.metric])]
        # Where no job finished, no run has a number.
        top = float(numbers.max()) if len(numbers) else need.bound
        top = max(min(top, TOP * need.bound) if need.bound > 0 else top, need.bound) * 1.08 or 1.0
        divisor, words = scaled_label_of(need.metric, top)
        seen, top, bound = table[need.metric] / divisor, top / divisor, need.bound / divisor
        for policy, look in looks.items():
            colour = look["color"]
            own = table[table["policy"] == policy].sort_values(key)
            columns = (key, need.metric, f"{need.metric} low", f"{need.metric} high")
            at, *bounds = (own[name].to_numpy(float) for name in columns)
            mean, low_end, high_end = (values_of / divisor for values_of in bounds)
            least = np.min(mean, initial=np.inf, where=np.isfinite(mean))
            label = (
                label_for(policy)
                if least <= top
                else f"{label_for(policy)} ({'above the picture' if least < np.inf else 'no number'})"
            )
            error_bars(axes, at, mean, low_end, high_end, linewidth=1.3, label=label, **look)
            value, low, high = values[policy]
            if value is not None:
                axes.axvline(value, color=colour, linewidth=1.0, linestyle=":")
                edges = table[key].min() if low is None else low, table[key].max() if high is None else high
                axes.axvspan(*edges, color=colour, alpha=0.10, linewidth=0)
        axes.axhline(bound, color=MARK, linewidth=1.2, linestyle="--", zorder=0)
        axes.set_ylim(min(0.0, float(seen.min())), top)
        if table[key].min() > 0 and table[key].max() / table[key].min() > WIDEST_LINEAR:
            log_ticks(axes)
        tidy(axes, need.words, label_of(key), words)
    handles, labels = panels[0].get_legend_handles_labels()
    handles += [
        Line2D([], [], color=MARK, linewidth=1.2, linestyle="--"),
        Line2D([], [], color=MARK, linewidth=1.0, linestyle=":"),
    ]
    labels += ["target", "where it begins to be met (band: 95 % interval)"]
    legend_below(figure, handles, labels)
    figure.data = table
    return figure
