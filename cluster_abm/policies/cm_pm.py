"""CM-PM: CPU queue, or memory load while nodes page, preemptive migration (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policies.indices import CpuMemoryIndex, Preemptive


class CpuMemoryPreemptiveMigration(Preemptive, CpuMemoryIndex):
    """CPU and memory load, preemptive migration."""

    name = "cm-pm"
    source = "WAL-PM, sections 4 and 6"
    summary = "as wal-pm, by CPU queue, or memory load while nodes page"

    class Parameters(CpuMemoryIndex.Parameters, Preemptive.Parameters):
        """Which node's paging counts, estimator and effectiveness."""

    parameters: Parameters
