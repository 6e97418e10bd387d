"""What values a metric can have at all, and intervals that stay within."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.results.asked import metric_of

# No mean of few values moves by as many times itself; beyond, a float has no room.
MOST = 600.0


class Bounds(NamedTuple):
    """The least and the greatest value that is possible, in the unit of the values; infinite: there is none."""

    least: float = -math.inf
    greatest: float = math.inf

    def of(self, values: npt.NDArray[np.float64]) -> Bounds:
        """The bounds that the values keep to.

        A slowdown is at least 1 only where no node is faster than the home node. A value below `least` shows that this
        is not so; then 0 takes the bound's place, or nothing if there is a value below 0, too.
        """
        low, high = float(values.min()), float(values.max())
        least = self.least if low >= self.least else 0.0 if low >= 0.0 else -math.inf
        return Bounds(least, self.greatest if high <= self.greatest else math.inf)

    def moved(self, mean: float, by: float) -> float:
        """A mean moved by `by` to first order, but never over a bound.

        The step is made on the scale on which there are no bounds: of log(mean - least), of the logit if there are two,
        of the mean itself if there is none (delta method; Casella, Berger 2002, Statistical Inference, section 5.5.4).
        """
        above, below = max(0.0, mean - self.least), max(0.0, self.greatest - mean)
        if not by or not (above and below):
            return mean
        if math.isinf(above) and math.isinf(below):
            return mean + by
        if math.isinf(below):
            return self.least + above * _exp(by / above)
        if math.isinf(above):
            return self.greatest - below * _exp(-by / below)
        width = self.greatest - self.least
        step = by * (width / above) / below
        return self.least + width * (above / (above + below * _exp(-step)))


UNBOUNDED = Bounds()
# Of `programs.<name>.<metric>` (results.summary.PROGRAM_METRICS).
OF_PROGRAMS: Mapping[str, Bounds] = {
    "tasks": Bounds(0.0),
    "mean_slowdown_cpu": Bounds(1.0),
    "paging_percent": Bounds(0.0, 100.0),
    "page_faults": Bounds(0.0),
}


def bounds_of(metric: str, scale: float = 1.0) -> Bounds:
    """What a metric's value can be (the columns of results.metrics.METRICS); no bounds of a name that is not there.

    Args:
        metric: a name, or a sum or difference of several (terms_of), as in scenarios/reproduce.
        scale: what the value is multiplied by, > 0.
    """
    least = greatest = 0.0
    for name, sign in terms_of(metric):
        one = _of_one(name)
        low, high = (one.least, one.greatest) if sign > 0.0 else (-one.greatest, -one.least)
        least, greatest = least + low, greatest + high
    return Bounds(scale * least, scale * greatest)


def terms_of(metric: str) -> list[tuple[str, float]]:
    """The terms of a sum or difference of metrics ("a + b", "a - b"): the name of each, and its sign, 1 or -1.

    A minus has blanks around it; names may be written after `metrics.`.
    """
    found = []
    for term in metric.replace(" - ", " + -").split("+"):
        name = term.strip()
        sign = -1.0 if name.startswith("-") else 1.0
        found.append((name.removeprefix("-").removeprefix("metrics."), sign))
    return found


def _of_one(name: str) -> Bounds:
    metric = metric_of(name)
    if metric is not None:
        return Bounds(metric.least, metric.greatest)
    return OF_PROGRAMS.get(name.rpartition(".")[2], UNBOUNDED) if name.startswith("programs.") else UNBOUNDED


def _exp(power: float) -> float:
    return math.exp(max(-MOST, min(MOST, power)))
