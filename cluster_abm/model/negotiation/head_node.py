"""A head node that gathers the load reports of all nodes and broadcasts them (mode `head-node`; IOCM, section 3.1)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.streams import Word, lost_messages
from cluster_abm.model.availability import Availability
from cluster_abm.model.routing import UNREACHABLE_NS, LiveNetwork, Routes

Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


class HeadNode:
    """How long reports take by way of one node.

    All nodes send their report to the head; once the last of them has come it broadcasts all together. While it is down
    no report reaches any node.

    Args:
        node: the head.
        loss_share: share of the messages, those to it and those that it broadcasts, that get lost.
        message_key: key of the stream that decides which do.
        changes: whether the network may change during the run.
    """

    def __init__(
        self,
        node: int,
        live: LiveNetwork,
        availability: Availability,
        loss_share: float,
        message_key: Word,
        changes: bool,
    ) -> None:
        self._node, self._live, self._availability = node, live, availability
        self._loss_share, self._key = loss_share, message_key
        # Where routes differ, a node that an agent fails changes them for some managers and not for others.
        self._alike = live.whole.is_alike and not changes and loss_share == 0.0

    def audience(self) -> Integers:
        """Which managers a broadcast reaches at the same instant, shape (nodes,); each its own where that can vary."""
        nodes = self._live.whole.nodes
        if not self._alike:
            return np.arange(nodes)
        is_head = np.arange(nodes) == self._node
        return np.where(is_head if self._node else ~is_head, 1, 0)

    @cached_property
    def usual_ns(self) -> Integers:
        """How long a report of each node takes to each manager while all nodes are up and no message gets lost, shape
        (nodes,) [ns]."""
        away_ns = Routes(self._live.whole).latencies_ns(self._node)
        return np.minimum(away_ns + away_ns[away_ns < UNREACHABLE_NS].max(), UNREACHABLE_NS)

    def usual_latencies_ns(self, audience: Integers) -> Integers:
        """The same to each audience, shape (audiences, nodes) [ns]."""
        return _of_audiences(self.usual_ns, audience)

    def relay(self, senders: Flags, audience: Integers, number: int) -> tuple[Flags, Integers]:
        """Which nodes' reports get to the head, and how long they take to each audience by way of it.

        Args:
            senders: the nodes that report, shape (nodes,).
            audience: of each node's manager.
            number: number of the period.

        Returns:
            the senders, shape (nodes,), and times, shape (audiences, nodes) [ns]; UNREACHABLE_NS: they do not arrive.
        """
        head, nodes = self._node, len(senders)
        away_ns = self._live.routes.latencies_ns(head)
        gathered = senders & (away_ns < UNREACHABLE_NS) & bool(self._availability.up[head])
        if not gathered.any():
            return gathered, _of_audiences(np.full(nodes, UNREACHABLE_NS), audience)
        arrives_ns = away_ns.copy()
        if self._loss_share > 0:
            lost_before = lost_messages(self._key, number, head, nodes, self._loss_share)
            lost_after = lost_messages(self._key, number, nodes, nodes, self._loss_share)
            # The head tells itself nothing by message.
            lost_before[head] = lost_after[head] = False
            gathered &= ~lost_before
            arrives_ns[lost_after] = UNREACHABLE_NS
        arrives_ns = np.minimum(arrives_ns + away_ns[gathered].max(initial=0), UNREACHABLE_NS)
        return gathered, _of_audiences(arrives_ns, audience)


def _of_audiences(arrives_ns: Integers, audience: Integers) -> Integers:
    """Of managers of one audience the first hears for all: to one that is down no message comes."""
    found = np.full(int(audience.max()) + 1, UNREACHABLE_NS)
    np.minimum.at(found, audience, arrives_ns)
    return np.repeat(found[:, None], len(audience), axis=1)
