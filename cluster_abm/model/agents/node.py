"""A node as an agent: a view of its row in the node table, which can be acted upon between slices."""

from __future__ import annotations

from typing import Any

from cluster_abm.clock import NS_PER_MS
from cluster_abm.model.agents.base import ClusterAgent
from cluster_abm.model.observing.collecting import total_load_ms


def _field(name: str, scale: float, doc: str) -> property:
    """A property that reads one field of the agent's row in the node table."""

    def read(agent: Node) -> float:
        return float(agent.parts.engine.nodes[name][agent.index] * scale)

    return property(read, doc=doc)


class Node(ClusterAgent):
    """A node of the cluster.

    Under the pooled reference no node steps: a subclass with a `step` of its own is refused.

    Attributes:
        index: its number, 0..nodes-1.
    """

    turn = "nodes"

    def __init__(self, model: Any, index: int) -> None:
        super().__init__(model)
        self.index = index

    def step(self) -> None:
        """Live this node's slice: its CPU, disk and memory serve its tasks, event by event.

        `model.step()` calls it once a slice for each node, in the order of their numbers; `run()` only where a subclass
        overrides it. If a subclass overrides it without a call of `super().step()`, the node is served when all nodes
        have had their turn: no slice can be left out (`fail` and `cpu_speed` make a node do nothing, or less).
        """
        self.check_turn()
        parts = self.parts
        parts.engine.serve_node(self.index, parts.clock.next_boundary_ns)

    user_memory_mb = _field("user_memory_kb", 1e-3, "Memory for programs [MB].")
    memory_demand_mb = _field("demand_kb", 1e-3, "Memory asked by the tasks on the node [MB].")
    tasks = _field("tasks", 1, "Tasks on the node.")
    disk_requests = _field("requests", 1, "Explicit disk requests issued so far.")
    page_faults = _field("faults", 1, "Page faults issued so far.")
    buffer_hits = _field("hits", 1, "Accesses served from the buffer so far.")

    # ---- what it is, and how it can be acted upon ---------------------------------------------------------------

    @property
    def cpu_speed(self) -> float:
        """CPU speed, 1 = the papers' node. Setting it holds from the present slice boundary on."""
        return float(self.parts.engine.nodes["speed"][self.index])

    @cpu_speed.setter
    def cpu_speed(self, speed: float) -> None:
        self.model.node_actions.set_cpu_speed(self.index, speed)

    @property
    def memory_mb(self) -> float:
        """RAM, what the system and a fixed buffer keep included [MB]. Setting it holds from this boundary on."""
        return float(self.parts.engine.nodes["memory_kb"][self.index] / 1000.0)

    @memory_mb.setter
    def memory_mb(self, memory_mb: float) -> None:
        self.model.node_actions.set_memory_mb(self.index, memory_mb)

    @property
    def is_up(self) -> bool:
        """Whether the node works."""
        return bool(self.parts.availability.up[self.index])

    @property
    def is_draining(self) -> bool:
        """Whether the node accepts no further task."""
        return bool(self.parts.availability.draining[self.index])

    def fail(self) -> None:
        """Fail now: tasks on the node are orphaned, and `failures.on_failure` says what becomes of them.

        Raises:
            InputError: the node has failed already, or all nodes are pooled.
        """
        self.model.node_actions.fail(self.index)

    def recover(self) -> None:
        """Come back empty after `fail`; accept tasks again after `drain`.

        Raises:
            InputError: the node neither has failed nor drains.
        """
        self.model.node_actions.recover(self.index)

    def drain(self) -> None:
        """Accept no further task, and let those that are on the node, or on their way to it, finish.

        TaskArrivals go to the next node that accepts tasks, and offers are refused.

        Raises:
            InputError: the node has failed or drains already, or all nodes are pooled.
        """
        self.model.node_actions.drain(self.index)

    # ---- what it does --------------------------------------------------------------------------------------------

    @property
    def load_manager(self) -> Any:
        """The load manager that resides here."""
        return self.model.load_managers[self.index]

    @property
    def load(self) -> float:
        """Processing ahead of the tasks on the node: CPU, page faults and I/O, L_CPU + L_page + L_IO of IOLB [ms]."""
        return float(total_load_ms(self.parts.views.true_row(self.index)))

    @property
    def loads(self) -> dict[str, float]:
        """All load indices of the node as they are now, by the names of the load table."""
        row = self.parts.views.true_row(self.index)
        return {str(name): float(row[name]) for name in row.dtype.names or ()}

    @property
    def cell(self) -> Any:
        """Its cell in the model's `space`."""
        return self.model.space[self.index]

    @property
    def cpu_busy_ms(self) -> float:
        """CPU of all its cores given to tasks so far [ms]."""
        return float(self.parts.engine.busy_ns(self.parts.clock.now_ns)[0][self.index] / NS_PER_MS)

    @property
    def disk_busy_ms(self) -> float:
        """Time so far in which a request was in the disk's device [ms]."""
        return float(self.parts.engine.busy_ns(self.parts.clock.now_ns)[1][self.index] / NS_PER_MS)

    @property
    def is_idle(self) -> bool:
        """Whether no task is on the node."""
        return self.tasks == 0
