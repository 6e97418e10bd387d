"""The tasks that wait at load managers, in place of starting at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.part import part
from cluster_abm.model.talking.mail import Mail
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.waiting.queues import Submissions, TaskArrivals
from cluster_abm.policies import ArrivingTask

NOTHING = TaskArrivals(*(np.zeros(0, np.int64) for _ in TaskArrivals._fields))


@part
class WaitingTasks:
    """Tasks that wait at a manager, are being handed over between two, or have no node to wait at.

    Attributes:
        is_central: whether they wait at the head node; else each waits at its home.
        count: how many there are.
        at: by manager, those that wait there, by their numbers.
        come_back: has them all be here, where they are in rows (talking.compiled).
    """

    engine: EngineState
    clock: Clock
    availability: Availability
    announcements: Announcements
    submissions: Submissions
    mail: Mail
    surroundings: Surroundings
    is_central: bool

    def __post_init__(self) -> None:
        self.count = 0
        self.come_back: Callable[[], None] = lambda: None
        self.at: list[dict[int, ArrivingTask]] = [{} for _ in range(self.surroundings.nodes)]
        # Tasks that waited at nodes that have failed, job by job.
        self._homeless: list[list[ArrivingTask]] = []

    def arrive(self, arrivals: TaskArrivals) -> None:
        """Tasks have arrived: the manager of their home, or of the head node, is told at their exact instant."""
        by_job: dict[int, list[ArrivingTask]] = {}
        for job, rank in zip(arrivals.job.tolist(), arrivals.rank.tolist(), strict=True):
            by_job.setdefault(job, []).append(self.announcements.of(job, rank))
        for job, tasks in by_job.items():
            self.submissions.wait(job)
            self._wait_at_home(tasks, max(self.clock.now_ns, self.arrival_ns(job)))

    @property
    def any_homeless(self) -> bool:
        """Whether any of them has no node to wait at, or none could be found now."""
        return bool(self._homeless) or not self.availability.any_accepting

    def leave(self) -> None:
        """They are in rows from now on, and not here."""
        for tasks in self.at:
            tasks.clear()
        self.count = 0
        self.submissions.none_waits()

    def return_with(self, at: Sequence[dict[int, ArrivingTask]]) -> None:
        """They are here again, by manager, and in the mail."""
        for tasks, returned in zip(self.at, at, strict=True):
            tasks.update(returned)
        waiting: dict[int, int] = {}
        for task in self.all():
            waiting[task.job] = waiting.get(task.job, 0) + 1
            self.count += 1
        for job, count in waiting.items():
            # A job of which no task has started is held.
            if count == int(self.engine.widths[job]):
                self.submissions.wait(job)

    def lose_home(self, by_job: Sequence[list[ArrivingTask]]) -> None:
        """The node at which these tasks waited has failed."""
        self._homeless += by_job

    def find_home(self) -> None:
        """Tasks that have lost their node arrive at their homes anew, once any node accepts tasks."""
        if self._homeless and self.availability.any_accepting:
            for tasks in self._homeless:
                self.count -= len(tasks)
                self._wait_at_home(tasks, self.clock.now_ns)
            self._homeless = []

    def all(self) -> list[ArrivingTask]:
        """All of them."""
        self.come_back()
        at_managers = [task for tasks in self.at for task in tasks.values()]
        return [*at_managers, *self.mail.brought(), *(task for tasks in self._homeless for task in tasks)]

    def arrival_ns(self, job: int) -> int:
        """When a job was submitted [ns]."""
        return int(self.submissions.schedule.arrivals_ns[job])

    def started(self, task: ArrivingTask) -> int:
        """A task waits no more; its number inside its job."""
        self.count -= 1
        self.submissions.wait_no_more(task.job)
        return task.task - int(self.engine.jobs["first_task"][task.job])

    def withdraw(self, job: int) -> TaskArrivals:
        """Take the waiting tasks of a job that is killed from the managers; which they are."""
        self.come_back()
        if not self.count:
            return NOTHING
        withdrawn = [task for tasks in self.at for task in tasks.values() if task.job == job]
        for tasks in self.at:
            for number in [number for number, task in tasks.items() if task.job == job]:
                del tasks[number]
        withdrawn += self.mail.withdraw(job)
        withdrawn += [task for tasks in self._homeless for task in tasks if task.job == job]
        self._homeless = [tasks for tasks in self._homeless if tasks[0].job != job]
        if not withdrawn:
            return NOTHING
        self.count -= len(withdrawn)
        self.submissions.wait_no_more(job)
        first = int(self.engine.jobs["first_task"][job])
        ranks = np.array(sorted(task.task - first for task in withdrawn), np.int64)
        held_ns = max(0, self.clock.now_ns - self.arrival_ns(job))
        return TaskArrivals(np.full(len(ranks), job), ranks, np.full(len(ranks), held_ns))

    def _wait_at_home(self, tasks: Sequence[ArrivingTask], at_ns: int) -> None:
        home = self.availability.stand_in(tasks[0].home)
        self.count += len(tasks)
        if not self.is_central:
            self.mail.tell(at_ns, home, "arrives", tuple(tasks))
            return
        head = self.surroundings.head
        self.mail.tell(at_ns + self.mail.submit(home, head), head, "arrives", tuple(tasks))
