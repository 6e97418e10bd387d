"""The account that a dispatcher keeps of the work on every node."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cluster_abm.policy.tasks import ArrivingTask, Hardware


def work_ms(task: ArrivingTask, node: Hardware) -> float:
    """What a task takes of a node [ms]: CPU, spread over its cores, and disk time."""
    return task.cpu_on(node) / node.cores + task.io_on(node)


class WorkAccounts:
    """When each node will have done what it was given, if nothing else came.

    An account is exact where nodes serve one task after another, without I/O; elsewhere nodes correct it now and then.

    Args:
        hardware: of all nodes.
        nodes: those to choose from.
    """

    def __init__(self, hardware: Sequence[Hardware], nodes: Sequence[int]) -> None:
        self._hardware, self.nodes = hardware, np.asarray(nodes, np.int64)
        self._until_ms = np.zeros(len(hardware))
        # What was given to each node lately, as (when, how much).
        self._given: list[list[tuple[float, float]]] = [[] for _ in hardware]

    def least(self, now_ms: float) -> int:
        """The node with least work left; of several without any the one that has been without for longest."""
        until_ms = self._until_ms[self.nodes]
        return int(self.nodes[until_ms.argmin()])

    def left_ms(self, node: int, now_ms: float) -> float:
        """Work left on a node [ms]."""
        return max(0.0, float(self._until_ms[node]) - now_ms)

    def give(self, task: ArrivingTask, node: int, now_ms: float) -> None:
        """A task is sent to a node."""
        work = work_ms(task, self._hardware[node])
        self._until_ms[node] = max(self._until_ms[node], now_ms) + work
        self._given[node].append((now_ms, work))

    def correct(self, node: int, left_ms: float, told_ms: float) -> None:
        """A node has said what it had left at an instant [ms]; what it was given since comes on top."""
        self._given[node] = [given for given in self._given[node] if given[0] >= told_ms]
        self._until_ms[node] = told_ms + left_ms
        for when_ms, work in self._given[node]:
            self._until_ms[node] = max(self._until_ms[node], when_ms) + work

    def close(self, node: int) -> None:
        """A node has failed: no work is given to it until it is corrected."""
        self._until_ms[node], self._given[node] = math.inf, []
