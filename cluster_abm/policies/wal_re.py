"""WAL-RE: weighted average load, remote execution (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policies.indices import IfOverloaded, WeightedIndex


class WeightedRemoteExecution(IfOverloaded, WeightedIndex):
    """Weighted load, remote execution."""

    name = "wal-re"
    source = "WAL-PM, section 5, (3)"
    summary = "from an overloaded home to the node with least weighted load"
