"""Paired differences of a comparison, looked up by two policies in either order."""

from __future__ import annotations

import math
from dataclasses import replace

from cluster_abm.errors import InputError
from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.paired import PairedDifference


class Pairs(dict[tuple[str, str], PairedDifference]):
    """a - b by (a, b), each pair once; looked up in the other order it is b - a.

    >>> found = Pairs({("none", "jsq"): PairedDifference(4.0, Estimate(3.0, (1.0, 5.0)), 0.01, True)})
    >>> found["jsq", "none"].difference, found["jsq", "none"].ratio, len(found)
    (Estimate(mean=-3.0, ci95=(-5.0, -1.0)), 0.25, 1)
    """

    def __missing__(self, pair: object) -> PairedDifference:
        """The pair in the other order. Raises InputError: it was not compared."""
        if isinstance(pair, tuple) and len(pair) == 2 and (other := self.get((pair[1], pair[0]))) is not None:
            return turned(other)
        names = dict.fromkeys(name for both in self for name in both)
        raise InputError(f"pair {pair!r}: not compared; allowed: two of {', '.join(names) or 'none'}")


def _inverse(ratio: float) -> float:
    return 1 / ratio if ratio else math.inf


def turned(pair: PairedDifference) -> PairedDifference:
    """b against a of a against b."""
    mean, ends, ratio_ends, tested = -pair.difference.mean, pair.difference.ci95, pair.ratio_ci95, pair.tested
    return replace(
        pair,
        ratio=1 / pair.ratio if pair.ratio else math.nan,
        difference=Estimate(mean, None if ends is None else (-ends[1], -ends[0])),
        ratio_ci95=None if ratio_ends is None else (_inverse(ratio_ends[1]), _inverse(ratio_ends[0])),
        tested=None if tested is None else tested._replace(mean=-tested.mean),
    )
