"""Means over replications, made narrower by what is known to vary with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats


class Mean(NamedTuple):
    """A mean, its standard error, and the degrees of freedom of Student's t."""

    value: float
    error: float
    freedom: int

    def interval(self, level: float) -> tuple[float, float]:
        """The interval that holds the truth with probability `level`."""
        low, high = stats.t.interval(level, self.freedom, self.value, self.error)
        return float(low), float(high)


def controlled(values: Sequence[float], controls: Sequence[tuple[Sequence[float], float]] = ()) -> Mean:
    """The mean of independent replications, by a linear regression on controls where all of these are as expected.

    Args:
        values: one a replication.
        controls: (measured, expected) of what varies with `values`: a number for each replication, and its true mean
            (Lavenberg and Welch 1981, Management Science 27:322). Without any it is the plain mean.
    """
    data = np.asarray(values, float)
    design = np.column_stack([np.ones(len(data)), *(np.asarray(measured) - mean for measured, mean in controls)])
    freedom = len(data) - design.shape[1]
    fitted, *_ = np.linalg.lstsq(design, data, rcond=None)
    variance = ((data - design @ fitted) ** 2).sum() / freedom
    return Mean(float(fitted[0]), float(np.sqrt(variance * np.linalg.inv(design.T @ design)[0, 0])), freedom)
