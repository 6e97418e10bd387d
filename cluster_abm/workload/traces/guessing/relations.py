"""How columns of numbers go together: which is the difference of two others, and which never lies after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from cluster_abm.scenario.columns.units import TIMES_MS
from cluster_abm.workload.traces.guessing.cells import Floats

FEWEST = 5  # rows in which two columns must have a value to be compared
ALWAYS = 0.95  # share of the rows in which a relation must hold
ROUNDING = 1.01  # a difference of two times cut to whole seconds is off by less than one
FACTORS = (1.0, *(TIMES_MS[unit] / 1000.0 for unit in ("ms", "us", "min", "h")))  # s of one unit of a duration
COARSER = (1e3, 1e6, 1e9)  # s of times that count in ms, us, ns
ANY_FACTORS = (*FACTORS, *COARSER)
MOST_COMPARED = 1500  # rows


@dataclass(frozen=True)
class Difference:
    """later - earlier = duration x scale, in nearly all rows."""

    later: int
    earlier: int
    duration: int
    scale: float  # of the duration's unit in that of the instants


def share_in_order(first: Floats, then: Floats) -> float:
    """Share of the rows in which the first is no larger, of those that have both; 0 if these are few."""
    both = ~(np.isnan(first) | np.isnan(then))
    if both.sum() < FEWEST:
        return 0.0
    return float((first[both] <= then[both] + 1e-9).mean())


def differences(
    instants: Mapping[int, Floats], durations: Mapping[int, Floats], factors: Sequence[float] = FACTORS
) -> list[Difference]:
    """Which durations are differences of instants.

    Args:
        instants: column -> values [s, or all in one unit], shape (rows,).
        durations: column -> values, shape (rows,).
        factors: units that a duration may have, in that of the instants.
    """
    found = []
    columns = list(instants)
    for later, earlier in permutations(columns, 2):
        gap = instants[later] - instants[earlier]
        if not _goes_forward(gap):
            continue
        for duration, values in durations.items():
            if duration in (later, earlier):
                continue
            scale = _scale(gap, values, factors)
            if scale:
                found.append(Difference(later, earlier, duration, scale))
    return found


def sums_of_pairs(durations: Mapping[int, Floats], pairs: Sequence[tuple[int, int]]) -> dict[int, Floats]:
    """Two durations together, as columns for `differences`: the pairs by their position, below 0 from -1 on."""
    return {-1 - which: durations[first] + durations[then] for which, (first, then) in enumerate(pairs)}


def _goes_forward(gap: Floats) -> bool:
    """Whether one column lies after another, and not by always as much."""
    known = gap[~np.isnan(gap)][:MOST_COMPARED]
    return len(known) >= FEWEST and float((known >= -1e-9).mean()) >= ALWAYS and float(np.ptp(known)) > 0.0


def _scale(gap: Floats, values: Floats, factors: Sequence[float]) -> float:
    """The factor by which values are a gap; 0 if they are not."""
    gap, values = gap[:MOST_COMPARED], values[:MOST_COMPARED]
    both = ~(np.isnan(gap) | np.isnan(values))
    if both.sum() < FEWEST:
        return 0.0
    gap, values = gap[both], values[both]
    if float(np.ptp(values)) == 0.0 or (values > 0).mean() < 0.02:
        return 0.0
    for factor in factors:
        allowed = (
            np.maximum(ROUNDING * max(1.0, factor), 2e-3 * np.abs(gap))
            if factor >= 1.0
            else 2e-3 * np.abs(gap) + ROUNDING
        )
        near = np.abs(gap - factor * values) <= allowed
        # Rows where both are next to nothing agree by chance.
        large = gap > 5.0 * ROUNDING * max(1.0, factor)
        if near.mean() >= ALWAYS - 0.05 and large.sum() >= FEWEST and near[large].mean() >= ALWAYS - 0.05:
            return factor
    return 0.0
