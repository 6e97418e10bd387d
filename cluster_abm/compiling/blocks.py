"""The least entry of each row of a load table, kept by blocks of nodes and by groups of blocks: a row of which little
has changed is not read again as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.formulas.sums import BLOCK, block_total
from cluster_abm.jit import inlinable

# The most nodes whose row is read as a whole.
FEW = 256
# Blocks of a group.
GROUP = 64


def blocks_of(nodes: int) -> int:
    """The number of blocks of a row of nodes."""
    return (nodes + BLOCK - 1) // BLOCK


def groups_of(nodes: int) -> int:
    """The number of groups of the blocks of a row of nodes."""
    return (blocks_of(nodes) + GROUP - 1) // GROUP


@inlinable
def _renew_group(columns: Any, row: int, group: int) -> None:
    """Read the blocks of a group that have changed."""
    first, least = group * GROUP, np.inf
    for block in range(first, min(first + GROUP, columns.changes.shape[0])):
        if columns.as_of[row, block] != columns.changes[block]:
            _renew(columns, row, block)
        least = min(least, columns.least[row, block])
    columns.group_least[row, group] = least
    columns.group_as_of[row, group] = columns.group_changes[group]


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
    blocks, groups = columns.changes.shape[0], columns.group_changes.shape[0]
    for group in range(groups):
        if columns.group_as_of[row, group] != columns.group_changes[group]:
            _renew_group(columns, row, group)
        lowest = min(lowest, columns.group_least[row, group])
    column = columns.table[row]
    if column[me] == lowest:
        return me
    nodes = column.shape[0]
    mine = me // BLOCK
    for node in range(me + 1, min((mine + 1) * BLOCK, nodes)):
        if column[node] == lowest:
            return node
    # From the block after the own one on, cyclically, to the own one.
    passed = 0
    while passed < blocks:
        block = (mine + 1 + passed) % blocks
        group = block // GROUP
        if columns.group_least[row, group] != lowest:
            passed += min((group + 1) * GROUP, blocks) - block
            continue
        if columns.least[row, block] == lowest:
            for node in range(block * BLOCK, min((block + 1) * BLOCK, nodes)):
                if column[node] == lowest:
                    return node
        passed += 1
    return me


@inlinable
def least_open_of_row(columns: Any, row: int, me: int, refused: Any) -> int:
    """The same, the flagged nodes counted as infinite: only blocks that may have a smaller entry are read."""
    column, lowest = columns.table[row], np.inf
    nodes, blocks, groups = column.shape[0], columns.changes.shape[0], columns.group_changes.shape[0]
    for group in range(groups):
        if columns.group_as_of[row, group] != columns.group_changes[group]:
            _renew_group(columns, row, group)
        if columns.group_least[row, group] >= lowest:
            continue
        for block in range(group * GROUP, min((group + 1) * GROUP, blocks)):
            if columns.least[row, block] >= lowest:
                continue
            for node in range(block * BLOCK, min((block + 1) * BLOCK, nodes)):
                if column[node] < lowest and not refused[node]:
                    lowest = column[node]
    mine = me // BLOCK
    for node in range(me, min((mine + 1) * BLOCK, nodes)):
        if column[node] == lowest and not refused[node]:
            return node
    passed = 0
    while passed < blocks:
        block = (mine + 1 + passed) % blocks
        group = block // GROUP
        if columns.group_least[row, group] > lowest:
            passed += min((group + 1) * GROUP, blocks) - block
            continue
        if columns.least[row, block] <= lowest:
            for node in range(block * BLOCK, min((block + 1) * BLOCK, nodes)):
                if column[node] == lowest and not refused[node]:
                    return node
        passed += 1
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
