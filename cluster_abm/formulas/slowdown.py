"""How much sharing slowed a task."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cluster_abm.formulas._formula import formula

Number = TypeVar("Number", float, npt.NDArray[np.float64])


@formula
def slowdown(wall_ms: Number, dedicated_ms: Number) -> Number:
    """Return wall time over the time of the isolated run: IOLB (1). Any unit, the same for both; numbers or arrays.

    With `dedicated_ms` = CPU + I/O service it is WAL-PM (18), with `dedicated_ms` = CPU it is MCLS's.
    """
    return wall_ms / dedicated_ms


@formula
def isolated_paging_ms(faults_per_ms: float, cpu_ms: float, fault_service_ms: float) -> float:
    """Paging of a task alone on its node [ms]: whole faults by deterministic credit, each served at once.

    Args:
        faults_per_ms: faults per ms of CPU when alone, of `page_faults_per_ms` [1/ms].
        cpu_ms: the task's CPU demand [ms].
        fault_service_ms: disk time of one fault [ms].
    """
    return float(int(faults_per_ms * cpu_ms)) * fault_service_ms
