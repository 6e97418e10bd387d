"""How load reports travel: when they are sent, when they arrive, which get lost, and what managers know by them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.streams import lost_messages
from cluster_abm.engine.tables import LOAD, NEVER, Table
from cluster_abm.model.setup import nanoseconds
from cluster_abm.workload import key

if TYPE_CHECKING:
    from cluster_abm.model.agents import LoadManager
    from cluster_abm.model.model import ClusterModel

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class Reports:
    """Every exchange period each load manager that is up broadcasts its node's load row.

    Here all reports of a period arrive at all managers at the same instant: the ways between any two nodes are alike,
    and nothing gets lost. So one table serves all managers, except for the rows that answers have told one of them.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._period_ns = nanoseconds(model.setup.cluster.exchange_period_ms)
        self._missed_ns = model.negotiation.missed_reports * self._period_ns
        # Reports under way: when they were sent, the loads, whose they are.
        self._sent: deque[tuple[int, Table, Flags]] = deque()
        self.due_ns = 0
        self._latency_ns = nanoseconds(model.network.longest_latency_ms)
        self._seen = model.engine.empty_loads()
        # What one manager knows, of which the next one's table is made by changing the rows in which they differ.
        self._known = model.engine.empty_loads()
        self._differing: list[int] = []
        self._last_ns = np.zeros(len(self._seen), np.int64)

    def send_when_due(self) -> None:
        """When the period has come, everybody who is up reports."""
        now_ns = self._model.now_ns
        if now_ns < self.due_ns:
            return
        loads = self._model.engine.empty_loads()
        self._model.engine.measure(now_ns, loads)
        self._sent.append((now_ns, loads, self._model.failures.up.copy()))
        self.due_ns = self._model._border_from(self.due_ns + self._period_ns)

    def take_in(self) -> None:
        """What has arrived becomes known."""
        arrived_ns = self._model.now_ns - self._latency_ns
        sent_ns = None
        while self._sent and self._sent[0][0] <= arrived_ns:
            sent_ns, loads, senders = self._sent.popleft()
            self._seen = loads if senders.all() else np.where(senders, loads, self._seen)
            self._last_ns[senders] = sent_ns
        if sent_ns is not None:
            self._known[:] = self._seen
            self._differing = []
            for manager in self._model.load_managers:
                manager.forget_until(sent_ns)

    def known_to(self, manager: LoadManager) -> Table:
        """What a manager knows of all nodes; good until the next one asks. Its own row is for the caller to write."""
        for node in self._differing:
            self._known[node] = self._seen[node]
        for node, (_, row) in manager.heard.items():
            self._known[node] = row
        self._differing = [*manager.heard, manager.index]
        return self._known

    def silent_to(self, manager: LoadManager) -> Flags:
        """Nodes of which a manager has missed so many reports that it believes they have failed, shape (nodes,)."""
        return self._last_ns + self._latency_ns + self._missed_ns < self._model.now_ns

    def hear(self, manager: LoadManager, node: int, loads: Any) -> None:
        """An answer has told a manager a node's load row."""
        manager.heard[node] = (self._model.now_ns, loads.item())


class FarReports(Reports):
    """Each report reaches each manager on its own way, after that way's latency, or gets lost: views differ."""

    def __init__(self, model: ClusterModel) -> None:
        super().__init__(model)
        nodes = len(self._seen)
        self._key = np.uint64(key(model.run_seed, "messages"))
        self._loss_share = model.setup.interconnect.loss_share
        self._number = 0
        # One row a manager: what it knows, when that was so, and when the node last reported.
        self._tables = np.zeros((nodes, nodes), LOAD)
        self._told_ns = np.zeros((nodes, nodes), np.int64)
        self._reported_ns = np.zeros((nodes, nodes), np.int64)
        self._taken = np.zeros(nodes, np.int64)

    def take_in(self) -> None:
        """Reports that have had time to reach everybody are taken in by everybody, and forgotten."""
        while self._sent and self._sent[0][0] + self._latency_ns <= self._model.now_ns:
            for manager in self._model.load_managers:
                self._take_in(manager.index, self._number, *self._sent[0])
            self._sent.popleft()
            self._number += 1

    def known_to(self, manager: LoadManager) -> Table:
        """Its own table."""
        me = manager.index
        for place, report in enumerate(self._sent):
            self._take_in(me, self._number + place, *report)
        return np.asarray(self._tables[me])

    def silent_to(self, manager: LoadManager) -> Flags:
        """By the latency of each node's own way."""
        latency_ns = self._latencies_ns(manager.index)
        return self._reported_ns[manager.index] + latency_ns + self._missed_ns < self._model.now_ns

    def hear(self, manager: LoadManager, node: int, loads: Any) -> None:
        """Into its own table."""
        self._tables[manager.index, node] = loads
        self._told_ns[manager.index, node] = self._model.now_ns

    def _take_in(self, me: int, number: int, sent_ns: int, loads: Table, senders: Flags) -> None:
        """The rows of one period's reports that have reached a manager, and are newer than what it knows."""
        has_come = senders & (sent_ns + self._latencies_ns(me) <= self._model.now_ns)
        has_come &= sent_ns >= self._reported_ns[me]
        if self._loss_share > 0:
            has_come &= ~lost_messages(self._key, number, me, len(loads), self._loss_share)
        self._reported_ns[me, has_come] = sent_ns
        newer = has_come & (sent_ns >= self._told_ns[me])
        self._tables[me, newer] = loads[newer]
        self._told_ns[me, newer] = sent_ns

    def _latencies_ns(self, me: int) -> Integers:
        """Of the ways to a node; where none leads, for ever."""
        latency_ms = self._model.network.ways_from(me)[1]
        return np.minimum(np.where(np.isfinite(latency_ms), latency_ms * 1e6 + 0.5, NEVER // 4), NEVER // 4).astype(
            np.int64
        )


def reports_of(model: ClusterModel) -> Reports:
    """Reports for a model's network."""
    failing = model.setup.failures.links_can_fail
    far = model.setup.interconnect.loss_share > 0 or not model.network.is_alike or failing
    return FarReports(model) if far else Reports(model)
