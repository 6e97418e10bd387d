"""Shared parts of the batch systems: cores are given to jobs, and are theirs until their last task has ended."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cluster_abm.policy.base import Decision
from cluster_abm.policy.kinds import Holding
from cluster_abm.policy.view import ArrivingTask, Loads, View

Nodes = npt.NDArray[np.int64]
NO_NODES = np.zeros(0, np.int64)


class SpaceSharing(Holding):
    """A head node that gives nodes, or cores where nodes have several, to one job at a time: one a task.

    A job with more tasks than there are cores gets all of them. A task that loses its node gets a free one, else goes
    to another node of its job. In the heterogeneous form a job gets the fastest of the free ones. `holds` is first
    come, first served; a policy that chooses among waiting jobs calls `give` for the one that starts.

    What the head node notes: in `view.notes["given"]` the nodes of each job, a node as often as it gives cores; in
    `view.notes["placed"]` how many tasks of a job have been placed, where nodes have several cores.
    """

    rules: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("first come first served", "the job was first in the queue, and the target is free"),
    )

    central = True
    holds_for_events = True
    uses_reports = False

    rule = "first come first served"

    def found(self, task: ArrivingTask, tasks: int, view: View) -> None:
        """A job that is there from the beginning has cores of its node: one a task, or all of them."""
        cores = min(tasks, view.hardware[task.home].cores)
        view.notes["given"] = view.notes.get("given", {}) | {task.job: np.full(cores, task.home)}

    def holds(self, task: ArrivingTask, tasks: int, view: View) -> bool:
        """Until enough nodes are free; they are given to the job then, home first and then the next ones."""
        given = given_nodes(view)
        free = free_nodes(view, given, task.home)
        view.notes["given"] = given
        if len(free) < min(tasks, most_cores(view)):
            return True
        self.give(task, tasks, free, view)
        return False

    def give(self, task: ArrivingTask, tasks: int, free: Nodes, view: View) -> None:
        """Give the first of the free nodes to a job that starts, or in the heterogeneous form the fastest of them.

        Args:
            task: the job's first task.
            tasks: how many it has.
            free: nodes of `free_nodes` from its home on.
            view: what the head node knows.
        """
        fastest_first = np.argsort(_order_of_free(view, task)[free], kind="stable")
        view.notes["given"] = given_nodes(view) | {task.job: free[fastest_first[:tasks]]}

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The emptiest of the job's nodes; of its cores the next one."""
        nodes = view.notes["given"][task.job]
        if not has_cores(view):
            return Decision(_emptiest(view, nodes, task), self.rule, "tasks")
        placed = view.notes.setdefault("placed", {})
        turn = placed[task.job] = placed.get(task.job, -1) + 1
        return Decision(int(nodes[turn % len(nodes)]), self.rule, "tasks")

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """A free node, which is the job's from now on; else the emptiest of its own; else, for it must go somewhere,
        the emptiest of all."""
        given = given_nodes(view)
        own = given.get(task.job, NO_NODES)
        own = own[~np.isin(own, list(view.refused))]
        free = free_nodes(view, given, task.home)
        up = np.setdiff1d(np.arange(view.nodes), list(view.refused))
        target = _emptiest(view, next(nodes for nodes in (free, own, up) if len(nodes)), task)
        more = np.append(own, [target]) if has_cores(view) else np.union1d(own, [target])
        view.notes["given"] = given | {task.job: more}
        return Decision(target, "recovery", "tasks", load_there=view.load("tasks", target, task))


def cores_of(view: View) -> Nodes:
    """Cores of every node, shape (nodes,); none of those that are down or drain."""
    cores = np.array([node.cores for node in view.hardware])
    cores[list(view.refused)] = 0
    return cores


def has_cores(view: View) -> bool:
    """Whether it is cores that are given."""
    return any(node.cores > 1 for node in view.hardware)


def most_cores(view: View) -> int:
    """How many can be free at most."""
    return int(cores_of(view).sum())


def given_nodes(view: View) -> dict[int, Nodes]:
    """The nodes of each job that has not ended; a node as often as it gives cores."""
    given: dict[int, Nodes] = view.notes.get("given", {})
    if has_cores(view):
        live = set(view.live_jobs.tolist())
        return {job: nodes for job, nodes in given.items() if job in live}
    tasks_on = view.loads["tasks"]
    return {job: nodes for job, nodes in given.items() if tasks_on[nodes].any()}


def free_cores(view: View, given: dict[int, Nodes]) -> Nodes:
    """Cores of every node that no job has, shape (nodes,); none of those that are down or drain."""
    free = np.array([node.cores for node in view.hardware])
    for nodes in given.values():
        np.subtract.at(free, nodes, 1)
    free[list(view.refused)] = 0
    return np.maximum(0, free)


def free_nodes(view: View, given: dict[int, Nodes], home: int) -> Nodes:
    """Nodes that are up and no job's, from `home` on, cyclically; a node as often as it has free cores."""
    free = free_cores(view, given)
    order = (np.arange(view.nodes) + home) % view.nodes
    return np.repeat(order, free[order])


def _order_of_free(view: View, task: ArrivingTask) -> Loads:
    """By what free nodes are ordered, shape (nodes,): none has tasks, in the heterogeneous form it is their speed."""
    if view.capacities is None and has_cores(view):
        return np.zeros(view.nodes)
    return view.column("tasks", task)


def _emptiest(view: View, nodes: Nodes, task: ArrivingTask) -> int:
    """Of some nodes the one with fewest tasks, the first of them."""
    return int(nodes[view.column("tasks", task)[nodes].argmin()])
