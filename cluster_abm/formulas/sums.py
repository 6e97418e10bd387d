"""Sums over the nodes of a cluster, of thousands of numbers: the same bits wherever they are added up."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.jit import kernel

Loads = npt.NDArray[np.float64]


@kernel
def total(column: Loads) -> float:
    """Sum of a column over the nodes, in its own unit.

    It is added up in eight lanes, numbers 0, 8, 16, ... in the first, and the lanes are added at the end: the order is
    fixed, and the processor adds several lanes at once.

    Args:
        column: one number a node, shape (nodes,).
    """
    count = len(column)
    whole = count - count % 8
    a = b = c = d = e = f = g = h = 0.0
    for node in range(0, whole, 8):
        a += column[node]
        b += column[node + 1]
        c += column[node + 2]
        d += column[node + 3]
        e += column[node + 4]
        f += column[node + 5]
        g += column[node + 6]
        h += column[node + 7]
    for node in range(whole, count):
        a += column[node]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def total_deviation(column: Loads, mean: float) -> float:
    """Sum of the absolute deviations of a column from a mean, in its own unit, added up as `total` is.

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
