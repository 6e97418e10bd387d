"""The I/O buffer of a node, shared by its tasks: WAL-PM (13)-(16)."""

from __future__ import annotations

from cluster_abm.formulas._formula import Number, formula


@formula
def buffer_share_kb(stream_kb_per_ms: float, all_streams_kb_per_ms: float, buffer_kb: float) -> float:
    """Part of the node's buffer that a task gets, d_buf(i,j) [KB]: WAL-PM (15).

    Args:
        stream_kb_per_ms: the task's I/O rate times its mean request size, lambda d_RW [KB/ms].
        all_streams_kb_per_ms: the sum of that over the node's tasks, this one included [KB/ms].
        buffer_kb: the node's buffer [KB].
    """
    if all_streams_kb_per_ms <= 0.0:
        return 0.0
    return stream_kb_per_ms / all_streams_kb_per_ms * buffer_kb


@formula
def buffer_beside_kb(buffer_kb: float, free_kb: float, memory_kb: float) -> float:
    """What a program that joins leaves of an I/O buffer in free memory [KB]: ours, of FB and FM of MCLS, section 4.1.

    Args:
        buffer_kb: the buffer as it is, FB [KB].
        free_kb: memory that neither programs nor the buffer use, FM [KB].
        memory_kb: what the program asks for [KB].
    """
    return min(buffer_kb, max(0.0, buffer_kb + free_kb - memory_kb))


@formula
def data_kb(io_per_ms: float, cpu_ms: float, request_kb: float, reaccess_rate: float) -> float:
    """Data a task reads or writes given an endless buffer, d_data(j) [KB]: WAL-PM (16).

    Args:
        io_per_ms: accesses per ms of CPU, lambda [1/ms].
        cpu_ms: the task's whole CPU demand t [ms].
        request_kb: mean size of an access d_RW [KB].
        reaccess_rate: how often the same data is accessed again, rho_re (the papers' r).
    """
    return io_per_ms * cpu_ms * request_kb / (reaccess_rate + 1.0)


@formula
def hit_rate(reaccess_rate: float, share_kb: float, all_data_kb: float) -> float:
    """Chance that an access is served from the buffer, h(i,j), in 0..1: WAL-PM (14). 0 for a task without I/O.

    Args:
        reaccess_rate: rho_re.
        share_kb: the task's buffer, of `buffer_share_kb` [KB].
        all_data_kb: the task's data, of `data_kb` [KB].
    """
    if all_data_kb <= 0.0:
        return 0.0
    return reaccess_rate / (reaccess_rate + 1.0) * min(1.0, share_kb / all_data_kb)


@formula
def explicit_io_per_ms(io_per_ms: float, hit: float) -> float:
    """Accesses per ms of CPU that reach the disk, l_IO(i,j) [1/ms]: WAL-PM (13)."""
    return io_per_ms * (1.0 - hit)


@formula
def controlled_growth_kb(
    buffer_kb: Number, free_kb: Number, miss_share: Number, fault_share: Number, gain: float
) -> Number:
    """By how much a feedback controller lets an I/O buffer grow, or (negative) shrink, in one period [KB]: ours.

    gain (u F - v B): the more of the period the disk served accesses that missed the buffer (u), the more of the free
    memory F the buffer B takes; the more of it the disk served page faults (v), the more of itself the buffer gives
    to programs. WAL-PM and IOLB name "a feedback control mechanism" that manipulates the buffer's size, and no law.

    Args:
        buffer_kb: the buffer, B [KB].
        free_kb: memory that neither programs nor the buffer use, F [KB].
        miss_share: share of the period in which the disk served accesses, u, 0..1.
        fault_share: share in which it served page faults, v, 0..1.
        gain: how much of it is done in one period, 0..1.
    """
    return gain * (miss_share * free_kb - fault_share * buffer_kb)
