"""A picture of a validation: what was measured against what was predicted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from cluster_abm.results.colours import MARK, SERIES_COLOURS
from cluster_abm.results.style import columns_with_room, log_ticks, panel_grid, points, remark, save, tidy

COLOURS, MARKERS = SERIES_COLOURS[:3], ("o", "^", "s")
TITLES = {"cpu": "Processes that compute", "mixed": "Processes that compute and read"}


def draw_validation(path: Path, title: str, table: pd.DataFrame, captions: Mapping[str, str]) -> Path:
    """A panel for each part: a point a response, predicted against measured, on logarithmic axes with the identity.

    Args:
        table: a row a response, with part, cores, measured_ms and predicted_ms.
        captions: a line for each part, under its title.
    """
    figure, panels = panel_grid(title, len(TITLES), columns_with_room(len(TITLES), 5.2), 10.4, 4.8, 0.4)
    for axes, (part, words) in zip(panels, TITLES.items(), strict=True):
        rows = table[table["part"] == part]
        heading = f"{words}\n{captions.get(part, '')}".rstrip()
        tidy(axes, heading, "predicted response time [ms]", "measured response time, corrected [ms]")
        if rows.empty:
            remark(axes, "not measured")
            continue
        for number, (cores, of_these) in enumerate(rows.groupby("cores")):
            label = f"{cores} core{'s' if cores != 1 else ''}, {len(of_these)} responses"
            look = {"color": COLOURS[number % 3], "marker": MARKERS[number % 3], "label": label}
            axes.scatter(of_these["predicted_ms"], of_these["measured_ms"], s=16, alpha=0.55, linewidths=0, **look)
        values = rows[["predicted_ms", "measured_ms"]].to_numpy(float)
        low, high = 0.85 * values.min(), 1.18 * values.max()
        axes.plot([low, high], [low, high], color=MARK, linewidth=0.9, zorder=0, label="measured = predicted")
        axes.set_xlim(low, high)
        axes.set_ylim(low, high)
        log_ticks(axes)
        log_ticks(axes, of_y=True)
        axes.grid(axis="both", alpha=0.3, linewidth=0.6)
        axes.legend(frameon=False, fontsize=points(9), loc="upper left")
    figure.data = table
    return save(figure, path)
