"""How loads become shades: a scale with a round end, logarithmic where most loads are far below the largest one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cluster_abm.arrays import Floats

# Where the largest load is this multiple of the median of those above 0, half of the nodes look idle on an even scale.
WIDE = 16.0
# The most decades that a logarithmic scale spans: over more of them the eye sees no steps.
DECADES = 3
# On an even scale light shades get more room, since the eye tells them apart worse.
GAMMA = 0.5


@dataclass(frozen=True)
class LoadScale:
    """A scale from 0 to a round load."""

    full: float  # the load of the last shade
    low: float = 0.0  # from this load on the scale is logarithmic, even below it; 0: it is even all along

    def share(self, loads: Any) -> Any:
        """The place of loads on the scale, 0..1; numbers or arrays. Loads above `full` have the last place."""
        part = np.clip(np.asarray(loads, float) / self.full, 0.0, 1.0)
        if not self.low:
            return part**GAMMA
        times = part * self.full / self.low
        decades = math.log10(self.full / self.low)
        return np.where(times <= 1, times, 1 + np.log10(np.maximum(times, 1.0))) / (1 + decades)

    def load(self, shares: Any) -> Any:
        """The loads at places 0..1: the inverse of `share`."""
        places = np.clip(np.asarray(shares, float), 0.0, 1.0)
        if not self.low:
            return self.full * places ** (1 / GAMMA)
        steps = places * (1 + math.log10(self.full / self.low))
        return self.low * np.where(steps <= 1, steps, 10.0 ** (np.maximum(steps, 1.0) - 1))

    @property
    def ticks(self) -> list[float]:
        """Loads to name along it: 0, the middle and the end, or the powers of ten and the end."""
        if not self.low:
            return [0.0, self.full / 2, self.full]
        powers = [10.0**power for power in range(round(math.log10(self.low)), 1 + math.floor(math.log10(self.full)))]
        # A last power just below the end would touch its number.
        return [0.0, *(power for power in powers if power * 1.9 < self.full), self.full]


def round_full(largest: float, least: float) -> float:
    """The least of 1, 2, 5, 10 ... times `least` that is not below the largest load."""
    if not largest > least:
        return least
    power = 10.0 ** math.floor(math.log10(largest / least) + 1e-12)
    return next(least * step * power for step in (1, 2, 5, 10, 20) if largest <= least * step * power * (1 + 1e-12))


def low_end(full: float, least: float) -> float:
    """Where a logarithmic scale up to `full` begins: a power of ten, not below `least`."""
    return float(max(10.0 ** math.ceil(math.log10(full) - DECADES - 1e-9), least))


class SeenLoads:
    """The loads that have been seen of one run: a scale made of them grows, and never goes back.

    Args:
        least_full: the scale ends there at least.
        least_low: a logarithmic scale does not begin below it.
    """

    # Bins of a tenth of a decade, from 10^-6 on.
    _BINS = 160

    def __init__(self, least_full: float, least_low: float) -> None:
        self._least_full, self._least_low = least_full, least_low
        self._counts = np.zeros(self._BINS, np.int64)
        self.largest, self.is_wide = 0.0, False

    def add(self, loads: Floats) -> None:
        """Take the loads of all nodes at one time into account."""
        above = loads[loads > 0]
        if not len(above):
            return
        self.largest = max(self.largest, float(above.max()))
        places = np.clip((10 * (np.log10(above) + 6)).astype(int), 0, self._BINS - 1)
        self._counts += np.bincount(places, minlength=self._BINS)
        median_bin = int(np.searchsorted(np.cumsum(self._counts), self._counts.sum() / 2))
        # Once it is logarithmic it stays so: a legend that goes back and forth cannot be read.
        self.is_wide = self.is_wide or self.largest > WIDE * 10.0 ** ((median_bin + 1) / 10 - 6)

    @property
    def scale(self) -> LoadScale:
        """The scale by what has been seen so far."""
        return scale_to(self.largest, self.is_wide, self._least_full, self._least_low)


def joint(scales: Sequence[LoadScale]) -> LoadScale:
    """One scale for several runs beside each other: the same shade is the same load."""
    full = max(scale.full for scale in scales)
    lows = [scale.low for scale in scales if scale.low]
    return LoadScale(full, max(lows) if lows else 0.0)


def scale_to(largest: float, wide: bool, least_full: float, least_low: float) -> LoadScale:
    """The scale for loads up to the largest one."""
    full = round_full(largest, least_full)
    low = low_end(full, least_low) if wide else 0.0
    return LoadScale(full, low if low < full / 5 else 0.0)
