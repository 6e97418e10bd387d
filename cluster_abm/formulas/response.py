"""Expected response time of a task on a node: what a load manager compares before it sends a task away."""

from __future__ import annotations

from cluster_abm.formulas._formula import formula


@formula
def closed_response_ms(
    remaining_ms: float,
    io_per_ms: float,
    service_ms: float,
    page_ms: float,
    cpu_queue: float,
    others_at_disk: float,
) -> float:
    """Estimator `closed`: remaining Q_cpu + (remaining lambda s + t_page) Q_disk [ms] (model.md 4, settled).

    The papers' own (WAL-PM 1) has an open M/G/1 disk, which saturates at the published rates; a task that
    waits for its request asks for no other, so the queue at the disk is bounded by the number of tasks.

    Args:
        remaining_ms: CPU still to receive, on that node [ms].
        io_per_ms: accesses per ms of CPU, lambda [1/ms].
        service_ms: disk time of one request, s [ms].
        page_ms: page-fault processing time ahead on that node, t_page [ms].
        cpu_queue: E(L) of the node with this task; below 1 it counts as 1.
        others_at_disk: sum of `disk_share` over the node's other tasks.
    """
    queue = max(1.0, cpu_queue)
    return remaining_ms * queue + (remaining_ms * io_per_ms * service_ms + page_ms) * (1.0 + others_at_disk)


@formula
def cpu_response_ms(remaining_ms: float, queue: float) -> float:
    """Response by a manager that sees the CPU alone: remaining (1 + queue) [ms] (settled for CLB, docs/model.md).

    Args:
        remaining_ms: CPU still to receive, on that node [ms].
        queue: expected length of the node's CPU queue without this task, of `cpu_share` [tasks].
    """
    return remaining_ms * (1.0 + queue)
