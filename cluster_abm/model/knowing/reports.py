"""How load reports travel: when they are sent, when they are received, and what each load manager knows by them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cluster_abm.arrays import Flags, Integers
from cluster_abm.clock import Clock, whole_ns
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import LOAD, NEVER, Table
from cluster_abm.errors import InputError
from cluster_abm.jit import entry
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.head_node import HeadNode
from cluster_abm.model.knowing.knowledge import (
    INDICES,
    deliver,
    learn_one,
    learnt_by,
    nothing_known,
    show,
    since_when,
    with_room,
)
from cluster_abm.model.message_losses import MessageLosses
from cluster_abm.model.moving.routing import UNREACHABLE_NS, LiveNetwork
from cluster_abm.model.part import part, wire
from cluster_abm.scenario import Scenario

# The most memory that what all load managers know may take [GB].
LARGEST_GB = 8.0


@dataclass
class Sent:
    """The reports of one period in transit."""

    number: int  # number of the period
    sent_ns: int  # when they were sent [ns]
    loads: Table  # the loads, fields tables.LOAD_FIELDS
    senders: Flags  # which nodes sent them, shape (nodes,)
    latency_ns: Integers  # of the routes, as the network is then, shape (audiences, nodes) [ns]
    due_ns: deque[int]  # the instants at which some of them are yet to arrive, ascending [ns]
    received_ns: int = -1  # those that arrive up to here have been received [ns]


@part
class Reports:
    """Every exchange period each load manager that is up broadcasts its node's load row.

    Each report reaches each manager by its own route in the network in which it is sent, after that route's latency,
    or by way of a head node; or it gets lost. A manager receives what has arrived when it decides, and the order in
    which managers decide changes nothing of what each knows then.

    Attributes:
        audience: which managers the same reports reach at the same instants, shape (nodes,) (knowledge.Known).
        period_ms: the exchange period [ms].
        missed_reports: the number of missing reports after which a node is believed to have failed.
        are_sent: whether there are any reports; else answers are all that is known of other nodes.
        losses: which of the reports get lost, unless they go by way of the head node.
        head: the node by way of which reports go; None: each goes its own way.
        due_ns: the boundary at which the next reports are sent [ns].
        arrival_ns: when the next reports arrive [ns]; NEVER: none is in transit.
        known: what all managers know.
        messages: how many messages were sent: a report to each other node, or by way of the head node.
        missed_ns: how long a node is silent until it is believed to have failed [ns].
    """

    engine: EngineState
    clock: Clock
    live: LiveNetwork
    availability: Availability
    audience: Integers
    period_ms: float
    missed_reports: int
    are_sent: bool
    losses: MessageLosses
    head: HeadNode | None = None

    def __post_init__(self) -> None:
        self._period_ns = whole_ns(self.period_ms)
        self.missed_ns = self.missed_reports * self._period_ns
        # What gets lost on the way by a head is the head's to say.
        self._loss_share = self.losses.share if self.head is None else 0.0
        self.due_ns = 0 if self.are_sent else NEVER
        self.arrival_ns = NEVER
        self._in_transit: deque[Sent] = deque()
        # Latencies of the routes as they were when reports were last sent, and which there are.
        self._latency_ns: Integers | None = None
        self._delays_ns: list[int] = []
        self._number = 0
        self.messages = 0
        self.known = nothing_known(self.audience)
        self._at_once = self.live.whole.is_alike and not self.audience.any() if self.head is None else self.head.at_once
        self._senders: Flags | None = None
        # What the last manager that was asked for knows, and where it differs from what its audience does.
        self._shown = self.engine.empty_loads()
        self._shown_of = (-1, -1)
        self._shown_numbers = self._shown.view(np.float64).reshape(-1, INDICES)
        self._audience: list[int] = self.audience.tolist()
        self._differing, self._differ = np.zeros(len(self.audience) + 1, np.int64), 0
        self._places = np.zeros(len(self.audience), np.int64)
        self._received = 0
        self._deliver = entry(
            deliver, self.known, 0, self._shown_numbers, np.zeros(len(self.audience), bool), np.zeros((1, 1), np.int64),
            0, self.losses.key, 0.0, False, 0, 0,
        )  # fmt: skip

    def send_when_due(self) -> None:
        """When the period has come, send the reports of all nodes that are up."""
        if self.clock.now_ns >= self.due_ns:
            self.send(self.availability.up.copy())

    def latencies_ns(self) -> Integers:
        """How long a report of each node takes to each audience as the network is now, (audiences, nodes) [ns]."""
        if self.head is None:
            return self.live.routes.latencies_to(self.known.audience)
        return self.head.latencies_ns(self.known.audience)

    def collect(self) -> None:
        """If the period has come, begin to collect the managers that report (`add`), one by one."""
        self._senders = np.zeros(len(self._shown), bool) if self.clock.now_ns >= self.due_ns else None

    def add(self, manager: int) -> None:
        """A manager reports, if the period has come."""
        if self._senders is not None:
            self._senders[manager] = True

    def send_collected(self) -> None:
        """Send the reports that were collected."""
        if self._senders is not None:
            self.send(self._senders)
            self._senders = None

    def send(self, senders: Flags) -> None:
        """Send the reports of these nodes, shape (nodes,), with their loads as they are now; the next period begins."""
        now_ns = self.clock.now_ns
        loads = self.engine.empty_loads()
        self.engine.measure(now_ns, loads)
        self.messages += self._messages_of(int(senders.sum()))
        if self.head is None:
            latency_ns = self.latencies_ns()
        else:
            senders, latency_ns = self.head.relay(senders, self.known.audience, self._number)
        if latency_ns is not self._latency_ns:
            delays_ns = np.unique(latency_ns)
            self._latency_ns, self._delays_ns = latency_ns, delays_ns[delays_ns < UNREACHABLE_NS].tolist()
        due_ns = deque(now_ns + delay_ns for delay_ns in self._delays_ns)
        if due_ns:
            self._in_transit.append(Sent(self._number, now_ns, loads, senders, latency_ns, due_ns))
        self._number += 1
        self.due_ns = self.clock.boundary_from(self.due_ns + self._period_ns)
        self._look_ahead()

    def _messages_of(self, senders: int) -> int:
        others = len(self._shown) - 1
        # By way of the head: its own report crosses no network, and one broadcast tells all.
        return senders * others if self.head is None else max(0, senders - 1) + others

    def receive(self) -> None:
        """Reports that have arrived become known."""
        now_ns = self.clock.now_ns
        if now_ns < self.arrival_ns:
            return
        for sent in self._in_transit:
            if not sent.due_ns or sent.due_ns[0] > now_ns:
                continue
            self._deliver(
                self.known, sent.sent_ns, sent.loads.view(np.float64).reshape(-1, INDICES), sent.senders,
                sent.latency_ns, sent.number, self.losses.key, self._loss_share, self._at_once, sent.received_ns,
                now_ns,
            )  # fmt: skip
            self._received += 1
            sent.received_ns = now_ns
            while sent.due_ns and sent.due_ns[0] <= now_ns:
                sent.due_ns.popleft()
        while self._in_transit and not self._in_transit[0].due_ns:
            self._in_transit.popleft()
        self._look_ahead()

    def known_to(self, manager: int) -> Table:
        """What a manager knows of all nodes, until the next call. Its own row is for the caller to write."""
        shown_of = (self._audience[manager], self._received)
        count = self._differ if shown_of == self._shown_of else -1
        shows = entry(show, self.known, manager, self._shown_numbers, self._differing, count)
        self._differ = shows(self.known, manager, self._shown_numbers, self._differing, count)
        self._shown_of = shown_of
        return self._shown

    def told_ns(self, manager: int, node: int) -> int:
        """When a node told what a manager knows of it [ns], by a report or an answer; -1: never."""
        return int(since_when(self.known, manager, node))

    def silent_to(self, manager: int) -> Flags:
        """Nodes that a manager believes to have failed, for it has missed their reports, shape (nodes,)."""
        audience = self.known.audience[manager]
        reported_ns = np.maximum(0, self.known.reported_ns[audience])
        return np.asarray(reported_ns + self._silence_ns(self.latencies_ns()[audience]) < self.clock.now_ns)

    def silences_ns(self) -> Integers:
        """How long after its latest report each node is believed to have failed, (audiences, nodes) [ns]."""
        return self._silence_ns(self.latencies_ns())

    def _silence_ns(self, latency_ns: Integers) -> Integers:
        # Where reports have no way at all, none is waited for.
        return self.missed_ns + np.where(latency_ns < UNREACHABLE_NS, latency_ns, 0)

    def learn(self, manager: int, node: int, loads: Any) -> None:
        """An answer has told a manager a node's load row."""
        self.make_room(1)
        told = np.array(loads.item())
        entry(learn_one, self.known, manager, node, 0, told)(self.known, manager, node, self.clock.now_ns, told)

    @property
    def in_transit(self) -> int:
        """Of how many periods reports are in transit."""
        return len(self._in_transit)

    def learnt_by(self, manager: int) -> dict[int, int]:
        """The nodes about which answers have told a manager what no report has made stale, and when [ns]."""
        places = self._places[: entry(learnt_by, self.known, manager, self._places)(self.known, manager, self._places)]
        return dict(zip(self.known.node[places].tolist(), self.known.learnt_ns[places].tolist(), strict=True))

    def make_room(self, answers: int) -> None:
        """Make room for that many answers."""
        if self.known.free[1] < answers:
            self.known = with_room(self.known, answers)

    def _look_ahead(self) -> None:
        self.arrival_ns = min((sent.due_ns[0] for sent in self._in_transit if sent.due_ns), default=NEVER)


