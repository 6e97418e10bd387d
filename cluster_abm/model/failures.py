"""Nodes and links that fail and recover: when, and what becomes of the tasks."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import gamma

from cluster_abm.engine.tables import FREE, GHOST, LOST, NEVER, NONE, NS_PER_MS
from cluster_abm.errors import InputError
from cluster_abm.model.recovery import recover, turn_back
from cluster_abm.model.setup import nanoseconds
from cluster_abm.scenario.failures import Outages
from cluster_abm.workload.streams import entity_generator

if TYPE_CHECKING:
    from cluster_abm.model.model import ClusterModel

Flags = npt.NDArray[np.bool_]
# What can fail: a node by its number, or a link by its two vertices.
Thing = int | tuple[Any, Any]
# So many routes are kept before those of tasks that have arrived are looked for.
LEAST_WAYS = 1024


class Failures:
    """What is up, and what happens at a slice's border when that changes.

    A node that fails takes the tasks in it along: by the scenario's choice they are started again from scratch, go on
    from a checkpoint, or their jobs are lost. Transfers whose source, target or path fails end: the task is where it
    was. Nothing runs on a failed node; it comes back empty.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self.settings = model.setup.failures
        self.up: Flags = np.ones(model.setup.cluster.nodes, bool)
        self.any_up = self.all_up = True
        # The next border at which something fails, recovers, or is checkpointed [ns].
        self.due_ns = NEVER
        self.node_failures = 0
        self.link_failures = 0
        self.restarts = 0
        # Borders at which something fails or recovers: time [ns], order, what, whether it fails, what follows.
        self._events: list[tuple[int, int, Thing, bool, Iterator[tuple[float, bool]]]] = []
        self._order = itertools.count()
        self._causes: Counter[Thing] = Counter()
        self._whole_network = model.network
        # The links by which each task under way goes, where they can fail.
        self._ways: dict[int, tuple[int, ...]] = {}
        self._most_ways = LEAST_WAYS
        # Rows of the tasks that wait for any node to be up.
        self._stranded: set[int] = set()
        self._checkpoint_ns = NEVER
        if not self.settings.can_happen:
            return
        if model.policy.pooled:
            raise InputError(f"failures: policy {model.policy.name!r} pools all nodes; none of them can fail")
        if self.settings.on_failure == "checkpoint":
            self._checkpoint_ns = model._border_from(nanoseconds(self.settings.checkpoint_period_ms))
        self._plan()
        self.due_ns = self._next_ns()

    def _next_ns(self) -> int:
        return min(self._checkpoint_ns, self._events[0][0] if self._events else NEVER)

    @property
    def is_hopeless(self) -> bool:
        """Whether no node is up, and none will ever be again."""
        return not self.any_up and not self._events

    @property
    def are_to_come(self) -> bool:
        """Whether anything will fail or recover yet."""
        return bool(self._events)

    def stand_in(self, node: int) -> int:
        """Who acts for a node: itself, or while it is out the next one that is up; itself if none is."""
        if self.all_up or self.up[node]:
            return node
        following = np.roll(self.up, -node)
        return (node + int(following.argmax())) % len(self.up)

    def metrics(self) -> dict[str, float]:
        """What a run's summary says of failures, if anything can fail."""
        if not self.settings.can_happen:
            return {}
        engine = self._model.engine
        live = engine.tasks[(engine.tasks["state"] != FREE) & (engine.tasks["state"] != GHOST)]
        records = engine.records
        in_vain = np.where(records["outcome"] == LOST, records["cpu_ns"], records["lost_cpu_ns"])
        lost_ns = int(in_vain.sum()) + int(live["lost_cpu_ns"].sum())
        return {
            "node_failures": self.node_failures,
            "link_failures": self.link_failures,
            "restarts": self.restarts,
            "lost_cpu_ms": lost_ns / NS_PER_MS,
        }

    def set_out(self, task: int, source: int, target: int) -> None:
        """A task leaves a node for another one: its way is fixed now, whatever fails elsewhere meanwhile."""
        if self._ways_can_fail and source != target:
            if len(self._ways) >= self._most_ways:
                self._forget_arrived()
            self._ways[task] = self._model.network.links_between(source, target)

    def _forget_arrived(self) -> None:
        """Drop the routes of tasks that have arrived; the next time once there are twice as many as are left."""
        engine = self._model.engine
        crossing = set(engine.tasks["task"][engine.on_their_way()].tolist())
        self._ways = {task: way for task, way in self._ways.items() if task in crossing}
        self._most_ways = max(LEAST_WAYS, 2 * len(self._ways))

    def strike(self) -> None:
        """At a border: what is due fails or recovers, and stranded tasks find a new node, before anybody else does."""
        now_ns = self._model.now_ns
        if now_ns < self.due_ns:
            return
        if now_ns >= self._checkpoint_ns:
            # Where no node is up, all that is left of a task is its last checkpoint.
            if self.any_up:
                self._model.engine.checkpoint(now_ns)
            self._checkpoint_ns = self._model._border_from(
                self._checkpoint_ns + nanoseconds(self.settings.checkpoint_period_ms)
            )
        was_up, changed = self.up.copy(), False
        while self._events and self._events[0][0] <= now_ns:
            _, _, thing, fails, rest = heapq.heappop(self._events)
            self._follow(thing, rest)
            was_out = self._causes[thing] > 0
            self._causes[thing] += 1 if fails else -1
            is_out = self._causes[thing] > 0
            if was_out == is_out:
                continue
            changed = True
            if isinstance(thing, int):
                self.up[thing] = not is_out
                self.node_failures += is_out
            else:
                self.link_failures += is_out
        self.due_ns = self._next_ns()
        if not changed:
            return
        self.any_up, self.all_up = bool(self.up.any()), bool(self.up.all())
        self._end_transfers(self._renew_network())
        for node in np.flatnonzero(was_up & ~self.up).tolist():
            self._model.engine.strand(node, now_ns)
        self._recover(now_ns)

    # ---- tasks -------------------------------------------------------------------------------------------------

    @property
    def _ways_can_fail(self) -> bool:
        """Else nobody's way leads over a node, and nobody asks for the way to one that is out."""
        return self.settings.links_can_fail or not self._whole_network.is_alike

    def _renew_network(self) -> set[int]:
        """Routes lead round what is out from now on; the numbers of the links that are out."""
        if not self._ways_can_fail:
            return set()
        nodes = np.flatnonzero(~self.up).tolist()
        links = [thing for thing, causes in self._causes.items() if causes > 0 and not isinstance(thing, int)]
        self._model.network = self._whole_network.without(nodes=nodes, links=links)
        ends = {frozenset(link) for link in links}
        return {
            number
            for number, (one, other) in enumerate(self._whole_network.link_ends)
            if one in nodes or other in nodes or frozenset((one, other)) in ends
        }

    def _end_transfers(self, out: set[int]) -> None:
        """Tasks under way over what is out now go on where they came from, if that is up."""
        model, engine = self._model, self._model.engine
        ways, self._ways = self._ways, {}
        for slot in engine.on_their_way().tolist():
            task, origin, target = (int(engine.tasks[name][slot]) for name in ("task", "origin", "node"))
            if origin == target or not self.up[origin]:
                continue
            way = ways.get(task, ()) if model.transfers.is_crossing(task) else ()
            if not self.up[target] or not out.isdisjoint(way):
                turn_back(model, slot)
            else:
                self._ways[task] = way

    def _recover(self, now_ns: int) -> None:
        """Stranded tasks, those under way to a failed node, and those whose source failed under way: elsewhere."""
        engine = self._model.engine
        slots = engine.on_their_way()
        rows = engine.tasks[slots]
        is_background = rows["job"] == NONE
        for slot, node in zip(slots[is_background].tolist(), rows["node"][is_background].tolist(), strict=True):
            # A node's background programs go on with it.
            engine.arrive(slot, now_ns if self.up[node] else NEVER)
        slots, rows = slots[~is_background], rows[~is_background]
        self._stranded.update(slots[~self.up[rows["node"]] | ~self.up[rows["origin"]]].tolist())
        stranded = [slot for slot in slots.tolist() if slot in self._stranded]
        if self.settings.on_failure == "lost":
            for job in dict.fromkeys(engine.tasks["job"][stranded].tolist()):
                for task in engine.tasks["task"][slots[engine.tasks["job"][slots] == job]].tolist():
                    self._model.transfers.cancel(task)
                engine.lose(job, now_ns)
        elif self.any_up:
            for slot in stranded:
                recover(self._model, slot)
                self.restarts += 1
        else:
            for slot in stranded:
                engine.arrive(slot, NEVER)
            return
        self._stranded.clear()

    # ---- when --------------------------------------------------------------------------------------------------

    def _plan(self) -> None:
        graph_links: list[Thing] = []
        if self.settings.links_can_fail:
            graph_links = [tuple(edge) for edge in self._whole_network.graph.edges]
        for event in self.settings.event:
            thing: Thing = event.node if event.node is not None else self._link(event.link, graph_links)
            ends = [] if event.for_s is None else [(event.for_s, False)]
            self._follow(thing, iter([(event.at_s, True), *ends]), 0)
        kinds: list[tuple[Outages, list[Thing]]] = [
            (self.settings.node, list(range(len(self.up)))),
            (self.settings.link, graph_links),
        ]
        for purpose, (outages, things) in zip(("node_failures", "link_failures"), kinds, strict=True):
            if outages.kind == "none":
                continue
            for number, thing in enumerate(things):
                rng = entity_generator(self._model.run_seed, purpose, number)
                self._follow(thing, _ups_and_downs(outages, rng), 0)

    def _follow(self, thing: Thing, rest: Iterator[tuple[float, bool]], after_ns: int | None = None) -> None:
        """Its next failure or recovery, if there is one, so long after the border of the last one."""
        following = next(rest, None)
        if following is not None:
            after_s, fails = following
            start_ns = self._model.now_ns if after_ns is None else after_ns
            border_ns = self._model._border_from(start_ns + nanoseconds(after_s * 1000.0))
            heapq.heappush(self._events, (border_ns, next(self._order), thing, fails, rest))

    def _link(self, link: tuple[Any, Any] | None, links: list[Thing]) -> Thing:
        assert link is not None  # the scenario's check: an event has a node or a link
        for found in (link, link[::-1]):
            if found in links:
                return found
        raise InputError(
            f"failures.event.link = {list(link)}: the interconnect has no such link; the first of its "
            f"{len(links)} is {list(links[0]) if links and not isinstance(links[0], int) else None}"
        )


def _ups_and_downs(outages: Outages, rng: np.random.Generator) -> Iterator[tuple[float, bool]]:
    """Times until it fails, until it is repaired, and so on [s]: (since the last one, whether it fails)."""
    shape = 1.0 if outages.kind == "exponential" else outages.shape
    # A Weibull time of scale 1 has the mean Gamma(1 + 1/shape); shape 1 is the exponential.
    scale_s = outages.mean_up_s / float(gamma(1.0 + 1.0 / shape))
    while True:
        yield scale_s * float(rng.weibull(shape)), True
        down = 1.0 if outages.repair == "fixed" else float(rng.standard_exponential())
        yield outages.mean_down_s * down, False
