"""Simulated time, counted in slices."""

from __future__ import annotations

import math

NS_PER_MS = 1_000_000
HOUR_S, DAY_S, WEEK_S = 3600.0, 86_400.0, 604_800.0
# 31 years; also catches what no route leads to.
LONGEST_WAIT_MS = 1e12


def whole_ns(milliseconds: float) -> int:
    """Return the whole ns nearest to a time in ms: sums are exact, so that equally long routes are found equal."""
    return math.floor(milliseconds * NS_PER_MS + 0.5)


class Clock:
    """The time of a run."""

    def __init__(self, slice_ns: int) -> None:
        self.slice_ns = slice_ns  # length of a slice [ns]
        self.now_ns = 0  # a slice boundary, to which every node has been served [ns]

    @property
    def now_ms(self) -> float:
        """Simulated time [ms]."""
        return self.now_ns / NS_PER_MS

    @property
    def slices(self) -> int:
        """How many slices have passed."""
        return self.now_ns // self.slice_ns

    @property
    def next_boundary_ns(self) -> int:
        """The boundary at which the slice that begins now ends [ns]."""
        return self.now_ns + self.slice_ns

    def boundary_from(self, time_ns: int) -> int:
        """The first slice boundary not before a time [ns]."""
        return -(-time_ns // self.slice_ns) * self.slice_ns

    def boundary_up_to(self, time_ns: int) -> int:
        """The last slice boundary not after a time [ns]."""
        return time_ns // self.slice_ns * self.slice_ns
