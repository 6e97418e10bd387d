"""CM-RE: CPU queue, or memory load while nodes page, remote execution (WAL-PM, section 5)."""

from __future__ import annotations

from cluster_abm.policies.indices import CpuMemoryIndex, IfOverloaded


class CpuMemoryRemoteExecution(IfOverloaded, CpuMemoryIndex):
    """CPU and memory load, remote execution."""

    name = "cm-re"
    source = "WAL-PM, section 5, (2)"
    summary = "from an overloaded home to the shortest CPU queue, or least memory load while nodes page"
