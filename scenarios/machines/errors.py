"""How far predicted times are off: errors, intervals of their differences, and what fits on the targets reach."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]

RESAMPLES = 4000
CELLS = 2**19  # resamples times pairs that are looked at together


class Difference(NamedTuple):
    """A median error less another one of the same pairs, with its 95 % interval."""

    value: float
    low: float
    high: float


def error_of(predicted: pd.Series, measured: pd.Series) -> pd.Series:
    """|predicted / measured - 1|, a share."""
    return (predicted / measured - 1.0).abs()


def median_difference(first: Floats, second: Floats, clusters: npt.ArrayLike, seed: int = 1) -> Difference:
    """The median of `first` less that of `second`, with an interval by resampling whole clusters.

    Both medians are of the same resample, so that what makes pairs hard to predict cancels. Percentile bootstrap over
    clusters (Davison and Hinkley: Bootstrap Methods and their Application, 1997, 3.8): pairs of one cluster depend on
    each other, clusters are taken not to.

    Args:
        first, second: errors of the same pairs, shape (pairs,).
        clusters: which cluster a pair belongs to, shape (pairs,); any labels.
        seed: of the resampling.

    Returns:
        the difference; of one cluster alone there is no interval: NaN.
    """
    value = float(np.median(first) - np.median(second))
    numbers, labels = pd.factorize(np.asarray(clusters))
    if len(labels) < 2:
        return Difference(value, math.nan, math.nan)
    orders = [np.argsort(errors, kind="stable") for errors in (first, second)]
    rng = np.random.default_rng(seed)
    times = rng.multinomial(len(labels), np.full(len(labels), 1.0 / len(labels)), RESAMPLES)
    found = np.empty(RESAMPLES)
    block = max(1, CELLS // len(numbers))
    for start in range(0, RESAMPLES, block):
        rows = slice(start, start + block)
        a, b = (
            _medians(errors[order], times[rows, numbers[order]])
            for errors, order in zip((first, second), orders, strict=True)
        )
        found[rows] = a - b
    low, high = np.quantile(found, [0.025, 0.975])
    return Difference(value, float(low), float(high))


def _medians(ascending: Floats, times: npt.NDArray[np.int64]) -> Floats:
    """The median of values, shape (n,), of which each occurs so many times, shape (resamples, n)."""
    upto = np.cumsum(times, axis=1)
    total = upto[:, -1:]
    lower, upper = (ascending[(upto > middle).argmax(axis=1)] for middle in ((total - 1) // 2, total // 2))
    medians: Floats = (lower + upper) / 2.0
    return medians


def with_fitted_factors(pairs: pd.DataFrame, elsewhere: bool, fixed_ms: pd.Series | None = None) -> pd.Series:
    """Times predicted by one factor a machine: the median ratio of its measured times to those on the first machine.

    Args:
        pairs: `machine`, `workflow`, `wall_ms`, `measured_ms`.
        elsewhere: each workflow's factors come from the other workflows; otherwise from all, itself among them.
        fixed_ms: so much of a time is the same on all machines and the factor is one of the rest; not given: nothing.

    Returns:
        Times [ms], indexed as `pairs`; NaN where no other workflow has the machine.
    """
    fixed_ms = pd.Series(0.0, index=pairs.index) if fixed_ms is None else fixed_ms
    rest_ms = pairs["wall_ms"] - fixed_ms
    ratio = ((pairs["measured_ms"] - fixed_ms) / rest_ms).where(rest_ms > 0)
    machine, workflow = pairs["machine"], pairs["workflow"]
    if not elsewhere:
        return fixed_ms + rest_ms * ratio.groupby(machine).transform("median")
    predicted = pd.Series(np.nan, index=pairs.index)
    for name in workflow.unique():
        own = workflow == name
        factors = ratio[~own].groupby(machine[~own]).median()
        predicted[own] = fixed_ms[own] + rest_ms[own] * machine[own].map(factors)
    return predicted


def chosen_elsewhere(errors: pd.DataFrame, workflow: pd.Series) -> pd.Series:
    """For each workflow the errors of that column which has the least median error on the other workflows.

    NaN where there is no other workflow.
    """
    found = pd.Series(np.nan, index=errors.index)
    for name in workflow.unique():
        own = workflow == name
        if not own.all():
            found[own] = errors.loc[own, str(errors[~own].median().idxmin())]
    return found
