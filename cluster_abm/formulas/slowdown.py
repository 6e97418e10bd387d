"""How much sharing slowed a task."""

from __future__ import annotations

import numpy as np

from cluster_abm.formulas._formula import Number, formula


@formula
def slowdown(wall_ms: Number, dedicated_ms: Number) -> Number:
    """Return wall time over the time of the isolated run: IOLB (1). Any unit, the same for both; numbers or arrays.

    With `dedicated_ms` = CPU + I/O service it is WAL-PM (18), with `dedicated_ms` = CPU it is MCLS's.
    """
    return wall_ms / dedicated_ms


@formula
def bounded_slowdown(wall_ms: Number, dedicated_ms: Number, bound_ms: float) -> Number:
    """Return max(wall, b) over max(isolated, b): Feitelson and Rudolph 1998. Any unit, the same for all.

    Where no task is faster than alone it is their bounded slowdown, max(1, wall / max(isolated, b)).

    Args:
        wall_ms: wall time; numbers or arrays.
        dedicated_ms: time of the isolated run.
        bound_ms: b; a task that takes less alone counts as if it took b.
    """
    return np.maximum(wall_ms, bound_ms) / np.maximum(dedicated_ms, bound_ms)


@formula
def isolated_faults(faults: float, faults_per_ns: float) -> float:
    """Page faults of a task alone on its node: whole ones by deterministic credit, each of which comes before its end.

    A fault comes at the end of the ns in which its credit is whole; one that comes as the task ends is not taken.

    Args:
        faults: credit over the whole task: faults per ms of CPU when alone, of `page_faults_per_ms`, times its CPU.
        faults_per_ns: credit of its last ns of CPU.
    """
    return float(max(0, int(faults - faults_per_ns)))
