"""When nodes and links fail and recover: the plan of a run, drawn from its own streams."""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import gamma

from cluster_abm.clock import Clock, whole_ns
from cluster_abm.engine.tables import NEVER
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.scenario.failures import Failures as FailureSettings
from cluster_abm.scenario.failures import Outages
from cluster_abm.workload.generators import entity_generator
from cluster_abm.workload.outages.reading import outages_in_file

# What can fail: a node by its number, or a link by its two vertices.
Thing = int | tuple[Any, Any]


class Timetable:
    """The boundaries at which things change for the worse and recover.

    Several causes may be at work on a thing at once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Boundaries at which something fails or recovers: time [ns], order, what, whether it fails, what follows.
        self._events: list[tuple[int, int, Any, bool, Iterator[tuple[float, bool]]]] = []
        self._order = itertools.count()

    @property
    def next_ns(self) -> int:
        """The next boundary at which something fails or recovers [ns]; NEVER if none is to come."""
        return self._events[0][0] if self._events else NEVER

    def due(self) -> Iterator[tuple[Any, bool]]:
        """What fails or recovers by now, in order: the thing, and whether a cause begins."""
        while self._events and self._events[0][0] <= self._clock.now_ns:
            _, _, thing, fails, rest = heapq.heappop(self._events)
            self.follow(thing, rest)
            yield thing, fails

    def follow(self, thing: Any, rest: Iterator[tuple[float, bool]], after_ns: int | None = None) -> None:
        """Plan the next failure or recovery of a thing, if there is one: its time counts from the last boundary."""
        following = next(rest, None)
        if following is not None:
            after_s, fails = following
            start_ns = self._clock.now_ns if after_ns is None else after_ns
            boundary_ns = self._clock.boundary_from(start_ns + whole_ns(after_s * 1000.0))
            heapq.heappush(self._events, (boundary_ns, next(self._order), thing, fails, rest))


class OutagePlan(Timetable):
    """The boundaries at which a scenario's nodes and links fail and recover.

    Several causes may take a thing down at once; it is up again when all of them have ended.

    Attributes:
        links_down: the links that are down.
        notes: what was left out of failures.file, a line each.

    Raises InputError: an event names a link that the network does not have; what `outages_in_file` raises.
    """

    def __init__(self, settings: FailureSettings, nodes: int, network: Network, run_seed: int, clock: Clock) -> None:
        super().__init__(clock)
        self._causes: Counter[Thing] = Counter()
        self.links_down: set[tuple[Any, Any]] = set()
        self.notes: tuple[str, ...] = ()
        if settings.can_happen:
            self._plan(settings, nodes, network, run_seed)

    def occur(self) -> Iterator[tuple[Thing, bool]]:
        """What fails or recovers by now, in order: the thing, and whether it is down."""
        for thing, fails in self.due():
            was_down = self._causes[thing] > 0
            self._causes[thing] += 1 if fails else -1
            is_down = self._causes[thing] > 0
            if was_down != is_down:
                if not isinstance(thing, int):
                    (self.links_down.add if is_down else self.links_down.remove)(thing)
                yield thing, is_down

    def _plan(self, settings: FailureSettings, nodes: int, network: Network, run_seed: int) -> None:
        graph_links: list[Thing] = []
        if settings.links_can_fail:
            graph_links = [tuple(edge) for edge in network.graph.edges]
        for event in settings.event:
            thing: Thing = event.node if event.node is not None else _link(event.link, graph_links)
            ends = [] if event.for_s is None else [(event.for_s, False)]
            self.follow(thing, iter([(event.at_s, True), *ends]), 0)
        of_file = outages_in_file(settings, nodes, network.names_of_vertices)
        self.notes = of_file.notes
        columns = (of_file.node, of_file.down_s, of_file.up_s)
        for node, down_s, up_s in zip(*(column.tolist() for column in columns), strict=True):
            ends = [] if math.isinf(up_s) else [(up_s - down_s, False)]
            self.follow(node, iter([(down_s, True), *ends]), 0)
        kinds: list[tuple[Outages, list[Thing]]] = [(settings.node, list(range(nodes))), (settings.link, graph_links)]
        for purpose, (outages, things) in zip(("node_failures", "link_failures"), kinds, strict=True):
            if outages.kind == "none":
                continue
            for number, thing in enumerate(things):
                rng = entity_generator(run_seed, purpose, number)
                self.follow(thing, ups_and_downs(outages, rng), 0)


def _link(link: tuple[Any, Any] | None, links: list[Thing]) -> Thing:
    assert link is not None  # the scenario's check: an event has a node or a link
    for edge in (link, link[::-1]):
        if edge in links:
            return edge
    raise InputError(
        f"failures.event.link = {list(link)}: the interconnect has no such link; the first of its "
        f"{len(links)} is {list(links[0]) if links and not isinstance(links[0], int) else None}"
    )


def ups_and_downs(outages: Outages, rng: np.random.Generator) -> Iterator[tuple[float, bool]]:
    """Times until it fails, until it is repaired, and so on [s]: (since the last one, whether it fails)."""
    shape = 1.0 if outages.kind == "exponential" else outages.shape
    # A Weibull time of scale 1 has the mean Gamma(1 + 1/shape); shape 1 is the exponential.
    scale_s = outages.mean_up_s / float(gamma(1.0 + 1.0 / shape))
    while True:
        yield scale_s * float(rng.weibull(shape)), True
        down = 1.0 if outages.repair == "fixed" else float(rng.standard_exponential())
        yield outages.mean_down_s * down, False
