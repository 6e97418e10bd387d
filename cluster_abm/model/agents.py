"""The agents: thin views of the tables, and the load managers that talk."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import mesa
import numpy as np

from cluster_abm.engine.tables import FREE, KILLED, LOST, NONE, NS_PER_MS, OUTCOME_NAMES, RUNNING, STATE_NAMES
from cluster_abm.formulas import slowdown
from cluster_abm.policies import Candidate, Decision, Newcomer, View
from cluster_abm.results.frames import dedicated_ns

if TYPE_CHECKING:
    from cluster_abm.model.model import ClusterModel


class _IdentityCounters(WeakKeyDictionary[object, Iterator[int]]):
    """Counters of agent numbers per model that do not keep the model alive."""

    def __missing__(self, model: object) -> Iterator[int]:
        counter = self[model] = itertools.count(1)
        return counter

    def __getitem__(self, model: object) -> Any:
        return super().__getitem__(model) if model in self else self.__missing__(model)


if hasattr(mesa.Agent, "_ids"):
    # Mesa 3.3 keeps every model alive in this table, which later versions have given up. All agents of a model
    # must count by the same one, a user's own too: so Mesa's is replaced, and what it holds is kept.
    mesa.Agent._ids = _IdentityCounters(mesa.Agent._ids)


class ClusterAgent(mesa.Agent):
    """Base of this package's agents."""

    model: ClusterModel

    def step(self) -> None:
        """Nothing: the model moves all agents together, in the order its own step shows."""


def _field(name: str, scale: float, doc: str) -> property:
    """A property that reads one field of the agent's row in the node table."""

    def read(agent: Node) -> float:
        return float(agent.model.engine.nodes[name][agent.index] * scale)

    return property(read, doc=doc)


class Node(ClusterAgent):
    """A node of the cluster: a view of its row."""

    def __init__(self, model: ClusterModel, index: int) -> None:
        super().__init__(model)
        self.index = index

    cpu_speed = _field("speed", 1.0, "CPU speed, 1 = the papers' node.")
    user_memory_mb = _field("user_memory_kb", 1e-3, "Memory for programs [MB].")
    memory_demand_mb = _field("demand_kb", 1e-3, "Memory asked by the tasks on the node [MB].")
    tasks = _field("tasks", 1, "Tasks on the node.")
    disk_requests = _field("requests", 1, "Explicit disk requests issued so far.")
    page_faults = _field("faults", 1, "Page faults issued so far.")
    buffer_hits = _field("hits", 1, "Accesses served from the buffer so far.")

    @property
    def load_manager(self) -> LoadManager:
        """The load manager that resides here."""
        return self.model.load_managers[self.index]

    @property
    def loads(self) -> dict[str, float]:
        """All load indices of the node as they are now, by the names of the load table."""
        row = self.model.true_loads(self.index)
        return {str(name): float(row[name]) for name in row.dtype.names or ()}

    @property
    def cpu_busy_ms(self) -> float:
        """CPU given to tasks so far [ms]."""
        return float(self.model.busy_ns()[0][self.index] / NS_PER_MS)

    @property
    def disk_busy_ms(self) -> float:
        """Disk service given so far [ms]."""
        return float(self.model.busy_ns()[1][self.index] / NS_PER_MS)

    @property
    def is_idle(self) -> bool:
        """Whether no task is on the node."""
        return self.tasks == 0


