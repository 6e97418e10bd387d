"""Random numbers by a scenario's distributions."""

from __future__ import annotations

import copy
import math

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.scenario.quantiles import quantiles_mean, quantiles_square

# Fitted to the 184,612 CPU times of Harchol-Balter and Downey's eight one-hour traces [s]: 7.07 % last 1 s or
# longer; those are a bounded Pareto (tail index that gives their mean of 3.96 s; by maximum likelihood it is
# 1.21), the shorter ones a lognormal cut at 1 s (mean and deviation of the logarithms below 1 s).
HBD97_LONG_SHARE, HBD97_TAIL, HBD97_MAX_S = 0.0707, 1.28, 1573.5
HBD97_LOG_MEAN, HBD97_LOG_SD = -3.651, 1.575


def draw(distribution: Distribution, rng: np.random.Generator, count: int) -> Floats:
    """`count` numbers in the unit of the key that the distribution stands under, shape (count,)."""
    return Stream(distribution, rng, count).next(count)


class Stream:
    """Numbers of a distribution in the unit of its key, drawn block after block: the same as if all were drawn at once.

    Args:
        rng: their generator; draws from nothing else.
    """

    def __init__(self, distribution: Distribution, rng: np.random.Generator, count: int) -> None:
        self._distribution, self._rng = distribution, rng
        # A law that takes two numbers for each takes first all the first ones, then all the second ones.
        self._second = later(rng, count) if distribution.kind == "hbd97" else rng

    def next(self, count: int) -> Floats:
        """The next `count` of them, shape (count,)."""
        distribution, rng = self._distribution, self._rng
        mean, sd = distribution.mean, distribution.sd
        match distribution.kind:
            case "fixed":
                return np.full(count, mean)
            case "exponential":
                return mean * rng.standard_exponential(count)
            case "uniform":
                return 2.0 * mean * rng.random(count)
            case "gamma":
                shape = (mean / sd) ** 2 if mean > 0 else 1.0
                return mean / shape * rng.standard_gamma(shape, count)
            case "lognormal":
                spread = math.log1p((sd / mean) ** 2) if mean > 0 else 0.0
                return mean * np.exp(math.sqrt(spread) * rng.standard_normal(count) - spread / 2.0)
            case "pareto":
                scale = mean * (distribution.shape - 1.0) / distribution.shape
                return scale * (1.0 - rng.random(count)) ** (-1.0 / distribution.shape)
            case "lifetime":
                return bounded_pareto(rng.random(count), distribution.shape, distribution.minimum, distribution.maximum)
            case "hbd97":
                return mean / hbd97_mean_s() * _hbd97_s(rng.random(count), self._second.random(count))
            case "quantiles":
                return between_quantiles(distribution, rng.random(count))


def quantile(distribution: Distribution, uniform: Floats) -> Floats:
    """The distribution's quantiles, in the unit of its key, shape as `uniform`: what uniform numbers in 0..1 (neither
    end) make of it, the larger the number the larger the value."""
    mean, sd = distribution.mean, distribution.sd
    match distribution.kind:
        case "fixed":
            return np.full(np.shape(uniform), mean)
        case "exponential":
            return -mean * np.log1p(-uniform)
        case "uniform":
            return 2.0 * mean * uniform
        case "gamma":
            from scipy.special import gammaincinv

            shape = (mean / sd) ** 2 if mean > 0 else 1.0
            return np.asarray(mean / shape * gammaincinv(shape, uniform))
        case "lognormal":
            from scipy.special import ndtri

            spread = math.log1p((sd / mean) ** 2) if mean > 0 else 0.0
            return np.asarray(mean * np.exp(math.sqrt(spread) * ndtri(uniform) - spread / 2.0))
        case "pareto":
            scale = mean * (distribution.shape - 1.0) / distribution.shape
            return scale * (1.0 - uniform) ** (-1.0 / distribution.shape)
        case "lifetime":
            return bounded_pareto(uniform, distribution.shape, distribution.minimum, distribution.maximum)
        case "hbd97":
            short = 1.0 - HBD97_LONG_SHARE
            is_long = uniform >= short
            part = np.where(is_long, (uniform - short) / HBD97_LONG_SHARE, uniform / short)
            return mean / hbd97_mean_s() * _hbd97_s(np.where(is_long, 0.0, 1.0), part)
        case "quantiles":
            return between_quantiles(distribution, uniform)


