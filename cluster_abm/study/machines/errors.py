"""How far predicted times are off: errors, intervals of their differences, and what fits on the targets reach."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]

RESAMPLES = 4000


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
    """
    numbers, labels = pd.factorize(np.asarray(clusters))
    orders = [np.argsort(errors, kind="stable") for errors in (first, second)]
    rng = np.random.default_rng(seed)
    found = np.empty(RESAMPLES)
    for row in range(RESAMPLES):
        times = np.bincount(rng.integers(len(labels), size=len(labels)), minlength=len(labels))[numbers]
        a, b = (_median(errors[order], times[order]) for errors, order in zip((first, second), orders, strict=True))
        found[row] = a - b
    low, high = np.quantile(found, [0.025, 0.975])
    return Difference(float(np.median(first) - np.median(second)), float(low), float(high))


def _median(ascending: Floats, times: npt.NDArray[np.int64]) -> float:
    """The median of values of which each occurs so many times."""
    upto = np.cumsum(times)
    middle = (upto[-1] - 1) // 2, upto[-1] // 2
    return float(ascending[np.searchsorted(upto, middle, side="right")].mean())


def with_fitted_factors(pairs: pd.DataFrame, elsewhere: bool) -> pd.Series:
    """Times predicted by one factor a machine: the median ratio of its measured times to those on the first machine.

    Args:
        pairs: `machine`, `workflow`, `wall_ms`, `measured_ms`.
        elsewhere: each workflow's factors come from the other workflows; otherwise from all, itself among them.

    Returns:
        Times [ms], indexed as `pairs`; NaN where no other workflow has the machine.
    """
    ratio = pairs["measured_ms"] / pairs["wall_ms"]
    if not elsewhere:
        return pairs["wall_ms"] * ratio.groupby(pairs["machine"]).transform("median")
    predicted = pd.Series(np.nan, index=pairs.index)
    for workflow in pairs["workflow"].unique():
        own = pairs["workflow"] == workflow
        factors = ratio[~own].groupby(pairs.loc[~own, "machine"]).median()
        predicted[own] = pairs.loc[own, "wall_ms"] * pairs.loc[own, "machine"].map(factors)
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
