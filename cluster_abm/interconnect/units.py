"""Units of links: as a scenario gives them, and as a transfer counts them."""

from __future__ import annotations

MBIT_PER_MB = 8.0


def mb_per_s(bandwidth_mbps: float) -> float:
    """A bandwidth in MB/s (1 MB = 8 Mb)."""
    return bandwidth_mbps / MBIT_PER_MB
