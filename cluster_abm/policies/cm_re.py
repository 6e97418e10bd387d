"""CM-RE: CPU queue, or memory load while nodes page, remote execution (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policy.indices import CpuMemoryIndex, IfOverloaded


class CpuMemoryRemoteExecution(IfOverloaded, CpuMemoryIndex):
    """An arriving task stays at home unless home is overloaded, its load being the largest of all; then it starts
    on the node of least load. What that costs is not asked.

    The load is the CPU queue, tasks running or waiting for the CPU; while nodes page, "when the system encounters a
    large number of page faults", it is the memory load, WAL-PM (10): the sum of the tasks' memory demands [MB].
    """

    name = "cm-re"
    source = "WAL-PM, section 5, (2)"
    summary = "from an overloaded home to the shortest CPU queue, or least memory load while nodes page"
