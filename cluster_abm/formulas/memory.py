"""Page faults when the tasks of a node ask for more memory than it has."""

from __future__ import annotations

from cluster_abm.formulas._formula import formula
from cluster_abm.formulas.oversize import oversize, paging_rate_per_s


@formula
def page_faults_per_ms(
    demand_mb: float, user_memory_mb: float, fault_rate_per_ms: float, ratio_cap: float, overflow_only: bool
) -> float:
    """Faults of one task per ms of its own CPU [1/ms]: WAL-PM (12), IOLB (11).

    0 while the demands fit, else the node's fault rate times demand over memory.

    Args:
        demand_mb: sum of the memory demands of the node's tasks, this one included [MB].
        user_memory_mb: memory there is for programs [MB]; any unit, the same as the demand's.
        fault_rate_per_ms: the node's page-fault rate mu [1/ms].
        ratio_cap: largest demand/memory the law is applied to; infinity is the papers' literal law, which
            is metastable: faults prolong lives, which raises the demand, which raises the faults.
        overflow_only: instead of demand/memory the factor is 1 - memory/demand, the share of the pages that do
            not fit: an alternative to the papers' law that starts at 0 and never exceeds mu (ours, not theirs).
    """
    if demand_mb <= user_memory_mb:
        return 0.0
    if overflow_only:
        return fault_rate_per_ms * (1.0 - user_memory_mb / demand_mb)
    return fault_rate_per_ms * min(demand_mb / user_memory_mb, ratio_cap)


@formula
def node_faults_per_ms(
    demand_mb: float,
    user_memory_mb: float,
    fault_rate_per_ms: float,
    ratio_cap: float,
    overflow_only: bool,
    by_oversize: bool,
    accesses: float,
) -> float:
    """Faults of a node's tasks per ms of CPU, by the paging model of its cluster [1/ms].

    Args:
        demand_mb, user_memory_mb, fault_rate_per_ms, ratio_cap, overflow_only: as for `page_faults_per_ms`.
        by_oversize: model `oversize` (MCLS): the mean over the node's tasks; else model `rate`: each task's.
        accesses: N_io, of `paging_rate_per_s`.
    """
    if by_oversize:
        return paging_rate_per_s(oversize(demand_mb, user_memory_mb), accesses) / 1000.0
    return page_faults_per_ms(demand_mb, user_memory_mb, fault_rate_per_ms, ratio_cap, overflow_only)


@formula
def page_load_ms(faults_per_ms: float, remaining_ms: float, fault_service_ms: float) -> float:
    """Page-fault processing time t_page still ahead [ms]: IOLB (11).

    Args:
        faults_per_ms: faults per ms of CPU, of `page_faults_per_ms` [1/ms].
        remaining_ms: CPU the task (or all the node's tasks together) has still to receive [ms].
        fault_service_ms: disk time of one fault [ms] (8.1 for a 4 KB page at the papers' disk).
    """
    return faults_per_ms * remaining_ms * fault_service_ms
