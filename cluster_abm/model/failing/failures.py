"""What happens at a slice boundary when nodes and links fail or recover."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cluster_abm.clock import NS_PER_MS, Clock, whole_ns
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import FREE, LOST, NEVER, NONE, REQUEST_ONLY
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.outages import OutagePlan, Thing
from cluster_abm.model.failing.recovery import Recovery
from cluster_abm.model.moving.routes_in_use import RoutesInUse
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.observing.happenings import Happenings
from cluster_abm.model.observing.task_records import TaskRecords
from cluster_abm.model.part import part
from cluster_abm.scenario.failures import Failures


@part
class BrokenRoutes:
    """Leads routes round what is down, and ends the transfers that cross it."""

    engine: EngineState
    live: LiveNetwork
    availability: Availability
    routes_in_use: RoutesInUse
    transfers: Transfers
    recovery: Recovery

    def renew(self, links_down: set[tuple[Any, Any]]) -> None:
        """Change the network to what is up now; transfers over anything else end, and their task is where it was."""
        self._end_transfers(self._renew_network(links_down))

    def _renew_network(self, links_down: set[tuple[Any, Any]]) -> Callable[[int], bool]:
        """Routes lead round what is down from now on; says of a link, by its number, whether it is down."""
        if not self.routes_in_use.can_fail:
            return lambda _: False
        nodes = set(np.flatnonzero(~self.availability.up).tolist())
        self.live.change(self.live.whole.without(nodes=nodes, links=links_down))
        ends, pairs = self.live.whole.link_ends, {frozenset(link) for link in links_down}

        def is_down(link: int) -> bool:
            return not nodes.isdisjoint(ends[link]) or frozenset(ends[link]) in pairs

        return is_down

    def _end_transfers(self, is_down: Callable[[int], bool]) -> None:
        """Tasks in transit over what is down now go on where they came from, if that is up."""
        engine, up = self.engine, self.availability.up
        routes = self.routes_in_use.take_all()
        for slot in engine.rows_in_transit().tolist():
            task, origin, target = (int(engine.tasks[name][slot]) for name in ("task", "origin", "node"))
            if origin == target or not up[origin]:
                continue
            route = routes.get(task, ()) if self.transfers.is_crossing(task) else ()
            if not up[target] or any(map(is_down, route)):
                self.recovery.turn_back(slot)
            else:
                self.routes_in_use.keep(task, route)


@part
class Orphans:
    """Finds a node for orphaned tasks, or ends their jobs, as the scenario says.

    Attributes:
        are_lost: whether the jobs of orphaned tasks are lost.
        restarts: how many orphaned tasks were sent to another node.
    """

    engine: EngineState
    clock: Clock
    availability: Availability
    transfers: Transfers
    recovery: Recovery
    are_lost: bool

    def __post_init__(self) -> None:
        self.restarts = 0
        # Rows of the orphaned tasks that wait for any node to accept them.
        self._waiting: set[int] = set()

    def place(self) -> None:
        """Find a node for orphaned tasks: those of failed nodes, those in transit to one, and those in transit whose
        source has failed."""
        engine, now_ns, up = self.engine, self.clock.now_ns, self.availability.up
        slots = engine.rows_in_transit()
        rows = engine.tasks[slots]
        is_background = rows["job"] == NONE
        for slot, node in zip(slots[is_background].tolist(), rows["node"][is_background].tolist(), strict=True):
            # A node's background programs go on with it.
            engine.arrive(slot, now_ns if up[node] else NEVER)
        slots, rows = slots[~is_background], rows[~is_background]
        stranded = slots[~up[rows["node"]] | ~up[rows["origin"]]].tolist()
        for slot in stranded:
            if slot not in self._waiting:
                engine.strand(slot, now_ns)
        self._waiting.update(stranded)
        orphaned = [slot for slot in slots.tolist() if slot in self._waiting]
        if self.are_lost:
            for job in dict.fromkeys(engine.tasks["job"][orphaned].tolist()):
                for task in engine.tasks["task"][slots[engine.tasks["job"][slots] == job]].tolist():
                    self.transfers.cancel(task)
                engine.end_job(job, LOST, now_ns)
        elif self.availability.any_accepting:
            for slot in orphaned:
                self.recovery.recover(slot)
                self.restarts += 1
        else:
            for slot in orphaned:
                # What is under way to a node that is down now would wake it there.
                self.transfers.cancel(int(engine.tasks["task"][slot]))
            return
        self._waiting.clear()


@part
class FailureProcess:
    """Failures and recoveries, and what becomes of the tasks.

    A node that fails takes the tasks in it along: by the scenario's choice they are started again from scratch, go on
    from a checkpoint, or their jobs are lost. Transfers whose source, target or path fails end: the task is where it
    was. Nothing runs on a failed node; it comes back empty.

    Attributes:
        due_ns: the next boundary at which something fails, recovers, or is checkpointed [ns].
        node_failures, link_failures: how many there have been.
    """

    settings: Failures
    may_fail: bool  # by the plan, or by an act of the script
    plan: OutagePlan
    acts_to_come: Callable[[], bool]  # whether the scenario's script has acts to come
    engine: EngineState
    clock: Clock
    availability: Availability
    broken_routes: BrokenRoutes
    orphans: Orphans
    happenings: Happenings
    task_records: TaskRecords

    def __post_init__(self) -> None:
        self.node_failures = self.link_failures = 0
        # Nodes that an agent has failed, besides what the plan says.
        self._failed_by_agents: set[int] = set()
        self._checkpoint_ns = NEVER
        if self.settings.on_failure == "checkpoint":
            # Also where the plan has no failure: an agent may fail a node, and its tasks go on from what was saved.
            self._checkpoint_ns = self.clock.boundary_from(whole_ns(self.settings.checkpoint_period_ms))
        self.due_ns = min(self._checkpoint_ns, self.plan.next_ns)
        if self.may_fail:
            self.become_possible()

    def become_possible(self) -> None:
        """From now on nodes can be down or draining: managers look for it, routes in use are noted."""
        if self.availability.can_change:
            return
        self.availability.can_change = True
        self.broken_routes.routes_in_use.begin()

    @property
    def is_hopeless(self) -> bool:
        """Whether no node accepts tasks, none has any, and no event of the plan, and no act, is to come."""
        if self.availability.any_accepting or self.are_to_come:
            return False
        return not self.availability.any_up or self.engine.live == 0

    @property
    def are_to_come(self) -> bool:
        """Whether anything will fail or recover yet by the scenario's plan, or its script has acts to come."""
        return self.plan.next_ns < NEVER or self.acts_to_come()

    def metrics(self) -> dict[str, float]:
        """What a run's summary says of failures, if anything can fail."""
        if not self.availability.can_change:
            return {}
        engine = self.engine
        live = engine.tasks[(engine.tasks["state"] != FREE) & (engine.tasks["state"] != REQUEST_ONLY)]
        lost_ns = self.task_records.in_vain_ns() + int(live["lost_cpu_ns"].sum())
        return {
            "node_failures": self.node_failures,
            "link_failures": self.link_failures,
            "restarts": self.orphans.restarts,
            "lost_cpu_ms": lost_ns / NS_PER_MS,
        }

    def occur(self) -> None:
        """At a slice boundary: what is due fails or recovers, and orphaned tasks find a node before any other task."""
        now_ns = self.clock.now_ns
        if now_ns < self.due_ns:
            return
        if now_ns >= self._checkpoint_ns:
            # Where no node is up, all that is left of a task is its last checkpoint.
            if self.availability.any_up:
                self.engine.checkpoint(now_ns)
            period_ns = whole_ns(self.settings.checkpoint_period_ms)
            self._checkpoint_ns = self.clock.boundary_from(self._checkpoint_ns + period_ns)
        changes = list(self.plan.occur())
        self.due_ns = min(self._checkpoint_ns, self.plan.next_ns)
        self._carry_out(changes)

    def fail(self, node: int) -> None:
        """A node fails now; it stays down until `recover`."""
        self.become_possible()
        self._failed_by_agents.add(node)
        self._carry_out([(node, True)])

    def recover(self, node: int) -> None:
        """A node that has been failed comes back empty; one that is draining accepts tasks again."""
        self._failed_by_agents.discard(node)
        if self.availability.draining[node]:
            self.happenings.failure(self.clock.now_ns, "node accepts tasks again", node)
        self.availability.draining[node] = False
        self._carry_out([(node, False)])

    def drain(self, node: int) -> None:
        """A node accepts no task from now on, and lets those that it has finish."""
        self.become_possible()
        self.availability.draining[node] = True
        self.happenings.failure(self.clock.now_ns, "node drains", node)
        self.availability.refresh()

    def _carry_out(self, changes: Iterable[tuple[Thing, bool]]) -> None:
        availability = self.availability
        was_up, changed = availability.up.copy(), False
        for thing, is_down in changes:
            if not isinstance(thing, int):
                self.link_failures += is_down
                ends = " - ".join(map(str, thing))
                self.happenings.failure(self.clock.now_ns, f"link {_does(is_down)}", other=ends)
                changed = True
            elif is_down or thing not in self._failed_by_agents:
                self.node_failures += bool(is_down and availability.up[thing])
                if is_down == bool(availability.up[thing]):
                    self.happenings.failure(self.clock.now_ns, f"node {_does(is_down)}", thing)
                availability.change(thing, not is_down, self.clock.now_ns)
                changed = True
        if not changed:
            return
        availability.refresh()
        self.broken_routes.renew(self.plan.links_down)
        for node in np.flatnonzero(was_up & ~availability.up).tolist():
            self.engine.orphan_tasks(node, self.clock.now_ns)
        self.orphans.place()


def _does(is_down: bool) -> str:
    return "fails" if is_down else "recovers"
