"""Sums and quantiles of numbers that come in groups: the same to the last bit however the numbers are grouped."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np

from cluster_abm.arrays import Floats, Integers

# Numbers of one bin differ by 1 % at most. A bin stands for its middle, which is within 0.5 % of each of them.
LOG_WIDTH = math.log(1.01)
_BITS = 53  # of a mantissa
_LOW_BITS = 26
# Sums of this many halves of a mantissa are exact in 64-bit floats.
_AT_ONCE = 1 << 24


def whole_sum(values: Integers) -> int:
    """The sum of whole numbers; each fits into 64 bits, their sum need not."""
    # Halves that cannot overflow.
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFF_FFFF).sum())


class ExactSum:
    """The sum of floats without any rounding: mantissas are added as whole numbers, by their exponent."""

    def __init__(self) -> None:
        self.count = 0
        self._mantissas: Counter[int] = Counter()

    def add(self, values: Floats) -> None:
        """Add finite numbers, shape (n,)."""
        self.count += len(values)
        for first in range(0, len(values), _AT_ONCE):
            self._add(values[first : first + _AT_ONCE])

    def _add(self, values: Floats) -> None:
        parts, exponents = np.frexp(values)
        mantissas = np.ldexp(parts, _BITS).astype(np.int64)
        least = int(exponents.min())
        low = np.bincount(exponents - least, mantissas & ((1 << _LOW_BITS) - 1))
        high = np.bincount(exponents - least, mantissas >> _LOW_BITS)
        for place, (of_low, of_high) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            self._mantissas[least + place] += (int(of_high) << _LOW_BITS) + int(of_low)

    @property
    def mean(self) -> float:
        """The mean, rounded once; NaN of no numbers."""
        if not self.count:
            return math.nan
        total = sum((Fraction(2) ** (power - _BITS) * whole for power, whole in self._mantissas.items()), Fraction())
        return float(total / self.count)


class Histogram:
    """How often numbers came, in bins of 1 %: quantiles to within 0.5 % of their value; the ends are exact."""

    def __init__(self) -> None:
        self.count = 0
        self._bins: Counter[int] = Counter()
        self._none = 0  # numbers up to 0, which have no logarithm
        self._least, self._largest = math.inf, -math.inf

    def add(self, values: Floats) -> None:
        """Add finite numbers, shape (n,); those below 0 count as 0."""
        if not len(values):
            return
        self.count += len(values)
        self._least = min(self._least, max(0.0, float(values.min())))
        self._largest = max(self._largest, float(values.max()))
        positive = values[values > 0.0]
        self._none += len(values) - len(positive)
        if len(positive):
            places = np.floor(np.log(positive) / LOG_WIDTH).astype(np.int64)
            least = int(places.min())
            for place, times in enumerate(np.bincount(places - least).tolist()):
                if times:
                    self._bins[least + place] += times

    def quantiles(self, shares: Floats) -> list[float]:
        """Quantiles, between two numbers in a row as numpy.quantile has them; empty of no numbers."""
        if not self.count:
            return []
        ranks = np.asarray(shares) * (self.count - 1)
        below, above = self._at(np.floor(ranks).astype(np.int64)), self._at(np.ceil(ranks).astype(np.int64))
        return (below + (above - below) * (ranks % 1.0)).tolist()

    def count_up_to(self, limit: float) -> int:
        """How many of the numbers are at most a limit; those of its bin are judged by the bin's middle."""
        if limit >= self._largest:
            return self.count
        within = (times for place, times in self._bins.items() if math.exp((place + 0.5) * LOG_WIDTH) <= limit)
        return (self._none if limit >= 0.0 else 0) + sum(within)

    def spread(self, most: int) -> Floats:
        """At most that many numbers that are distributed like those that came, ascending."""
        count = min(most, self.count)
        return np.array(self.quantiles((np.arange(count) + 0.5) / max(1, count)))

    def _at(self, ranks: Integers) -> Floats:
        """The number of each rank, from 0, in ascending order."""
        places = sorted(self._bins)
        ends = np.cumsum([self._none, *(self._bins[place] for place in places)])
        middles = np.concatenate([[0.0], np.exp((np.array(places) + 0.5) * LOG_WIDTH)])
        found = np.clip(middles[np.searchsorted(ends, ranks, side="right")], self._least, self._largest)
        found[ranks == 0], found[ranks == self.count - 1] = self._least, self._largest
        return np.asarray(found)


class Values:
    """The mean and the quantiles of numbers, some of which may be none (NaN or infinite)."""

    def __init__(self) -> None:
        self.sum, self.histogram = ExactSum(), Histogram()
        self.missing = 0

    def add(self, values: Floats) -> None:
        """Add numbers, shape (n,)."""
        finite = values[np.isfinite(values)]
        self.missing += len(values) - len(finite)
        if len(finite):
            self.sum.add(finite)
            self.histogram.add(finite)

    @property
    def count(self) -> int:
        """How many came, missing ones included."""
        return self.sum.count + self.missing

    @property
    def mean(self) -> float | None:
        """Their mean; NaN if one is missing; None of no numbers."""
        if not self.count:
            return None
        return math.nan if self.missing else self.sum.mean
