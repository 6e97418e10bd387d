"""CPU-based: an arriving task's tasks to the node with the shortest CPU queue (IOCM, section 3.4)."""

from __future__ import annotations

from cluster_abm.policies.indices import CpuIndex, Greedy


class CpuBased(Greedy, CpuIndex):
    """CPU load, remote execution."""

    name = "cpu-based"
    source = "IOCM, section 3.4"
    summary = "every task to the node with the shortest CPU queue"
