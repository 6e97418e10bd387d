"""Load of one task on each resource; a node's load index is the sum over its tasks."""

from __future__ import annotations

from cluster_abm.formulas._formula import Number, formula


@formula
def io_load_ms(remaining_ms: float, io_per_ms: float, service_ms: float) -> float:
    """I/O processing time still ahead of a task, a term of L_IO [ms]: IOLB (5).

    Args:
        remaining_ms: CPU the task has still to receive, r_j; c_j for an arriving task [ms].
        io_per_ms: accesses per ms of CPU, lambda [1/ms].
        service_ms: disk time of one request, t_IO [ms].
    """
    return remaining_ms * io_per_ms * service_ms


@formula
def cpu_share(io_per_ms: float, service_ms: float, faults_per_ms: float, fault_service_ms: float) -> float:
    """Chance that a task is at the CPU rather than at the disk; summed it is E(L_i): WAL-PM (4).

    Args:
        io_per_ms: accesses per ms of that CPU, lambda times its speed [1/ms].
        service_ms: disk time of one request, s [ms].
        faults_per_ms: page faults per ms of that CPU counted as I/O [1/ms]; 0 gives the paper's E(L).
        fault_service_ms: disk time of one fault [ms].
    """
    return 1.0 / (1.0 + io_per_ms * service_ms + faults_per_ms * fault_service_ms)


@formula
def disk_share(io_per_ms: float, service_ms: float, faults_per_ms: float, fault_service_ms: float) -> float:
    """Return the chance that a task is at the disk, lambda s/(1 + lambda s): 1 - `cpu_share` of the same arguments."""
    at_disk = io_per_ms * service_ms + faults_per_ms * fault_service_ms
    return at_disk / (1.0 + at_disk)


@formula
def narrows_the_gap(task_load: float, load_here: float, load_there: float) -> bool:
    """Whether moving an arriving task narrows the gap: load_j < (load_j + L_i - L_k)/2, IOLB Fig. 1, lines 6, 12, 18.

    The arriving task is not yet in L_i, so the test is load_j < L_i - L_k. All three in one unit.
    """
    return task_load < (task_load + load_here - load_there) / 2.0


@formula
def weighted_load(
    cpu_weight: float, memory_weight: float, io_weight: float, cpu: Number, memory_mb: Number, io_per_ms: Number
) -> Number:
    """Weighted average load index, W_CPU load_CPU + W_MEM load_MEM + W_IO load_IO: WAL-PM (9), (17).

    Adds tasks, MB and 1/ms as the paper does; with each divided by its mean over the nodes it has no unit.

    Args:
        cpu_weight, memory_weight, io_weight: W_CPU, W_MEM, W_IO.
        cpu: CPU queue length [tasks].
        memory_mb: memory load [MB]: WAL-PM (10).
        io_per_ms: I/O load [1/ms]: WAL-PM (11). All three numbers, or arrays over the nodes.
    """
    return cpu_weight * cpu + memory_weight * memory_mb + io_weight * io_per_ms
