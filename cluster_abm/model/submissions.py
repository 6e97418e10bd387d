"""Between submission and start: jobs that appear, and queues in which a policy may hold them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import NEVER
from cluster_abm.model.schedule import Schedule, Users
from cluster_abm.model.setup import nanoseconds
from cluster_abm.workload import are_closed

if TYPE_CHECKING:
    from cluster_abm.model.model import ClusterModel

Integers = npt.NDArray[np.int64]


class Newcomers(NamedTuple):
    """Tasks that are to be placed, shape (tasks,) each: job, number inside the job, how long it was held [ns]."""

    job: Integers
    member: Integers
    held_ns: Integers


class Submissions:
    """The jobs that have been submitted and not yet started.

    A policy that holds jobs has one queue at the head node if it is central, else one at each node. Queues are served
    first come first served: who is at the head holds back those behind.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self.schedule = Users(model) if are_closed(model.setup) else Schedule(model)
        self._queues: dict[int, deque[int]] = {}
        # Jobs that wait in a queue, and those submitted while no node was up.
        self.held: set[int] = set()
        self._nowhere: list[int] = []
        # Whether all that is left of the run are jobs that will be held for ever.
        self.is_stuck = False
        # From when on those who are still held are so for ever, if nothing happens until then [ns].
        self.last_look_ns = NEVER

    @property
    def all_in(self) -> bool:
        """Whether every job of the run has been submitted, and none of them is held."""
        return self.schedule.submitted == len(self._model.jobs) and not self.held

    def arrive(self, border_ns: int) -> Iterator[Newcomers]:
        """Jobs submitted before the border appear; those that the policy does not hold are to be placed.

        Each group must have been placed when the next one is asked for: a policy that holds sees what it has started.
        """
        arrived = self.schedule.take(border_ns).tolist()
        if not self._model.failures.any_up:
            self._nowhere += arrived
            self.held.update(arrived)
            return
        if self._nowhere:
            arrived = [*self._nowhere, *arrived]
            self.held.difference_update(self._nowhere)
            self._nowhere = []
        if self._model.policy.holds_jobs:
            yield from self._from_queues(arrived)
        elif arrived:
            yield self._tasks_of(np.array(arrived))

    def take_back(self, job: int) -> None:
        """A job that was to be placed, and that nobody takes, is held on."""
        self.held.add(job)

    def _from_queues(self, arrived: list[int]) -> Iterator[Newcomers]:
        model = self._model
        # A policy that acts now and then looks at those who wait then, or when somebody joins them.
        due = model.now_ns >= model.negotiations.acting_due_ns
        asked = set()
        for job in arrived:
            key = 0 if model.policy.central else int(model.jobs["home"][job])
            asked.add(key)
            self._queues.setdefault(key, deque()).append(job)
            self.held.add(job)
        self._queues = {key: queue for key, queue in sorted(self._queues.items()) if queue}
        if self._queues:
            model.negotiations.look()
        for key, queue in self._queues.items():
            if model.negotiations.acting_due_ns < NEVER and key not in asked and not due:
                continue
            while queue and not self._is_held(queue[0]):
                job = queue[0]
                self.held.remove(job)
                yield self._tasks_of(np.array([job]))
                if job in self.held:
                    # Whoever was to take it has refused: it is still at the head.
                    break
                queue.popleft()
        if due or model.negotiations.acting_due_ns == NEVER:
            self._look_for_an_end()

    def _look_for_an_end(self) -> None:
        """Everybody who is held has just been asked for: will anything ever change the answer?"""
        model = self._model
        waits = self.held and model.engine.live == 0 and self.schedule.is_over and not model.failures.are_to_come
        if not (waits and model.policy.holds_for_events):
            self.last_look_ns = NEVER
        elif self.last_look_ns == NEVER:
            self.last_look_ns = model._border_from(model.now_ns + self._news_ns())
        # Those who have no news to wait for are stuck at once.
        self.is_stuck = model.now_ns >= self.last_look_ns

    def _news_ns(self) -> int:
        """How long it may take until all who hold jobs know how things are now, if nothing changes [ns]; whoever has
        not reported until then is believed to have failed."""
        model = self._model
        if model.negotiations.papers or not model.policy.uses_reports:
            return 0
        reports_ms = model.setup.cluster.exchange_period_ms * (1 + model.negotiation.missed_reports)
        return nanoseconds(reports_ms + model.network.longest_latency_ms)

    def _is_held(self, job: int) -> bool:
        model = self._model
        newcomer = model.negotiations.newcomer(job, 0)
        view = model.negotiations.view_of(model.load_managers[model.failures.stand_in(newcomer.home)])
        return model.asked.holds(newcomer, int(model.jobs["tasks"][job]), view)

    def _tasks_of(self, jobs: Integers) -> Newcomers:
        if len(jobs) == 1:
            job = jobs[0]
            width = int(self._model.jobs["tasks"][job])
            held_ns = max(0, self._model.now_ns - int(self.schedule.arrivals_ns[job]))
            return Newcomers(np.full(width, job), np.arange(width), np.full(width, held_ns))
        widths = self._model.jobs["tasks"][jobs].astype(np.int64)
        starts = np.cumsum(widths) - widths
        all_held_ns = np.maximum(0, self._model.now_ns - self.schedule.arrivals_ns[jobs])
        return Newcomers(
            jobs.repeat(widths), np.arange(widths.sum()) - starts.repeat(widths), all_held_ns.repeat(widths)
        )
