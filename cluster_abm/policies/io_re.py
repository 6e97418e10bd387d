"""IO-RE: every arrival to the node with least I/O load (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policy.indices import Greedy, IoIndex


class IoRemoteExecution(Greedy, IoIndex):
    """An arriving task goes to the node with least I/O load, wherever it was submitted: no trigger, no cost.

    The I/O load of node i is what reaches its disk, WAL-PM (11): load_IO(i) = sum over its tasks j of l_page(i, j) +
    l_IO(i, j) [1/ms], page faults and accesses that miss the buffer. Home wins ties.
    """

    name = "io-re"
    source = "WAL-PM, section 5, (1)"
    summary = "every task greedily to the node with least I/O load"
