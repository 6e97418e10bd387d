"""Pictures of the arena: how far from the best each policy is, and where which is the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from cluster_abm.results.style import MARKERS, log_ticks, new_figure, save, tidy

# Distinct in grey too by their markers; what wins seldom shares one.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
OTHERS = "#999999"


def draw_regret(path: Path, title: str, table: pd.DataFrame, own: Sequence[str] = ()) -> None:
    """A bar a policy: its mean regret with the interval over regimes, and a mark for the worst one.

    Args:
        path: of the PNG.
        title: of the picture.
        table: columns policy, regret, low, high, worst, in the order to draw.
        own: policies that are drawn in another colour.
    """
    figure = new_figure(10, 2.0 + 0.24 * len(table), title)
    axes = figure.subplots()
    places = np.arange(len(table))
    colours = ["#D55E00" if name in own else "#0072B2" for name in table["policy"]]
    shown = 100.0 * table[["regret", "low", "high", "worst"]].to_numpy()
    axes.barh(places, shown[:, 0], color=colours, height=0.7)
    spread = np.abs(shown[:, [0]] - shown[:, 1:3]).T
    axes.errorbar(shown[:, 0], places, xerr=spread, fmt="none", ecolor="#333333", elinewidth=1.0, capsize=2)
    axes.plot(shown[:, 3], places, linestyle="none", marker="x", color="#333333", markersize=5)
    axes.set_yticks(places, table["policy"], fontsize=9)
    axes.set_ylim(len(table) - 0.4, -2.6)
    axes.set_xscale("symlog", linthresh=1.0)
    ticks = [tick for tick in (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 100000) if tick <= shown[:, 3].max() * 2]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xlim(0.0, 1.5 * max(1.0, shown[:, 3].max()))
    tidy(axes, "", "mean slowdown beyond the best policy's of each regime [%]", "", grid="x")
    handles = [
        Line2D([], [], color="#0072B2", linewidth=6, label="geometric mean over regimes, 95 % interval"),
        Line2D([], [], color="#333333", marker="x", linestyle="none", label="worst regime"),
    ]
    axes.legend(handles=handles, fontsize=9, frameon=False, loc="upper right")
    save(figure, path)


def draw_map(
    path: Path,
    title: str,
    regimes: pd.DataFrame,
    best: Mapping[int, tuple[str, bool]],
    axes_of: Sequence[tuple[str, str, bool]],
    x: tuple[str, str],
) -> None:
    """The best policy of each regime: a panel a factor, against one factor on all x axes; a point a regime.

    Args:
        path, title: as of draw_regret.
        regimes: index regime, a column a factor.
        best: of each regime the policy of least slowdown, and whether it is so by more than noise.
        axes_of: the factors on the y axes: name, words, whether logarithmic.
        x: name and words of the factor on the x axes.
    """
    counts = pd.Series([name for name, _ in best.values()]).value_counts()
    named = list(counts.index[: len(COLOURS)])
    columns = 4
    rows = -(-len(axes_of) // columns)
    figure = new_figure(14, 0.9 + 3.3 * rows, title)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, (factor, words, is_log) in zip(panels, axes_of, strict=False):
        for number, (name, is_told) in best.items():
            place = named.index(name) if name in named else len(COLOURS)
            colour = COLOURS[place] if name in named else OTHERS
            panel.plot(
                regimes.loc[number, x[0]], regimes.loc[number, factor], linestyle="none",
                marker=MARKERS[place % len(MARKERS)], color=colour, markersize=7,
                markerfacecolor=colour if is_told else "white",
            )  # fmt: skip
        if is_log:
            log_ticks(panel, of_y=True)
        tidy(panel, "", x[1], words)
    for panel in panels[len(axes_of) :]:
        panel.set_visible(False)
    handles = [
        Line2D([], [], color=COLOURS[place], marker=MARKERS[place], linestyle="none", label=f"{name} ({counts[name]})")
        for place, name in enumerate(named)
    ]
    rest = int(counts.iloc[len(named) :].sum())
    if rest:
        handles.append(
            Line2D([], [], color=OTHERS, marker=MARKERS[len(COLOURS) % len(MARKERS)], linestyle="none",
                   label=f"others ({rest})")
        )  # fmt: skip
    handles += [
        Line2D([], [], color="#333333", marker="o", linestyle="none", label="best by more than noise"),
        Line2D([], [], color="#333333", marker="o", mfc="white", linestyle="none", label="not told apart from others"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=10, frameon=False)
    save(figure, path)