def reports_of(scenario: Scenario, parts: Mapping[str, Any], are_sent: bool) -> Reports:
    """Reports for the network of a run.

    Args:
        parts: what they are made of, by name (part.wire).
        are_sent: whether there are any.

    Raises InputError: what all load managers know does not fit into memory.
    """
    settings, nodes = scenario.interconnect, scenario.cluster.nodes
    live: LiveNetwork = parts["live"]
    changes = scenario.failures.links_can_fail or (scenario.may_fail and not live.whole.is_alike)
    head = None
    if are_sent and scenario.negotiation.mode == "head-node":
        head = wire(HeadNode, parts, node=scenario.negotiation.head_node, changes=changes)
        audience = head.audience()
    elif are_sent and (settings.loss_share > 0 or changes):
        audience = np.arange(nodes)
    else:
        audience = live.whole.siblings if are_sent else np.zeros(nodes, np.int64)
    audiences, of_one = int(audience.max()) + 1, LOAD.itemsize + 2 * np.dtype(np.int64).itemsize
    needed_gb = audiences * nodes * of_one / 1e9
    if needed_gb > LARGEST_GB:
        raise InputError(
            f"cluster.nodes = {nodes}: what each load manager knows of every node takes {needed_gb:.0f} GB where "
            f"reports go different ways or get lost (interconnect.kind = {settings.kind!r}); allowed are "
            f'{int((LARGEST_GB * 1e9 / of_one) ** 0.5)} nodes, or negotiation.mode = "papers"'
        )
    period_ms, missed = scenario.cluster.exchange_period_ms, scenario.negotiation.missed_reports
    return wire(
        Reports, parts, audience=audience, period_ms=period_ms, missed_reports=missed, are_sent=are_sent, head=head
    )