class Job(ClusterAgent):
    """A submitted job: a view of its row in the job table and of its tasks, also after it has finished."""

    def __init__(self, model: ClusterModel, job: int) -> None:
        super().__init__(model)
        self.job = job

    @property
    def home(self) -> int:
        """Node on which it was submitted."""
        return int(self.model.jobs["home"][self.job])

    @property
    def width(self) -> int:
        """Number of its tasks."""
        return int(self.model.jobs["tasks"][self.job])

    @property
    def arrival_ms(self) -> float:
        """Submission [ms]."""
        return float(self.model.jobs["arrival_ns"][self.job] / NS_PER_MS)

    @property
    def cpu_ms(self) -> float:
        """CPU demand of each task at speed 1 [ms]."""
        return float(self.model.jobs["cpu_ms"][self.job])

    @property
    def io_per_ms(self) -> float:
        """Accesses of each task per ms of its CPU [1/ms]."""
        return float(self.model.jobs["io_per_ms"][self.job])

    @property
    def memory_mb(self) -> float:
        """Memory demand of each task [MB]."""
        return float(self.model.jobs["memory_mb"][self.job])

    @property
    def state(self) -> str:
        """ "held" (submitted, and not started yet), "running", "finished", "killed" or "lost"."""
        if self.job in self.model.held_jobs:
            return "held"
        for outcome in (KILLED, LOST):
            if (self._records["outcome"] == outcome).any():
                return OUTCOME_NAMES[outcome]
        return "finished" if self.finished_tasks == self.width else "running"

    @property
    def finished_tasks(self) -> int:
        """How many of its tasks have ended."""
        return len(self._records)

    @property
    def task_states(self) -> dict[int, tuple[str, int]]:
        """Its unfinished tasks: number to (state, node)."""
        rows = self._rows
        return {int(row["task"]): (STATE_NAMES[int(row["state"])], int(row["node"])) for row in rows}

    @property
    def cpu_received_ms(self) -> float:
        """CPU its tasks have received so far, together [ms]."""
        rows, nodes = self._rows, self.model.engine.nodes
        running = rows["state"] == RUNNING
        unbooked = np.maximum(0, self.model.now_ns - nodes["leg_ns"][rows["node"]])
        return float((rows["cpu_ns"].sum() + unbooked[running].sum() + self._records["cpu_ns"].sum()) / NS_PER_MS)

    @property
    def response_ms(self) -> float | None:
        """Submission to end of its last task [ms]; None before that."""
        if self.state != "finished":
            return None
        return float((self._records["finish_ns"].max()) / NS_PER_MS - self.arrival_ms)

    @property
    def slowdown(self) -> float | None:
        """Mean slowdown of its tasks (IOLB 2); None before it has finished."""
        if self.state != "finished":
            return None
        records = self._records
        wall_ns = records["finish_ns"] - records["arrival_ns"]
        return float(np.mean(slowdown(wall_ns, dedicated_ns(records))))

    @property
    def _rows(self) -> Any:
        tasks = self.model.engine.tasks
        return tasks[(tasks["job"] == self.job) & (tasks["state"] != FREE)]

    @property
    def _records(self) -> Any:
        return self.model.records_of(self.job)


