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


@formula
def open_disk(
    io_per_ms: float, disk_per_ms: float, disk_square_ms: float, cpu_queue: float
) -> tuple[float, float, float, float]:
    """A node's disk as an open M/G/1 queue: (Lambda [1/ms], rho, E(s) [ms], E(s^2) [ms^2]): WAL-PM (2), (3).

    Time-sharing deflates each task's rate by E(L). Without I/O all four are 0.

    Args:
        io_per_ms: sum of the tasks' I/O rates lambda_k [1/ms].
        disk_per_ms: sum of lambda_k s_k.
        disk_square_ms: sum of lambda_k s_k^2 [ms].
        cpu_queue: E(L) of the node; the caller clamps it to 1 (settled; literally it can be below).
    """
    if io_per_ms <= 0.0:
        return 0.0, 0.0, 0.0, 0.0
    rate = io_per_ms / cpu_queue
    return rate, disk_per_ms / cpu_queue, disk_per_ms / io_per_ms, disk_square_ms / io_per_ms


@formula
def mg1_response_ms(
    remaining_ms: float,
    io_per_ms: float,
    cpu_queue: float,
    disk_rate_per_ms: float,
    rho: float,
    mean_service_ms: float,
    square_service_ms2: float,
) -> float:
    """Estimator `mg1`: (t - a) E(L) + (t - a) lambda [E(s) + Lambda E(s^2) / (2 (1 - rho))] [ms]: WAL-PM (1).

    Args:
        remaining_ms: CPU still to receive, t - a [ms].
        io_per_ms: accesses per ms of CPU, lambda [1/ms].
        cpu_queue: E(L) of the node with this task.
        disk_rate_per_ms, rho, mean_service_ms, square_service_ms2: of `open_disk`, this task included; the caller
            clamps rho below 1 (settled: 0.99), where the waiting term has its pole.
    """
    waiting_ms = disk_rate_per_ms * square_service_ms2 / (2.0 * (1.0 - rho))
    return remaining_ms * cpu_queue + remaining_ms * io_per_ms * (mean_service_ms + waiting_ms)
