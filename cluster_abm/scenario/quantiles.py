"""A law given by some of its quantiles: what makes one, and its mean. Log-linear between two of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise


def evenly(count: int) -> tuple[float, ...]:
    """Probabilities of that many quantiles, evenly spaced from 0 to 1."""
    return tuple(rank / (count - 1) for rank in range(count)) if count > 1 else ()


def check_quantiles(values: Sequence[float], probabilities: Sequence[float]) -> None:
    """Raise ValueError unless these are quantiles: two or more values, and as many probabilities from 0 to 1, both
    ascending."""
    if len(values) < 2:
        raise ValueError(f"values {list(values)}: kind 'quantiles' needs two or more (or use kind = \"fixed\")")
    if len(probabilities) != len(values):
        raise ValueError(f"probabilities: {len(probabilities)} of them for {len(values)} values: as many are needed")
    for name, numbers in (("values", values), ("probabilities", probabilities)):
        for rank, (low, high) in enumerate(pairwise(numbers)):
            if high < low:
                raise ValueError(f"{name}: {high} after {low} (number {rank + 2}): must ascend")
    if probabilities[0] != 0 or probabilities[-1] != 1:
        raise ValueError(f"probabilities {probabilities[0]} to {probabilities[-1]}: must go from 0 to 1")


def quantiles_mean(values: Sequence[float], probabilities: Sequence[float]) -> float:
    """The mean: each piece adds the mean of its exponential curve, (b - a)/ln(b/a), times its probability."""
    return math.fsum(
        (right - left) * piece_mean(low, high)
        for (low, high), (left, right) in zip(pairwise(values), pairwise(probabilities), strict=True)
    )


def quantiles_square(values: Sequence[float], probabilities: Sequence[float]) -> float:
    """The second moment: the squares lie on an exponential curve from a^2 to b^2; on a parabola from 0 on."""
    return math.fsum(
        (right - left) * (high**2 / 3 if low == 0 else piece_mean(low**2, high**2))
        for (low, high), (left, right) in zip(pairwise(values), pairwise(probabilities), strict=True)
    )


def piece_mean(low: float, high: float) -> float:
    """The logarithmic mean of two values; of a straight line where the lower one is 0."""
    if low == 0:
        return high / 2
    logarithm = math.log(high) - math.log(low)
    # Two values next to each other have no difference of logarithms to speak of: its series' first terms.
    return low * (1 + logarithm / 2 + logarithm**2 / 6) if logarithm < 1e-4 else (high - low) / logarithm
