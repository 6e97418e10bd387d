"""Which nodes work, and which of them take new tasks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]


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
        self.refresh()

    def refresh(self) -> None:
        """Bring what follows from `up` and `draining` up to date."""
        self.accepting: Flags = self.up & ~self.draining
        self.any_up = bool(self.up.any())
        self.any_accepting, self.all_accepting = bool(self.accepting.any()), bool(self.accepting.all())

    def stand_in(self, node: int) -> int:
        """The node that takes the arrivals of a node: itself, else the next one that accepts; itself if none does."""
        if self.all_accepting or self.accepting[node]:
            return node
        following = np.roll(self.accepting, -node)
        return (node + int(following.argmax())) % len(self.up)
