"""How load reports travel: when they are sent, when they arrive, which get lost, and what managers know by them."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.streams import lost_messages
from cluster_abm.engine.tables import LOAD, NEVER, Table
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.model.setup import nanoseconds
from cluster_abm.workload import key

if TYPE_CHECKING:
    from cluster_abm.model.agents import LoadManager
    from cluster_abm.model.model import ClusterModel

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
# What the views of all load managers may take, where they differ.
MOST_GB = 8.0


class Ways:
    """How long messages take in a network, as long as it is this one."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._latencies_ns: dict[int, Integers] = {}

    @cached_property
    def longest_ns(self) -> int:
        """Between any two nodes that a way joins [ns]."""
        return nanoseconds(self.network.longest_latency_ms)

    def latencies_ns(self, node: int) -> Integers:
        """To a node from every node, shape (nodes,) [ns]; where no way leads, for ever."""
        found = self._latencies_ns.get(node)
        if found is None:
            latency_ms = self.network.ways_from(node)[1]
            whole_ns = np.minimum(np.where(np.isfinite(latency_ms), latency_ms * 1e6 + 0.5, NEVER // 4), NEVER // 4)
            found = self._latencies_ns[node] = whole_ns.astype(np.int64)
        return found


class Sent(NamedTuple):
    """The reports of one period: when they were sent [ns], the loads, whose they are, and by which ways they go."""

    sent_ns: int
    loads: Table
    senders: Flags
    ways: Ways


class Reports:
    """Every exchange period each load manager that is up broadcasts its node's load row.

    Here all reports of a period arrive at all managers at the same instant: the ways between any two nodes are alike,
    and nothing gets lost. So one table serves all managers, except for the rows that answers have told one of them.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._period_ns = nanoseconds(model.setup.cluster.exchange_period_ms)
        self._missed_ns = model.negotiation.missed_reports * self._period_ns
        # Reports under way.
        self._sent: deque[Sent] = deque()
        self.due_ns = 0
        self._ways = Ways(model.network)
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
        self._sent.append(Sent(now_ns, loads, self._model.failures.up.copy(), self._ways_now()))
        self.due_ns = self._model._border_from(self.due_ns + self._period_ns)

    def take_in(self) -> None:
        """What has arrived becomes known."""
        sent_ns = None
        while self._sent and self._sent[0].sent_ns + self._sent[0].ways.longest_ns <= self._model.now_ns:
            sent_ns, loads, senders, _ = self._sent.popleft()
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
        return self._last_ns + self._ways.longest_ns + self._missed_ns < self._model.now_ns

    def hear(self, manager: LoadManager, node: int, loads: Any) -> None:
        """An answer has told a manager a node's load row."""
        manager.heard[node] = (self._model.now_ns, loads.item())

    def _ways_now(self) -> Ways:
        if self._model.network is not self._ways.network:
            self._ways = Ways(self._model.network)
        return self._ways


class FarReports(Reports):
    """Each report reaches each manager on its own way, after that way's latency, or gets lost: views differ.

    Its way is that of the network in which it is sent, whatever fails or recovers meanwhile. Each manager takes in what
    has come when it is asked, and who asks when changes nothing of what it knows then.
    """

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

    def take_in(self) -> None:
        """Reports that have had time to reach everybody are taken in by everybody, and forgotten."""
        while self._sent and self._sent[0].sent_ns + self._sent[0].ways.longest_ns <= self._model.now_ns:
            report = self._sent.popleft()
            for manager in self._model.load_managers:
                self._take_in(manager.index, self._number, report)
            self._number += 1

    def known_to(self, manager: LoadManager) -> Table:
        """Its own table."""
        self._bring_up_to_date(manager.index)
        return np.asarray(self._tables[manager.index])

    def silent_to(self, manager: LoadManager) -> Flags:
        """By the latency of each node's own way."""
        self._bring_up_to_date(manager.index)
        latency_ns = self._ways_now().latencies_ns(manager.index)
        return self._reported_ns[manager.index] + latency_ns + self._missed_ns < self._model.now_ns

    def hear(self, manager: LoadManager, node: int, loads: Any) -> None:
        """Into its own table."""
        self._tables[manager.index, node] = loads
        self._told_ns[manager.index, node] = self._model.now_ns

    def _bring_up_to_date(self, me: int) -> None:
        """Of the reports that have not reached everybody yet, those that have reached this manager."""
        for place, report in enumerate(self._sent):
            self._take_in(me, self._number + place, report)

    def _take_in(self, me: int, number: int, report: Sent) -> None:
        """The rows of one period's reports that have reached a manager, and are newer than what it knows."""
        sent_ns, loads, senders, ways = report
        has_come = senders & (sent_ns + ways.latencies_ns(me) <= self._model.now_ns)
        has_come &= sent_ns >= self._reported_ns[me]
        if self._loss_share > 0:
            has_come &= ~lost_messages(self._key, number, me, len(loads), self._loss_share)
        self._reported_ns[me, has_come] = sent_ns
        newer = has_come & (sent_ns >= self._told_ns[me])
        self._tables[me, newer] = loads[newer]
        self._told_ns[me, newer] = sent_ns


def reports_of(model: ClusterModel, are_used: bool) -> Reports:
    """Reports for a model's network; where they are not used, answers are all that is known of other nodes.

    Raises:
        InputError: there are so many nodes that what all load managers know does not fit into memory.
    """
    settings = model.setup.interconnect
    failing = model.setup.failures.links_can_fail
    if not are_used or not (settings.loss_share > 0 or not model.network.is_alike or failing):
        return Reports(model)
    nodes, a_node = model.setup.cluster.nodes, LOAD.itemsize + 2 * np.dtype(np.int64).itemsize
    needed_gb = nodes**2 * a_node / 1e9
    if needed_gb > MOST_GB:
        raise InputError(
            f"cluster.nodes = {nodes}: what each load manager knows of every node takes {needed_gb:.0f} GB where "
            f"reports go different ways or get lost (interconnect.kind = {settings.kind!r}); allowed are "
            f'{int((MOST_GB * 1e9 / a_node) ** 0.5)} nodes, or negotiation.mode = "papers"'
        )
    return FarReports(model)
