"""WAL-PM's policies: nodes are compared by I/O load, by CPU or memory load, or by a weighted average of all three.

Remote execution (`-re`) chooses where an arriving task starts: WAL-PM, section 5. Preemptive migration (`-pm`) chooses
which running task moves: WAL-PM, section 4, Fig. 1.
"""

from __future__ import annotations

from cluster_abm.policy.parts.indices import CpuMemoryIndex, Greedy, IfOverloaded, IoIndex, Preemptive, WeightedIndex


class WeightedPreemptiveMigration(Preemptive, WeightedIndex):
    """Fig. 1 with nodes compared by the weighted average (9), (17): W_CPU load_CPU + W_MEM load_MEM + W_IO load_IO."""

    name = "wal-pm"
    source = "WAL-PM, section 4, Fig. 1"
    summary = "from an overloaded node the task migrates that moves most I/O load per cost, by weighted load"

    class Parameters(WeightedIndex.Parameters, Preemptive.Parameters):
        """Weights, estimator and effectiveness."""

    parameters: Parameters


class IoPreemptiveMigration(Preemptive, IoIndex):
    """Fig. 1 with nodes compared by I/O load alone (11): page faults, and accesses that miss the buffer [1/ms]."""

    name = "io-pm"
    source = "WAL-PM, sections 4 and 6"
    summary = "as wal-pm, by I/O load"

    class Parameters(Preemptive.Parameters, IoIndex.Parameters):
        """I/O load, estimator and effectiveness."""

    parameters: Parameters


class CpuMemoryPreemptiveMigration(Preemptive, CpuMemoryIndex):
    """Fig. 1 with nodes compared by the CPU queue [tasks], and by the memory load (10) [MB] while nodes page."""

    name = "cm-pm"
    source = "WAL-PM, sections 4 and 6"
    summary = "as wal-pm, by CPU queue, or memory load while nodes page"

    class Parameters(CpuMemoryIndex.Parameters, Preemptive.Parameters):
        """Which node's paging counts, estimator and effectiveness."""

    parameters: Parameters


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


class IoRemoteExecution(Greedy, IoIndex):
    """An arriving task goes to the node with least I/O load, wherever it was submitted: no trigger, no cost.

    The I/O load of node i is what reaches its disk, WAL-PM (11): load_IO(i) = sum over its tasks j of l_page(i, j) +
    l_IO(i, j) [1/ms], page faults and accesses that miss the buffer. Home wins ties.
    """

    name = "io-re"
    source = "WAL-PM, section 5, (1)"
    summary = "every task greedily to the node with least I/O load"


class CpuMemoryRemoteExecution(IfOverloaded, CpuMemoryIndex):
    """An arriving task stays at home unless home is overloaded, its load being the largest of all; then it starts
    on the node of least load. What that costs is not asked.

    The load is the CPU queue, tasks running or waiting for the CPU; while nodes page, "when the system encounters a
    large number of page faults", it is the memory load, WAL-PM (10): the sum of the tasks' memory demands [MB].
    """

    name = "cm-re"
    source = "WAL-PM, section 5, (2)"
    summary = "from an overloaded home to the shortest CPU queue, or least memory load while nodes page"
