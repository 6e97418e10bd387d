"""Jobs that have been submitted and not started: those that a policy holds, in queues."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.part import part
from cluster_abm.model.waiting.holding import JobHolding
from cluster_abm.model.waiting.submission_times import SubmissionTimes


class TaskArrivals(NamedTuple):
    """Tasks to be placed, shape (tasks,) each: job, rank inside the job, how long the submission was held [ns]."""

    job: Integers
    rank: Integers
    held_ns: Integers


@part
class Submissions:
    """The jobs that have been submitted and not yet started.

    A policy that holds jobs has one queue at the head node if it is central, else one at each node. Queues are served
    first come first served, the job at the head holding back those behind it, unless the policy chooses among them.

    Attributes:
        schedule: when jobs are submitted.
        holding: how the policy holds jobs; None: it holds none.
        may_change: whether a failure, a repair or another event is to come.
        held: jobs that wait in a queue, and those submitted while no node accepts tasks.
        is_stuck: whether all that is left of the run are jobs that will be held for ever.
        last_look_ns: when jobs that are still held then are held for ever, if nothing happens before [ns].
    """

    engine: EngineState
    clock: Clock
    availability: Availability
    schedule: SubmissionTimes
    holding: JobHolding | None
    may_change: Callable[[], bool]

    def __post_init__(self) -> None:
        self._all_have_one_task = bool((self.engine.widths == 1).all())
        self._queues: dict[int, deque[int]] = {}
        self.held: set[int] = set()
        self._homeless: list[int] = []
        self.is_stuck = False
        self.last_look_ns = NEVER

    @property
    def all_started(self) -> bool:
        """Whether every job of the run has been submitted, and none of them is held."""
        return self.schedule.submitted == len(self.engine.jobs) and not self.held

    def arrive(self, boundary_ns: int) -> Iterator[TaskArrivals]:
        """Jobs submitted before the boundary appear; those that the policy does not hold are to be placed.

        Each group must have been placed when the next one is asked for: a policy that holds sees what it has started.
        """
        jobs = self.schedule.take(boundary_ns)
        if self.holding is None and not self._homeless and self.availability.any_accepting:
            if len(jobs):
                yield self._tasks_of(jobs)
            return
        arrived = jobs.tolist()
        if not self.availability.any_accepting:
            self._homeless += arrived
            self.held.update(arrived)
            return
        if self._homeless:
            arrived = [*self._homeless, *arrived]
            self.held.difference_update(self._homeless)
            self._homeless = []
        if self.holding is not None:
            yield from self._from_queues(arrived, self.holding)
        elif arrived:
            yield self._tasks_of(np.array(arrived))

    def put_back(self, arrivals: TaskArrivals) -> None:
        """Hold a job that no node takes in its place of its queue."""
        self.held.add(int(arrivals.job[0]))

    def remove(self, job: int) -> TaskArrivals:
        """Take a held job out of its queue; its tasks."""
        self.held.discard(job)
        if job in self._homeless:
            self._homeless.remove(job)
        for queue in self._queues.values():
            if job in queue:
                queue.remove(job)
        return self._tasks_of(np.array([job]))

    def _from_queues(self, arrived: list[int], holding: JobHolding) -> Iterator[TaskArrivals]:
        # A policy that acts periodically looks at held jobs then, and when another one joins them.
        due_ns = holding.due_ns
        is_due = self.clock.now_ns >= due_ns
        joined = set()
        for job in arrived:
            key = 0 if holding.is_central else int(self.engine.jobs["home"][job])
            joined.add(key)
            self._queues.setdefault(key, deque()).append(job)
            self.held.add(job)
        self._queues = {key: queue for key, queue in sorted(self._queues.items()) if queue}
        # A policy that chooses is asked when something has happened, not whenever there happens to be a boundary.
        has_news = holding.has_news()
        if self._queues:
            holding.look()
        for key, queue in self._queues.items():
            may_start = is_due if due_ns < NEVER else has_news
            if key not in joined and not may_start:
                continue
            while queue and (position := holding.next_job(queue)) >= 0:
                job = queue[position]
                self.held.remove(job)
                yield self._tasks_of(np.array([job]))
                if job in self.held:
                    # Every node refused it: it is still in its place.
                    break
                del queue[position]
        if is_due or due_ns == NEVER:
            self._look_for_an_end(holding)

    def _look_for_an_end(self, holding: JobHolding) -> None:
        """Find out whether no future event can release a held job, so that the run would never end."""
        now_ns = self.clock.now_ns
        waits = self.held and self.engine.live == 0 and self.schedule.is_over and not self.may_change()
        if not (waits and holding.frees_by_events):
            self.last_look_ns = NEVER
        elif self.last_look_ns == NEVER:
            self.last_look_ns = self.clock.boundary_from(now_ns + holding.news.spread_ns())
        # Without news to wait for the run is stuck at once.
        self.is_stuck = now_ns >= self.last_look_ns

    def _tasks_of(self, jobs: Integers) -> TaskArrivals:
        if len(jobs) == 1:
            job = int(jobs[0])
            width = int(self.engine.widths[job])
            held_ns = max(0, self.clock.now_ns - int(self.schedule.arrivals_ns[job]))
            if width == 1:
                return TaskArrivals(jobs, np.zeros(1, np.int64), np.array([held_ns]))
            return TaskArrivals(np.full(width, job), np.arange(width), np.full(width, held_ns))
        all_held_ns = np.maximum(0, self.clock.now_ns - self.schedule.arrivals_ns[jobs])
        if self._all_have_one_task:
            return TaskArrivals(jobs, np.zeros(len(jobs), np.int64), all_held_ns)
        widths = self.engine.widths[jobs].astype(np.int64)
        starts = np.cumsum(widths) - widths
        return TaskArrivals(
            jobs.repeat(widths), np.arange(widths.sum()) - starts.repeat(widths), all_held_ns.repeat(widths)
        )
