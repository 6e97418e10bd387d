"""Which nodes work, and which of them take new tasks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Flags, Integers


class Availability:
    """The state of every node: up or down, and draining or not.

    A node that is down runs nothing. A draining node runs the tasks that it has and accepts no other.

    Args:
        nodes: number of nodes.

    Attributes:
        up: which nodes work, shape (nodes,).
        draining: which nodes drain, shape (nodes,).
        accepting: which nodes are up and do not drain, shape (nodes,).
        can_change: whether a node or a link has been, or can be, down or draining in this run.
    """

    def __init__(self, nodes: int) -> None:
        self.up: Flags = np.ones(nodes, bool)
        self.draining: Flags = np.zeros(nodes, bool)
        self.can_change = False
        self._down_since_ns = np.zeros(nodes, np.int64)
        self._down_ns = np.zeros(nodes, np.int64)
        self._each_its_own = np.arange(nodes)
        self.refresh()

    def refresh(self) -> None:
        """Bring what follows from `up` and `draining` up to date."""
        self.accepting: Flags = self.up & ~self.draining
        self.any_up = bool(self.up.any())
        self.any_accepting, self.all_accepting = bool(self.accepting.any()), bool(self.accepting.all())

    def change(self, node: int, is_up: bool, now_ns: int) -> None:
        """A node goes down or comes back; if it is so already nothing happens."""
        if self.up[node] and not is_up:
            self._down_since_ns[node] = now_ns
        elif is_up and not self.up[node]:
            self._down_ns[node] += now_ns - self._down_since_ns[node]
        self.up[node] = is_up

    def down_ns(self, now_ns: int) -> npt.NDArray[np.int64]:
        """How long each node has been down until now, shape (nodes,) [ns]."""
        return np.where(self.up, self._down_ns, self._down_ns + now_ns - self._down_since_ns)

    def stand_ins(self) -> Integers:
        """The node that takes the arrivals of each node, shape (nodes,): itself, unless it is down or draining."""
        if self.all_accepting:
            return self._each_its_own
        return np.array([self.stand_in(node) for node in self._each_its_own.tolist()])

    def stand_in(self, node: int) -> int:
        """The node that takes the arrivals of a node: itself, else the next one that accepts; itself if none does."""
        if self.all_accepting or self.accepting[node]:
            return node
        following = np.roll(self.accepting, -node)
        return (node + int(following.argmax())) % len(self.up)
