"""Rows as columns, each in one piece: faster than to copy field by field, which reads all rows for each field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster_abm.arrays import Array, Integers
from cluster_abm.large_tables import Table, forget_pages, mapping_of

# Rows that are turned into columns at once: they stay in the processor's cache.
_ROWS = 512
_WORD = 8


def joined(pieces: Sequence[Table], dtype: np.dtype[np.void]) -> Table:
    """Tables of the same fields one after another, as one of its own; none: a table of no rows."""
    rows = np.empty(sum(map(len, pieces)), dtype)
    # As plain bytes: numpy would compare the fields of each with those of the others.
    as_bytes, first = rows.view(np.uint8), 0
    for piece in pieces:
        as_bytes[first : first + piece.nbytes] = piece.view(np.uint8)
        first += piece.nbytes
        forget_pages(piece)
    return rows


def columns_of(rows: Table, order: Integers | None = None) -> dict[str, Array]:
    """Each field of a table as an array of its own, shape (rows,).

    Args:
        rows: their size is a multiple of 8 bytes, and no field lies across two such words.
        order: which of its rows, in which order; None: all of them.
    """
    if mapping_of(rows) is not None and order is not None:
        return {name: rows[name][order] for name in rows.dtype.names or ()}
    words = np.ascontiguousarray(rows).view(np.int64).reshape(len(rows), rows.dtype.itemsize // _WORD)
    count = len(rows) if order is None else len(order)
    turned = np.empty((words.shape[1], count), np.int64)
    for first in range(0, count, _ROWS):
        part = slice(first, first + _ROWS)
        turned[:, part] = (words[part] if order is None else words.take(order[part], axis=0)).T
    return {name: _field(turned, rows.dtype, name) for name in rows.dtype.names or ()}


def _field(turned: Integers, dtype: np.dtype[np.void], name: str) -> Array:
    kind, offset = (dtype.fields or {})[name][:2]
    word, within = divmod(offset, _WORD)
    values = turned[word].view(kind)
    return values if kind.itemsize == _WORD else values[within // kind.itemsize :: _WORD // kind.itemsize].copy()


def transposed(rows: Array) -> Array:
    """A matrix with its rows as columns, in one piece."""
    turned = np.empty(rows.shape[::-1], rows.dtype)
    for first in range(0, len(rows), _ROWS):
        turned[:, first : first + _ROWS] = rows[first : first + _ROWS].T
    return turned


def places_in(ascending: Integers, values: Integers) -> tuple[Integers, Array]:
    """The place of each value among numbers of which each is there once; and whether it is among them, else it is the
    place of any.

    Args:
        ascending: these numbers.
        values: what is looked for.
    """
    if not len(ascending):
        return np.zeros(len(values), np.int64), np.zeros(len(values), bool)
    if ascending[-1] - ascending[0] == len(ascending) - 1:
        # Without a gap.
        places = np.clip(values, ascending[0], ascending[-1]) - ascending[0]
    else:
        places = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return places, ascending[places] == values
