"""Load imbalance factors: which resource is most unevenly used, weighted by what it is used for."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.formulas._formula import formula


@formula
def load_imbalance_factor(load_ms: npt.NDArray[np.float64], all_loads_ms: float) -> float:
    """LIF of one resource [ms]: its share of all load times the sum of deviations from its mean, IOLB (7)-(9).

    Args:
        load_ms: that resource's load on each node, shape (nodes,) [ms].
        all_loads_ms: CPU, paging and I/O load of all nodes together [ms]; 0 gives 0 (settled: 0/0 := 0).
    """
    if all_loads_ms <= 0.0:
        return 0.0
    total = 0.0
    for load in load_ms:
        total += load
    mean = total / load_ms.shape[0]
    spread = 0.0
    for load in load_ms:
        spread += abs(load - mean)
    return total / all_loads_ms * spread


@formula
def load_imbalance_factors(
    cpu_ms: npt.NDArray[np.float64], page_ms: npt.NDArray[np.float64], io_ms: npt.NDArray[np.float64]
) -> tuple[float, float, float]:
    """LIF of CPU, paging and I/O [ms each]; their sum is the cluster's LIF: IOLB (7)-(10).

    Args:
        cpu_ms: remaining CPU per node, L_CPU, shape (nodes,) [ms].
        page_ms: page-fault processing time per node, L_page, shape (nodes,) [ms].
        io_ms: I/O processing time per node, L_IO, shape (nodes,) [ms].
    """
    everything = 0.0
    for node in range(cpu_ms.shape[0]):
        everything += cpu_ms[node] + page_ms[node] + io_ms[node]
    return (
        load_imbalance_factor(cpu_ms, everything),
        load_imbalance_factor(page_ms, everything),
        load_imbalance_factor(io_ms, everything),
    )