class LoadManager(ClusterAgent):
    """The load manager of one node: places newcomers, sends running tasks away, and answers the offers of others."""

    def __init__(self, model: ClusterModel, index: int) -> None:
        super().__init__(model)
        self.index = index
        self.notes: dict[str, Any] = {}
        # Loads that answers have told since the last report that all got at once: node to (time [ns], load row).
        self.heard: dict[int, tuple[int, tuple[float, ...]]] = {}

    @property
    def node(self) -> Node:
        """Its node."""
        return self.model.node_agents[self.index]

    def known_loads(self) -> dict[str, list[float]]:
        """What it knows of all nodes: index name to one value per node."""
        loads = self.model.view_of(self).loads
        return {str(name): [float(value) for value in loads[name]] for name in loads.dtype.names or ()}

    def place(self, newcomer: Newcomer, record: Callable[[Decision, int, bool, str], None]) -> tuple[int, int, int]:
        """Find a node for a newcomer: ask the best, and if it refuses the next best, as often as allowed.

        Args:
            newcomer: the task.
            record: called for each decision with it, the node asked, whether accepted, and why not.

        Returns:
            the node it starts on (NONE: nowhere, its job waits on), how long asking took [ns], and how many nodes were
            asked.
        """
        refused: frozenset[int] = frozenset()
        policy, negotiations = self.model.asked, self.model.negotiations
        may_wait = self.model.policy.holds_jobs and newcomer.task == int(self.model.jobs["first_task"][newcomer.job])
        asking_ns = 0
        for asked in range(self.model.negotiation.offers):
            view = negotiations.view_of(self, refused)
            decision = policy.place(newcomer, view)
            if decision.target == self.index:
                waits = may_wait and policy.takes_back(newcomer, view)
                record(decision, self.index, not waits, decision.reason)
                return NONE if waits else self.index, asking_ns, asked
            why_not, took_ns = negotiations.ask(self, newcomer, decision)
            asking_ns += took_ns
            record(decision, decision.target, not why_not, why_not)
            if not why_not:
                return decision.target, asking_ns, asked + 1
            refused |= {decision.target}
        if may_wait and policy.takes_back(newcomer, negotiations.view_of(self, refused)):
            at_home = replace(decision, target=self.index, load_there=math.nan, cost_ms=math.nan)
            record(at_home, self.index, False, "home blocks submissions, and all who were asked have refused")
            return NONE, asking_ns, len(refused)
        return self.index, asking_ns, len(refused)

    def rebalance(
        self,
        newcomer: Newcomer,
        record: Callable[[Decision, int, bool, str], None],
        send: Callable[[Candidate, int, int, float, int], None],
    ) -> None:
        """Send tasks of the own node elsewhere, if the policy says so now that a newcomer has been placed.

        Args:
            newcomer: the task that gives the occasion.
            record: as in `place`.
            send: called for each task that leaves: the task, from, to, cost [ms], how long asking for it took [ns].
        """
        most = self.model.policy.migrations_per_arrival
        self._send_away(lambda view: self.model.asked.migration(newcomer, view), most, record, send)

    def relieve(
        self,
        record: Callable[[Decision, int, bool, str], None],
        send: Callable[[Candidate, int, int, float, int], None],
    ) -> None:
        """Send a task of the own node elsewhere, if the policy says so now that its period has come; as `rebalance`."""
        self._send_away(self.model.asked.relieve, 1, record, send)

    def _send_away(
        self,
        decide: Callable[[View], Decision | None],
        most: int | None,
        record: Callable[[Decision, int, bool, str], None],
        send: Callable[[Candidate, int, int, float, int], None],
    ) -> None:
        refused: frozenset[int] = frozenset()
        sent, asking_ns = 0, 0
        while sent != most and len(refused) < self.model.negotiation.offers:
            decision = decide(self.model.negotiations.view_of(self, refused))
            if decision is None or decision.task is None:
                return
            target = decision.target
            why_not, took_ns = self.model.negotiations.ask(self, decision.task, decision)
            asking_ns += took_ns
            record(decision, target, not why_not, why_not)
            if why_not:
                refused |= {target}
                continue
            send(decision.task, self.index, target, decision.cost_ms, asking_ns)
            refused, asking_ns = frozenset(), 0
            sent += 1

    def answer(self, newcomer: Newcomer, decision: Decision, asker: LoadManager) -> str:
        """Accept ("") or refuse (why) an offer, by the true state of the own node; the answer carries that state."""
        if self.model.negotiations.papers or not self.model.negotiation.refusals:
            return ""
        why_not = self.model.asked.accept(newcomer, decision, self.model.negotiations.view_of(self))
        if why_not:
            # An answer that accepts tells the state with the reservation in it, once that is made.
            self.model.negotiations.reports.hear(asker, self.index, self.model.true_loads(self.index))
        return why_not

    def forget_until(self, sent_ns: int) -> None:
        """A report is here: what answers told before it was sent is old news."""
        if not self.heard:
            return
        self.heard = {node: told for node, told in self.heard.items() if told[0] > sent_ns}
