"""Four nodes alike and four unlike, as transcriptions of policies know them and as a scenario's groups."""

from __future__ import annotations

from typing import NamedTuple

SEEK_MS = 8.0


class Node(NamedTuple):
    """What a node is: CPU speed, disk [MB/s], memory [MB]."""

    speed: float = 1.0
    mb_per_s: float = 40.0
    memory_mb: float = 30.0

    def request_ms(self, size_kb: float) -> float:
        """Time of one disk request of that size, without waiting."""
        return SEEK_MS + size_kb / self.mb_per_s


ALIKE = [Node()] * 4
UNLIKE = [Node(2.0, 20.0, 24.0), Node(0.5, 80.0, 42.0), Node(0.5, 80.0, 42.0), Node()]
GROUPS = [
    {"count": 1, "cpu_speed": 2.0, "disk_mb_per_s": 20.0, "memory_mb": 24.0},
    {"count": 2, "cpu_speed": 0.5, "disk_mb_per_s": 80.0, "memory_mb": 42.0},
]
