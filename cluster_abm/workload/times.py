"""Times of a workload as the engine keeps them: whole nanoseconds in 64 bits."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.errors import InputError

# What NEVER leaves of 63 bits of nanoseconds, 146 years.
LONGEST_MS = 4.6e12


def whole_ns(times_ms: Floats, what: str) -> Integers:
    """Whole nanoseconds nearest to times in ms, shape (times,).

    Raises InputError: one of them is more than 64 bits of nanoseconds hold.

    Args:
        times_ms: not negative.
        what: what they are, as a message begins with it.
    """
    check_longest(times_ms, what)
    return np.floor(times_ms * NS_PER_MS + 0.5).astype(np.int64)


def check_longest(times_ms: Floats, what: str) -> None:
    """Raise InputError, which begins with `what`, if 64 bits of nanoseconds do not hold one of these times."""
    if len(times_ms) and not times_ms.max() <= LONGEST_MS:
        raise InputError(f"{what} reaches {times_ms.max():.3g} ms: allowed is {LONGEST_MS:g} (146 years)")
