"""Tetris: tasks are packed by all that they need at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cluster_abm.formulas import cpu_share
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.kinds import Holding
from cluster_abm.policy.parts.packing import alignments, best, fit, free_of, targets, whole_of, work_of
from cluster_abm.policy.view import ArrivingTask, Hardware, Loads, View
from cluster_abm.policy.waiting import WaitingJobs
from cluster_abm.scenario.distributions import NonNegative, Share

Nodes = npt.NDArray[np.int64]


class Tetris(Holding):
    """A head node keeps all jobs in one queue and starts what fits best into what is free.

    What a task needs of a node, each as a share of what the node has: CPU, 1/(1 + lambda s) of a core; memory; and
    disk, the rest of its time, lambda s/(1 + lambda s) of one of the requests that the disk takes at once. That is what
    it uses while it runs alone (lambda: accesses per ms of CPU; s: seek and transfer of one). Free is what the tasks
    there, counted alike, leave. A task is only put where all of it fits. Links are no resource here.

    Of each fitting pair of task and node the alignment is the dot product a = sum of needed times free, the `remote
    penalty` less on a node that is not the job's home. A job's remaining work is p = tasks times duration times the sum
    of what one needs (means over the nodes), its duration what its CPU and I/O take alone. The job of highest
    a - eps p starts, eps being `srtf_weight` times mean a over mean p of the jobs that fit now: packing and shortest
    remaining time together. With weight 0 it is the largest dot product alone.

    The paper starts tasks one by one. Here the tasks of a job start together, when all of them fit, each in turn on the
    node of largest alignment. Jobs that would not fit if all nodes were empty start at once, each of their tasks that
    fits nowhere on the emptiest node: that of which the scarcest resource has most left. While no job runs, the oldest
    one starts so, too: background programs may leave too little for ever. Large jobs may wait long behind small ones;
    the paper's knob for fairness between jobs is not here.
    """

    class Parameters(Policy.Parameters):
        """The paper's."""

        srtf_weight: NonNegative = Field(
            1.0, description="weight of short remaining work against alignment (the paper's m); 0: alignment alone"
        )
        remote_penalty: Share = Field(0.1, description="how much less the alignment of another node than home counts")

    name = "tetris"
    source = "Grandl, Ananthanarayanan, Kandula, Rao, Akella 2014 (SIGCOMM), sections 3.2-3.3"
    summary = "multi-resource packing: the task whose demands are most alike what a node has free"
    rules = (
        (
            "largest dot product",
            "what is free on the target is most alike what the task needs",
            "Grandl et al. 2014, section 3.2",
        ),
    )
    central = True
    holds_for_events = True
    uses_reports = False
    index = "queue"

    parameters: Parameters

    def next_job(self, queue: WaitingJobs, view: View) -> int:
        """The best of those that fit; one that never fits, or the oldest in an idle cluster, before it."""
        has = resources_of(view)
        free, whole = free_on(view, has), whole_on(view)
        fitting = np.empty(len(queue), np.int64)
        alignment, work = np.empty(len(queue)), np.empty(len(queue))
        count = 0
        for place in range(len(queue)):
            task, tasks = queue.first_task(place), queue["tasks"][place]
            demand = demand_on(view, has, task)
            if fit(demand, free, tasks):
                fitting[count] = place
                alignment[count] = alignments(demand, free, task.home, self.parameters.remote_penalty).max()
                work[count] = work_of(demand, whole, durations_on(view, task), tasks)
                count += 1
            elif not fit(demand, whole, tasks):
                return place
        if count > 0:
            return int(fitting[best(alignment[:count], work[:count], self.parameters.srtf_weight)])
        return 0 if len(view.running) == 0 else -1

    def cores_for(self, task: ArrivingTask, tasks: int, view: View) -> Nodes:
        """For each task in turn the node of largest alignment; where it fits nowhere, the emptiest."""
        has = resources_of(view)
        demand, free = demand_on(view, has, task), free_on(view, has)
        return targets(demand, free, task.home, self.parameters.remote_penalty, tasks)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Where the job has its core for it."""
        return Decision(view.core_of(task), "largest dot product")


# ---- what nodes have and tasks need, each resource as a share of what there is: CPU, memory, disk --------------------


def resources_of(view: View) -> Loads:
    """What each node has, shape (nodes, 3): cores, memory [MB], requests that its disk takes at once."""
    has = np.empty((view.nodes, 3))
    for node in range(view.nodes):
        hardware = view.hardware[node]
        has[node, 0], has[node, 1], has[node, 2] = hardware.cores, hardware.user_memory_mb, hardware.disk_channels
    return has


def free_on(view: View, has: Loads) -> Loads:
    """What is free on each node, shape (nodes, 3); minus infinity on one that is down."""
    loads, is_open = view.loads, view.is_open
    return free_of(loads["queue"], loads["memory_mb"], loads["at_disk"], has, is_open)


def whole_on(view: View) -> Loads:
    """What would be free if all nodes that are up were empty, shape (nodes, 3)."""
    return whole_of(view.is_open)


def demand_on(view: View, has: Loads, task: ArrivingTask) -> Loads:
    """What a task needs of each node, shape (nodes, 3)."""
    demand = np.empty((view.nodes, 3))
    for node in range(view.nodes):
        like = view.kinds[node]
        if like < node:
            for resource in range(3):
                demand[node, resource] = demand[like, resource]
        else:
            share = share_of_time(task, view.hardware[node])
            demand[node, 0] = share / has[node, 0]
            demand[node, 1] = task.memory_mb / has[node, 1]
            demand[node, 2] = (1.0 - share) / has[node, 2]
    return demand


def durations_on(view: View, task: ArrivingTask) -> Loads:
    """How long CPU and I/O of a task take alone on each node, shape (nodes,) [ms]."""
    lasts_ms = np.empty(view.nodes)
    for node in range(view.nodes):
        like, hardware = view.kinds[node], view.hardware[node]
        lasts_ms[node] = lasts_ms[like] if like < node else task.cpu_on(hardware) / share_of_time(task, hardware)
    return lasts_ms


def share_of_time(task: ArrivingTask, node: Hardware) -> float:
    """The share of its time for which a task is at the CPU of a node, if it is alone: 1/(1 + lambda s)."""
    return cpu_share(task.io_per_ms * node.speed, task.request_on(node), 0.0, 0.0)
