"""Memory-centric load sharing that moves the job with the largest working set."""

from __future__ import annotations

from cluster_abm.policies.memory_centric import MemoryCentric
from cluster_abm.policy.view import Loads, Table, View


class WorkingSet(MemoryCentric):
    """`working-set`: the most memory-active job by what is allocated to it.

    The loop of every machine is the one above. The job that is identified, and migrates, is the one with the largest
    working set WS [MB].
    """

    name = "working-set"
    source = "MCLS, sections 4.2 (1) and 6.1"
    summary = "a machine that pages migrates the job with the largest working set"

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """The job with the largest WS."""
        return int(tasks["memory_mb"].argmax())
