"""Transfers that share the links (mode `contended`): what goes along with a task, and when it is there."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.clock import Clock, whole_ns
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import IN_TRANSIT, NEVER
from cluster_abm.interconnect import Flows, Network
from cluster_abm.interconnect.flows import NS_PER_S
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.part import part


class TransferLeg(NamedTuple):
    """One transfer of a task's journey."""

    # source, target: from which node to which
    source: int
    target: int
    links: tuple[int, ...]  # the links that it crosses
    mb: float  # how much [MB]
    latency_ns: int  # the route's latency, before it [ns]
    mb_per_s: float  # bandwidth of the route, of which others may take a share [MB/s]


@part
class Transfers:
    """Memory images, data and files in transit, one after another for each task.

    The source's disk reads the data that goes along, behind what waits for it; then the fixed cost passes; then image
    and data cross the network, and the files that the task needs; then it enters its node, whose disk writes the data
    before it goes on. In mode `delay` none of this happens: a journey takes its formula's time.
    """

    engine: EngineState
    clock: Clock
    live: LiveNetwork
    staging: Staging | None  # the files that jobs need; None: they need none
    is_contended: bool  # whether transfers share the links: else nothing is in transit here
    are_timed: bool  # whether nodes measure by them what is left of the network's bandwidth
    load_links: bool  # whether nodes' loads contain what their links have to transfer

    def __post_init__(self) -> None:
        if self.is_contended and self.load_links:
            self.engine.nodes["link_ms_per_mb"] = _link_ms_per_mb(self.live.network)
        self._flows = Flows(self.live.network.link_mb_per_s if self.is_contended else ())
        # By task: its row, and what it has still to fetch.
        self._slots: dict[int, int] = {}
        self._ahead: dict[int, deque[TransferLeg]] = {}
        # Its transfer in progress, or about to begin, and when it begins [ns].
        self._present: dict[int, tuple[TransferLeg, int]] = {}
        # Tasks whose own image and data have not come to their node yet.
        self._crossing: set[int] = set()

    @property
    def in_transit(self) -> int:
        """How many tasks are in transit over the network."""
        return len(self._slots)

    @property
    def next_ns(self) -> int:
        """When the next transfer begins or ends as things stand [ns]."""
        return self._flows.next_ns

    def is_crossing(self, task: int) -> bool:
        """Whether a task in transit still needs its route; not once only files are missing."""
        return not self.is_contended or task in self._crossing

    def begin(self, slot: int, source: int, fixed_ns: int, image_mb: float, data_mb: float) -> None:
        """A task that has just departed takes as long as the network makes it.

        Args:
            slot: its row, IN_TRANSIT.
            source: the node from which image and data come; its target, if nothing does.
            fixed_ns: what passes besides: asking, and the fixed cost of starting or migrating it [ns].
            image_mb: its memory image [MB].
            data_mb: data that the source's disk reads and the target's writes [MB].
        """
        engine, now_ns = self.engine, self.clock.now_ns
        row = engine.tasks[slot]
        task, job, target, start_ns = (int(row[name]) for name in ("task", "job", "node", "since_ns"))
        # A task that turned back has been in transit for a while.
        start_ns = max(start_ns, now_ns) + fixed_ns
        legs: deque[TransferLeg] = deque()
        if source != target:
            if data_mb > 0:
                start_ns += engine.read(source, data_mb, now_ns) - now_ns
                engine.bring_data(slot, data_mb)
            legs.append(_leg(self.live.network, source, target, image_mb + data_mb))
            self._crossing.add(task)
        if self.staging is not None:
            # Files are fetched as if nothing had failed.
            fetched = self.staging.legs(job, target)
            legs.extend(_leg(self.live.whole, leg.holder, target, leg.mb) for leg in fetched)
        self._slots[task] = slot
        self._ahead[task] = legs
        engine.arrive(slot, NEVER)
        self._go_on(task, start_ns)

    def advance(self, boundary_ns: int) -> None:
        """Let time pass: tasks whose last transfer ends before the boundary enter their node at that instant."""
        while self._flows.next_ns < boundary_ns:
            for end_ns, task in self._flows.advance(self._flows.next_ns + 1):
                self._crossing.discard(task)
                self._over(task, end_ns)
                # The next one starts a nanosecond later, when this one has made room.
                self._go_on(task, end_ns + bool(self._ahead[task]))

    def slow_links(self, links: Sequence[int], factors: Floats) -> None:
        """Links work at these factors of the speed that they have when nothing is wrong, shape (len(links),)."""
        whole = self.live.whole.link_mb_per_s[list(links)]
        self._flows.change_capacities(links, whole * factors, self.clock.now_ns)

    def cancel(self, task: int) -> None:
        """Give up what a task was transferring."""
        if task in self._slots:
            self._flows.cancel(task, self.clock.now_ns)
            self._over(task, None)
            del self._slots[task], self._ahead[task]
            self._crossing.discard(task)

    def cancel_of_killed(self) -> None:
        """At a slice boundary: give up the transfers of tasks that were killed in transit."""
        tasks = self.engine.tasks
        for task, slot in list(self._slots.items()):
            if tasks["task"][slot] != task or tasks["state"][slot] != IN_TRANSIT:
                self.cancel(task)

    def _go_on(self, task: int, at_ns: int) -> None:
        """Begin the next transfer of a task, or let it arrive."""
        ahead, slot = self._ahead[task], self._slots[task]
        if ahead:
            leg = ahead.popleft()
            begins_ns = at_ns + leg.latency_ns
            self._present[task] = leg, begins_ns
            self.engine.load_links(leg.source, leg.target, leg.mb)
            self._flows.start(task, leg.links, leg.mb, begins_ns)
            return
        del self._slots[task], self._ahead[task]
        row = self.engine.tasks[slot]
        # A task that was killed in this very slice arrives nowhere.
        if row["task"] == task and row["state"] == IN_TRANSIT:
            self.engine.arrive(slot, at_ns)

    def _over(self, task: int, end_ns: int | None) -> None:
        """The present transfer of a task has ended, or (None) was given up: it loads no link any more."""
        if task not in self._present:
            return
        leg, begun_ns = self._present.pop(task)
        self.engine.load_links(leg.source, leg.target, -leg.mb)
        alone_ns = leg.mb / leg.mb_per_s * NS_PER_S
        if self.are_timed and end_ns is not None and alone_ns > 0.0:
            self.engine.nodes["net_delay_share"][leg.source] = max(0.0, (end_ns - begun_ns) / alone_ns - 1.0)


def _leg(network: Network, source: int, target: int, mb: float) -> TransferLeg:
    mb_per_s, latency_ms = (float(of_routes[target]) for of_routes in network.routes_from(source))
    return TransferLeg(source, target, network.links_between(source, target), mb, whole_ns(latency_ms), mb_per_s)


def _link_ms_per_mb(network: Network) -> Floats:
    """What a MB takes over the fastest route from each node, shape (nodes,) [ms/MB]; 0 of a node without a route."""
    ms_per_mb = np.zeros(network.nodes)
    for node in range(network.nodes):
        mb_per_s = np.delete(network.routes_from(node)[0], node)
        fastest = mb_per_s.max(initial=0.0)
        ms_per_mb[node] = 1000.0 / fastest if fastest > 0.0 else 0.0
    return ms_per_mb
