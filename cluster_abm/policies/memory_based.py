"""Memory-based: an arriving task's tasks to the node with least memory load (IOCM, section 3.4)."""

from __future__ import annotations

from cluster_abm.policies.indices import Greedy, MemoryIndex


class MemoryBased(Greedy, MemoryIndex):
    """Memory load, remote execution."""

    name = "memory-based"
    source = "IOCM, section 3.4"
    summary = "every task to the node with least memory load"
