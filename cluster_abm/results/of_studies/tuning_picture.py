"""A picture of a search: what was tried of each key, and what came of it against the defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cluster_abm.arrays import Floats
from cluster_abm.results.colours import MARK, SERIES_COLOURS
from cluster_abm.results.of_studies.study_axes import label_of
from cluster_abm.results.style import columns_with_room, legend_below, log_ticks, panel_grid, save, tidy

COLUMNS = 3
# Candidates on all seeds, the best, those that were stopped, the defaults.
FINISHED, BEST, STOPPED, DEFAULTS = SERIES_COLOURS[:4]
# Ratios further from those on all seeds than this many times their spread are drawn at the edge.
ROOM = 0.6


def draw_search(path: Path, title: str, label: str, table: pd.DataFrame, keys: Mapping[str, bool], best: int) -> Path:
    """Write `search_figure` to a PNG file."""
    return save(search_figure(title, label, table, keys, best), path)


def search_figure(title: str, label: str, table: pd.DataFrame, keys: Mapping[str, bool], best: int) -> Figure:
    """A panel for each key: its value against the ratio to the defaults, a point for each candidate.

    Args:
        label: of the ratio.
        table: columns candidate, state, ratio (NaN: none), and a column for each key.
        keys: in the order of the panels; whether its axis is logarithmic.
        best: number of the best candidate; 0 is the defaults.
    """
    columns = columns_with_room(min(COLUMNS, len(keys)), 4.3)
    figure, panels = panel_grid(title, len(keys), columns, 4.3 * columns + 0.6, 3.6, 0.9, sharey=True)
    tried = table[table["ratio"].notna()]
    finished = tried[tried["state"] == "finished"]
    low, high = _limits(finished["ratio"].to_numpy(float))
    pad = 0.05 * (high - low)
    for axes, (key, is_log) in zip(panels, keys.items(), strict=False):
        places = _places(tried[key])
        heights = tried["ratio"].clip(low, high)
        is_beyond = heights != tried["ratio"]
        for chosen, colour, marker, size, words in (
            ((tried["state"] != "finished") & ~is_beyond, STOPPED, "o", 22, "stopped early"),
            ((tried["state"] != "finished") & is_beyond, STOPPED, "x", 26, "stopped early, beyond the axis"),
            (tried["state"] == "finished", FINISHED, "o", 34, "on all seeds"),
            (tried["candidate"] == best, BEST, "*", 170, "the best"),
            (tried["candidate"] == 0, DEFAULTS, "D", 48, "the defaults"),
        ):
            # Open circles: distinct from those on all seeds in grey too.
            is_open = colour == STOPPED and marker == "o"
            filling = {"facecolor": "none", "edgecolor": colour} if is_open else {"color": colour}
            axes.scatter(places[chosen], heights[chosen], marker=marker, s=size, label=words, **filling)
        axes.axhline(1.0, color=MARK, linewidth=0.8, zorder=0)
        if is_log:
            log_ticks(axes)
        names = _names(tried[key])
        if names:
            axes.set_xticks(range(len(names)), names)
            axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(low - pad, high + pad)
        tidy(axes, "", label_of(key), "")
    for axes in panels[::columns]:
        axes.set_ylabel(label)
    legend_below(figure, *panels[0].get_legend_handles_labels())
    figure.data = table
    return figure


def _limits(ratios: Floats) -> tuple[float, float]:
    """Of the ratios that are drawn where they are: all candidates on all seeds, and some room for the others."""
    low, high = min(1.0, float(ratios.min())), max(1.0, float(ratios.max()))
    room = (high - low) or 0.1
    return max(0.0, low - ROOM * room), high + ROOM * room


def _names(values: pd.Series) -> Sequence[str]:
    """The choices of a key that is no number; [] of numbers."""
    if pd.api.types.is_bool_dtype(values):
        return ["false", "true"]
    if pd.api.types.is_numeric_dtype(values):
        return []
    return sorted({str(value) for value in values.dropna()})


def _places(values: pd.Series) -> pd.Series:
    """Where the values lie on the axis; NaN where the scenario leaves a key open."""
    names = _names(values)
    if not names:
        return values.astype(float)
    places = {name: float(position) for position, name in enumerate(names)}
    return values.map(lambda value: places.get(str(value).lower() if isinstance(value, bool) else str(value), np.nan))
