"""Load imbalance factors: which resource is most unevenly used, weighted by what it is used for."""

from __future__ import annotations

from cluster_abm.arrays import Floats
from cluster_abm.formulas.sums import total, total_deviation
from cluster_abm.jit import kernel


@kernel
def load_imbalance_factors(cpu_ms: Floats, page_ms: Floats, io_ms: Floats) -> tuple[float, float, float]:
    """LIF of CPU, paging and I/O [ms each]; their sum is the cluster's LIF: IOLB (7)-(10).

    Each is the resource's share of all load times the sum of deviations from its mean. An idle cluster has 0
    (settled: 0/0 := 0).

    Args:
        cpu_ms: remaining CPU per node, L_CPU, shape (nodes,) [ms].
        page_ms: page-fault processing time per node, L_page, shape (nodes,) [ms].
        io_ms: I/O processing time per node, L_IO, shape (nodes,) [ms].
    """
    return imbalance_factors((total(cpu_ms), total(page_ms), total(io_ms)), cpu_ms, page_ms, io_ms)


@kernel
def imbalance_factors(
    totals: tuple[float, float, float], cpu_ms: Floats, page_ms: Floats, io_ms: Floats
) -> tuple[float, float, float]:
    """LIF of CPU, paging and I/O [ms each], as `load_imbalance_factors`, of columns whose sums are known.

    Args:
        totals: sums of the three columns [ms].
        cpu_ms, page_ms, io_ms: as above, shape (nodes,) [ms].
    """
    nodes = len(cpu_ms)
    cpu, page, io = totals
    everything = cpu + page + io
    if everything <= 0.0:
        return 0.0, 0.0, 0.0
    # A resource without load is not uneven either: often there are no page faults to add up.
    cpu_spread = total_deviation(cpu_ms, cpu / nodes) if cpu > 0.0 else 0.0
    page_spread = total_deviation(page_ms, page / nodes) if page > 0.0 else 0.0
    io_spread = total_deviation(io_ms, io / nodes) if io > 0.0 else 0.0
    return cpu / everything * cpu_spread, page / everything * page_spread, io / everything * io_spread


@kernel
def load_imbalance_factor(load: Floats, everything: float) -> float:
    """LIF of one resource: its share of all load times the sum of deviations from its mean; its unit: IOLB (7)-(9).

    Args:
        load: the resource's load per node, shape (nodes,), in ms or whatever `everything` is in.
        everything: the loads of all resources together, over all nodes; above 0.
    """
    of_resource = total(load)
    return of_resource / everything * total_deviation(load, of_resource / len(load))
