"""One look for all pictures: a colour per policy, axes with units, no state shared with the user's own plots."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cluster_abm.results.colours import BREAKDOWN_COLOURS, INK, REMARK
from cluster_abm.results.figures.files import save, save_both
from cluster_abm.results.figures.fitting import LETTERS_PER_INCH
from cluster_abm.results.figures.options import current
from cluster_abm.results.figures.stamps import calling_module
from cluster_abm.results.plain import TIME_UNITS_S, plain, time_unit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

    from cluster_abm.results.figures.picture import Picture

    Floats = npt.NDArray[np.float64]

__all__ = ["TIME_UNITS_S", "plain", "save", "save_both", "time_unit"]

# Time in transit is a task's own (remote start, migration) or that of the files which it fetches.
BREAKDOWN_WORDS = {
    "cpu": "CPU", "cpu_queue": "CPU queue", "io": "I/O", "io_queue": "I/O queue", "migration": "transfer",
}  # fmt: skip
# With the lightness of their colours distinct in grey too; a queue, often the longest part, has a quiet one.
BREAKDOWN_HATCHES = {
    "cpu": "", "cpu_queue": "///", "io": "xxx", "io_queue": "", "paging": "\\\\\\", "migration": "ooo",
    "barrier": "---", "blocked": "+++",
}  # fmt: skip
# How much of the curves' height an interval may add to it.
INTERVAL_ROOM = 0.4
# Of legends: how many letters the line beside them takes.
LETTERS_OF_A_HANDLE = 7
# Letters of a title that an inch takes, which are larger.
TITLE_PER_INCH = 9.0
# A panel keeps at least this share of its usual width; else fewer stand beside each other.
NARROWEST, USUAL_PANEL = 0.75, 4.1
# Longer times are not written in milliseconds.
LONGEST_MS = 20_000.0


def columns_of(count: int) -> int:
    """How many panels stand in a row."""
    return columns_with_room(count if count <= 3 else 3 if count > 4 else 2)


def columns_with_room(columns: int, panel_width: float = USUAL_PANEL) -> int:
    """How many of some panels have room beside each other.

    Args:
        columns: how many there usually are.
        panel_width: their usual width [inches].
    """
    options = current()
    if options.inches is None:
        return columns
    return max(1, min(columns, int(options.inches[0] / (NARROWEST * panel_width * options.type_scale))))


def points(usual: float) -> float:
    """A size of letters [points], usual where Matplotlib's is 10 pt: figures for print and styles have others."""
    import matplotlib

    return usual * float(matplotlib.rcParams["font.size"]) / 10


def letters_in(inches: float) -> float:
    """How many letters of a legend have room in a width."""
    return inches * LETTERS_PER_INCH / points(1.0)


def new_figure(width: float, height: float, title: str) -> Picture:
    """An empty figure of that size [inches], or of the one asked for, under a title in as many lines as it needs."""
    from cluster_abm.results.figures.picture import Picture

    options = current()
    if options.inches is not None:
        width, given = options.inches
        height = height * options.type_scale if given is None else given
    figure = Picture(figsize=(width, height), layout="constrained")
    figure.drawn_by = calling_module()
    if title:
        figure.suptitle(_balanced(title, round(width * TITLE_PER_INCH / points(1.0))), fontsize=points(13))
    return figure


def panel_grid(
    title: str,
    count: int,
    columns: int,
    width: float,
    row_height: float,
    rest: float,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Picture, list[Any]]:
    """A figure, `rest` inches higher than its rows of panels, and their Axes; panels beyond `count` are hidden."""
    rows = -(-count // columns)
    figure = new_figure(width, row_height * rows + rest, title)
    panels = list(figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False).ravel())
    for axes in panels[count:]:
        axes.set_visible(False)
    return figure, panels


def _balanced(text: str, width: int) -> str:
    """The text in as few lines of that many letters as it takes, about equally long.

    >>> _balanced("where the time of a task went", 28)
    'where the time\\nof a task went'
    """
    lines = textwrap.wrap(text, width)
    while len(lines) > 1 and len(narrower := textwrap.wrap(text, width - 1)) == len(lines):
        lines, width = narrower, width - 1
    return "\n".join(lines)


def legend_below(figure: Figure, handles: Sequence[Any], labels: Sequence[str] = ()) -> None:
    """One legend for all panels, in as many columns as fit; without `labels` the handles' own."""
    words = [str(label) for label in labels] or [str(handle.get_label()) for handle in handles]
    if not words:
        return
    letters = [len(label) + LETTERS_OF_A_HANDLE for label in words]
    room = letters_in(figure.get_figwidth())
    for columns in range(len(words), 0, -1):
        # Matplotlib fills a column after the other; the first ones have one entry more where it does not come out.
        most, longer = divmod(len(words), columns)
        ends = [most * number + min(number, longer) for number in range(columns + 1)]
        if sum(max(letters[one:other]) for one, other in pairwise(ends)) <= room:
            break
    figure.legend(handles, words, loc="outside lower center", ncols=columns, frameon=False)


