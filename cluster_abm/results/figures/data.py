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
    """A hash of the numbers and names in `data_of`: two figures of the same data have the same."""
    table = data_of(figure)
    found = hashlib.sha256("\0".join(map(str, table.columns)).encode())
    for name in table:
        if pd.api.types.is_numeric_dtype(table[name]) and not pd.api.types.is_bool_dtype(table[name]):
            found.update(_digits(table[name].to_numpy(float, na_value=np.nan)))
        else:
            # Of a grid of many nodes each text stands many times.
            codes, texts = pd.factorize(table[name], use_na_sentinel=False)
            found.update("\0".join(map(str, texts)).encode() + codes.astype(np.int64).tobytes())
    return found.hexdigest()[:16]


def _digits(values: Floats) -> bytes:
    """The first DIGITS digits of numbers, and their powers of ten."""
    known = np.isfinite(values) & (values != 0)
    powers = np.zeros(len(values))
    powers[known] = np.floor(np.log10(np.abs(values[known])))
    digits = np.rint(np.where(known, values, 0.0) * 10.0 ** (DIGITS - 1 - powers))
    kinds = np.where(np.isnan(values), 2, np.where(np.isinf(values), np.sign(values), 0))
    return digits.astype(np.int64).tobytes() + powers.astype(np.int64).tobytes() + kinds.astype(np.int64).tobytes()


def drawn_in(figure: Figure) -> pd.DataFrame:
    """Every curve, bar and point of a figure, a row a point.

    Returns:
        columns panel (its title, or number), what (line, bar, points, steps, area, grid), label, x, y. Of bars x and y
        are the ends away from 0, of steps x is the left edge, of grids x is the column and y the value.
    """
    parts: list[pd.DataFrame] = []
    for number, axes in enumerate(figure.axes):
        panel = axes.get_title(loc="left") or axes.get_title() or str(number + 1)

        def add(what: str, artist: Any, xs: Any, ys: Any, panel: str = panel) -> None:
            label = str(artist.get_label())
            named = "" if label.startswith("_") else label
            points = {"x": _filled(xs).ravel(), "y": _filled(ys).ravel()}
            parts.append(pd.DataFrame({"panel": panel, "what": what, "label": named, **points}))

        def add_grid(artist: Any, panel: str = panel) -> None:
            shades = _filled(artist.get_array())
            shades = shades.reshape(-1, shades.shape[-1])
            rows, columns = shades.shape
            labels = np.repeat([f"row {row}" for row in range(rows)], columns)
            cells = {"label": labels, "x": np.tile(np.arange(float(columns)), rows), "y": shades.ravel()}
            parts.append(pd.DataFrame({"panel": panel, "what": "grid", **cells}))

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
    empty = pd.DataFrame({"panel": [], "what": [], "label": [], "x": [], "y": []})
    return pd.concat(parts, ignore_index=True) if parts else empty


def _filled(values: Any) -> Floats:
    """Numbers, NaN where one is masked."""
    return np.asarray(np.ma.filled(np.ma.array(values, dtype=float), np.nan), float)
