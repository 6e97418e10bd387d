"""Pictures of the arena: how far from the best each policy is, and where which is the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cluster_abm.results.colours import INK, LINK, MARK, PAPER, SERIES_COLOURS
from cluster_abm.results.figures.options import current, label_for
from cluster_abm.results.looks import looks_of
from cluster_abm.results.style import (
    columns_with_room,
    legend_below,
    log_ticks,
    new_figure,
    panel_grid,
    points,
    save,
    tidy,
)

# Policies that win most often have their own colour and marker; what wins seldom shares one.
MOST_NAMED = 7
# Ticks of regrets [%].
STEPS = (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 100000)
OWN: dict[str, Any] = {"color": SERIES_COLOURS[1], "hatch": "///", "edgecolor": INK, "linewidth": 0.4}
REST: dict[str, Any] = {"color": LINK}


def draw_regret(path: Path, title: str, table: pd.DataFrame, measure: str, own: Sequence[str] = ()) -> None:
    """Write `regret_figure` to a PNG file."""
    save(regret_figure(title, table, measure, own), path)


def regret_figure(title: str, table: pd.DataFrame, measure: str, own: Sequence[str] = ()) -> Figure:
    """A bar a policy: its mean regret with the interval over regimes, and a mark for the worst one.

    Args:
        table: columns policy, regret, low, high, worst, in the order to draw.
        measure: what regret is of, in words.
        own: policies that are drawn in another colour, hatched.
    """
    figure = new_figure(10, 2.0 + 0.24 * len(table), title)
    axes = figure.subplots()
    ys = np.arange(len(table))
    looks = [OWN if name in own else REST for name in table["policy"]]
    shown = 100.0 * table[["regret", "low", "high", "worst"]].to_numpy()
    for y, end, look in zip(ys, shown[:, 0], looks, strict=True):
        axes.barh(y, end, height=0.7, **look)
    spread = np.abs(shown[:, [0]] - shown[:, 1:3]).T
    axes.errorbar(shown[:, 0], ys, xerr=spread, fmt="none", ecolor=MARK, elinewidth=1.0, capsize=2)
    axes.plot(shown[:, 3], ys, linestyle="none", marker="x", color=MARK, markersize=5)
    axes.set_yticks(ys, [label_for(str(name)) for name in table["policy"]], fontsize=points(9))
    # Where letters have less room than usual the legend stands below.
    is_narrow = current().inches is not None
    axes.set_ylim(len(table) - 0.4, -0.6 if is_narrow else -2.6)
    axes.set_xscale("symlog", linthresh=1.0)
    steps = (0, 1, 10, 100, 1000, 10000, 100000) if is_narrow else STEPS
    ticks = [tick for tick in steps if tick <= shown[:, 3].max() * 2]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xlim(0.0, 1.5 * max(1.0, shown[:, 3].max()))
    tidy(axes, "", f"{measure} beyond the best policy's of each regime [%]", "", grid="x")
    handles = [
        Patch(label="geometric mean over regimes, 95 % interval", **_filled(REST)),
        *([Patch(label="the same, of a policy of your own", **_filled(OWN))] if len(own) else []),
        Line2D([], [], color=MARK, marker="x", linestyle="none", label="worst regime"),
    ]
    if is_narrow:
        legend_below(figure, handles)
    else:
        axes.legend(handles=handles, fontsize=points(9), frameon=False, loc="upper right")
    figure.data = table
    return figure


def _filled(look: dict[str, Any]) -> dict[str, Any]:
    """The look of a bar, as a patch takes it."""
    return {"facecolor" if name == "color" else name: value for name, value in look.items()}


def draw_map(
    path: Path,
    title: str,
    regimes: pd.DataFrame,
    best: Mapping[int, tuple[str, bool]],
    axes_of: Sequence[tuple[str, str, bool]],
    x: tuple[str, str],
    names_of: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write `map_figure` to a PNG file."""
    save(map_figure(title, regimes, best, axes_of, x, names_of), path)


def map_figure(
    title: str,
    regimes: pd.DataFrame,
    best: Mapping[int, tuple[str, bool]],
    axes_of: Sequence[tuple[str, str, bool]],
    x: tuple[str, str],
    names_of: Mapping[str, Sequence[str]] | None = None,
) -> Figure:
    """The best policy of each regime: a panel a factor, against one factor on all x axes; a point a regime.

    Args:
        regimes: index regime, a column a factor.
        best: of each regime the observed best policy, and whether it is surely within 10 % of the best.
        axes_of: the factors on the y axes: name, words, whether logarithmic.
        x: name and words of the factor on the x axes.
        names_of: factors whose values 0, 1, ... are choices, with the names of these.
    """
    counts = pd.Series([name for name, _ in best.values()]).value_counts()
    named = list(counts.index[:MOST_NAMED])
    looks = looks_of(named)
    of_others: dict[str, Any] = {"color": LINK, "marker": "."}
    figure, panels = panel_grid(title, len(axes_of), columns_with_room(4, 3.5), 14, 3.3, 0.9)
    for panel, (factor, words, is_log) in zip(panels, axes_of, strict=False):
        for number, (name, is_sure) in best.items():
            look = looks.get(name, of_others) | {"linestyle": "none", "markersize": 7}
            at = regimes.loc[number, x[0]], regimes.loc[number, factor]
            panel.plot(*at, **look, mfc=look["color"] if is_sure else PAPER)
        if is_log:
            log_ticks(panel, of_y=True)
        names = (names_of or {}).get(factor, ())
        if names:
            panel.set_yticks(range(len(names)), names)
            panel.set_ylim(-0.5, len(names) - 0.5)
        tidy(panel, "", x[1], words)
    handles = [
        Line2D([], [], label=f"{label_for(name)} ({counts[name]})", **(look | {"linestyle": "none"}))
        for name, look in looks.items()
    ]
    rest = int(counts.iloc[len(named) :].sum())
    if rest:
        handles.append(Line2D([], [], label=f"others ({rest})", linestyle="none", **of_others))
    handles += [
        Line2D([], [], color=MARK, marker="o", linestyle="none", label="surely within 10 % of the best"),
        Line2D([], [], color=MARK, marker="o", mfc=PAPER, linestyle="none", label="not surely"),
    ]
    legend_below(figure, handles)
    leaders = pd.DataFrame.from_dict(dict(best), orient="index", columns=["best", "surely"])
    figure.data = regimes.join(leaders, how="inner").reset_index()
    return figure
