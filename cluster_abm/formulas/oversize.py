"""Page faults by the oversized share of the memory, and the load indices of memory-centric load sharing (MCLS)."""

from __future__ import annotations

from cluster_abm.formulas._formula import Number, formula

# MCLS, section 3.2: fitted by its authors to measurements of their programs on Linux 2.0, 128 MB.
MAX_RATE_PER_S = 120.0
ALPHA, BETA, GAMMA, DELTA = 4.0, 0.31, 0.19, 0.034
ETA, MU = -174.98, 0.061


@formula
def oversize(demand_mb: float, memory_mb: float) -> float:
    """Oversized memory demand Q_o: demand beyond the memory, as a fraction of the memory; negative while it fits.

    Args:
        demand_mb: memory that the node's tasks ask for together [MB]; any unit, the same as the memory's.
        memory_mb: memory there is for programs, above 0 [MB].

    Source: MCLS, Table 3.
    """
    return (demand_mb - memory_mb) / memory_mb


@formula
def is_less_oversized(oversize_here: float, oversize_there: float, task_mb: float, memory_there_mb: float) -> bool:
    """Whether a migration is a gain: with the job the target does not page, or is oversized less than its machine now.

    MCLS has a job migrate "to eliminate or reduce page faults" (abstract, section 4.1) and prints no such test; ours.

    Args:
        oversize_here: Q_o of the job's machine, with the job, a fraction.
        oversize_there: Q_o of the target, without it.
        task_mb: memory allocated to the job, WS [MB].
        memory_there_mb: memory there is for programs at the target, above 0 [MB].
    """
    oversize_with_it = oversize_there + task_mb / memory_there_mb
    return oversize_with_it <= 0.0 or oversize_with_it < oversize_here


@formula
def paging_rate_per_s(oversize: float, accesses: float) -> float:
    """Page faults per second of CPU given to the tasks of a node, R_p(Q_o, N_io) [1/s]: MCLS (1)-(4).

    The I/O part of the paper's (3) is kept from falling below 0, the sum from exceeding its R_max of 120; while the
    demand fits there are no faults for want of memory.

    Args:
        oversize: Q_o, a fraction (0.05 is 5 %).
        accesses: N_io, reads and writes made by the tasks that are now on the node.
    """
    if oversize <= 0.0:
        return 0.0
    by_size = MAX_RATE_PER_S - ALPHA / (BETA * oversize * oversize + GAMMA * oversize + DELTA)
    by_io = max(0.0, ETA + MU * accesses)
    return min(MAX_RATE_PER_S, by_size + by_io)


@formula
def even_faults(rate_per_s: float, evenness: float, allocated_kb_per_s: float) -> float:
    """Page faults per second of CPU that fall on every task of a node alike [1/s].

    Faults fall on tasks that allocate memory; a task with a stable working set keeps most of it (MCLS, section 3.2).
    A task's rate is this plus `allocation_faults` for each KB/s that it allocates; the mean of all is `rate_per_s`.
    How much falls on all alike is not in the paper.

    Args:
        rate_per_s: R_p of the node [1/s].
        evenness: share of the faults that falls on all tasks alike, 0..1.
        allocated_kb_per_s: memory allocated per second of CPU, summed over the node's tasks [KB/s]; if it is 0 no
            task allocates, and all faults fall on all alike.
    """
    return rate_per_s * evenness if allocated_kb_per_s > 0 else rate_per_s


@formula
def allocation_faults(rate_per_s: float, evenness: float, allocated_kb_per_s: float, tasks: int) -> float:
    """Return the page faults per second of a task's CPU, for each KB/s that it allocates [1/KB]; see `even_faults`.

    Args:
        rate_per_s, evenness, allocated_kb_per_s: as there.
        tasks: tasks on the node.
    """
    return rate_per_s * (1.0 - evenness) * tasks / allocated_kb_per_s if allocated_kb_per_s > 0 else 0.0


def activity_weight(
    age: Number, fault_rate: Number, working_set: Number, accesses: Number, largest: tuple[float, float, float, float]
) -> Number:
    """Weight of a job's activities of CPU, memory and I/O, 0..1: MCLS (5).

    Args:
        age: its executed time, Age [ms].
        fault_rate: its page faults per second, R_p [1/s].
        working_set: memory allocated to it now, WS [MB].
        accesses: its reads and writes so far, N_io.
        largest: the largest of each among the jobs of its node; where that is 0 the part counts 0.
    """
    values = (age, fault_rate, working_set, accesses)
    parts = [value / most if most > 0 else value * 0.0 for value, most in zip(values, largest, strict=True)]
    return (parts[0] + parts[1] + parts[2] + parts[3]) / 4.0