def tidy(axes: Axes, title: str, x: str, y: str, grid: str = "y") -> None:
    """Title, axis labels, a light grid across the axis of values, plain numbers at the ticks, no box."""
    style = current().rc
    axes.set_title(title, fontsize=style.get("axes.titlesize", points(11)), loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for side in ("top", "right"):
        axes.spines[side].set_visible(style.get(f"axes.spines.{side}", False))
    # A style of the user says whether there is a grid, and of what kind.
    if "axes.grid" not in style:
        axes.grid(visible=False)
        axes.grid(axis="x" if grid == "x" else "y", alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        _plain_axis(axis)


def legend_beside_title(axes: Axes) -> None:
    """A legend at the right end of the title's line, where no data can be under it; without room there, among them."""
    if current().inches is not None:
        axes.legend(fontsize=points(9), loc="best", framealpha=0.7, edgecolor="none")
        return
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.985), "borderaxespad": 0.1}
    axes.legend(frameon=False, fontsize=points(9), ncols=4, **place)


def error_bars(axes: Axes, x: Floats, mean: Floats, low: Floats, high: Floats, **style: Any) -> None:
    """A curve of means with their intervals from low to high, in Matplotlib's `style` of a line."""
    # As lists: Matplotlib 3.10.7 warns of arrays of one value.
    arms = [(mean - low).tolist(), (high - mean).tolist()]
    axes.errorbar(x, mean, arms, capsize=2, **{"marker": "o", "markersize": 4, **style})


def whole_numbers() -> Locator:
    """Ticks for what is counted: nodes, tasks."""
    from cluster_abm.results.ticks import PlainLocator

    return PlainLocator(integer=True)


def _plain_axis(axis: Axis) -> None:
    """Choose the ticks of an axis, and write them plainly, where neither has been chosen for it."""
    from matplotlib.ticker import AutoLocator, ScalarFormatter

    from cluster_abm.results.ticks import PlainFormatter, PlainLocator

    if isinstance(axis.get_major_locator(), AutoLocator):
        axis.set_major_locator(PlainLocator())
    if isinstance(axis.get_major_formatter(), ScalarFormatter) and axis.get_scale() == "linear":
        axis.set_major_formatter(PlainFormatter())


def log_ticks(axes: Axes, of_y: bool = False) -> None:
    """A logarithmic x axis (or y axis) that is labelled with numbers and not with powers."""
    from matplotlib.ticker import NullFormatter

    from cluster_abm.results.ticks import PlainFormatter, PlainLogLocator

    if of_y:
        axes.set_yscale("log")
    else:
        axes.set_xscale("log")
    axis = axes.yaxis if of_y else axes.xaxis
    axis.set_major_locator(PlainLogLocator())
    axis.set_major_formatter(PlainFormatter(aligned=False))
    axis.set_minor_formatter(NullFormatter())


def colour_bar(image: ScalarMappable, axes: Axes | Sequence[Axes], label: str) -> None:
    """The scale of counted things beside their panels."""
    from cluster_abm.results.ticks import PlainFormatter

    figure = (axes[0] if isinstance(axes, Sequence) else axes).figure
    bar = figure.colorbar(image, ax=axes, label=label, ticks=whole_numbers(), format=PlainFormatter())
    bar.ax.minorticks_off()


def look_of_part(part: str) -> dict[str, Any]:
    """Colour and hatch of a part of the breakdown, distinct in grey too: keywords of a bar."""
    hatch = BREAKDOWN_HATCHES[part]
    return {"color": BREAKDOWN_COLOURS[part], "hatch": hatch, "edgecolor": INK, "linewidth": 0.4}


def in_unit_of(unit: str, longest: float) -> tuple[float, str]:
    """What milliseconds are divided by so that an axis up to `longest` has short numbers, and the unit then.

    >>> in_unit_of("ms", 600_000.0), in_unit_of("MB", 600_000.0)
    ((1000.0, 's'), (1.0, 'MB'))
    """
    # Some thousands of milliseconds are what papers on this subject write.
    if unit != "ms" or not LONGEST_MS < longest < math.inf:
        return 1.0, unit
    better = time_unit(longest / 1000)
    return 1000 * TIME_UNITS_S[better], better


def limit(axes: Axes, values: Floats, ends: Floats) -> bool:
    """Limits of y that show 0 and the values; intervals only as far as they leave the values their room.

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
    bottom, top = bottom - (pad if bottom < 0 else 0), top + pad
    axes.set_ylim(bottom, top)
    return bool(((ends > top) | (ends < bottom)).any())


def remark(axes: Axes, text: str) -> None:
    """Words in the middle of a panel that has nothing to draw."""
    axes.tick_params(axis="x", labelbottom=False, length=0)
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=REMARK)
