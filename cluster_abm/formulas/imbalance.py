"""Load imbalance factors: which resource is most unevenly used, weighted by what it is used for."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Loads = npt.NDArray[np.float64]


def load_imbalance_factors(cpu_ms: Loads, page_ms: Loads, io_ms: Loads) -> tuple[float, float, float]:
    """LIF of CPU, paging and I/O [ms each]; their sum is the cluster's LIF: IOLB (7)-(10).

    Each is the resource's share of all load times the sum of deviations from its mean. An idle cluster has 0
    (settled: 0/0 := 0).

    Args:
        cpu_ms: remaining CPU per node, L_CPU, shape (nodes,) [ms].
        page_ms: page-fault processing time per node, L_page, shape (nodes,) [ms].
        io_ms: I/O processing time per node, L_IO, shape (nodes,) [ms].
    """
    loads = np.array((cpu_ms, page_ms, io_ms))
    totals = loads.sum(axis=1)
    everything = float(totals.sum())
    if everything <= 0.0:
        return 0.0, 0.0, 0.0
    spreads = np.abs(loads - totals[:, None] / loads.shape[1]).sum(axis=1)
    cpu, page, io = (totals / everything * spreads).tolist()
    return cpu, page, io
