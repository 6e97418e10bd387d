"""The data behind a figure, as a table."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch

from cluster_abm.arrays import Floats

# Numbers that agree in this many digits are the same picture, whichever machine worked them out.
DIGITS = 6


def data_of(figure: Figure) -> pd.DataFrame:
    """The table that the figure was drawn from, where the drawing function left one; else what is drawn in it."""
    given = getattr(figure, "data", None)
    return drawn_in(figure) if given is None else given


def csv_of(figure: Figure) -> str:
    """`data_of` as CSV."""
    return data_of(figure).to_csv(index=False, lineterminator="\n", float_format=f"%.{DIGITS}g")


def hash_of(figure: Figure) -> str:
    """A hash of the numbers and names in the figure: two figures of the same data have the same."""
    return hashlib.sha256(csv_of(figure).encode()).hexdigest()[:16]


def drawn_in(figure: Figure) -> pd.DataFrame:
    """Every curve, bar and point of a figure, a row a point.

    Returns:
        columns panel (its title, or number), what (line, bar, points, steps, area, grid), label, x, y. Of bars x and y
        are the ends away from 0, of steps x is the left edge, of grids x is the column and y the value.
    """
    rows: list[tuple[str, str, str, float, float]] = []
    for number, axes in enumerate(figure.axes):
        panel = axes.get_title(loc="left") or axes.get_title() or str(number + 1)

        def add(what: str, artist: Any, xs: Any, ys: Any, panel: str = panel) -> None:
            label = str(artist.get_label())
            named = "" if label.startswith("_") else label
            rows.extend((panel, what, named, x, y) for x, y in zip(_numbers(xs), _numbers(ys), strict=True))

        def add_grid(artist: Any, panel: str = panel) -> None:
            shades = _filled(artist.get_array())
            for row, values in enumerate(shades.reshape(-1, shades.shape[-1])):
                rows.extend((panel, "grid", f"row {row}", column, value) for column, value in enumerate(values))

        for line in axes.lines:
            add("line", line, line.get_xdata(orig=False), line.get_ydata(orig=False))
        for container in axes.containers:
            for bar in container:
                if isinstance(bar, Rectangle):
                    x, y = bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height()
                    add("bar", container, [x], [y])
        for patch in axes.patches:
            if isinstance(patch, StepPatch):
                values, edges, _ = patch.get_data()
                add("steps", patch, edges[:-1], values)
        for collection in axes.collections:
            if isinstance(collection, PathCollection):
                points = _filled(collection.get_offsets())
                add("points", collection, points[:, 0], points[:, 1])
            elif isinstance(collection, QuadMesh):
                add_grid(collection)
            else:
                for path in collection.get_paths():
                    ends = _filled(path.vertices)
                    add("area", collection, ends[:, 0], ends[:, 1])
        for image in axes.images:
            add_grid(image)
    return pd.DataFrame(rows, columns=["panel", "what", "label", "x", "y"])


def _filled(values: Any) -> Floats:
    """Numbers, NaN where one is masked."""
    return np.asarray(np.ma.filled(np.ma.array(values, dtype=float), np.nan), float)


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in _filled(values).ravel()]
