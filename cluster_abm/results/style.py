"""One look for all pictures: a colour per policy, axes with units, no state shared with the user's own plots."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluster_abm.results.colours import BREAKDOWN_COLOURS, REMARK
from cluster_abm.results.files import in_one_move

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

    Floats = npt.NDArray[np.float64]

# Time in transit is a task's own (remote start, migration) or that of the files which it fetches.
BREAKDOWN_WORDS = {
    "cpu": "CPU", "cpu_queue": "CPU queue", "io": "I/O", "io_queue": "I/O queue", "migration": "transfer",
}  # fmt: skip
# As many as parts of the breakdown: distinct in grey too.
BREAKDOWN_HATCHES = dict(zip(BREAKDOWN_COLOURS, ("", "///", "xx", "...", "\\\\\\", "oo", "--", "++"), strict=True))
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# How much of the curves' height an interval may add to it.
INTERVAL_ROOM = 0.4
TIME_UNITS_S = {"ms": 0.001, "s": 1.0, "h": 3600.0, "days": 86400.0}


def plain(value: float, digits: int = 4) -> str:
    """A number as people write it: significant digits, thousands separators, an exponent only where nothing else fits.

    >>> plain(34462.7), plain(0.0089), plain(3.0)
    ('34,463', '0.0089', '3')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    magnitude = math.floor(math.log10(abs(value)))
    if not -6 <= magnitude < 12:
        return f"{value:.{digits - 1}e}"
    text = f"{value:,.{max(0, digits - 1 - magnitude)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def time_unit(longest_s: float) -> str:
    """The unit of TIME_UNITS_S in which an axis up to that time has short numbers."""
    if longest_s < 0.5:
        return "ms" if longest_s > 0 else "s"
    if longest_s <= 2 * 3600:
        return "s"
    return "h" if longest_s <= 4 * 86400 else "days"


def new_figure(width: float, height: float, title: str) -> Figure:
    """An empty figure of that size [inches] under a title, wrapped where it is longer than the figure is wide."""
    from cluster_abm.results.picture import Picture

    figure = Picture(figsize=(width, height), layout="constrained")
    figure.suptitle(textwrap.fill(title, round(width * 9)), fontsize=13)
    return figure


def tidy(axes: Axes, title: str, x: str, y: str, grid: str = "y") -> None:
    """Title, axis labels, a light grid across the axis of values, no box."""
    axes.set_title(title, fontsize=11, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=False)
    axes.grid(axis="x" if grid == "x" else "y", alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)


def legend_beside_title(axes: Axes) -> None:
    """A legend at the right end of the title's line, where no data can be under it."""
    axes.legend(frameon=False, fontsize=9, ncols=4, loc="lower right", bbox_to_anchor=(1.0, 0.985), borderaxespad=0.1)


def error_bars(axes: Axes, x: Floats, mean: Floats, low: Floats, high: Floats, **style: Any) -> None:
    """A curve of means with their intervals from low to high, in Matplotlib's `style` of a line."""
    axes.errorbar(x, mean, [mean - low, high - mean], capsize=2, **{"marker": "o", "markersize": 4, **style})


def whole_numbers() -> Locator:
    """Ticks for what is counted: nodes, tasks."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1)


def plain_ticks(axes: Axes) -> None:
    """A few numbers on the x axis, with thousands separators: they do not run into each other."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: plain(value, 6)))


def log_ticks(axes: Axes, of_y: bool = False) -> None:
    """A logarithmic x axis (or y axis) that is labelled with numbers and not with powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if of_y:
        axes.set_yscale("log")
    else:
        axes.set_xscale("log")
    axis, (low, high) = (axes.yaxis, axes.get_ylim()) if of_y else (axes.xaxis, axes.get_xlim())
    steps = ((20, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)), (200, (1.0, 2.0, 5.0)), (math.inf, (1.0,)))
    axis.set_major_locator(LogLocator(subs=next(chosen for span, chosen in steps if high / low < span)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axis.set_minor_formatter(NullFormatter())


def limit(axes: Axes, values: Floats, ends: Floats) -> bool:
    """Limits of y that show 0 and the values; intervals only as far as they leave the values their room.

    Args:
        axes: the panel.
        values: of all curves.
        ends: of all intervals.

    Returns:
        whether an interval is cut.
    """
    values, ends = values[abs(values) < math.inf], ends[abs(ends) < math.inf]
    if not len(values):
        axes.set_ylim(0, 1)
        remark(axes, "nothing finished")
        return False
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    room = INTERVAL_ROOM * (high - low) or 1.0
    top = min(float(ends.max(initial=high)), high + room)
    # What is never negative gets no room below 0, whatever the interval's arithmetic says.
    bottom = low if low == 0 else max(float(ends.min(initial=low)), low - room)
    pad = 0.06 * (top - bottom) or 1.0
    axes.set_ylim(bottom - (pad if bottom < 0 else 0), top + pad)
    return bool(((ends > top + pad) | (ends < bottom)).any())


def remark(axes: Axes, text: str) -> None:
    """Words in the middle of a panel that has nothing to draw."""
    axes.tick_params(axis="x", labelbottom=False, length=0)
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=REMARK)


def save(figure: Figure, path: Path) -> Path:
    """Write a PNG; no date or version in it, so that equal runs give equal bytes."""
    from cluster_abm.results.picture import texts_as_given

    with in_one_move(path) as partial, texts_as_given(figure):
        figure.savefig(partial, dpi=130, metadata={"Software": None})
    return path


def save_both(figure: Figure, path: Path) -> list[Path]:
    """Write a PNG and an SVG beside it; nothing in them depends on when or by which version they were made.

    Args:
        figure: the picture.
        path: of both, without the ending.
    """
    import matplotlib

    from cluster_abm.results.picture import texts_as_given

    vector = path.with_name(path.name + ".svg")
    # Identifiers within an SVG are random otherwise.
    with matplotlib.rc_context({"svg.hashsalt": "cluster-abm"}), in_one_move(vector) as partial, texts_as_given(figure):
        figure.savefig(partial, metadata={"Date": None, "Creator": None})
    return [save(figure, path.with_name(path.name + ".png")), vector]
