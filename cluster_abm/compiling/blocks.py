"""The least entry of each row of a load table, kept block by block: a row of which little has changed is not read again
as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.formulas.sums import BLOCK, block_total
from cluster_abm.jit import inlinable

# The most nodes whose row is read as a whole.
FEW = 256


def blocks_of(nodes: int) -> int:
    """The number of blocks of a row of nodes."""
    return (nodes + BLOCK - 1) // BLOCK


@inlinable
def _renew(columns: Any, row: int, block: int) -> None:
    """Read a block of a row."""
    column = columns.table[row]
    first = block * BLOCK
    least = column[first]
    for node in range(first + 1, min(first + BLOCK, column.shape[0])):
        least = column[node] if column[node] < least else least
    columns.least[row, block] = least
    columns.as_of[row, block] = columns.changes[block]


@inlinable
def least_of_row(columns: Any, row: int, me: int) -> int:
    """The node of least entry; on a tie `me`, else the next one after it, cyclically."""
    lowest = np.inf
    blocks = columns.changes.shape[0]
    for block in range(blocks):
        if columns.as_of[row, block] != columns.changes[block]:
            _renew(columns, row, block)
        lowest = min(lowest, columns.least[row, block])
    column = columns.table[row]
    if column[me] == lowest:
        return me
    nodes = column.shape[0]
    mine = me // BLOCK
    for node in range(me + 1, min((mine + 1) * BLOCK, nodes)):
        if column[node] == lowest:
            return node
    for turn in range(1, blocks + 1):
        block = (mine + turn) % blocks
        if columns.least[row, block] == lowest:
            for node in range(block * BLOCK, min((block + 1) * BLOCK, nodes)):
                if column[node] == lowest:
                    return node
    return me


@inlinable
def total_of_row(columns: Any, row: int) -> float:
    """The sum of a row (formulas.sums.total)."""
    found = 0.0
    column = columns.table[row]
    for block in range(columns.changes.shape[0]):
        if columns.added_as_of[row, block] != columns.changes[block]:
            first = block * BLOCK
            columns.totals[row, block] = block_total(column, first, min(first + BLOCK, column.shape[0]))
            columns.added_as_of[row, block] = columns.changes[block]
        found += columns.totals[row, block]
    return found


@inlinable
def smallest(column: Any) -> float:
    """The smallest entry; in eight lanes, of which the processor compares several at once."""
    whole = len(column) - len(column) % 8
    a = b = c = d = e = f = g = h = np.inf
    for place in range(0, whole, 8):
        a = column[place] if column[place] < a else a
        b = column[place + 1] if column[place + 1] < b else b
        c = column[place + 2] if column[place + 2] < c else c
        d = column[place + 3] if column[place + 3] < d else d
        e = column[place + 4] if column[place + 4] < e else e
        f = column[place + 5] if column[place + 5] < f else f
        g = column[place + 6] if column[place + 6] < g else g
        h = column[place + 7] if column[place + 7] < h else h
    least = min(min(min(a, b), min(c, d)), min(min(e, f), min(g, h)))
    for place in range(whole, len(column)):
        least = column[place] if column[place] < least else least
    return least


@inlinable
def is_exceeded(column: Any, value: float) -> bool:
    """Whether any entry is larger than a value."""
    for entry in column:
        if entry > value:
            return True
    return False


@inlinable
def least_entry(column: Any, me: int) -> int:
    """The node of least entry of any column; on a tie `me`, else the next one after it, cyclically."""
    lowest = smallest(column)
    if column[me] == lowest:
        return me
    for node in range(me + 1, len(column)):
        if column[node] == lowest:
            return node
    for node in range(me):
        if column[node] == lowest:
            return node
    return me


@inlinable
def least_open_entry(column: Any, me: int, refused: Any) -> int:
    """The same, the flagged nodes counted as infinite."""
    lowest = np.inf
    for node in range(len(column)):
        if not refused[node] and column[node] < lowest:
            lowest = column[node]
    for turn in range(len(column)):
        node = (me + turn) % len(column)
        if (np.inf if refused[node] else column[node]) == lowest:
            return node
    return me
