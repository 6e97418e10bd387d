"""How load reports travel where routes differ, or messages get lost: each manager knows something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.streams import lost_messages
from cluster_abm.engine.tables import LOAD, Table
from cluster_abm.errors import InputError
from cluster_abm.model.availability import Availability
from cluster_abm.model.negotiation.reports import Reports, Sent
from cluster_abm.model.routing import LiveNetwork
from cluster_abm.scenario import Scenario
from cluster_abm.workload import key

Flags = npt.NDArray[np.bool_]
# What the views of all load managers may take, where they differ [GB].
LARGEST_GB = 8.0


class FarReports(Reports):
    """Each report reaches each manager by its own route, after that route's latency, or gets lost.

    Its route is that of the network in which it is sent, whatever fails or recovers meanwhile. A manager receives what
    has arrived when it decides, and the order in which managers decide changes nothing of what each knows then.

    Args:
        loss_share: share of the reports that get lost.
        message_key: key of the stream that decides which do.
        arguments: as of Reports.
    """

    def __init__(self, loss_share: float, message_key: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        nodes = len(self._seen)
        self._key = np.uint64(message_key)
        self._loss_share = loss_share
        self._number = 0
        # One row a manager: what it knows, when that was so, and when the node last reported.
        self._tables = np.zeros((nodes, nodes), LOAD)
        self._known_ns = np.zeros((nodes, nodes), np.int64)
        self._reported_ns = np.zeros((nodes, nodes), np.int64)

    def receive(self) -> None:
        """Reports that have had time to reach every manager are received by all of them, and forgotten."""
        while self._sent and self._sent[0].sent_ns + self._sent[0].routes.longest_ns <= self._clock.now_ns:
            report = self._sent.popleft()
            for manager in range(len(self._tables)):
                self._receive(manager, self._number, report)
            self._number += 1

    def known_to(self, manager: int) -> Table:
        """Its own table."""
        self._bring_up_to_date(manager)
        return np.asarray(self._tables[manager])

    def silent_to(self, manager: int) -> Flags:
        """By the latency of each node's own route."""
        self._bring_up_to_date(manager)
        latency_ns = self._live.routes.latencies_ns(manager)
        return self._reported_ns[manager] + latency_ns + self._missed_ns < self._clock.now_ns

    def learn(self, manager: int, node: int, loads: Any) -> None:
        """Into its own table."""
        self._tables[manager, node] = loads
        self._known_ns[manager, node] = self._clock.now_ns

    def _bring_up_to_date(self, manager: int) -> None:
        """Of the reports that have not reached every manager yet, receive those that have reached this one."""
        for place, report in enumerate(self._sent):
            self._receive(manager, self._number + place, report)

    def _receive(self, manager: int, number: int, report: Sent) -> None:
        """The rows of one period's reports that have reached a manager, and are newer than what it knows."""
        sent_ns, loads, senders, routes = report
        arrived = senders & (sent_ns + routes.latencies_ns(manager) <= self._clock.now_ns)
        arrived &= sent_ns >= self._reported_ns[manager]
        if self._loss_share > 0:
            arrived &= ~lost_messages(self._key, number, manager, len(loads), self._loss_share)
        self._reported_ns[manager, arrived] = sent_ns
        newer = arrived & (sent_ns >= self._known_ns[manager])
        self._tables[manager, newer] = loads[newer]
        self._known_ns[manager, newer] = sent_ns


def reports_of(
    scenario: Scenario,
    run_seed: int,
    engine: EngineState,
    clock: Clock,
    live: LiveNetwork,
    availability: Availability,
    are_sent: bool,
) -> Reports:
    """Reports for the network of a run.

    Raises:
        InputError: there are so many nodes that what all load managers know does not fit into memory.
    """
    settings = scenario.interconnect
    arguments = (
        engine, clock, live, availability, scenario.cluster.exchange_period_ms,
        scenario.negotiation.missed_reports, are_sent,
    )  # fmt: skip
    may_differ = settings.loss_share > 0 or not live.whole.is_alike or scenario.failures.links_can_fail
    if not are_sent or not may_differ:
        return Reports(*arguments)
    nodes, a_node = scenario.cluster.nodes, LOAD.itemsize + 2 * np.dtype(np.int64).itemsize
    needed_gb = nodes**2 * a_node / 1e9
    if needed_gb > LARGEST_GB:
        raise InputError(
            f"cluster.nodes = {nodes}: what each load manager knows of every node takes {needed_gb:.0f} GB where "
            f"reports go different ways or get lost (interconnect.kind = {settings.kind!r}); allowed are "
            f'{int((LARGEST_GB * 1e9 / a_node) ** 0.5)} nodes, or negotiation.mode = "papers"'
        )
    return FarReports(settings.loss_share, key(run_seed, "messages"), *arguments)
