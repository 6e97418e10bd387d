"""The value of the key from which a need is kept, and the ends of its interval, found by bracketing.

A search knows no runs: it asks for values and gets what they came to, so that the searches of several policies go on
side by side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from cluster_abm.study.planning.needs import JudgedValue

# From one value to the next, where no end of the range is given.
STEP = 1.5
# Significant digits of values that are not whole numbers, and the relative width at which a bracket is closed.
DIGITS, RESOLUTION = 4, 0.005

Side = Literal["least", "most"]
Search = Generator[list[float], Mapping[float, JudgedValue], "Crossing"]


@dataclass(frozen=True)
class KeyRange:
    """The values of the key that may be tried."""

    # low, high: the ends, both included
    low: float
    high: float
    whole: bool  # whether only whole numbers may be tried
    start: float | None = None  # where the search begins; None: at both ends

    def next(self, value: float, up: bool) -> float:
        """A value beyond this one, no further than the end."""
        if self.whole:
            found = max(value + 1, math.ceil(value * STEP)) if up else min(value - 1, math.floor(value / STEP))
        else:
            found = significant(value * STEP if up else value / STEP)
        return min(found, self.high) if up else max(found, self.low)

    def between(self, one: float, other: float) -> float | None:
        """A value between two; None: they are next to each other."""
        low, high = sorted((one, other))
        wide = low > 0 and high / low > 2.0
        middle = math.sqrt(low * high) if wide else (low + high) / 2
        if self.whole:
            found = float(min(max(round(middle), low + 1), high - 1))
            return found if high - low > 1 else None
        if high - low <= RESOLUTION * max(abs(low), abs(high)):
            return None
        found = significant(middle)
        return found if low < found < high else None


def significant(value: float) -> float:
    """Rounded to DIGITS significant digits: what is run is what can be pasted."""
    return float(f"{value:.{DIGITS}g}")


@dataclass(frozen=True)
class Crossing:
    """Where the needs begin to be kept."""

    # "least": from `value` on; "most": up to `value`; None: the key changes nothing that is asked about
    side: Side | None
    value: float | None  # None: nowhere within the range
    # low, high: of the 95 % interval; None: it goes on beyond the range
    low: float | None
    high: float | None
    points: tuple[JudgedValue, ...] = field(repr=False)  # all that were run, by value
    note: str = ""  # what else is to be said; "": nothing

    @property
    def is_one_sample(self) -> bool:
        """Whether every seed gave the same run at each value: then no interval is known."""
        return bool(self.points) and all(point.one_sample for point in self.points)

    @property
    def at_value(self) -> JudgedValue | None:
        """What `value` came to."""
        return next((one for one in self.points if one.value == self.value), None)

    @property
    def at_end(self) -> JudgedValue | None:
        """The end of the range that comes nearest to the needs, where they are kept nowhere."""
        return max(self.points, key=lambda one: one.margin) if self.value is None else None

    @property
    def beyond(self) -> JudgedValue | None:
        """The nearest value that was run on the side where the needs are not kept."""
        if self.value is None:
            return None
        others = [one for one in self.points if not one.is_kept and _is_beyond(one.value, self.value, self.side)]
        return min(others, key=lambda one: abs(one.value - float(self.value or 0.0)), default=None)


def search(axis: KeyRange) -> Search:
    """Look for the crossing. Yields values that are to be run; is sent what they came to."""
    seen: dict[float, JudgedValue] = {}

    def see(*values: float) -> Generator[list[float], Mapping[float, JudgedValue], None]:
        new = [value for value in dict.fromkeys(values) if value not in seen]
        if new:
            seen.update((yield new))

    if axis.start is None:
        first, last = axis.low, axis.high
    else:
        ends = axis.start, axis.next(axis.start, up=axis.start < axis.high)
        first, last = min(ends), max(ends)
    yield from see(first, last)
    better = seen[last].margin - seen[first].margin
    if math.isnan(better) or better == 0.0:
        # Both without a number, or both alike: at the ends of the range there may still be a difference.
        yield from see(axis.low, axis.high)
        better = seen[axis.high].margin - seen[axis.low].margin
    if math.isnan(better) or better == 0.0:
        return _without_effect(seen)
    up = better > 0

    def edge(holds: Callable[[JudgedValue], bool]) -> Generator[list[float], Mapping[float, JudgedValue], float | None]:
        """The last value on the way to the worse side at which something holds; None: it holds nowhere."""
        # Out to where it holds, ...
        while not any(map(holds, seen.values())):
            best = max(seen) if up else min(seen)
            if best == (axis.high if up else axis.low):
                return None
            yield from see(axis.next(best, up))
        held = [value for value, point in seen.items() if holds(point)]
        good = min(held) if up else max(held)
        # ... back to where it does not, ...
        while not (worse := [value for value in seen if (value < good) == up and value != good]):
            if good == (axis.low if up else axis.high):
                return good
            yield from see(axis.next(good, not up))
            if holds(seen[min(seen) if up else max(seen)]):
                good = min(seen) if up else max(seen)
        bad = max(worse) if up else min(worse)
        # ... and in between.
        while (middle := axis.between(bad, good)) is not None:
            yield from see(middle)
            if holds(seen[middle]):
                good = middle
            else:
                bad = middle
        return good

    if axis.start is None and not any(point.is_kept for point in seen.values()):
        # Kept at neither end: it may be in between all the same.
        middle = axis.between(axis.low, axis.high)
        if middle is not None:
            others = (axis.between(axis.low, middle), axis.between(middle, axis.high))
            yield from see(middle, *(one for one in others if one is not None))
    value = yield from edge(lambda point: point.is_kept)
    if value is None:
        points = tuple(seen[one] for one in sorted(seen))
        return Crossing("least" if up else "most", None, None, None, points, _not_met(axis, up))
    # The crossing cannot lie where the needs surely fail, and no later than where they are surely kept.
    possible = yield from edge(lambda point: not point.is_doomed)
    sure = yield from edge(lambda point: point.is_sure)
    low, high = (possible, sure) if up else (sure, possible)
    low, high = (None if low is None else min(low, value)), (None if high is None else max(high, value))
    points = tuple(seen[one] for one in sorted(seen))
    side: Side = "least" if up else "most"
    return Crossing(side, value, low, high, points, "; ".join(_notes(axis, side, value, points)))


def _without_effect(seen: Mapping[float, JudgedValue]) -> Crossing:
    points = tuple(seen[one] for one in sorted(seen))
    ends = f"from {points[0].value:g} to {points[-1].value:g}"
    word = "kept" if points[0].is_kept else "not kept"
    return Crossing(None, None, None, None, points, f"{word} {ends} alike: the key changes nothing that is asked about")


def _not_met(axis: KeyRange, up: bool) -> str:
    if axis.start is None:
        return f"not met at any value that was tried from {axis.low:g} to {axis.high:g}"
    return f"not met {f'up to {axis.high:g}' if up else f'down to {axis.low:g}'}"


def _notes(axis: KeyRange, side: Side, value: float, points: tuple[JudgedValue, ...]) -> list[str]:
    """What a reader of the value has to know."""
    notes = []
    if value == (axis.low if side == "least" else axis.high):
        notes.append(f"kept at the end of the range already ({value:g})")
    wrong = [one for one in points if not one.is_kept and not _is_beyond(one.value, value, side)]
    wrong += [one for one in points if one.is_kept and _is_beyond(one.value, value, side)]
    if wrong:
        named = ", ".join(f"{'kept' if one.is_kept else 'not kept'} at {one.value:g}" for one in wrong[:3])
        surely = any(one.is_sure or one.is_doomed for one in wrong)
        doubt = "by more than noise" if surely else "within noise: more seeds tell"
        notes.append(f"not monotone ({named}; {doubt})")
    unfinished = next(one.unfinished for one in points if one.value == value)
    if unfinished > 0:
        notes.append(f"{unfinished:.4g} jobs did not finish there, and metrics of jobs count those that did")
    return notes


def _is_beyond(value: float, crossing: float, side: Side | None) -> bool:
    """Whether a value lies where the needs are not expected to be kept."""
    return value < crossing if side == "least" else value > crossing
