"""Rows as columns, each in one piece: faster than to copy field by field, which reads all rows for each field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster_abm.arrays import Array, Integers
from cluster_abm.jit import kernel
from cluster_abm.large_tables import Table, forget_pages, mapping_of

_WORD, _WORDS_OF_A_LINE = 8, 8
# Different numbers among which each one is looked for in turn.
_FEW, NOT_FEW = 64, -1


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


def columns_of(pieces: Sequence[Table], dtype: np.dtype[np.void]) -> dict[str, Array]:
    """Each field of some tables, one after another, as an array of its own, shape (rows,).

    Args:
        pieces: the tables.
        dtype: of a row: its size is a multiple of 8 bytes, and no field lies across two such words.
    """
    turned = transposed([_words(piece) for piece in pieces], dtype.itemsize // _WORD, np.int64)
    forget_pages(*pieces)
    return _fields(turned, dtype)


def ordered_columns(rows: Table, order: Integers) -> dict[str, Array]:
    """As `columns_of` of these rows of a table, in this order."""
    if mapping_of(rows) is not None:
        return {name: rows[name][order] for name in rows.dtype.names or ()}
    words = _words(rows)
    turned = room_for_columns(words.shape[1], len(order), np.int64)
    _turn_in_order(words, np.ascontiguousarray(order), turned)
    return _fields(turned[:, : len(order)], rows.dtype)


def _words(rows: Table) -> Integers:
    return rows.view(np.int64).reshape(len(rows), rows.dtype.itemsize // _WORD)


def _fields(turned: Integers, dtype: np.dtype[np.void]) -> dict[str, Array]:
    return {name: _field(turned, dtype, name) for name in dtype.names or ()}


def _field(turned: Integers, dtype: np.dtype[np.void], name: str) -> Array:
    assert dtype.fields is not None
    kind, offset = dtype.fields[name][:2]
    word, within = divmod(offset, _WORD)
    values = turned[word].view(kind)
    return values if kind.itemsize == _WORD else values[within // kind.itemsize :: _WORD // kind.itemsize].copy()


def transposed(pieces: Sequence[Array], width: int, dtype: type[np.generic]) -> Array:
    """Matrices one below another with their rows as columns, shape (width, rows).

    Args:
        pieces: shape (rows of each, width).
        width: how many columns they have.
        dtype: of their numbers, of 8 bytes.
    """
    turned, begin = room_for_columns(width, sum(map(len, pieces)), np.int64), 0
    for piece in pieces:
        _turn(piece.view(np.int64), begin, turned)
        begin += len(piece)
    return turned[:, :begin].view(dtype)


def room_for_columns(width: int, rows: int, dtype: type[np.generic]) -> Array:
    """Room for columns, each of which is in one piece, shape (width, rows or a few more).

    Of all columns the same row can stay in the processor's cache, which holds few places that lie a power of two apart:
    from one column to the next it is an odd number of the cache's lines.
    """
    lines = -(-rows // _WORDS_OF_A_LINE) | 1
    return np.empty((width, lines * _WORDS_OF_A_LINE), dtype)


@kernel
def _turn(rows: Integers, begin: int, turned: Integers) -> None:
    """Write rows into columns, from the place `begin` on."""
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            turned[column, begin + row] = rows[row, column]


@kernel
def _turn_in_order(rows: Integers, order: Integers, turned: Integers) -> None:
    """Write these of the rows into columns."""
    for place in range(order.shape[0]):
        row = order[place]
        for column in range(rows.shape[1]):
            turned[column, place] = rows[row, column]


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


def distinct(numbers: Integers) -> tuple[Integers, Integers]:
    """The different ones among numbers, in any order, and the place of each number among them; few are found soon.

    Args:
        numbers: shape (numbers,).
    """
    found, places = np.empty(_FEW, np.int64), np.empty(len(numbers), np.int64)
    count = _number(numbers, found, places)
    if count == NOT_FEW:
        several, at = np.unique(numbers, return_inverse=True)
        return several, at.reshape(-1)
    return found[:count], places


@kernel
def _number(numbers: Integers, found: Integers, places: Integers) -> int:
    """Write down the different ones, as they come, and the place of each number; how many they are, or NOT_FEW."""
    count, place = 0, 0
    for row in range(numbers.shape[0]):
        number = numbers[row]
        if count == 0 or found[place] != number:
            place = 0
            while place < count and found[place] != number:
                place += 1
            if place == count:
                if count == found.shape[0]:
                    return NOT_FEW
                found[count] = number
                count += 1
        places[row] = place
    return count
