"""Yardstick: processor sharing as one writes it in plain Mesa, in slices of 10 ms, nodes and jobs as agents.

Two forms. `run_usual`: a node gives each of its jobs its share of the slice, and nodes are stepped by `AgentSet.do`.
`run_fast`, as fast as plain Mesa allows: a node keeps the service that a job present since time 0 would have received
and a heap of the values at which its jobs are done, so that it touches only the job that ends; nodes are walked in a
plain list. Jobs enter and leave at the borders of slices; that bias is the price of slices without an exact engine.
"""

from __future__ import annotations

from bisect import bisect_left
from heapq import heappop, heappush

import mesa
from work import NODES, Outcome, cpu_only_jobs

SLICE_S = 0.01


class JobAgent(mesa.Agent):
    """A job, from its submission to its end."""

    def __init__(self, model: PlainCluster, arrival_s: float, cpu_s: float) -> None:
        super().__init__(model)
        self.arrival_s = arrival_s
        self.left_s = cpu_s


class UsualNode(mesa.Agent):
    """A node that gives each of its jobs the same share of every slice."""

    def __init__(self, model: PlainCluster) -> None:
        super().__init__(model)
        self.jobs: list[JobAgent] = []
        self.busy_slices = 0

    def enter(self, job: JobAgent) -> None:
        """A job starts here."""
        self.jobs.append(job)

    def step(self) -> None:
        """One slice."""
        if not self.jobs:
            return
        self.busy_slices += 1
        share_s = SLICE_S / len(self.jobs)
        over = False
        for job in self.jobs:
            job.left_s -= share_s
            over |= job.left_s <= 0.0
        if over:
            for job in self.jobs:
                if job.left_s <= 0.0:
                    self.model.end(job)
            self.jobs = [job for job in self.jobs if job.left_s > 0.0]


class FastNode(mesa.Agent):
    """The same in virtual time."""

    def __init__(self, model: PlainCluster) -> None:
        super().__init__(model)
        self.share_s = 0.0
        self.busy_slices = 0
        self.jobs: list[tuple[float, int, JobAgent]] = []

    def enter(self, job: JobAgent) -> None:
        """A job starts here."""
        heappush(self.jobs, (self.share_s + job.left_s, job.unique_id, job))

    def step(self) -> None:
        """One slice."""
        jobs = self.jobs
        if jobs:
            self.busy_slices += 1
            self.share_s += SLICE_S / len(jobs)
            while jobs and jobs[0][0] <= self.share_s:
                self.model.end(heappop(jobs)[2])


class PlainCluster(mesa.Model):
    """Independent nodes under the CPU-only work."""

    def __init__(self, node_class: type, seed: int, window_s: float, nodes: int) -> None:
        super().__init__(rng=seed)
        self.now_s = 0.0
        self.nodes = [node_class(self) for _ in range(nodes)]
        self.usual = node_class is UsualNode
        self.node_set = self.agents_by_type[node_class]
        self.times_s, self.homes, self.demands_s = cpu_only_jobs(seed, window_s, nodes)
        self.submitted = self.finished = 0
        self.total_response_s = 0.0

    def end(self, job: JobAgent) -> None:
        """A job is done at the end of this slice."""
        self.finished += 1
        self.total_response_s += self.now_s + SLICE_S - job.arrival_s
        job.remove()

    def step(self) -> None:
        """One slice: jobs submitted before it enter, nodes serve."""
        first = self.submitted
        if first < len(self.times_s) and self.times_s[first] <= self.now_s:
            self.submitted = bisect_left(self.times_s, self.now_s, first)
            for job in range(first, self.submitted):
                self.nodes[self.homes[job]].enter(JobAgent(self, self.times_s[job], self.demands_s[job]))
        if self.usual:
            self.node_set.do("step")
        else:
            for node in self.nodes:
                node.step()
        self.now_s += SLICE_S


def _run(node_class: type, seed: int, window_s: float, nodes: int) -> Outcome:
    model = PlainCluster(node_class, seed, window_s, nodes)
    for _ in range(round(window_s / SLICE_S)):
        model.step()
    busy_slices = sum(node.busy_slices for node in model.nodes)
    # Mesa 3.3 keeps every model alive through this table; 3.5 has none.
    getattr(mesa.Agent, "_ids", {}).pop(model, None)
    return Outcome(
        model.finished,
        model.total_response_s / max(1, model.finished) * 1000.0,
        busy_slices * SLICE_S / (window_s * nodes),
    )


def run_usual(seed: int, window_s: float, nodes: int = NODES) -> Outcome:
    """The CPU-only work for `window_s` simulated seconds, job by job."""
    return _run(UsualNode, seed, window_s, nodes)


def run_fast(seed: int, window_s: float, nodes: int = NODES) -> Outcome:
    """The CPU-only work for `window_s` simulated seconds, in virtual time."""
    return _run(FastNode, seed, window_s, nodes)
