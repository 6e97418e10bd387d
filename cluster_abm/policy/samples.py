"""Samples of load indices that the model takes for a policy, and their mean and deviation, as views read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.policy.capacities import MEMORY, NAMES, PERCENTAGES, served_by
from cluster_abm.policy.tasks import Hardware


class Sampling(NamedTuple):
    """Which samples a policy needs (`Policy.samples`)."""

    indices: tuple[str, ...]  # names of load indices
    period_ms: float  # how often each load manager takes a sample of what it knows of all nodes [ms]
    window_ms: float  # its samples of this time count [ms]

    @property
    def most(self) -> int:
        """How many samples count."""
        return max(1, round(self.window_ms / self.period_ms))


class Samples(NamedTuple):
    """Mean and deviation of what the managers of a policy have sampled, as shares of what each node has.

    Managers with the same reports share them, but for the nodes of which they knew better.
    """

    sampled: Integers  # the indices, as rows of the load table, shape (indices,)
    sample_whole: Floats  # what a node has of each, of which the load is a share, shape (indices, nodes)
    sample_of: Integers  # where in `sample_shares` each manager's stand, shape (nodes,); -1: it has no sample yet
    sample_shares: Floats  # means and then deviations of the indices, shape (tables, 2 * indices, nodes)
    own_first: Integers  # where begin in the next two what each manager has of its own, shape (nodes + 1,)
    own_node: Integers  # about which node it is, shape (pieces,)
    own_shares: Floats  # its means and deviations, shape (pieces, 2 * indices)

    def mean(self, manager: int, index: str) -> Floats | None:
        """Mean share of an index, as a manager knows it, shape (nodes,); None: it has no sample yet."""
        return self._column(manager, self._place(index))

    def deviation(self, manager: int, index: str) -> Floats | None:
        """Its standard deviation, likewise."""
        return self._column(manager, len(self.sampled) + self._place(index))

    def _place(self, index: str) -> int:
        places = np.flatnonzero(self.sampled == row_of_index(index))
        if not len(places):
            raise ValueError(f"{index!r} is not sampled: the policy's `samples` does not name it")
        return int(places[0])

    def _column(self, manager: int, row: int) -> Floats | None:
        """A row of `sample_shares` as a manager knows it, shape (nodes,); None: it has no sample yet."""
        table = int(self.sample_of[manager])
        if table < 0:
            return None
        found = self.sample_shares[table, row].copy()
        own = slice(int(self.own_first[manager]), int(self.own_first[manager + 1]))
        found[self.own_node[own]] = self.own_shares[own, row]
        return found


def row_of_index(index: str) -> int:
    """The row of a load index in the load table; -1: there is none of that name."""
    return NAMES.index(index) if index in NAMES else -1


def whole_of(index: str, hardware: Sequence[Hardware]) -> Floats:
    """What each node has of what a load index measures, shape (nodes,): 100 %, its memory for programs [MB]; of others
    1, so that they are sampled as measured."""
    if index in PERCENTAGES:
        return np.full(len(hardware), 100.0)
    if served_by(index) == MEMORY:
        return np.array([node.user_memory_mb for node in hardware])
    return np.ones(len(hardware))


def no_samples(sampling: Sampling, hardware: Sequence[Hardware]) -> Samples:
    """What managers have before they have sampled anything."""
    nodes, indices = len(hardware), len(sampling.indices)
    return Samples(
        np.array([row_of_index(name) for name in sampling.indices], np.int64),
        np.array([whole_of(name, hardware) for name in sampling.indices]),
        np.full(nodes, -1, np.int64), np.zeros((1, 2 * indices, nodes)), np.zeros(nodes + 1, np.int64),
        np.zeros(0, np.int64), np.zeros((0, 2 * indices)),
    )  # fmt: skip
