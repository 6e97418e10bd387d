"""SITA-E: size interval task assignment with equal load."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from pydantic import Field

from cluster_abm.errors import InputError
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.tasks import ArrivingTask, Demands
from cluster_abm.policy.view import View
from cluster_abm.scenario.distributions import Positive


class SizeIntervals(Policy):
    """Node i takes the tasks with a CPU demand between the i-th and the next of some sizes, so chosen that each class
    brings the same work, or on unlike nodes work in proportion to the speed of a node's cores.

    The sizes are found from the distribution of the announced demands, as a log would give it, or set. Every node is
    then a queue of its own, M/G/1 under Poisson arrivals, in which no short task waits for a long one of another
    class. Load managers tell each other nothing.
    """

    class Parameters(Policy.Parameters):
        """The sizes."""

        cutoffs_ms: tuple[Positive, ...] | None = Field(
            None, description="CPU demands that part the classes of nodes 0, 1, ..., ascending, one fewer than nodes"
        )

    name = "sita-e"
    source = "Harchol-Balter, Crovella, Murta 1999"
    summary = "node i takes tasks of the i-th size class; all classes bring the same work"
    rules = (("its size class", "the target takes tasks of this size"),)
    uses_reports = False

    parameters: Parameters

    def prepare(self, demands: Demands, nodes: int) -> None:
        """Sort the demands, and sum their work."""
        cutoffs = self.parameters.cutoffs_ms
        self.cutoffs_ms = np.array(cutoffs or (), float)
        self.sizes_ms, self.work_ms = demands.cpu_ms, np.cumsum(demands.cpu_ms * demands.tasks)
        if len(demands.task_cpu_ms):
            self.sizes_ms, self.work_ms = demands.task_cpu_ms, np.cumsum(demands.task_cpu_ms)
        if cutoffs is not None:
            if any(a >= b for a, b in pairwise(cutoffs)):
                raise InputError(f"policy.cutoffs_ms = {list(cutoffs)}: must ascend")
            if len(cutoffs) != nodes - 1:
                raise InputError(f"policy.cutoffs_ms: {len(cutoffs)} sizes; for {nodes} nodes {nodes - 1} are needed")
            return
        if len(self.sizes_ms) > 1 and self.sizes_ms[0] == self.sizes_ms[-1]:
            raise InputError(
                "policy 'sita-e': needs tasks of different sizes, and all announce the same workload.cpu_ms; set "
                "policy.cutoffs_ms, or take another policy"
            )

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The node of its class, or the next one that has not refused."""
        own = self.size_class(task.cpu_ms, view)
        for step in range(view.nodes):
            target = (own + step) % view.nodes
            if target not in view.refused:
                return Decision(target, "its size class")
        return Decision(own, "its size class")

    def size_class(self, cpu_ms: float, view: View) -> int:
        """The node whose size class a CPU demand [ms] is in."""
        if len(self.cutoffs_ms):
            return int(np.searchsorted(self.cutoffs_ms, cpu_ms))
        shorter = int(np.searchsorted(self.sizes_ms, cpu_ms))
        # Of all work that of shorter tasks; a class ends where nodes up to its own are worth more of all speed.
        work_ms = self.work_ms[shorter - 1] if shorter else -1.0
        hardware = view.hardware_table
        all_speed, up_to_here = 0.0, 0.0
        for node in range(view.nodes):
            all_speed += hardware["speed"][node] * hardware["cores"][node]
        for node in range(view.nodes - 1):
            up_to_here += hardware["speed"][node] * hardware["cores"][node]
            if work_ms < up_to_here / all_speed * self.work_ms[-1]:
                return node
        return view.nodes - 1

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept."""
        return ""
