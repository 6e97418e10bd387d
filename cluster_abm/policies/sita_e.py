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
        if cutoffs is not None:
            if any(a >= b for a, b in pairwise(cutoffs)):
                raise InputError(f"policy.cutoffs_ms = {list(cutoffs)}: must ascend")
            if len(cutoffs) != nodes - 1:
                raise InputError(f"policy.cutoffs_ms: {len(cutoffs)} sizes; for {nodes} nodes {nodes - 1} are needed")
            return
        if len(demands.cpu_ms) > 1 and demands.cpu_ms[0] == demands.cpu_ms[-1]:
            raise InputError(
                "policy 'sita-e': needs tasks of different sizes, and all announce the same workload.cpu_ms; set "
                "policy.cutoffs_ms, or take another policy"
            )
        self.sizes_ms, self.work_ms = demands.cpu_ms, np.cumsum(demands.cpu_ms * demands.tasks)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The node of its class, or the next one that has not refused."""
        target = int(np.searchsorted(self.cutoffs(view), task.cpu_ms, side="left"))
        while target in view.refused:
            target = (target + 1) % view.nodes
        return Decision(target, "its size class")

    def cutoffs(self, view: View) -> tuple[float, ...]:
        """The largest CPU demand of each class but the last [ms]."""
        found: tuple[float, ...] | None = self.parameters.cutoffs_ms or view.notes.get("cutoffs")
        if found is None:
            share = np.cumsum([node.speed * node.cores for node in view.hardware])
            places = np.searchsorted(self.work_ms, share[:-1] / share[-1] * self.work_ms[-1])
            found = view.notes["cutoffs"] = tuple(self.sizes_ms[places].tolist())
        return found

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept."""
        return ""
