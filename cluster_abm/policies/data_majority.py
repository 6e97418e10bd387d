"""Initial placement where most of the data lies: the conventional rival of data access."""

from __future__ import annotations

import numpy as np

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View


class DataMajority(Policy):
    """The cluster that holds most of the job's data, and in it the node that holds most.

    What the rest costs is not asked. Among equals the node with fewest tasks, home, then the next one after it. A job
    that needs no files joins the shortest queue by this rule.
    """

    name = "data-majority"
    source = "LMIP, the conventional scheduling algorithm it is compared with"
    summary = "each task to the cluster that holds most of its data, and there to the node that does"
    rules = (("most data", "the target holds most of its data"),)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Most MB in the cluster, then on the node, among the nodes that have not refused."""
        on_node_mb, in_cluster_mb = np.zeros(view.nodes), np.zeros(view.nodes)
        if view.data is not None:
            on_node_mb, in_cluster_mb = view.data.held_mb(task.files)
        best = view.is_open
        for held_mb in (in_cluster_mb, on_node_mb):
            best &= held_mb == held_mb[best].max()
        target = view.least_of(np.where(best, view.column("tasks", task), np.inf))
        return Decision(target, "most data", "held_mb")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept: data does not move away."""
        return ""
