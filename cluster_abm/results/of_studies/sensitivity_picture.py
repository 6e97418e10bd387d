"""A picture of what matters: the sensitivity indices of each factor, a panel a policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from cluster_abm.results.colours import MARK, PAPER, SERIES_COLOURS
from cluster_abm.results.of_studies.study_axes import label_of
from cluster_abm.results.of_studies.study_grid import grid_of, outer_labels
from cluster_abm.results.style import legend_below, save_both, tidy

INDEX_WORDS = {
    "first_order": "first order: alone", "total": "total: with all its interactions",
    "mu_star": "μ*: mean size of the effect", "sigma": "σ: its spread (interactions, curvature)",
}  # fmt: skip
# Colour, marker and filling, in the order of the indices: distinct in grey too.
LOOKS = ((SERIES_COLOURS[0], "o", SERIES_COLOURS[0]), (SERIES_COLOURS[1], "D", PAPER))


def draw_indices(
    path: Path, title: str, metric: str, table: pd.DataFrame, policies: Sequence[str], names: Sequence[str]
) -> list[Path]:
    """Indices with their 95 % intervals; the factor that matters most stands above.

    Args:
        path: of the files, without the ending.
        table: columns policy, factor, index, value, low, high (NaN where there is no interval).
        policies: in the order of the panels.
        names: of the indices; factors are ordered by the first.
    """
    leading = table[table["index"] == names[0]]
    factors = leading.groupby("factor")["value"].max().sort_values(kind="stable").index
    is_share = names[0] == "total"
    figure, grid = grid_of(title, len(policies), sharex=True, height=1.3 + 0.45 * len(factors))
    rows = np.arange(len(factors))
    for axes, policy in zip(grid, policies, strict=False):
        for number, (name, (colour, marker, filling)) in enumerate(zip(names, LOOKS, strict=True)):
            chosen = table[(table["policy"] == policy) & (table["index"] == name)]
            own = chosen.set_index("factor").reindex(factors)
            at = rows + 0.14 - 0.28 * number
            axes.hlines(at, own["low"], own["high"], color=colour, linewidth=1.8, alpha=0.8)
            axes.plot(own["value"], at, linestyle="none", color=colour, marker=marker, mfc=filling, markersize=6)
        axes.axvline(0.0, color=MARK, linewidth=1.0, zorder=0)
        axes.set_yticks(rows, [label_of(str(factor)) for factor in factors])
        axes.set_ylim(-0.6, len(factors) - 0.4)
        axes.tick_params(axis="y", length=0)
        tidy(axes, policy, "", "", grid="x")
    what = "share of the variance" if is_share else "effect over the factor's range"
    outer_labels(grid, len(policies), f"{label_of(metric)}:\n{what}", "")
    handles = []
    for name, (colour, marker, filling) in zip(names, LOOKS, strict=True):
        look: dict[str, Any] = {"linestyle": "none", "color": colour, "marker": marker, "mfc": filling, "markersize": 6}
        handles.append(Line2D([], [], label=INDEX_WORDS[name], **look))
    handles.append(Line2D([], [], color=MARK, linewidth=1.8, label="95 % interval"))
    legend_below(figure, handles)
    return save_both(figure, path)
