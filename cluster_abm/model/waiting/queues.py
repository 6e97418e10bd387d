"""Jobs that have been submitted and not started: those that a policy holds, in queues."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.part import part
from cluster_abm.model.waiting.holding import JobHolding
from cluster_abm.model.waiting.job_queue import JobQueue
from cluster_abm.model.waiting.submission_times import SubmissionTimes


class TaskArrivals(NamedTuple):
    """Tasks to be placed, shape (tasks,) each: job, rank inside the job, how long the submission was held [ns]."""

    job: Integers
    rank: Integers
    held_ns: Integers


Queue = deque[int] | JobQueue


class StartsJobs(Protocol):
    """What starts the jobs of a head node's queue in compiled code."""

    @property
    def is_right(self) -> bool:
        """Whether it decides as the policy does."""

    @property
    def leaps(self) -> bool:
        """Whether it goes from event to event by itself."""

    def start_jobs(self, jobs: Integers, boundary_ns: int, stand_in: Integers) -> Iterator[TaskArrivals]:
        """Have jobs that are submitted before a boundary join the queue, and start jobs up to it."""


class ServesQueues(Protocol):
    """What serves queues in compiled code (waiting.compiled_queues)."""

    @property
    def is_right(self) -> bool:
        """Whether it does what the policy does in Python."""

    @property
    def waiting(self) -> int:
        """How many jobs wait in the queues that it has."""

    def take_over(self, queues: Mapping[int, deque[int]]) -> None:
        """Make these the queues, each of a node."""

    def hand_over(self) -> dict[int, deque[int]]:
        """The queues that are not empty, by node; from now on it has none."""

    def serve(self, arrived: Integers, looks_at_all: bool) -> None:
        """Jobs join their queues, each in its slice; queues that a job has joined are looked at, or all of them now."""


