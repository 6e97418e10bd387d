"""The law of one column: a few quantiles with its atoms, of exactly its mean; widths of jobs with exactly theirs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from cluster_abm.arrays import Floats
from cluster_abm.scenario.quantiles import quantiles_mean

# The distance that a law is refined to, the most points it may have, and widths of jobs that are kept.
NEAR, MOST_POINTS, MOST_WIDTHS = 0.004, 60, 40
# Shares of the largest values at which a long tail always has a point: distances do not see it, and the load does.
TAILS = tuple(10.0 ** (-position / 2) for position in range(2, 17))
# Values with more than this share of the jobs are atoms, and keep it.
ATOM = 0.002
# How far a probability may be moved on the way to the next one so that the mean is the sample's.
MOVED = 0.49
SHARE_DIGITS = 8


class Quantiles(NamedTuple):
    """A law by its quantiles."""

    values: tuple[float, ...]  # ascending
    probabilities: tuple[float, ...]  # of each, ascending from 0 to 1

    @property
    def mean(self) -> float:
        """The law's mean."""
        return quantiles_mean(self.values, self.probabilities)

    def below(self, at: Floats, or_equal: bool = True) -> Floats:
        """The share of the law that is less than each number, or less or equal, shape as `at`."""
        values, shares = np.asarray(self.values), np.asarray(self.probabilities)
        position = np.searchsorted(values, at, side="right" if or_equal else "left")
        right = np.clip(position, 1, len(values) - 1)
        low, high = values[right - 1], values[right]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            part = np.where(low > 0, np.log(at / low) / np.log(high / low), at / high)
            # Of values more than 10^308 times as large as others no quotient is a number.
            far = (low > 0) & np.isinf(high / low)
            part = np.where(far, (np.log(at) - np.log(low)) / (np.log(high) - np.log(low)), part)
        part = np.where(high > low, np.clip(part, 0.0, 1.0), 1.0)
        found = shares[right - 1] + part * (shares[right] - shares[right - 1])
        return np.where(position == 0, 0.0, np.where(position == len(values), 1.0, found))


class Sample(NamedTuple):
    """What there is of a column: distinct values, the share below each, and up to and with each."""

    values: Floats
    below: Floats
    upto: Floats
    mean: float


def sample_of(values: Floats) -> Sample:
    """The sample's distribution function."""
    distinct, counts = np.unique(values, return_counts=True)
    ends = np.cumsum(counts)
    return Sample(distinct, (ends - counts) / len(values), ends / len(values), math.fsum(values) / len(values))


def distance(law: Quantiles, sample: Sample) -> Floats:
    """Of the two distribution functions at each distinct value, on the side where it is larger; the largest is
    Kolmogorov's and Smirnov's statistic of the two."""
    return np.maximum(
        np.abs(law.below(sample.values) - sample.upto), np.abs(law.below(sample.values, or_equal=False) - sample.below)
    )


def fit_quantiles(values: Floats, near: float = NEAR, most: int = MOST_POINTS) -> Quantiles:
    """Quantiles of a sample of at least two distinct values, none negative: its atoms keep their shares, and the mean
    is the sample's.

    Points are added where the law is farthest from the sample, until none is farther than `near` or there are `most`.

    Args:
        values: the sample, shape (jobs,).
        near: the distance.
        most: number of points.
    """
    sample = sample_of(values)
    chosen = {0, len(sample.values) - 1}
    for tail in TAILS:
        if tail * len(values) >= 1:
            chosen.add(int(np.searchsorted(sample.upto, 1.0 - tail)))
    while True:
        law = _through(sample, chosen)
        away = distance(law, sample)
        away[list(chosen)] = 0.0
        farthest = int(away.argmax())
        if away[farthest] <= near or len(law.values) >= most - 1:
            return _of_mean(law, sample.mean)
        chosen.add(farthest)


def _through(sample: Sample, chosen: set[int]) -> Quantiles:
    """The law through some of the sample's values: an atom at both of its shares, another value in between."""
    values: list[float] = []
    shares: list[float] = []
    last = len(sample.values) - 1
    for position in sorted(chosen):
        value, below, upto = (float(column[position]) for column in sample[:3])
        if upto - below > ATOM:
            ends = [below, upto]
        elif position in (0, last):
            ends = [0.0 if position == 0 else 1.0]
        else:
            ends = [(below + upto) / 2]
        if len(ends) == 1:
            # Six digits suffice of a value that is no atom, and can be read, unless it would pass another one then.
            short = float(f"{value:.6g}")
            left = sample.values[position - 1] if position else 0.0
            right = sample.values[position + 1] if position < last else math.inf
            value = short if left <= short <= right else value
        values += [value] * len(ends)
        shares += [round(share, SHARE_DIGITS) for share in ends]
    return Quantiles(tuple(values), tuple(shares))


def _of_mean(law: Quantiles, mean: float) -> Quantiles:
    """The law with the probabilities of some values moved until it has the mean: of as few of the largest as can make
    up for the difference, for a long tail is where most of it is from."""
    inner = list(range(1, len(law.values) - 1))
    for first in reversed(range(len(inner))):
        movable = inner[first:]
        least, most = (_moved(law, movable, part).mean for part in (MOVED, -MOVED))
        if least <= mean <= most:
            part = brentq(
                lambda one, chosen=movable: _moved(law, chosen, one).mean - mean,
                -MOVED,
                MOVED,
                xtol=1e-15,
                maxiter=1000,
            )
            return _moved(law, movable, float(part))
    return law


def _moved(law: Quantiles, movable: list[int], part: float) -> Quantiles:
    """The law with some probabilities moved by a part of the way to the next one: upwards, which makes the mean
    smaller, or downwards if the part is below 0."""
    old = law.probabilities
    new = list(old)
    for position in movable:
        new[position] += part * (old[position + 1] - old[position] if part > 0 else old[position] - old[position - 1])
    return Quantiles(law.values, tuple(new))


def fit_widths(tasks: Floats, most: int = MOST_WIDTHS) -> dict[str, float]:
    """Numbers of jobs by their width, for `workload.tasks.widths`.

    Rare widths go to the two nearest that are kept, in the shares that leave the mean as it is.

    Args:
        tasks: of each job, shape (jobs,).
        most: how many widths are kept.
    """
    distinct, counts = np.unique(tasks.astype(np.int64), return_counts=True)
    order = [int(position) for position in np.argsort(-counts, kind="stable")]
    kept = sorted({0, len(distinct) - 1, *order[: most - 2]}) if len(distinct) > most else list(range(len(distinct)))
    weights = dict.fromkeys((int(distinct[position]) for position in kept), 0.0)
    numbers = np.array(sorted(weights))
    for width, count in zip(distinct.tolist(), counts.tolist(), strict=True):
        above = int(np.searchsorted(numbers, width))
        if numbers[above] == width:
            weights[width] += count
            continue
        low, high = int(numbers[above - 1]), int(numbers[above])
        weights[low] += count * (high - width) / (high - low)
        weights[high] += count * (width - low) / (high - low)
    return {str(width): float(f"{weight:.12g}") for width, weight in sorted(weights.items())}
