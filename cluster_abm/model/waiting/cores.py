"""Who holds which cores where a head node starts jobs, as Python and compiled code both count it."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import Clock
from cluster_abm.compiling.pointers import point
from cluster_abm.compiling.tables import address
from cluster_abm.engine.state import EngineState
from cluster_abm.model.part import part
from cluster_abm.model.waiting import books
from cluster_abm.policies import Holding, Policy
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.policy.waiting import LONGEST, RUNNING, CoresInUse


@part
class Cores:
    """The cores of all nodes, and the jobs that hold them: from their start until their last task has ended.

    Attributes:
        are_taken_by_tasks: whether a job gets a core for each of its tasks where that starts; else its policy says
            which cores it gets (Holding.cores_for).
        lasts: for how long the job that starts is expected to hold its cores [slices].
        at: address of the rows that compiled code reads and changes (books.books_group).
    """

    engine: EngineState
    clock: Clock
    is_counted: bool  # whether a head node starts jobs
    are_given: bool  # whether the policy says which cores a job gets

    def __post_init__(self) -> None:
        self.are_taken_by_tasks, self.lasts = self.is_counted and not self.are_given, LONGEST
        nodes = self.engine.nodes
        cores = nodes["cores"].astype(np.int64) if self.is_counted else np.zeros(1, np.int64)
        room = int(cores.sum()) + 64
        self._arrays = {
            "cores": cores, "taken": np.zeros_like(cores), "is_open": np.ones(len(cores), bool), "free": cores.copy(),
            "unfinished": self.engine.widths.astype(np.int64) if self.is_counted else np.zeros(1, np.int64),
            "counts": np.zeros(books.BOOKS_COUNTS, np.int64), "running": np.zeros(0, RUNNING),
            **dict.fromkeys(("first", "last", "node", "following", "spare"), np.zeros(0, np.int64)),
        }  # fmt: skip
        self.counts = self._arrays["counts"]
        self.counts[books.FREE_CORES] = self.counts[books.ALL_CORES] = cores.sum()
        self._row = np.zeros(1, books.books_group.row)
        self.at = address(self._row)
        self.make_room(room)

    @property
    def most(self) -> int:
        """The cores of all nodes, those that are down included."""
        return int(self._arrays["cores"].sum())

    @property
    def all_cores(self) -> int:
        """The cores of all nodes that are up and accept tasks."""
        return int(self.counts[books.ALL_CORES])

    @property
    def free(self) -> Integers:
        """Free cores of each node, shape (nodes,)."""
        return self._arrays["free"]

    def make_room(self, more: int) -> None:
        """Make room for that many more cores that jobs hold."""
        spares, before = int(self.counts[books.SPARES]), len(self._arrays["node"])
        if spares >= more:
            return
        size = 2 * before + more
        for name in ("running", "first", "last", "node", "following", "spare"):
            grown = np.zeros(size, self._arrays[name].dtype)
            grown[:before] = self._arrays[name]
            self._arrays[name] = grown
        added = size - before
        self._arrays["spare"][spares : spares + added] = np.arange(size - 1, before - 1, -1)
        self.counts[books.SPARES] += added
        point(self._row, self._arrays)

    def note_ends(self) -> None:
        """Jobs of which the last task has ended give their cores back."""
        books.note_ends_at(self.at, self.engine.tables)

    def note_open(self, refused: frozenset[int]) -> None:
        """Nodes that have refused have no free cores, and no running job has theirs."""
        is_open = np.ones(len(self.free), bool)
        is_open[list(refused)] = False
        books.note_open_at(self.at, is_open)

    def start(self, job: int, lasts: int, nodes: Integers) -> None:
        """A job that starts, or goes on, gets cores of nodes.

        Args:
            job: its number.
            lasts: after what time it is expected to end, unless that was expected later already [slices].
            nodes: the nodes, one entry a core, shape (cores,).
        """
        self.make_room(len(nodes))
        books.start_at(self.at, job, self.clock.slices + lasts, nodes.astype(np.int64))

    def start_task(self, job: int, target: int) -> None:
        """A task starts on a node, whose core its job gets, unless the policy gives cores to jobs."""
        if self.are_taken_by_tasks:
            self.start(job, self.lasts, np.array([target]))

    def withdraw(self, job: int) -> None:
        """A job that has not started after all gives its cores back."""
        books.withdraw_at(self.at, job)

    def move(self, job: int, target: int, lasts: int) -> None:
        """A task of a job goes on elsewhere: the job leaves nodes that are down, or that drain, and gets a core of the
        task's new node, where nodes have one core each only if it has none there; it lasts so long from now [slices].
        """
        books.leave_closed_at(self.at, job)
        nodes = np.array([target])
        if self._arrays["cores"].max() == 1:
            # From now on in the order of their numbers.
            nodes = np.union1d(self.nodes_of(job), nodes)
            books.give_back_at(self.at, job)
        self.start(job, lasts, nodes)

    def nodes_of(self, job: int) -> Integers:
        """The nodes of which a job holds cores, one entry a core, in the order in which it got them, shape (cores,)."""
        found = np.empty(len(self._arrays["node"]), np.int64)
        return found[: books.nodes_at(self.at, job, found)]

    def rank_of(self, task: ArrivingTask) -> int:
        """The number of a task inside its job."""
        return task.task - int(self.engine.jobs["first_task"][task.job])

    def in_use(self, refused: frozenset[int]) -> CoresInUse:
        """What a policy sees of it now; nodes that have refused have no free cores."""
        self.note_ends()
        self.note_open(refused)
        running = self._arrays["running"][: self.counts[books.JOBS]].view()
        free = self.free.view()
        free.flags.writeable = running.flags.writeable = False
        return CoresInUse(free, running, self.nodes_of, self.rank_of)


def are_counted(policy: Policy) -> bool:
    """Whether a head node starts jobs, so that the cores which these hold are counted."""
    return policy.holds_jobs and policy.central


def are_given(policy: Policy) -> bool:
    """Whether a policy says which cores a job gets that starts."""
    own = getattr(type(policy), "cores_for", Holding.cores_for)
    return are_counted(policy) and own is not Holding.cores_for
