"""Jobs that are as one of those before them: copies of rows that are drawn, block after block."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.scenario.distributions import Repeats
from cluster_abm.workload.drawing.draws import later


class Copies:
    """Puts copies of earlier jobs in the place of what was drawn for a share of the jobs.

    The law of each column, and dependence between columns, stay what they are: copies are of jobs that follow them.

    Args:
        repeats: how many jobs are copies, and of which.
        rng: the generator; draws from nothing else.
    """

    def __init__(self, repeats: Repeats, rng: np.random.Generator, count: int) -> None:
        self._share, self._is_copy, self._lag = repeats.share, rng, later(rng, count)
        weights = 1.0 / np.arange(1, repeats.back + 1)
        self._boundaries = np.cumsum(weights) / weights.sum()
        self._last: dict[str, Floats] = {}
        self._seen = 0

    def next(self, drawn: dict[str, Floats]) -> dict[str, Floats]:
        """The next rows, shape (count,) each: those drawn, or as one before."""
        count = len(next(iter(drawn.values())))
        back = len(self._boundaries)
        kept = min(back, self._seen)
        lag = 1 + np.minimum(np.searchsorted(self._boundaries, self._lag.random(count), side="right"), back - 1)
        own = kept + np.arange(count)
        is_copy = (self._is_copy.random(count) < self._share) & (lag <= own)
        # Copies of copies: each goes back to the row that was drawn, in as many steps as their chain has doublings.
        source = np.concatenate([np.arange(kept), np.where(is_copy, own - lag, own)])
        while (further := source[source]).tobytes() != source.tobytes():
            source = further
        columns = {}
        for name, values in drawn.items():
            rows = np.concatenate([self._last[name], values]) if kept else values
            copied = rows[source]
            columns[name], self._last[name] = copied[kept:], copied[-back:]
        self._seen += count
        return columns
