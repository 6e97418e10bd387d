"""How many seeds would show what these seeds leave open."""

from __future__ import annotations

import math

import scipy.stats

from cluster_abm.study.statistics.estimates import LEVEL
from cluster_abm.study.statistics.paired import Contrast

# The chance that a difference as large as the one found is then significant.
POWER = 0.8
# Beyond it the two are as good as alike.
MOST_SEEDS = 10_000


def seeds_needed(tested: Contrast, pairs: int = 1) -> int | None:
    """The fewest seeds of which Student's t would find what `tested` estimates, with a chance of POWER.

    The test is two-sided at 5 %, over the number of pairs (Bonferroni); what is found, and its spread, are taken for
    the truth.

    Args:
        tested: of a pair.
        pairs: how many are tested together.

    Returns:
        None where nothing was found, where it takes more than MOST_SEEDS, or where no number of draws of one log would.
    """
    if tested.are_replicates:
        return None
    deviation = tested.error * math.sqrt(tested.seeds)
    if not tested.mean or not math.isfinite(deviation) or not deviation:
        return None
    effect = abs(tested.mean) / deviation

    def shows(seeds: int) -> bool:
        critical = scipy.stats.t.isf(LEVEL / pairs / 2, seeds - 1)
        return bool(scipy.stats.nct.sf(critical, seeds - 1, effect * math.sqrt(seeds)) >= POWER)

    low, high = 1, 2
    while not shows(high):
        low, high = high, 2 * high
        if low >= MOST_SEEDS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high if high <= MOST_SEEDS else None
