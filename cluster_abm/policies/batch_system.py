"""BS: a batch system, first come first served, that shares the cluster in space (IOCM, section 3.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.policies.base import Decision, Policy
from cluster_abm.policies.view import ArrivingTask, Loads, View

Nodes = npt.NDArray[np.int64]
NO_NODES = np.zeros(0, np.int64)


class BatchSystem(Policy):
    """Nodes are partitioned into disjoint sets, and each set runs one job at a time; where nodes have several cores it
    is cores that are partitioned.

    A head node keeps one queue. The job at its head waits until as many nodes (cores) are free as it has tasks (or all
    of them, if it has more); no job overtakes it. It has these to itself until all its tasks have ended. A task that
    loses its node gets a free one, else goes to another node of its job. In the heterogeneous form a job gets the
    fastest of the free ones.
    """

    name = "batch-system"
    source = "IOCM, section 3.4 (BS)"
    summary = "first come first served: each job waits for nodes of its own, one per task; or cores"
    central = True
    holds_jobs = True
    holds_for_events = True
    uses_reports = False

    def holds(self, task: ArrivingTask, tasks: int, view: View) -> bool:
        """Until enough nodes are free; they are given to the job then, home first and then the next ones."""
        given = _given(view)
        free = _free(view, given, task.home)
        view.notes["given"] = given
        if len(free) < min(tasks, _most(view)):
            return True
        fastest_first = np.argsort(_tasks(view, task)[free], kind="stable")
        view.notes["given"] = given | {task.job: free[fastest_first[:tasks]]}
        return False

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The emptiest of the job's nodes; of its cores the next one."""
        nodes = view.notes["given"][task.job]
        if not _has_cores(view):
            return Decision(_emptiest(view, nodes, task), "first come first served", "tasks")
        placed = view.notes.setdefault("placed", {})
        turn = placed[task.job] = placed.get(task.job, -1) + 1
        return Decision(int(nodes[turn % len(nodes)]), "first come first served", "tasks")

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """A free node, which is the job's from now on; else the emptiest of its own; else, for it must go somewhere,
        the emptiest of all."""
        given = _given(view)
        own = given.get(task.job, NO_NODES)
        own = own[~np.isin(own, list(view.refused))]
        free = _free(view, given, task.home)
        up = np.setdiff1d(np.arange(view.nodes), list(view.refused))
        target = _emptiest(view, next(nodes for nodes in (free, own, up) if len(nodes)), task)
        more = np.append(own, [target]) if _has_cores(view) else np.union1d(own, [target])
        view.notes["given"] = given | {task.job: more}
        return Decision(target, "recovery", "tasks", load_there=view.load("tasks", target, task))


def _cores(view: View) -> Nodes:
    """Cores of every node, shape (nodes,)."""
    return np.array([node.cores for node in view.hardware])


def _has_cores(view: View) -> bool:
    """Whether it is cores that are given."""
    return any(node.cores > 1 for node in view.hardware)


def _most(view: View) -> int:
    """How many can be free at most."""
    cores = _cores(view)
    cores[list(view.refused)] = 0
    return int(cores.sum())


def _tasks(view: View, task: ArrivingTask) -> Loads:
    """By what free nodes are ordered, shape (nodes,): none has tasks, in the heterogeneous form it is their speed."""
    if view.capacities is None and _has_cores(view):
        return np.zeros(view.nodes)
    return view.column("tasks", task)


def _given(view: View) -> dict[int, Nodes]:
    """The nodes of each job that has not ended; a node as often as it gives cores."""
    given: dict[int, Nodes] = view.notes.get("given", {})
    if _has_cores(view):
        live = set(view.live_jobs.tolist())
        return {job: nodes for job, nodes in given.items() if job in live}
    tasks_on = view.loads["tasks"]
    return {job: nodes for job, nodes in given.items() if tasks_on[nodes].any()}


def _free(view: View, given: dict[int, Nodes], home: int) -> Nodes:
    """Nodes that are up and no job's, from `home` on, cyclically; a node as often as it has free cores."""
    free = _cores(view)
    for nodes in given.values():
        np.subtract.at(free, nodes, 1)
    free[list(view.refused)] = 0
    order = (np.arange(view.nodes) + home) % view.nodes
    return np.repeat(order, np.maximum(0, free[order]))


def _emptiest(view: View, nodes: Nodes, task: ArrivingTask) -> int:
    """Of some nodes the one with fewest tasks, the first of them."""
    return int(nodes[view.column("tasks", task)[nodes].argmin()])
