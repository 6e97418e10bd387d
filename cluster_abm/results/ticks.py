"""Ticks a person would choose: 1, 2 and 5, as many as have room, with thousands separators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axis import XAxis
from matplotlib.ticker import Formatter, LogLocator, MaxNLocator

from cluster_abm.results.plain import plain

MOST_TICKS = 7
# Width of a letter, and the gap between two labels, in sizes of the font; lines of an upright axis likewise.
LETTER, GAP, LINE = 0.62, 1.2, 1.7
# Steps of a logarithmic axis, and the widest range (largest over smallest value) over which they are labelled.
LOG_STEPS = ((15.0, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)), (1000.0, (1.0, 2.0, 5.0)))
# A logarithmic axis over a narrower range has the ticks of a linear one.
NEARLY_LINEAR = 4.0


class PlainFormatter(Formatter):
    """Numbers with thousands separators; all of an axis with as many decimals as tell them apart."""

    def __init__(self, aligned: bool = True) -> None:
        """With `aligned`, all labels have the decimals of the finest one: 0.5, 1.0, 1.5."""
        self.aligned = aligned

    def __call__(self, value: float, pos: int | None = None) -> str:
        """The label of one value."""
        return self.fix_minus(plain(value, 6))

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """The labels of all ticks of an axis."""
        numbers = np.asarray(values, float)
        texts = [plain(value, 6) for value in numbers]
        if len(set(texts)) < len(set(numbers)):
            texts = [plain(value, 12) for value in numbers]
        if self.aligned and not any("e" in text for text in texts):
            decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
            texts = [f"{value:,.{decimals}f}" if value else "0" for value in numbers]
        return [self.fix_minus(text) for text in texts]


def _has_room(axis: Any, ticks: Sequence[float], texts: Sequence[str]) -> bool:
    """Whether the labels of those ticks stand beside each other on an axis of that length."""
    if axis is None:
        return len(ticks) <= MOST_TICKS
    if isinstance(axis, XAxis):
        # Matplotlib's own estimate allows three sizes of the font for a label, and two on an upright axis.
        return 3 * axis.get_tick_space() >= len(texts) * (LETTER * max(map(len, texts), default=0) + GAP)
    return bool(2 * axis.get_tick_space() >= LINE * len(ticks))


class PlainLocator(MaxNLocator):
    """Ticks at multiples of 1, 2 or 5 times a power of ten, no more than have room."""

    def __init__(self, integer: bool = False) -> None:
        """With `integer`, whole numbers alone."""
        super().__init__(MOST_TICKS, integer=integer, steps=[1, 2, 5, 10], min_n_ticks=1 if integer else 2)

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The places of the ticks."""
        for most in range(MOST_TICKS, 0, -1):
            self.set_params(nbins=most)
            ticks = super().tick_values(vmin, vmax)
            low, high = sorted((vmin, vmax))
            shown = [tick for tick in ticks if low <= tick <= high]
            if _has_room(self.axis, shown, PlainFormatter().format_ticks(shown)):
                break
        return ticks


class PlainLogLocator(LogLocator):
    """Ticks of a logarithmic axis: of a narrow one also between the powers of ten, of a very narrow one even steps."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """The places of the ticks."""
        low, high = sorted((float(vmin), float(vmax)))
        if not 0 < low < high < np.inf:
            self.set_params(subs=(1.0,))
            return super().tick_values(vmin, vmax)
        choices = [steps for widest, steps in LOG_STEPS if high / low < widest] + [(1.0,)]
        if high / low < NEARLY_LINEAR:
            even = PlainLocator()
            if self.axis is not None:
                even.set_axis(self.axis)
            return [tick for tick in even.tick_values(low, high) if tick > 0]
        for steps in choices:
            self.set_params(subs=steps)
            ticks = super().tick_values(vmin, vmax)
            shown = [tick for tick in ticks if low <= tick <= high]
            if _has_room(self.axis, shown, [plain(tick) for tick in shown]):
                return ticks
        # Each second power of ten, or third, ...
        powers = [tick for tick in ticks if low <= tick <= high]
        return next(
            (
                powers[::every]
                for every in range(1, len(powers))
                if _has_room(self.axis, powers[::every], [plain(tick) for tick in powers[::every]])
            ),
            powers[:1],
        )
