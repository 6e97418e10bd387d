"""Expected response time of a task on a node: what a load manager compares before it sends a task away."""

from __future__ import annotations

from cluster_abm.formulas._formula import formula
from cluster_abm.formulas.cores import sharing
from cluster_abm.formulas.disk import disk_response_ms
from cluster_abm.formulas.waiting import wait_at_servers_ms


@formula
def closed_response_ms(
    remaining_ms: float,
    io_per_ms: float,
    service_ms: float,
    page_ms: float,
    cpu_queue: float,
    others_at_disk: float,
    transfer_ms: float = 0.0,
    cores: float = 1.0,
    channels: float = 1.0,
) -> float:
    """Estimator `closed`: remaining Q_cpu + (remaining lambda s + t_page) Q_disk [ms] (model.md 4, settled).

    The papers' own (WAL-PM 1) has an open M/G/1 disk, which saturates at the published rates; a task that
    waits for its request asks for no other, so the queue at the disk is bounded by the number of tasks.

    Args:
        remaining_ms: CPU still to receive, on that node [ms].
        io_per_ms: accesses per ms of CPU, lambda [1/ms].
        service_ms: disk time of one request, s [ms].
        page_ms: page-fault processing time ahead on that node, t_page [ms].
        cpu_queue: E(L) of the node with this task; below one a core it counts as one a core.
        others_at_disk: sum of `disk_share` over the node's other tasks.
        transfer_ms: the transfers among the task's requests and page faults ahead [ms]; without meaning on one channel.
        cores: cores of the node.
        channels: requests that its disk's device takes at once.
    """
    at_disk_ms = remaining_ms * io_per_ms * service_ms + page_ms
    return remaining_ms * sharing(cpu_queue, cores) + disk_response_ms(
        at_disk_ms, transfer_ms, others_at_disk, channels
    )


@formula
def cpu_response_ms(remaining_ms: float, queue: float, cores: float = 1.0) -> float:
    """Response by a manager that sees the CPU alone: remaining max(1, (1 + queue)/c) [ms] (settled for CLB,
    docs/concepts/model.md).

    Args:
        remaining_ms: CPU still to receive, on that node [ms].
        queue: expected length of the node's CPU queue without this task, of `cpu_share` [tasks].
        cores: cores of the node, c.
    """
    return remaining_ms * sharing(1.0 + queue, cores)


@formula
def open_disk(
    io_per_ms: float, disk_per_ms: float, disk_square_ms: float, cpu_queue: float
) -> tuple[float, float, float, float]:
    """A node's disk as an open M/G/1 queue: (Lambda [1/ms], rho, E(s) [ms], E(s^2) [ms^2]): WAL-PM (2), (3).

    Time-sharing deflates each task's rate by E(L), of several cores by E(L)/c. Without I/O all four are 0.

    Args:
        io_per_ms: sum of the tasks' I/O rates lambda_k [1/ms].
        disk_per_ms: sum of lambda_k s_k.
        disk_square_ms: sum of lambda_k s_k^2 [ms].
        cpu_queue: E(L) of the node, per core; the caller clamps it to 1 (settled; literally it can be below).
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


@formula
def mgq_response_ms(
    remaining_ms: float,
    io_per_ms: float,
    cpu_queue: float,
    rates_per_ms: float,
    disk_per_ms: float,
    disk_square_ms: float,
    seek_ms: float,
    channels: int,
    highest_rho: float,
) -> float:
    """Estimator `mg1` where the disk's device takes several requests at once [ms].

    As `mg1_response_ms`; a request waits for a channel or for the bus, whichever takes longer: the wait in M/G/q with
    seek and transfer as service (Allen and Cunneen), or that in M/G/1 with the transfer.

    Args:
        remaining_ms, io_per_ms, cpu_queue: as for `mg1_response_ms`, E(L) per core and at least 1.
        rates_per_ms: sum of the tasks' I/O rates lambda_k [1/ms].
        disk_per_ms: sum of lambda_k s_k, seeks included.
        disk_square_ms: sum of lambda_k s_k^2 [ms].
        seek_ms: seek and rotation, the same for all requests [ms].
        channels: q, 2 or more.
        highest_rho: the highest load that is reckoned with; higher ones count as it (settled: 0.99).
    """
    if rates_per_ms <= 0.0:
        return remaining_ms * cpu_queue
    rate = rates_per_ms / cpu_queue
    mean_ms, square_ms2 = disk_per_ms / rates_per_ms, disk_square_ms / rates_per_ms
    transfer_ms = max(0.0, mean_ms - seek_ms)
    transfer_square_ms2 = max(0.0, square_ms2 - 2.0 * seek_ms * mean_ms + seek_ms * seek_ms)
    wait_ms = max(
        wait_at_servers_ms(rate, mean_ms, square_ms2, channels, highest_rho),
        wait_at_servers_ms(rate, transfer_ms, transfer_square_ms2, 1, highest_rho),
    )
    return remaining_ms * cpu_queue + remaining_ms * io_per_ms * (mean_ms + wait_ms)
