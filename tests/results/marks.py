"""What a picture looks like, in short lines of text: its size, its panels, and the sizes and strokes of their marks."""

from __future__ import annotations

from itertools import groupby

from matplotlib.collections import Collection, LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_rgba
from matplotlib.image import _ImageBase
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle, StepPatch
from matplotlib.spines import Spine

WHITE = (1.0, 1.0, 1.0)


def size_of(figure):
    """Width and height in inches, to a hundredth; rows and columns of panels; how many of these are seen."""
    grid = figure.axes[0].get_gridspec()
    panels = [axes for axes in figure.axes if axes.get_subplotspec() and axes.get_label() != "<colorbar>"]
    width, height = (round(float(side), 2) for side in figure.get_size_inches())
    return width, height, grid.nrows, grid.ncols, sum(axes.get_visible() for axes in panels)


def marks_of(panel):
    """A line for each kind of mark of a panel, in the order of drawing; equal ones once, with a number."""
    artists = [one for one in panel.get_children() if _is_mark(one, panel)]
    found = [(text, len([*same])) for text, same in groupby(map(_words, artists))]
    return [f"{count} x {text}" if count > 1 else text for text, count in found]


def entry_marks(legend: Legend):
    """The mark beside each entry of a legend."""
    return [_words(handle) for handle in legend.legend_handles]


def _is_mark(artist, panel):
    kinds = (Line2D, Collection, Patch, _ImageBase)
    return isinstance(artist, kinds) and artist is not panel.patch and not isinstance(artist, Spine)


def _words(artist):
    if isinstance(artist, Line2D):
        words, usual = _of_line(artist), 2
    elif isinstance(artist, PathCollection):
        edge = f", edge {_number(artist.get_linewidths()[0])}" if len(artist.get_linewidths()) else ""
        words, usual = f"points {_number(artist.get_sizes()[0])}{edge}", 1
    elif isinstance(artist, LineCollection):
        words, usual = f"strokes {_number(artist.get_linewidths()[0])}", 2
    elif isinstance(artist, PolyCollection):
        words, usual = f"band, edge {_number(artist.get_linewidths()[0])}", 1
    elif isinstance(artist, StepPatch):
        words, usual = f"steps {_number(artist.get_linewidth())} {artist.get_linestyle()}", 1
        words = "filled " + words if artist.get_fill() else words
    elif isinstance(artist, Rectangle):
        edge = f", edge {_number(artist.get_linewidth())}" if artist.get_edgecolor()[3] else ""
        words, usual = f"bar {_number(artist.get_height())} high{edge}{_hatch(artist)}", 1
    else:
        return type(artist).__name__ if not isinstance(artist, QuadMesh) else "mesh"
    alpha = artist.get_alpha()
    words += f", alpha {_number(alpha)}" if alpha not in (None, 1) else ""
    return words + (f", layer {_number(artist.get_zorder())}" if artist.get_zorder() != usual else "")


def _of_line(line):
    parts = []
    if line.get_linestyle() not in ("None", "none", ""):
        dashes = line.get_linestyle()
        parts.append(f"line {_number(line.get_linewidth())} {dashes}")
    if line.get_marker() not in ("None", "none", "", None):
        is_open = to_rgba(line.get_markerfacecolor())[:3] == WHITE
        stroke = f" of {_number(line.get_markeredgewidth())}" if line.get_marker() in "|x" else ""
        parts.append(f"{line.get_marker()} {_number(line.get_markersize())}{stroke}{' open' if is_open else ''}")
    return ", ".join(parts)


def _hatch(patch):
    return f", {patch.get_hatch()}" if patch.get_hatch() else ""


def _number(value):
    return f"{float(value):.3g}"
