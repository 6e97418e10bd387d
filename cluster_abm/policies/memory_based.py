"""Memory-based: an arriving task's tasks to the node with least memory load (IOCM, section 3.4)."""

from __future__ import annotations

from cluster_abm.policy.indices import Greedy, MemoryIndex


class MemoryBased(Greedy, MemoryIndex):
    """The paper's "memory-based": every task of an arriving job to the node with least memory load, home on a tie.

    The load is the sum of the tasks' memory demands [MB]. CPUs and disks are not looked at, and a move's cost is not
    asked.
    """

    name = "memory-based"
    source = "IOCM, section 3.4"
    summary = "every task to the node with least memory load"
