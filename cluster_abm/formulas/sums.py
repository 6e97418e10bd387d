"""Sums over the nodes of a cluster, of thousands of numbers: the same bits wherever they are added up."""

from __future__ import annotations

from cluster_abm.arrays import Floats
from cluster_abm.jit import inlinable, kernel

# Numbers are added up by blocks of this size, so that a block of which none has changed need not be added up again.
BLOCK = 64


@inlinable
def block_total(column: Floats, first: int, last: int) -> float:
    """Sum of the entries from the `first`-th to the one before the `last`-th, in eight lanes.

    Of every eight entries the first is added to the first lane, and so on; the lanes are added at the end. The order
    is fixed, and the processor adds several lanes at once.

    Args:
        column: one number a node, shape (nodes,).
        first, last: which of them.
    """
    whole = last - (last - first) % 8
    a = b = c = d = e = f = g = h = 0.0
    for node in range(first, whole, 8):
        a += column[node]
        b += column[node + 1]
        c += column[node + 2]
        d += column[node + 3]
        e += column[node + 4]
        f += column[node + 5]
        g += column[node + 6]
        h += column[node + 7]
    for node in range(whole, last):
        a += column[node]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def total(column: Floats) -> float:
    """Sum of a column over the nodes, in its own unit: of the sums of its blocks, one after another.

    Args:
        column: one number a node, shape (nodes,).
    """
    so_far = 0.0
    for first in range(0, len(column), BLOCK):
        so_far += block_total(column, first, min(first + BLOCK, len(column)))
    return so_far


@kernel
def total_deviation(column: Floats, mean: float) -> float:
    """Sum of the absolute deviations of a column from a mean, in its own unit, in eight lanes.

    Args:
        column: one number a node, shape (nodes,).
        mean: the mean.
    """
    count = len(column)
    whole = count - count % 8
    a = b = c = d = e = f = g = h = 0.0
    for node in range(0, whole, 8):
        a += abs(column[node] - mean)
        b += abs(column[node + 1] - mean)
        c += abs(column[node + 2] - mean)
        d += abs(column[node + 3] - mean)
        e += abs(column[node + 4] - mean)
        f += abs(column[node + 5] - mean)
        g += abs(column[node + 6] - mean)
        h += abs(column[node + 7] - mean)
    for node in range(whole, count):
        a += abs(column[node] - mean)
    return ((a + b) + (c + d)) + ((e + f) + (g + h))
