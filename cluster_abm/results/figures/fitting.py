"""Fit a figure to a size: lines and markers as large as its letters, texts no wider than their panels."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

# Letters that an inch takes in a font of 10 pt: one row of capitals and small letters.
LETTERS_PER_INCH = 11.0
# Of the room that a text has, how much it may take.
FULLEST = 0.98
FEWEST_LETTERS = 10


def fit(figure: Figure, scale: float) -> None:
    """Scale what was drawn in points, and break long texts into lines.

    Args:
        scale: of the letters, to their usual size.
    """
    for axes in figure.axes:
        for artist in (*axes.lines, *axes.patches, *axes.collections):
            _scale(artist, scale)
        legend = axes.get_legend()
        for handle in () if legend is None else legend.legend_handles:
            _scale(handle, scale)
    for legend in figure.legends:
        for handle in legend.legend_handles:
            _scale(handle, scale)
    # Where panels lie is known only then; lines more take room again.
    for _ in range(2):
        figure.draw_without_rendering()
        for axes in figure.axes:
            if axes.get_visible():
                _break_texts(figure, axes)


def _scale(artist: Any, scale: float) -> None:
    if isinstance(artist, Line2D):
        artist.set_linewidth(scale * artist.get_linewidth())
        artist.set_markersize(scale * artist.get_markersize())
        artist.set_markeredgewidth(scale * artist.get_markeredgewidth())
    elif isinstance(artist, Collection):
        artist.set_linewidth((scale * np.atleast_1d(artist.get_linewidth())).tolist())
        if isinstance(artist, PathCollection):
            artist.set_sizes(artist.get_sizes() * scale**2)
    elif isinstance(artist, Patch):
        artist.set_linewidth(scale * artist.get_linewidth())


def _break_texts(figure: Figure, axes: Axes) -> None:
    """Break title and labels that would leave the figure, or reach into the next panel, into lines."""
    place = axes.get_subplotspec()
    rows, columns = (1, 1) if place is None else place.get_gridspec().get_geometry()
    inside, whole = axes.get_window_extent(), figure.bbox
    middle_x, middle_y = (inside.x0 + inside.x1) / 2, (inside.y0 + inside.y1) / 2
    # Labels stand over the middle of their axis, titles begin at its left end.
    label_width = min(2 * min(middle_x, whole.width - middle_x), whole.width / columns)
    title_width = min(whole.width - inside.x0, whole.width / columns)
    label_height = min(2 * min(middle_y, whole.height - middle_y), whole.height / rows)
    for text, room, is_upright in (
        (axes.title, label_width, False), (axes._left_title, title_width, False),  # type: ignore[attr-defined]
        (axes.xaxis.label, label_width, False), (axes.yaxis.label, label_height, True),
    ):  # fmt: skip
        words = text.get_text()
        extent = text.get_window_extent()
        length = extent.height if is_upright else extent.width
        if words and length > FULLEST * room:
            letters = int(max(map(len, words.split("\n"))) * FULLEST * room / length)
            text.set_text(in_lines(words, max(FEWEST_LETTERS, letters)))


def in_lines(words: str, letters: int) -> str:
    """Words in lines of at most that many letters; a number stays with its unit.

    >>> in_lines("mean slowdown, 95 % interval", 17)
    'mean slowdown,\\n95 % interval'
    """
    kept = words.replace(" %", "\xa0%").replace(" [", "\xa0[")
    pieces = [piece for line in kept.split("\n") for piece in textwrap.wrap(line, letters) or [""]]
    return "\n".join(pieces).replace("\xa0", " ")