@part
class Submissions:
    """The jobs that have been submitted and not yet started.

    A policy that holds jobs has one queue at the head node if it is central, else one at each node. Queues are served
    first come first served, the job at the head holding back those behind it, unless the policy chooses among them.

    Attributes:
        schedule: when jobs are submitted.
        holding: how the policy holds jobs; None: it holds none.
        may_change: whether a failure, a repair or another event is to come.
        queue: the queue of a head node; None: there is none.
        starter: starts its jobs in compiled code; None: they start in Python.
        compiled: serves the queues of nodes in compiled code; None: nothing does.
        was_put_back: whether the job that was to start last is in its queue again.
        bring_back_tasks: has all tasks that wait at managers be here, where they are in rows.
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
        # A queue of each node at which jobs wait.
        self._queues: dict[int, deque[int]] = {}
        # The queue of a head node, which has no other one.
        self.queue = self.holding.new_queue() if self.holding is not None and self.holding.is_central else None
        # Jobs that wait elsewhere: submitted while no node accepts tasks, or held by their manager.
        self._held: set[int] = set()
        # Serves the queues of nodes in compiled code; whether they are with it now, and not here.
        self.compiled: ServesQueues | None = None
        self._are_away = False
        self.bring_back_tasks: Callable[[], None] = lambda: None
        self._homeless: list[int] = []
        self.starter: StartsJobs | None = None
        self.was_put_back = False
        self.is_stuck = False
        self.last_look_ns = NEVER

    @property
    def held(self) -> set[int]:
        """Jobs that wait in a queue, and those submitted while no node accepts tasks."""
        self.bring_back_tasks()
        self._bring_back()
        queues = self._queues.values() if self.queue is None else [self.queue]
        return self._held.union(*queues)

    @property
    def are_held(self) -> bool:
        """Whether any job waits."""
        is_any_away = self._are_away and self.compiled is not None and self.compiled.waiting > 0
        return bool(self._held or self._queues or self.queue or is_any_away)

    @property
    def all_started(self) -> bool:
        """Whether every job of the run has been submitted, and none of them is held."""
        return self.schedule.submitted == len(self.engine.jobs) and not self.are_held

    def _bring_back(self) -> None:
        """Have the queues here, and not with what serves them in compiled code."""
        if self._are_away and self.compiled is not None:
            self._queues, self._are_away = self.compiled.hand_over(), False

    def _serve_away(self, compiled: ServesQueues, arrived: list[int], is_due: bool) -> None:
        """Have the queues served in compiled code."""
        if not self._are_away:
            compiled.take_over(self._queues)
            self._queues, self._are_away = {}, True
        if arrived or (is_due and compiled.waiting):
            compiled.serve(np.array(arrived, np.int64), is_due)

    def arrive(self, boundary_ns: int) -> Iterator[TaskArrivals]:
        """Jobs submitted before the boundary appear; those that the policy does not hold are to be placed.

        Each group must have been placed when the next one is asked for: a policy that holds sees what it has started.
        """
        jobs = self.schedule.take(boundary_ns)
        if self.holding is None and not self._homeless and self.availability.any_accepting:
            if len(jobs):
                yield self.tasks_of(jobs)
            return
        arrived = jobs.tolist()
        if not self.availability.any_accepting:
            self._homeless += arrived
            self._held.update(arrived)
            return
        if self._homeless:
            arrived = [*self._homeless, *arrived]
            self._held.difference_update(self._homeless)
            self._homeless = []
        if self.holding is not None:
            yield from self._from_queues(arrived, self.holding, boundary_ns)
        elif arrived:
            yield self.tasks_of(np.array(arrived))

    def put_back(self, arrivals: TaskArrivals) -> None:
        """Hold a job that no node takes in its place of its queue."""
        self.was_put_back = True
        if self.holding is not None:
            self.holding.withdraw(int(arrivals.job[0]))

    def wait(self, job: int) -> None:
        """A job waits at its manager, which holds its tasks."""
        self._held.add(job)

    def wait_no_more(self, job: int) -> None:
        """A job waits at its manager no more."""
        self._held.discard(job)

    def none_waits(self) -> None:
        """No job waits at its manager any more, or it is counted elsewhere."""
        self._held = set(self._homeless)

    def remove(self, job: int) -> TaskArrivals:
        """Take a held job out of its queue; its tasks."""
        self._held.discard(job)
        if job in self._homeless:
            self._homeless.remove(job)
        if self.queue is not None and job in self.queue:
            self.queue.remove(job)
        self._bring_back()
        for queue in self._queues.values():
            if job in queue:
                queue.remove(job)
        self._queues = {key: queue for key, queue in self._queues.items() if queue}
        return self.tasks_of(np.array([job]))

    def _from_queues(self, arrived: list[int], holding: JobHolding, boundary_ns: int) -> Iterator[TaskArrivals]:
        if self.starter is not None and self.starter.is_right:
            yield from self.starter.start_jobs(np.array(arrived, np.int64), boundary_ns, self.availability.stand_ins())
            if not holding.news.has_ended_since:
                self._look_for_an_end(holding)
            return
        # A policy that acts periodically looks at held jobs then, and when another one joins them.
        due_ns = holding.due_ns
        is_due = self.clock.now_ns >= due_ns
        if self.compiled is not None and self.compiled.is_right:
            self._serve_away(self.compiled, arrived, is_due)
            if is_due:
                self._look_for_an_end(holding)
            return
        self._bring_back()
        joined = set()
        for job in arrived:
            key = 0 if holding.is_central else int(self.engine.jobs["home"][job])
            joined.add(key)
            self._queue_of(key).append(job)
        queues: dict[int, Queue] = dict(sorted(self._queues.items())) if self.queue is None else {0: self.queue}
        # A policy that chooses is asked when something has happened, not whenever there happens to be a boundary.
        has_news = holding.has_news()
        if any(map(len, queues.values())):
            holding.look()
        for key, queue in queues.items():
            may_start = is_due if due_ns < NEVER else has_news
            if key in joined or may_start:
                yield from self.serve(queue, holding)
        self._queues = {key: queue for key, queue in self._queues.items() if queue}
        if is_due or due_ns == NEVER:
            self._look_for_an_end(holding)

    def _queue_of(self, key: int) -> Queue:
        """The queue of a node, or that of the head node."""
        return self.queue if self.queue is not None else self._queues.setdefault(key, deque())

    def serve(self, queue: Queue, holding: JobHolding) -> Iterator[TaskArrivals]:
        """Start jobs of a queue, as the policy says, until none starts."""
        while len(queue) and (position := holding.next_job(queue)) >= 0:
            yield from self.start(queue, holding, position)
            if self.was_put_back:
                # No node takes it, or can be reached: it is still in its place.
                break

    def start(self, queue: Queue, holding: JobHolding, position: int) -> Iterator[TaskArrivals]:
        """Start the job at a place of a queue."""
        job = queue[position]
        self.was_put_back = not holding.start(queue, position)
        if self.was_put_back:
            return
        yield self.tasks_of(np.array([job]))
        if not self.was_put_back:
            del queue[position]

    def _look_for_an_end(self, holding: JobHolding) -> None:
        """Find out whether no future event can release a held job, so that the run would never end."""
        now_ns = self.clock.now_ns
        waits = self.are_held and self.engine.live == 0 and self.schedule.is_over and not self.may_change()
        if not (waits and holding.frees_by_events):
            self.last_look_ns = NEVER
        elif self.last_look_ns == NEVER:
            self.last_look_ns = self.clock.boundary_from(now_ns + holding.news.spread_ns())
        # Without news to wait for the run is stuck at once.
        self.is_stuck = now_ns >= self.last_look_ns

    def tasks_of(self, jobs: Integers, first_rank: int = 0) -> TaskArrivals:
        """The tasks of jobs, in their order; of one job alone from that rank on."""
        if len(jobs) == 1:
            job = int(jobs[0])
            ranks = np.arange(first_rank, int(self.engine.widths[job]))
            held_ns = max(0, self.clock.now_ns - int(self.schedule.arrivals_ns[job]))
            return TaskArrivals(np.full(len(ranks), job), ranks, np.full(len(ranks), held_ns))
        all_held_ns = np.maximum(0, self.clock.now_ns - self.schedule.arrivals_ns[jobs])
        if self._all_have_one_task:
            return TaskArrivals(jobs, np.zeros(len(jobs), np.int64), all_held_ns)
        widths = self.engine.widths[jobs].astype(np.int64)
        starts = np.cumsum(widths) - widths
        return TaskArrivals(
            jobs.repeat(widths), np.arange(widths.sum()) - starts.repeat(widths), all_held_ns.repeat(widths)
        )
