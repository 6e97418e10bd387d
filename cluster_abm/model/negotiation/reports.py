"""How load reports travel where all routes are alike: when they are sent, and when they are received."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER, Table
from cluster_abm.interconnect.units import whole_ns
from cluster_abm.model.availability import Availability
from cluster_abm.model.routing import LiveNetwork, Routes

Flags = npt.NDArray[np.bool_]


class Sent(NamedTuple):
    """The reports of one period: when they were sent [ns], the loads, which nodes sent them, and by which routes."""

    sent_ns: int
    loads: Table
    senders: Flags
    routes: Routes


class Reports:
    """Every exchange period each load manager that is up broadcasts its node's load row.

    Here all reports of a period arrive at all managers at the same instant: the routes between any two nodes are alike,
    and nothing gets lost. So one table serves all managers, except for the rows that answers have told one of them.

    Args:
        period_ms: the exchange period [ms].
        missed_reports: a node of which so many reports are missing is believed to have failed.
        are_sent: whether there are any reports; else answers are all that is known of other nodes.

    Attributes:
        due_ns: the boundary at which the next reports are sent [ns].
    """

    def __init__(
        self,
        engine: EngineState,
        clock: Clock,
        live: LiveNetwork,
        availability: Availability,
        period_ms: float,
        missed_reports: int,
        are_sent: bool,
    ) -> None:
        self._engine, self._clock, self._live, self._availability = engine, clock, live, availability
        self._period_ns = whole_ns(period_ms)
        self._missed_ns = missed_reports * self._period_ns
        self.due_ns = 0 if are_sent else NEVER
        # Reports in transit, oldest first.
        self._sent: deque[Sent] = deque()
        self._seen = engine.empty_loads()
        # What one manager knows. The next one's table is made of it by changing the rows in which they differ.
        self._known = engine.empty_loads()
        self._differing: list[int] = []
        self._last_ns = np.zeros(len(self._seen), np.int64)
        self._senders: Flags | None = None
        # Rows learnt from answers since the last report, by manager: node to (time [ns], load row).
        self._learnt: list[dict[int, tuple[int, tuple[float, ...]]]] = [{} for _ in range(len(self._seen))]

    def send_when_due(self) -> None:
        """When the period has come, send the reports of all nodes that are up."""
        if self._clock.now_ns >= self.due_ns:
            self.send(self._availability.up.copy())

    def collect(self) -> None:
        """If the period has come, begin to collect the managers that report (`add`), one by one."""
        self._senders = np.zeros(len(self._seen), bool) if self._clock.now_ns >= self.due_ns else None

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
        loads = self._engine.empty_loads()
        self._engine.measure(self._clock.now_ns, loads)
        self._sent.append(Sent(self._clock.now_ns, loads, senders, self._live.routes))
        self.due_ns = self._clock.boundary_from(self.due_ns + self._period_ns)

    def receive(self) -> None:
        """Reports that have arrived become known."""
        sent_ns = None
        while self._sent and self._sent[0].sent_ns + self._sent[0].routes.longest_ns <= self._clock.now_ns:
            sent_ns, loads, senders, _ = self._sent.popleft()
            self._seen = loads if senders.all() else np.where(senders, loads, self._seen)
            self._last_ns[senders] = sent_ns
        if sent_ns is not None:
            self._known[:] = self._seen
            self._differing = []
            for manager, rows in enumerate(self._learnt):
                if rows:
                    # What answers told before the report was sent is stale.
                    self._learnt[manager] = {node: row for node, row in rows.items() if row[0] > sent_ns}

    def known_to(self, manager: int) -> Table:
        """What a manager knows of all nodes, until the next call. Its own row is for the caller to write."""
        for node in self._differing:
            self._known[node] = self._seen[node]
        learnt = self._learnt[manager]
        for node, (_, row) in learnt.items():
            self._known[node] = row
        self._differing = [*learnt, manager]
        return self._known

    def silent_to(self, manager: int) -> Flags:
        """Nodes of which a manager has missed so many reports that it believes they have failed, shape (nodes,)."""
        return self._last_ns + self._live.routes.longest_ns + self._missed_ns < self._clock.now_ns

    def learn(self, manager: int, node: int, loads: Any) -> None:
        """An answer has told a manager a node's load row."""
        self._learnt[manager][node] = (self._clock.now_ns, loads.item())
