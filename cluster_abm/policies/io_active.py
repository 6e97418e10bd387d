"""Memory-centric load sharing that moves the most I/O-active job."""

from __future__ import annotations

from cluster_abm.policies.memory_centric import MemoryCentric
from cluster_abm.policy.view import Loads, Table, View


class IoActive(MemoryCentric):
    """`io-active`: the job with most reads and writes moves, because its buffers take memory from the programs.

    The loop of every machine is the one above. The job that is identified, and migrates, is the one with the most
    accesses so far, N_io.
    """

    name = "io-active"
    source = "MCLS, section 4.2 (2)"
    summary = "a machine that pages migrates the job with the most reads and writes"

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """The job with the highest N_io."""
        return int(tasks["accesses"].argmax())
