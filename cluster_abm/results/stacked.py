"""Bars made of parts: where the time of each policy's jobs went."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cluster_abm.results.figures.options import label_for
from cluster_abm.results.style import legend_below, look_of_part, new_figure, plain, points, save, tidy

# Parts that a paper adds up look as what they mostly are.
PARTS = {"CPU": "cpu", "queuing": "cpu_queue", "paging": "paging", "migration": "migration", "I/O": "io"}


def draw_stacked(path: Path, title: str, label: str, parts: pd.DataFrame) -> Path:
    """Write `stacked_figure` to a PNG file."""
    return save(stacked_figure(title, label, parts), path)


def stacked_figure(title: str, label: str, parts: pd.DataFrame) -> Figure:
    """A bar a row, its parts on top of each other, each bar's sum at its end.

    Args:
        label: of the axis, with the unit.
        parts: one row a bar, one column a part, in the order drawn.
    """
    figure = new_figure(9.0, 1.9 + 0.45 * len(parts), title)
    axes = figure.subplots()
    left = np.zeros(len(parts))
    for name in parts:
        lengths = parts[name].fillna(0.0).to_numpy(float)
        look = look_of_part(PARTS.get(str(name), "blocked"))
        axes.barh(np.arange(len(parts)), lengths, 0.7, left, label=str(name), **look)
        left += lengths
    for y, end in enumerate(left):
        axes.annotate(f" {plain(float(end), 3)}", (end, y), va="center", fontsize=points(9))
    axes.set_yticks(np.arange(len(parts)), [label_for(str(name)) for name in parts.index])
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.12 * float(left.max(initial=0.0)) or 1.0)
    tidy(axes, "", label, "", grid="x")
    legend_below(figure, *axes.get_legend_handles_labels())
    figure.data = parts.rename_axis("bar").reset_index()
    return figure