def between_quantiles(distribution: Distribution, uniform: Floats) -> Floats:
    """Values at probabilities 0 <= p < 1, log-linear between two quantiles that are given; linear from a 0 on."""
    values, shares = np.asarray(distribution.values, float), np.asarray(distribution.shares, float)
    above = np.minimum(np.searchsorted(shares, uniform, side="right"), len(shares) - 1)
    low, high = values[above - 1], values[above]
    left, right = shares[above - 1], shares[above]
    part = (uniform - left) / (right - left)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Of an atom the logarithms are the same: it is its value to the last digit.
        interpolated = np.where(low > 0, low * np.exp(part * (np.log(high) - np.log(low))), high * part)
    return np.asarray(distribution.scale * np.minimum(interpolated, high))


def later(rng: np.random.Generator, count: int) -> np.random.Generator:
    """A generator that begins where `rng`, a PCG64, is after `count` uniform numbers more."""
    bits = copy.deepcopy(rng.bit_generator)
    assert isinstance(bits, np.random.PCG64)
    return np.random.Generator(bits.advance(count))


def mean_of(distribution: Distribution) -> float:
    """The distribution's mean, in the unit of its key."""
    if distribution.kind == "lifetime":
        return bounded_pareto_mean(distribution.shape, distribution.minimum, distribution.maximum)
    if distribution.kind == "quantiles":
        return distribution.scale * quantiles_mean(distribution.values, distribution.shares)
    return distribution.mean


def square_of(distribution: Distribution) -> float:
    """The distribution's second moment, in the square of the unit of its key; infinite where it has none."""
    mean, sd, shape = distribution.mean, distribution.sd, distribution.shape
    match distribution.kind:
        case "fixed":
            return mean**2
        case "exponential":
            return 2.0 * mean**2
        case "uniform":
            return 4.0 / 3.0 * mean**2
        case "gamma" | "lognormal":
            return mean**2 + sd**2
        case "pareto":
            return mean**2 * (shape - 1.0) ** 2 / (shape * (shape - 2.0)) if shape > 2.0 else math.inf
        case "lifetime":
            return bounded_pareto_moment(shape, distribution.minimum, distribution.maximum, 2)
        case "hbd97":
            return hbd97_moment(2) * (mean / hbd97_mean_s()) ** 2
        case "quantiles":
            return distribution.scale**2 * quantiles_square(distribution.values, distribution.shares)


def bounded_pareto(uniform: Floats, shape: float, minimum: float, maximum: float) -> Floats:
    """Inverse of P(L > x) = (minimum/x)^shape, cut at `maximum`."""
    return minimum * (1.0 - uniform * (1.0 - (minimum / maximum) ** shape)) ** (-1.0 / shape)


def bounded_pareto_mean(shape: float, minimum: float, maximum: float) -> float:
    """Mean of `bounded_pareto`."""
    return bounded_pareto_moment(shape, minimum, maximum, 1)


def bounded_pareto_moment(shape: float, minimum: float, maximum: float, power: int) -> float:
    """E[L^power] of `bounded_pareto`."""
    ratio, first = minimum / maximum, minimum**power
    if shape == power:
        return first * shape * math.log(1.0 / ratio) / (1.0 - ratio**shape)
    return first * shape / (shape - power) * (1.0 - ratio ** (shape - power)) / (1.0 - ratio**shape)


def hbd97_mean_s() -> float:
    """Mean of the fitted CPU time law [s], before it is scaled."""
    return hbd97_moment(1)


def hbd97_moment(power: int) -> float:
    """E[L^power] of the fitted CPU time law [s^power], before it is scaled."""

    def below(z: float) -> float:
        return 0.5 * math.erfc(-z / math.sqrt(2.0))

    m, s = HBD97_LOG_MEAN, HBD97_LOG_SD
    short = math.exp(power * m + (power * s) ** 2 / 2.0) * below(-m / s - power * s) / below(-m / s)
    long = bounded_pareto_moment(HBD97_TAIL, 1.0, HBD97_MAX_S, power)
    return (1.0 - HBD97_LONG_SHARE) * short + HBD97_LONG_SHARE * long


def _hbd97_s(branch: Floats, value: Floats) -> Floats:
    # One branch number and one value each, whatever the branch: numbers stay aligned when the mean changes.
    from scipy.special import ndtr, ndtri

    cut = ndtr(-HBD97_LOG_MEAN / HBD97_LOG_SD)
    short_s = np.exp(HBD97_LOG_MEAN + HBD97_LOG_SD * ndtri(np.maximum(value * cut, 1e-300)))
    return np.where(branch < HBD97_LONG_SHARE, bounded_pareto(value, HBD97_TAIL, 1.0, HBD97_MAX_S), short_s)
