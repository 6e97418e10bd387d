"""CPU-based: an arriving task's tasks to the node with the shortest CPU queue (IOCM, section 3.4)."""

from __future__ import annotations

from cluster_abm.policy.indices import CpuIndex, Greedy


class CpuBased(Greedy, CpuIndex):
    """The paper's "CPU-based": every task of an arriving job to the node with the shortest CPU queue, home on a tie.

    The queue counts tasks running and waiting for the CPU. Disks and memory are not looked at, and a move's cost is not
    asked.
    """

    name = "cpu-based"
    source = "IOCM, section 3.4"
    summary = "every task to the node with the shortest CPU queue"
