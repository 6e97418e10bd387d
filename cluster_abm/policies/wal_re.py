"""WAL-RE: weighted average load, remote execution (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policy.indices import IfOverloaded, WeightedIndex


class WeightedRemoteExecution(IfOverloaded, WeightedIndex):
    """An arriving task stays at home unless home is overloaded, its weighted load being the largest of all; then it
    starts on the node of least weighted load. What that costs is not asked.

    The weighted load of node i is WAL-PM (9), (17):

        load(i) = W_CPU load_CPU(i) + W_MEM load_MEM(i) + W_IO load_IO(i)

    with the CPU queue [tasks], the memory demand (10) [MB] and the I/O load (11) [1/ms], added as the paper does, or
    each over its mean (`normalised`).
    """

    name = "wal-re"
    source = "WAL-PM, section 5, (3)"
    summary = "from an overloaded home to the node with least weighted load"
