"""A head node that gathers the load reports of all nodes and broadcasts them (mode `head-node`; IOCM, section 3.1)."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Flags, Integers
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.message_losses import MessageLosses
from cluster_abm.model.moving.routing import UNREACHABLE_NS, LiveNetwork
from cluster_abm.model.part import part


@part
class HeadNode:
    """How long reports take by way of one node.

    All nodes send their report to the head; once the last of them has come it broadcasts all together. What is sent
    while it is down reaches no node.

    Attributes:
        node: the head.
        losses: which of the messages get lost: those to the head, and those that it broadcasts.
        changes: whether the network may change during the run.
        at_once: whether all reports of a period that arrive at a manager arrive at once.
    """

    node: int
    live: LiveNetwork
    availability: Availability
    losses: MessageLosses
    changes: bool

    def __post_init__(self) -> None:
        self.at_once = self.losses.share == 0.0 and not self.changes
        # The routes for which the usual latencies were found, and these.
        self._usual: tuple[object, Integers] | None = None

    def audience(self) -> Integers:
        """Which managers a broadcast reaches at the same instant, shape (nodes,); each its own where that can vary."""
        from_head_ns = self._from_head_ns()
        if self.losses.share > 0 or self.changes:
            return np.arange(len(from_head_ns))
        # Nodes of which one may fail without the others being any further from the head.
        alike = np.stack([from_head_ns, self.live.whole.siblings], axis=1)
        return np.unique(alike, axis=0, return_inverse=True)[1].reshape(-1)

    def latencies_ns(self, audience: Integers) -> Integers:
        """How long a report of each node takes to each audience while no message gets lost, (audiences, nodes) [ns]."""
        routes = self.live.routes
        if self._usual is None or self._usual[0] is not routes:
            self._usual = routes, self._relayed_ns(audience, np.ones(len(audience), bool), self._from_head_ns())
        return self._usual[1]

    def relay(self, senders: Flags, audience: Integers, number: int) -> tuple[Flags, Integers]:
        """Which nodes' reports get to the head, and how long they take to each audience by way of it.

        Args:
            senders: the nodes that report, shape (nodes,).
            audience: of each node's manager.
            number: number of the period.

        Returns:
            the senders, shape (nodes,), and times, shape (audiences, nodes) [ns]; UNREACHABLE_NS: they do not arrive.
        """
        head, nodes = self.node, len(senders)
        gathered = senders & (self.live.routes.latencies_ns(head) < UNREACHABLE_NS) & bool(self.availability.up[head])
        from_head_ns = self._from_head_ns()
        if self.losses.share > 0:
            lost_before = self.losses.of_reports(number, head, nodes)
            lost_after = self.losses.of_reports(number, nodes, nodes)
            # The head tells itself nothing by message.
            lost_before[head] = lost_after[head] = False
            gathered &= ~lost_before
            from_head_ns = np.where(lost_after, UNREACHABLE_NS, from_head_ns)
        return gathered, self._relayed_ns(audience, gathered, from_head_ns)

    def _relayed_ns(self, audience: Integers, gathered: Flags, from_head_ns: Integers) -> Integers:
        to_head_ns = self.live.routes.latencies_ns(self.node)
        reaches = gathered & (to_head_ns < UNREACHABLE_NS)
        # Without a report there is no broadcast.
        gathering_ns = int(to_head_ns[reaches].max()) if reaches.any() else UNREACHABLE_NS
        # To those of an audience that are up it takes equally long.
        arrives_ns = np.full(int(audience.max()) + 1, UNREACHABLE_NS)
        np.minimum.at(arrives_ns, audience, np.minimum(gathering_ns + from_head_ns, UNREACHABLE_NS))
        return np.repeat(arrives_ns[:, None], len(audience), axis=1)

    def _from_head_ns(self) -> Integers:
        return self.live.routes.latencies_ns(self.node)
