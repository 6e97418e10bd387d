"""What a load manager that talks can find out: its view, its notes, and the nodes around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import NS_PER_MS, Clock, whole_ns
from cluster_abm.engine.random_numbers import Word, message_uniform
from cluster_abm.engine.state import EngineState
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.part import part
from cluster_abm.policies import View
from cluster_abm.policy.tasks import Hardware


@part
class Surroundings:
    """What managers that talk can find out.

    Attributes:
        head_node: the head node.
        homes: which nodes are a home of jobs, shape (nodes,).
        draw_key: key of the managers' own random numbers.
        are_instant: whether messages take no time (Mail).
        nodes: number of nodes.
        slice_ms: length of a slice [ms].
    """

    engine: EngineState
    clock: Clock
    live: LiveNetwork
    availability: Availability
    views: Views
    head_node: int
    homes: npt.NDArray[np.bool_]
    draw_key: Word
    are_instant: bool

    def __post_init__(self) -> None:
        self.nodes, self.slice_ms = len(self.engine.nodes), self.clock.slice_ns / NS_PER_MS
        self._homes = set(np.flatnonzero(self.homes).tolist())

    @property
    def head(self) -> int:
        """The head node, or the node that stands in for it."""
        return self.availability.stand_in(self.head_node)

    def draw(self, manager: int, number: int) -> float:
        """A number in (0, 1) of a manager's own stream."""
        return float(message_uniform(self.draw_key, manager, number))

    def view_of(self, manager: int) -> View:
        """What a manager knows now."""
        if self.views.all_is_known:
            # Views show the loads that were measured last.
            self.views.look()
        return self.views.of(manager)

    def closed_to(self, manager: int) -> set[int]:
        """Nodes that a manager does not choose, for they have failed or no route leads there."""
        if not self.availability.can_change:
            return set()
        closed = ~self.availability.accepting | (self.live.routes.paths_from(manager).mb_per_s == 0)
        closed[manager] = not self.availability.accepting[manager]
        return set(np.flatnonzero(closed).tolist())

    def without_jobs(self) -> set[int]:
        """Nodes at which no job is submitted: neither a home, nor the stand-in of one that takes no jobs."""
        dispatchers = self._homes
        if not self.availability.all_accepting:
            dispatchers = {self.availability.stand_in(home) for home in self._homes}
        return set(range(self.nodes)) - dispatchers

    def notes_of(self, manager: int) -> Any:
        """What a manager's policy remembers."""
        return self.views.notes[manager]

    def forget(self, manager: int) -> None:
        """A manager's policy remembers nothing any more."""
        self.views.forget(manager)

    def tasks_on(self, node: int) -> int:
        """Tasks of jobs on a node, and on their way to it: the load `tasks`."""
        row = self.engine.nodes[node]
        return int(row["tasks"]) + int(row["in_transit"]) - int(row["background"])

    def meets_at_barriers(self, job: int) -> bool:
        """Whether the tasks of a job wait for each other at barriers."""
        row = self.engine.jobs[job]
        return bool(row["barrier_ms"] > 0.0 and row["tasks"] > 1)

    @property
    def hardware(self) -> Sequence[Hardware]:
        """Hardware of all nodes."""
        return self.views.hardware

    def cores_of(self, node: int) -> int:
        """Cores of a node."""
        return self.views.hardware[node].cores

    def start_of(self, manager: int, task_home: int, node: int) -> tuple[int, int, int]:
        """Where a task starts that a manager sends to a node.

        Args:
            manager: the manager.
            task_home: the task's home.
            node: the node that the manager has named.

        Returns:
            the home, or its stand-in; the node on which it starts; how long it takes to tell the home [ns].
        """
        routes, home = self.live.routes, self.availability.stand_in(task_home)
        target = node if self.availability.accepting[node] else self.availability.stand_in(node)
        latency_ms = float(routes.paths_from(manager).latency_ms[home])
        if target != home and (latency_ms == math.inf or routes.paths_from(home).mb_per_s[target] == 0.0):
            # No route leads there, or the home cannot be told.
            target = home
        must_tell = target != home and manager != home and not self.are_instant
        return home, target, whole_ns(latency_ms) if must_tell else 0
