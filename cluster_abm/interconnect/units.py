"""Units of links: as a scenario gives them, and as a transfer counts them."""

from __future__ import annotations

import math

MBIT_PER_MB = 8.0
NS_PER_MS = 1e6


def mb_per_s(bandwidth_mbps: float) -> float:
    """A bandwidth in MB/s (1 MB = 8 Mb)."""
    return bandwidth_mbps / MBIT_PER_MB


def whole_ns(milliseconds: float) -> int:
    """Return the whole ns nearest to a time in ms: sums are exact, so that equally long routes are found equal."""
    return math.floor(milliseconds * NS_PER_MS + 0.5)
