"""Tetris: tasks are packed by all that they need at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from pydantic import Field

from cluster_abm.arrays import Flags
from cluster_abm.formulas import cpu_share
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.kinds import Holding
from cluster_abm.policy.view import ArrivingTask, Hardware, Loads, View
from cluster_abm.policy.waiting import WaitingJobs
from cluster_abm.scenario.distributions import NonNegative, Share

# Demands that fill a node exactly fit.
ROUNDING = 1e-9
Nodes = list[int]


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
        cluster = _Cluster(view, self.parameters.remote_penalty)
        tasks = [queue.first_task(place) for place in range(len(queue))]
        counts = queue.rows["tasks"].tolist()
        idle = not len(view.live_jobs)
        fitting: list[int] = []
        for place, (task, count) in enumerate(zip(tasks, counts, strict=True)):
            if cluster.slots(task, cluster.free) >= count:
                fitting.append(place)
            elif cluster.slots(task, cluster.whole) < count:
                return self._start(place, task, count, cluster, view)
        if fitting:
            place = self._best([tasks[one] for one in fitting], [counts[one] for one in fitting], cluster)
            return self._start(fitting[place], tasks[fitting[place]], counts[fitting[place]], cluster, view)
        return self._start(0, tasks[0], counts[0], cluster, view) if idle else -1

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The node that was chosen when the job was."""
        chosen: Nodes = view.notes.get("chosen", {}).get(task.job, [])
        if chosen:
            target = chosen.pop(0)
            if not chosen:
                del view.notes["chosen"][task.job]
        else:
            target = _Cluster(view, self.parameters.remote_penalty).targets(task, 1)[0]
        return Decision(target, "largest dot product")

    def _best(self, tasks: list[ArrivingTask], counts: list[int], cluster: _Cluster) -> int:
        """The place of the highest a - eps p."""
        alignment = np.array([cluster.alignments(task).max() for task in tasks])
        work = np.array([cluster.work(task, count) for task, count in zip(tasks, counts, strict=True)])
        eps = self.parameters.srtf_weight * alignment.mean() / work.mean() if work.mean() > 0 else 0.0
        return int((alignment - eps * work).argmax())

    def _start(self, place: int, task: ArrivingTask, count: int, cluster: _Cluster, view: View) -> int:
        view.notes.setdefault("chosen", {})[task.job] = cluster.targets(task, count)
        return place


def share_of_time(task: ArrivingTask, node: Hardware) -> float:
    """The share of its time for which a task is at the CPU of a node, if it is alone: 1/(1 + lambda s)."""
    return cpu_share(task.io_per_ms * node.speed, task.request_on(node), 0.0, 0.0)


class _Cluster:
    """What nodes have free, each resource as a share of what there is: CPU, memory, disk.

    Attributes:
        free: shape (nodes, 3); a node that is down has nothing.
        whole: what would be if all nodes that are up were empty, same shape.
    """

    def __init__(self, view: View, remote_penalty: float) -> None:
        self._view, self._penalty = view, remote_penalty
        self._has = np.array([(node.cores, node.user_memory_mb, node.disk_channels) for node in view.hardware], float)
        loads = view.loads
        used = np.stack([loads["queue"], loads["memory_mb"], loads["at_disk"]], axis=1) / self._has
        self._is_open: Flags = view.is_open
        self.whole: Loads = np.where(self._is_open[:, None], 1.0, 0.0) * np.ones(3)
        self.free: Loads = np.where(self._is_open[:, None], 1.0 - used, -math.inf)
        self._demands: dict[tuple[Any, ...], Loads] = {}

    def demand(self, task: ArrivingTask) -> Loads:
        """What a task needs of each node, shape (nodes, 3)."""
        key = task.io_per_ms, task.request_kb, task.memory_mb
        if key not in self._demands:
            share = np.array(
                [
                    cpu_share(task.io_per_ms * node.speed, task.request_on(node), 0.0, 0.0)
                    for node in self._view.hardware
                ]
            )
            self._demands[key] = np.stack([share, np.full_like(share, task.memory_mb), 1.0 - share], axis=1) / self._has
        return self._demands[key]

    def slots(self, task: ArrivingTask, free: Loads) -> float:
        """How many such tasks fit into what is free."""
        demand = self.demand(task)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(demand > 0, np.floor((free + ROUNDING) / demand), np.where(free >= 0, math.inf, 0.0))
        return float(np.maximum(0.0, times.min(axis=1)).sum())

    def alignments(self, task: ArrivingTask) -> Loads:
        """The alignment of a task with each node, shape (nodes,); -inf where it does not fit."""
        demand = self.demand(task)
        fits: Flags = np.asarray((demand <= self.free + ROUNDING).all(axis=1))
        at_home = np.arange(len(fits)) == task.home
        aligned = (demand * np.where(np.isfinite(self.free), self.free, 0.0)).sum(axis=1)
        return np.where(fits, aligned * np.where(at_home, 1.0, 1.0 - self._penalty), -math.inf)

    def work(self, task: ArrivingTask, tasks: int) -> float:
        """The remaining work of a job with `tasks` tasks, p [ms]."""
        needed = self.demand(task)[self._is_open].mean(axis=0).sum()
        lasts_ms = [
            task.cpu_on(node) / share_of_time(task, node)
            for node, is_open in zip(self._view.hardware, self._is_open, strict=True)
            if is_open
        ]
        return float(tasks * needed * np.mean(lasts_ms))

    def targets(self, task: ArrivingTask, count: int) -> Nodes:
        """A node for each of `count` tasks of a job; they take their demand from what is free."""
        found: Nodes = []
        for _ in range(count):
            aligned = self.alignments(task)
            node = int(aligned.argmax()) if aligned.max() > -math.inf else int(self.free.min(axis=1).argmax())
            self.free[node] -= self.demand(task)[node]
            found.append(node)
        return found
