"""Memory-centric load sharing that moves the job with the highest page fault rate."""

from __future__ import annotations

from cluster_abm.policies.memory_centric import MemoryCentric
from cluster_abm.policy.view import Loads, Table, View


class PageFaultRate(MemoryCentric):
    """`pf-rate`: the most memory-active job by its page faults.

    The loop of every machine is the one above. The job that is identified, and migrates, is the one with the highest
    page fault rate R_p, page faults per time since the machine looked last.
    """

    name = "pf-rate"
    source = "MCLS, sections 4.2 (1) and 6.1"
    summary = "a machine that pages migrates the job with the highest page fault rate"

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """The job with the highest R_p."""
        return int(fault_rates.argmax())
