"""A picture of a calibration: observed against predicted, and what each key does to the error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cluster_abm.arrays import Floats
from cluster_abm.results.colours import ALONE, LINE, MARK, SERIES_COLOURS
from cluster_abm.results.of_studies.study_axes import label_of
from cluster_abm.results.style import columns_with_room, log_ticks, panel_grid, plain, points, save, tidy

# Of rows; a key's own curve stands for both.
FIT, HELD_OUT = SERIES_COLOURS[:2]
COLUMNS = 3


class Slice(NamedTuple):
    """A key over its range."""

    values: Floats  # of the key, ascending
    errors: Floats  # root mean square of the logarithms at each, the other keys held
    value: float  # fitted
    # low, high: of its 90 % interval.
    low: float
    high: float
    log: bool  # whether the range is one of orders of magnitude


def draw_calibration(path: Path, title: str, table: pd.DataFrame, unit: str, slices: Mapping[str, Slice]) -> Path:
    """Write `calibration_figure` to a PNG file."""
    return save(calibration_figure(title, table, unit, slices), path)


def calibration_figure(title: str, table: pd.DataFrame, unit: str, slices: Mapping[str, Slice]) -> Figure:
    """Predicted over observed, a point a row, and a panel for each key.

    Args:
        table: columns use, observed, predicted.
        unit: of the values: "ms", or "" where rows are metrics of several units.
    """
    panels = 1 + len(slices)
    columns = columns_with_room(min(COLUMNS, panels), 4.6)
    figure, grid = panel_grid(title, panels, columns, 4.6 * columns + 0.4, 4.0, 0.6)
    _draw_rows(grid[0], table, unit)
    for axes, (key, curve) in zip(grid[1:], slices.items(), strict=False):
        axes.plot(curve.values, 100.0 * curve.errors, color=ALONE, marker="o", markersize=4, linewidth=1.3)
        axes.axvspan(curve.low, curve.high, color=LINE, linewidth=0, zorder=0, label="90 % interval")
        axes.axvline(curve.value, color=MARK, linewidth=1.3, linestyle="--", label=f"fitted: {plain(curve.value)}")
        axes.set_ylim(0.0, None)
        if curve.log:
            log_ticks(axes)
        tidy(axes, key, label_of(key), "rms of log(observed / predicted) [%]\n(fitted rows; the other keys held)")
        axes.legend(frameon=False, fontsize=points(9))
    return figure


def _draw_rows(axes: object, table: pd.DataFrame, unit: str) -> None:
    """One panel: each row's prediction over what was measured, on logarithmic axes."""
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    there = table[np.isfinite(table["predicted"])]
    both = there[["observed", "predicted"]].to_numpy(float).ravel()
    low, high = (float(both.min()) / 1.2, float(both.max()) * 1.2) if len(both) else (0.1, 10.0)
    for use, colour, marker in (("fit", FIT, "o"), ("held-out", HELD_OUT, "D")):
        own = there[there["use"] == use]
        if len(own):
            axes.scatter(own["observed"], own["predicted"], color=colour, marker=marker, s=22, alpha=0.75, label=use)
    axes.plot([low, high], [low, high], color=MARK, linewidth=1.0, label="equal")
    axes.set_xlim(low, high)
    axes.set_ylim(low, high)
    axes.set_aspect("equal")
    log_ticks(axes)
    log_ticks(axes, of_y=True)
    behind = f" [{unit}]" if unit else " (each in its unit)"
    tidy(axes, "rows", f"observed{behind}", f"predicted{behind}")
    axes.legend(frameon=False, fontsize=points(9))
