"""Transfers that share the links (mode `contended`): what goes along with a task, and when it is there."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from cluster_abm.engine.tables import IN_FLIGHT, NEVER
from cluster_abm.interconnect import Flows, Network
from cluster_abm.model.setup import nanoseconds

if TYPE_CHECKING:
    from cluster_abm.model.model import ClusterModel


class Leg(NamedTuple):
    """One transfer of a task's journey: over these links, so much [MB], and the latency of the way before it [ns]."""

    links: tuple[int, ...]
    mb: float
    latency_ns: int


class Transfers:
    """Memory images, data and files under way, one after another for each task.

    The source's disk reads the data that goes along, behind what waits for it; then the fixed cost passes; then image
    and data cross the network, and the files that the task needs; then it enters its node, whose disk writes the data
    before it goes on. In mode `delay` none of this happens: a journey takes its formula's time.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self.is_contended = model.setup.interconnect.mode == "contended" and not model.policy.pooled
        self._flows = Flows(model.network.link_mb_per_s if self.is_contended else ())
        self._whole_network = model.network
        # By task: its row, and what it has still to fetch.
        self._slots: dict[int, int] = {}
        self._ahead: dict[int, deque[Leg]] = {}
        # Tasks whose own image and data have not come to their node yet.
        self._crossing: set[int] = set()

    @property
    def in_flight(self) -> int:
        """How many tasks are under way over the network."""
        return len(self._slots)

    def is_crossing(self, task: int) -> bool:
        """Whether a task that is under way still needs its way; not once only files are missing."""
        return not self.is_contended or task in self._crossing

    def begin(self, slot: int, source: int, fixed_ns: int, image_mb: float, data_mb: float) -> None:
        """A task that has just been sent on its way takes as long as the network makes it.

        Args:
            slot: its row, IN_FLIGHT.
            source: the node from which image and data come; its target, if nothing does.
            fixed_ns: what passes besides: asking, and the fixed cost of starting or migrating it [ns].
            image_mb: its memory image [MB].
            data_mb: data that the source's disk reads and the target's writes [MB].
        """
        model = self._model
        engine = model.engine
        row = engine.tasks[slot]
        task, job, target, start_ns = (int(row[name]) for name in ("task", "job", "node", "since_ns"))
        # Who turned back has been under way for a while.
        start_ns = max(start_ns, model.now_ns) + fixed_ns
        legs: deque[Leg] = deque()
        if source != target:
            if data_mb > 0:
                start_ns += engine.read(source, data_mb, model.now_ns) - model.now_ns
                engine.tasks["brought_kb"][slot] = data_mb * 1000.0
            legs.append(_leg(model.network, source, target, image_mb + data_mb))
            self._crossing.add(task)
        if model.staging is not None:
            # Files are fetched as if nothing had failed.
            fetched = model.staging.legs(job, target)
            legs.extend(_leg(self._whole_network, leg.holder, target, leg.mb) for leg in fetched)
        self._slots[task] = slot
        self._ahead[task] = legs
        engine.arrive(slot, NEVER)
        self._go_on(task, start_ns)

    def advance(self, border_ns: int) -> None:
        """Let time pass: tasks whose last transfer ends before the border enter their node at that instant."""
        while self._flows.next_ns < border_ns:
            for end_ns, task in self._flows.advance(self._flows.next_ns + 1):
                self._crossing.discard(task)
                # The next one starts a nanosecond later, when this one has made room.
                self._go_on(task, end_ns + bool(self._ahead[task]))

    def cancel(self, task: int) -> None:
        """What a task was transferring is given up."""
        if task in self._slots:
            self._flows.cancel(task, self._model.now_ns)
            del self._slots[task], self._ahead[task]
            self._crossing.discard(task)

    def forget_the_dead(self) -> None:
        """At a border: whoever was killed on the way leaves the links to the others."""
        tasks = self._model.engine.tasks
        for task, slot in list(self._slots.items()):
            if tasks["task"][slot] != task or tasks["state"][slot] != IN_FLIGHT:
                self.cancel(task)

    def _go_on(self, task: int, at_ns: int) -> None:
        """The next transfer of a task begins, or it has arrived."""
        ahead, slot = self._ahead[task], self._slots[task]
        if ahead:
            leg = ahead.popleft()
            self._flows.start(task, leg.links, leg.mb, at_ns + leg.latency_ns)
            return
        del self._slots[task], self._ahead[task]
        row = self._model.engine.tasks[slot]
        # Who was killed in this very slice arrives nowhere.
        if row["task"] == task and row["state"] == IN_FLIGHT:
            self._model.engine.arrive(slot, at_ns)


def _leg(network: Network, source: int, target: int, mb: float) -> Leg:
    latency_ms = float(network.ways_from(source)[1][target])
    return Leg(network.links_between(source, target), mb, nanoseconds(latency_ms))
