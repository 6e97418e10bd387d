"""The start of tasks: each waits until its node has been asked, it has travelled there, and its files have come."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.engine.state import EngineState
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.part import part
from cluster_abm.model.setup import travel_ns
from cluster_abm.model.waiting.cores import Cores
from cluster_abm.model.waiting.queues import TaskArrivals
from cluster_abm.policies import ArrivingTask


@part
class TaskStarts:
    """Sends tasks from their homes to the nodes on which they start."""

    engine: EngineState
    availability: Availability
    announcements: Announcements
    views: Views
    staging: Staging | None
    transfers: Transfers
    departures: Departures
    cores: Cores

    def __post_init__(self) -> None:
        # The columns of a task that starts, as the engine takes them: used again for each.
        self._columns = [np.zeros(1, np.int64) for _ in range(6)]

    @property
    def notes_links(self) -> bool:
        """Whether what tasks need of the links is noted: then compiled code goes slice by slice."""
        return self.transfers.is_contended or self.departures.routes_in_use.are_noted

    def start(self, task: ArrivingTask, rank: int, held_ns: int, home: int, target: int, asking_ns: int) -> None:
        """Send a task from its home to the node on which it starts.

        Args:
            task: the task.
            rank: its number inside its job.
            held_ns: how long it has waited [ns].
            home: its home, or the node that stands in for it.
            target: its node.
            asking_ns: how long its load manager has asked other nodes [ns].
        """
        delay_ns = self._delay_ns(task, home, target, asking_ns)
        for column, number in zip(self._columns, (task.job, rank, held_ns, target, delay_ns, home), strict=True):
            column[0] = number
        self.engine.admit(*self._columns)
        self.cores.start_task(task.job, target)
        if target != home or self.staging is not None:
            self._share_links(task, home, target, asking_ns)

    def start_waiting(self, task: ArrivingTask, rank: int, held_ns: int, target: int, told_ns: int) -> None:
        """Start a task that has waited at a manager; `told_ns`: how long it takes to tell its home [ns]."""
        self.start(task, rank, held_ns, self.availability.stand_in(task.home), target, told_ns)

    def start_at_home(self, arrivals: TaskArrivals, homes: Integers) -> None:
        """Start all tasks where they arrive, at their exact instants."""
        delays_ns = np.zeros(len(homes), np.int64)
        staging = self.staging
        if staging is not None:
            fetched_ns = map(staging.fetch, arrivals.job.tolist(), homes.tolist())
            delays_ns += np.fromiter(fetched_ns, np.int64, len(homes))
        self.engine.admit(*arrivals, homes, delays_ns, homes)
        if staging is not None and self.transfers.is_contended:
            tasks = self.engine.jobs["first_task"][arrivals.job] + arrivals.rank
            for task, home in zip(tasks.tolist(), homes.tolist(), strict=True):
                self.transfers.begin(self.engine.slot_of(home, task), home, 0, 0.0, 0.0)

    def note_links(self, arrivals: TaskArrivals, stand_in: Integers, placed: Integers) -> None:
        """Note what tasks that compiled code has placed need of the links; `placed` is its answer."""
        routes_in_use = self.departures.routes_in_use
        if not self.notes_links:
            return
        homes = stand_in[self.engine.jobs["home"][arrivals.job]]
        concerned = np.flatnonzero((placed[0] != homes) | (self.staging is not None))
        for entry in concerned.tolist():
            task = self.announcements.of(int(arrivals.job[entry]), int(arrivals.rank[entry]))
            target, _, asking_ns = placed[:, entry].tolist()
            routes_in_use.note(task.task, int(homes[entry]), target)
            self._share_links(task, int(homes[entry]), target, asking_ns)

    def _delay_ns(self, task: ArrivingTask, home: int, target: int, asking_ns: int) -> int:
        """How long a task takes to its node: asking, the way there, its files [ns]."""
        delay_ns = asking_ns
        if target != home:
            self.departures.note_remote_start(task.task, home, target)
            delay_ns += travel_ns(self.views.true(home, target).cost_ms(task, target), task.task, target)
        if self.staging is not None:
            delay_ns += self.staging.fetch(task.job, target)
        return delay_ns

    def _share_links(self, task: ArrivingTask, home: int, target: int, asking_ns: int) -> None:
        if self.transfers.is_contended:
            slot = self.engine.slot_of(target, task.task)
            self.departures.share_links(slot, task, home, asking_ns)
