"""Laws of demands, and dispatching by size: SITA."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from scipy import integrate
from scipy.optimize import brentq


class Law(Protocol):
    """A law of demands: its least and greatest value, and its moments between two bounds."""

    @property
    def least(self) -> float:
        """The least demand."""

    @property
    def most(self) -> float:
        """The greatest demand; infinite: there is none."""

    def part(self, power: int, low: float, high: float) -> float:
        """E[X^power; low < X < high]."""


@dataclass(frozen=True)
class BoundedPareto:
    """P(X > x) = (least/x)^shape, given that X < most."""

    least: float
    most: float
    shape: float

    def part(self, power: int, low: float, high: float) -> float:
        """E[X^power; low < X < high]."""
        scale = self.shape * self.least**self.shape / (1 - (self.least / self.most) ** self.shape)
        value, _ = integrate.quad(lambda x: scale * x ** (power - self.shape - 1), low, high, epsrel=1e-10)
        return float(value)


@dataclass(frozen=True)
class Exponential:
    """P(X > x) = exp(-x/mean)."""

    mean: float = 1.0
    least: float = 0.0
    most: float = math.inf

    def part(self, power: int, low: float, high: float) -> float:
        """E[X^power; low < X < high], power 0 to 2, by parts."""

        def above(x: float) -> float:
            if x == math.inf:
                return 0.0
            u = x / self.mean
            return self.mean**power * math.exp(-u) * (1.0, 1 + u, 2 + 2 * u + u * u)[power]

        return above(low) - above(high)


def squared_variation(law: Law) -> float:
    """C^2 of a law: its variance over its squared mean."""
    mean = law.part(1, law.least, law.most)
    return law.part(2, law.least, law.most) / mean**2 - 1


def cutoffs_of(law: Law, classes: int) -> list[float]:
    """Sizes that part a law into classes of the same work: SITA-E (Harchol-Balter, Crovella, Murta 1999)."""
    mean = law.part(1, law.least, law.most)
    most = law.most if law.most < math.inf else 60 * mean
    return [
        brentq(lambda size, share=place / classes: law.part(1, law.least, size) - share * mean, law.least, most)
        for place in range(1, classes)
    ]


def waits_of_classes(law: Law, rate: float, bounds: Sequence[float]) -> list[float]:
    """Mean wait of each size class on a node of its own: rate E[X^2; class] / (2 (1 - rate E[X; class])).

    A class takes an independent part of a Poisson stream: its node is M/G/1, first come first served (Pollaczek,
    Khinchine).

    Args:
        law: of the demands.
        rate: of all arrivals.
        bounds: of the classes, ascending, the outer ones included.
    """
    return [rate * law.part(2, low, high) / (2 * (1 - rate * law.part(1, low, high))) for low, high in pairwise(bounds)]


def response_by_size(law: Law, nodes: int, load: float) -> float:
    """Mean response under SITA-E with one class for each node, first come first served there."""
    bounds = [law.least, *cutoffs_of(law, nodes), law.most]
    mean = law.part(1, law.least, law.most)
    waits = waits_of_classes(law, nodes * load / mean, bounds)
    shares = (law.part(0, low, high) for low, high in pairwise(bounds))
    return mean + sum(share * wait for share, wait in zip(shares, waits, strict=True))
