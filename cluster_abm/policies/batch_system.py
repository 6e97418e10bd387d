"""BS: a batch system, first come first served, that shares the cluster in space (IOCM, section 3.4)."""

from __future__ import annotations

import numpy as np

from cluster_abm.policies.base import Decision, Policy
from cluster_abm.policies.view import Newcomer, View


class BatchSystem(Policy):
    """Nodes are partitioned into disjoint sets, and each set runs one job at a time.

    A head node keeps one queue. The job at its head waits until as many nodes are free as it has tasks (or all of them,
    if it has more); nobody overtakes it. It has its nodes to itself until all its tasks have ended. In the
    heterogeneous form it gets the fastest of the free ones.
    """

    name = "batch-system"
    source = "IOCM, section 3.4 (BS)"
    summary = "first come first served: each job waits for nodes of its own, one per task"
    central = True
    holds_jobs = True
    holds_for_events = True
    uses_reports = False

    def holds(self, newcomer: Newcomer, tasks: int, view: View) -> bool:
        """Until enough nodes are free; they are given to the job then, home first and then the next ones."""
        tasks_on = view.loads["tasks"]
        given = [nodes for nodes in view.notes.get("given", []) if tasks_on[nodes].any()]
        is_free = np.ones(view.nodes, bool)
        for nodes in given:
            is_free[nodes] = False
        is_free[list(view.refused)] = False
        free = (np.flatnonzero(np.roll(is_free, -newcomer.home)) + newcomer.home) % view.nodes
        view.notes["given"] = given
        if len(free) < min(tasks, view.nodes - len(view.refused)):
            return True
        fastest_first = np.argsort(view.column("tasks", newcomer)[free], kind="stable")
        view.notes["given"] = [*given, free[fastest_first[:tasks]]]
        return False

    def place(self, newcomer: Newcomer, view: View) -> Decision:
        """The emptiest of the job's nodes."""
        nodes = view.notes["given"][-1]
        tasks_on = view.column("tasks", newcomer)[nodes]
        return Decision(int(nodes[tasks_on.argmin()]), "first come first served", "tasks")
