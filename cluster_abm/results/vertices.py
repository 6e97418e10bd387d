"""The names of vertices beside the numbers of nodes in the tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

# The columns that hold numbers of nodes; results.columns describes those beside them.
OF_NODES = {"jobs": ("home", "node"), "nodes": ("node",), "decisions": ("source", "target")}


def with_vertices(frame: pd.DataFrame, table: str, names: Sequence[str]) -> pd.DataFrame:
    """A table with a column NAME_vertex for each column NAME of numbers of nodes, at its end.

    Args:
        frame: its rows, whose attributes stay.
        table: jobs, nodes or decisions.
        names: of the nodes; none: the frame as it is.
    """
    if not names:
        return frame
    # The last name is that of no node, whose number is -1.
    by_number = np.array([*names, ""], object)
    columns = {f"{name}_vertex": by_number[frame[name].to_numpy(np.int64)] for name in OF_NODES[table]}
    return frame.assign(**columns)


def pieces_with_vertices(pieces: Iterable[pd.DataFrame], table: str, names: Sequence[str]) -> Iterator[pd.DataFrame]:
    """The same of a table that comes in pieces."""
    for piece in pieces:
        yield with_vertices(piece, table, names)
