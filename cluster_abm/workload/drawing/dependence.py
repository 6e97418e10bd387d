"""Numbers in 0..1 of several columns that depend on each other: a Gaussian copula (Nelsen 2006, section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import ndtr, ndtri

from cluster_abm.arrays import Floats
from cluster_abm.scenario.dependence import dependent_columns, factor, normal_correlation, pair_of
from cluster_abm.scenario.distributions import Distribution, TaskCount
from cluster_abm.scenario.schema import Workload
from cluster_abm.workload.drawing.draws import quantile

# Nearer to an end of 0..1 no uniform number lies.
LEAST, MOST = 2.0**-54, 1.0 - 2.0**-53
# Points by which means of products are integrated, of either column.
POINTS, INNER_POINTS = 4000, 100


class Dependent:
    """The uniform numbers of the columns that `workload.dependence` names, block after block.

    A column's numbers are made of its own stream and of those of the columns before it: what another column takes
    from its stream changes nothing.
    """

    def __init__(self, dependence: Mapping[str, float], streams: Mapping[str, np.random.Generator]) -> None:
        self.columns = dependent_columns(dependence)
        self._factor, self._streams = factor(dependence), streams

    def next(self, count: int) -> dict[str, Floats]:
        """The next numbers of each column, shape (count,), uniform in 0..1 without its ends."""
        normal: list[Floats] = []
        drawn = {}
        for name, line in zip(self.columns, self._factor, strict=True):
            normal.append(ndtri(np.maximum(self._streams[name].random(count), LEAST)))
            # Summed in this order whatever the size of the block: the same numbers to the last digit.
            total = np.zeros(count)
            for weight, values in zip(line, normal, strict=True):
                total += weight * values
            drawn[name] = np.clip(ndtr(total), LEAST, MOST)
        return drawn


def widths(tasks: TaskCount, uniform: Floats) -> Floats:
    """Numbers of tasks at these probabilities, shape as `uniform`: the larger the number the more."""
    if tasks.widths:
        number, weight = np.array(tasks.weights_of_widths, float).T
        # Up to which number each width goes; the last one with any weight goes to the end.
        ends = np.cumsum(weight) / weight.sum()
        last = int(np.flatnonzero(weight)[-1])
        return number[np.minimum(np.searchsorted(ends, uniform, side="right"), last)]
    single = 1.0 - tasks.parallel_share
    part = np.maximum(0.0, uniform - single) / max(tasks.parallel_share, LEAST)
    width = tasks.minimum + np.floor(np.minimum(part, MOST) * (tasks.maximum - tasks.minimum + 1))
    return np.where(uniform >= single, width, 1.0)


def work_over_means(workload: Workload) -> float:
    """E[cpu_ms tasks]/(E[cpu_ms] E[tasks]) of a workload: 1 unless these two depend on each other."""
    pairs = {pair_of(key): spearman for key, spearman in workload.dependence.items()}
    spearman = pairs.get(("cpu_ms", "tasks"), 0.0)
    if not spearman or workload.programs.mix:
        return 1.0
    return product_over_means(workload.cpu_ms, workload.tasks, normal_correlation(spearman))


def product_over_means(cpu_ms: Distribution, tasks: TaskCount, correlation: float) -> float:
    """E[cpu_ms tasks]/(E[cpu_ms] E[tasks]) under a normal correlation, by summing over a grid of both numbers."""
    # Evenly in the normal number: that is fine at both ends of 0..1, where long tails are.
    edges = np.linspace(-8.2, 8.2, POINTS + 1)
    normal, weight = (edges[1:] + edges[:-1]) / 2, np.diff(ndtr(edges))
    cpu = quantile(cpu_ms, np.clip(ndtr(normal), LEAST, MOST)) * weight
    other = ndtri((np.arange(INNER_POINTS) + 0.5) / INNER_POINTS) * np.sqrt(1.0 - correlation**2)
    mean_tasks = np.zeros(POINTS)
    for other_normal in other:
        mean_tasks += widths(tasks, ndtr(correlation * normal + other_normal)) / INNER_POINTS
    # Both means by the same grid, so that its own error is not in the ratio.
    return float((cpu * mean_tasks).sum() / cpu.sum() / (mean_tasks * weight).sum())
