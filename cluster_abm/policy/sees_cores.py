"""What a head node sees of cores: which are free, and which jobs hold the others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.policy.tasks import Hardware, Table
from cluster_abm.policy.waiting import CoresInUse


class SeesCores:
    """The part of a view about cores; see `View` for what it is made of."""

    me: int
    now_ms: float
    slice_ms: float
    hardware: tuple[Hardware, ...]
    refused: frozenset[int]
    cores_of_all: Callable[[frozenset[int]], CoresInUse]

    @property
    def free(self) -> Integers:
        """Free cores of each node, shape (nodes,): those that no job holds; 0 of nodes that are down, or that drain.

        A job that starts gets cores (`Holding.cores_for`), and holds them until its last task has ended. This, and what
        follows, a head node knows (`Policy.central`).
        """
        free = self._cores.free
        return free if len(free) else np.zeros(len(self.hardware), np.int64)

    @property
    def free_cores(self) -> int:
        """How many cores are free on all nodes together."""
        return int(self.free.sum())

    @property
    def running(self) -> Table:
        """The jobs that hold cores, in the order of their expected ends, shape (jobs,), columns `waiting.RUNNING`."""
        return self._cores.running

    def nodes_of(self, job: int) -> Integers:
        """The nodes of which a job holds cores, one entry a core, in the order in which it got them, shape (cores,)."""
        return self._cores.nodes_of(job)

    @cached_property
    def _cores(self) -> CoresInUse:
        return self.cores_of_all(self.refused)

    @property
    def now_slices(self) -> int:
        """Now [slices]: managers act at the borders of slices. Counted so, a plan of cores is exact."""
        return round(self.now_ms / self.slice_ms)
