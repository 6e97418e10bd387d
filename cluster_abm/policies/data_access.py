"""Initial placement by the time to fetch a job's files."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, Loads, View
from cluster_abm.scenario.distributions import NonNegative

# Sums of the same times in another order differ in their last bits.
ALIKE = 1e-12


class DataAccess(Policy):
    """LMIP's initial placement: T = T_WC + T_BC for every cluster, the job to the node that attains the least.

    T_WC sums, over the job's files that the cluster holds, the least time to transfer the file from a holder inside of
    it; T_BC, over the files that it does not hold, the least time from a cluster that does. A transfer takes size over
    bandwidth and the latency of the path (settled).

    Every node of a cluster is looked at, since a file costs nothing where it lies. Among equals the node with fewest
    tasks, home, then the next one after it. A job that needs no files joins the shortest queue by this rule.
    """

    class Parameters(Policy.Parameters):
        """Whether load counts."""

        load_weight_ms: NonNegative = Field(
            0.0, description="what each task already on a node adds to its T [ms]; 0: the paper's, blind to load"
        )

    name = "data-access"
    source = "LMIP, Initial job placement based on data access patterns"
    summary = "each task to the node where fetching its files takes least time, T_WC + T_BC"
    rules = (("least T", "fetching its files takes least time there", "LMIP, T = T_WC + T_BC"),)

    parameters: Parameters

    def costs_ms(self, task: ArrivingTask, view: View) -> Loads:
        """T of the arriving task on each node, and what the load there adds, shape (nodes,) [ms]."""
        fetch_ms = np.zeros(view.nodes) if view.data is None else view.data.access_ms(task.files)
        return fetch_ms + self.parameters.load_weight_ms * view.column("tasks", task)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The node of least T among those that have not refused."""
        costs_ms = self.costs_ms(task, view)
        open_ms = view.open_entries(costs_ms)
        cheapest = open_ms <= open_ms.min() * (1.0 + ALIKE)
        target = view.least_of(np.where(cheapest, view.column("tasks", task), np.inf))
        return Decision(
            target, "least T", "data_access_ms", load_here=float(costs_ms[view.me]), load_there=float(costs_ms[target])
        )

    def load_of(self, task: ArrivingTask, view: View, node: int) -> float:
        """T on a node, and what the load there adds: an entry of `costs_ms` [ms]."""
        fetch_ms = 0.0 if view.data is None else view.data.access_ms_on(task.files, node)
        return fetch_ms + self.parameters.load_weight_ms * view.load("tasks", node, task)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Refuses if, by the load that is true here, home would have been cheaper."""
        if self.load_of(task, view, view.me) > decision.load_here:
            return "dearer than home by now"
        return ""
