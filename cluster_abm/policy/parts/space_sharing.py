"""Shared parts of the batch systems: cores are given to jobs, and are theirs until their last task has ended."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from cluster_abm.jit import allocating_kernel
from cluster_abm.policy.base import Decision
from cluster_abm.policy.kinds import Holding
from cluster_abm.policy.view import ArrivingTask, Loads, View
from cluster_abm.policy.waiting import WaitingJobs

Nodes = npt.NDArray[np.int64]


class SpaceSharing(Holding):
    """A head node that gives nodes, or cores where nodes have several, to one job at a time: one a task.

    The job at the head of the queue starts as soon as it fits: first come, first served. A policy that chooses among
    waiting jobs has a `next_job` of its own. A job with more tasks than there are cores gets all of them. A task that
    loses its node gets a free one, else goes to another node of its job. In the heterogeneous form a job gets the
    fastest of the free ones. Which cores are free, and who holds the others, the model counts (`View.free`).
    """

    rules: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("first come first served", "the job was first in the queue, and the target is free"),
    )

    central = True
    holds_for_events = True
    uses_reports = False

    rule = "first come first served"

    def next_job(self, queue: WaitingJobs, view: View) -> int:
        """The job at the head of the queue, once there are cores enough for it."""
        return 0 if queue["cores"][0] <= view.free_cores else -1

    def cores_for(self, task: ArrivingTask, tasks: int, view: View) -> Nodes:
        """Free cores from home on, cyclically; in the heterogeneous form the fastest of them."""
        if view.capacities is None:
            return free_from(view.free, task.home, tasks)
        return lightest_free(view.free, task.home, tasks, view.column("tasks", task))

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The next one of the job's cores; of unlike nodes of one core each the emptiest by relative load."""
        target = view.core_of(task)
        if view.capacities is not None and view.capacities.cores.max() == 1:
            nodes = view.nodes_of(task.job)
            if len(nodes) > 0:
                target = int(nodes[view.column("tasks", task)[nodes].argmin()])
        return Decision(target, self.rule, "tasks")

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """A free node, which is the job's from now on; else the emptiest of its own; else, for it must go somewhere,
        the emptiest of all."""
        order = (np.arange(view.nodes) + task.home) % view.nodes
        own = view.nodes_of(task.job)
        choices = (order[view.free[order] > 0], own[view.is_open[own]], np.flatnonzero(view.is_open))
        nodes = next(nodes for nodes in choices if len(nodes))
        target = int(nodes[view.column("tasks", task)[nodes].argmin()])
        return Decision(target, "recovery", "tasks", load_there=view.load("tasks", target, task))


@allocating_kernel
def free_from(free: Nodes, home: int, most: int) -> Nodes:
    """Nodes from `home` on, cyclically, each as often as it has free cores: the first `most` of them, or all.

    Args:
        free: free cores of each node, shape (nodes,).
        home: where to begin.
        most: how many are wanted.
    """
    found = np.empty(min(most, free.sum()), np.int64)
    count, nodes = 0, len(free)
    for turn in range(nodes):
        node = home + turn if home + turn < nodes else home + turn - nodes
        for _ in range(free[node]):
            if count == len(found):
                return found
            found[count] = node
            count += 1
    return found


@allocating_kernel
def lightest_free(free: Nodes, home: int, most: int, load: Loads) -> Nodes:
    """The same in the order of a load of each node, shape (nodes,); of equal ones the first after `home`."""
    found = free_from(free, home, free.sum())
    return found[np.argsort(load[found], kind="mergesort")[:most]]
