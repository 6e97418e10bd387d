"""IO-RE: every arrival to the node with least I/O load (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policies.indices import Greedy, IoIndex


class IoRemoteExecution(Greedy, IoIndex):
    """I/O load, remote execution."""

    name = "io-re"
    source = "WAL-PM, section 5, (1)"
    summary = "every task greedily to the node with least I/O load"
