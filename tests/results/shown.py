"""What a figure shows, in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle


def near(values):
    """Numbers, or points, about as given; NaN is NaN."""
    return [near(one) if isinstance(one, list | tuple) else pytest.approx(one, nan_ok=True) for one in values]


def points(line):
    """Of a line, [x, y] each."""
    return [[float(x), float(y)] for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def dots(scatter):
    """Of a scatter, [x, y] each."""
    return np.asarray(scatter.get_offsets()).tolist()


def bars(axes):
    """[left, length, y of its middle] of each horizontal bar."""
    return [[bar.get_x(), bar.get_width(), bar.get_y() + bar.get_height() / 2]
            for bar in axes.patches if isinstance(bar, Rectangle)]  # fmt: skip


def strokes(collection):
    """[[x, y], [x, y]] of each piece of a collection of lines."""
    return [np.asarray(piece).tolist() for piece in collection.get_segments()]


def band(collection):
    """x of a band's corners, to its least and its largest y there."""
    found = {}
    for x, y in collection.get_paths()[0].vertices.tolist():
        found.setdefault(x, []).append(y)
    return {x: [min(ys), max(ys)] for x, ys in found.items()}


def heights(stairs):
    """Of the steps of stairs."""
    return list(map(float, stairs.get_data()[0]))


def words(legend):
    """The texts of a legend of a figure or of axes."""
    return [text.get_text() for text in legend.get_texts()]


def ticks(axes, which="x"):
    """Place and text of each tick."""
    axis = getattr(axes, f"{which}axis")
    return dict(zip(map(float, axis.get_ticklocs()), [one.get_text() for one in axis.get_ticklabels()], strict=True))


def names(axes):
    """Title, and the labels of both axes."""
    return axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()


def scales(axes):
    """Of x and y."""
    return axes.get_xscale(), axes.get_yscale()


def visible(figure):
    """Whether each panel is."""
    return [axes.get_visible() for axes in figure.axes]


def colour(given):
    """As #rrggbb, in capitals."""
    return to_hex(np.asarray(given).ravel()[:4] if not isinstance(given, str) else given).upper()
