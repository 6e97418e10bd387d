"""How a policy holds jobs back: what it is asked, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import NS_PER_MS, whole_ns
from cluster_abm.engine.state import EngineState
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.periodic import PeriodicOffers
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.managed_policies import ManagedPolicies
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.part import part, wire
from cluster_abm.model.waiting.cores import Cores
from cluster_abm.model.waiting.expected_ends import expected_slices, longest_start_ms
from cluster_abm.model.waiting.job_queue import JobQueue
from cluster_abm.model.waiting.submission_times import SubmissionTimes
from cluster_abm.policies import View, WaitingJobs
from cluster_abm.policy import kinds
from cluster_abm.scenario import Scenario

Queue = Sequence[int] | JobQueue


@part
class News:
    """What has happened since it was asked for the last time: ends of tasks, changes of nodes and of links."""

    engine: EngineState
    availability: Availability
    live: LiveNetwork
    reports_ms: float = 0.0  # how long a node is silent until it is believed to have failed [ms]
    routes: int = 0  # how many routes a report takes one after another; 0: there are no reports

    def __post_init__(self) -> None:
        self._ended, self._accepting, self._routes = -1, b"", self.live.routes

    def spread_ns(self) -> int:
        """How long it takes until all managers know the present state, if nothing changes [ns]."""
        if not self.routes:
            return 0
        return whole_ns(self.reports_ms + self.routes * self.live.network.longest_latency_ms)

    def note_asked(self, ended: int) -> None:
        """The policy was asked last when so many tasks had ended."""
        self._ended = ended

    @property
    def has_ended_since(self) -> bool:
        """Whether a task has ended since the policy was asked last."""
        return self._ended != self.engine.finished

    def have_come(self) -> bool:
        """Whether a task has ended, or a node or a link has changed, since the last call."""
        before = self._ended, self._accepting
        # The routes themselves, which are others once the network has changed: another object may have their address.
        routes, self._routes = self._routes, self.live.routes
        self._ended, self._accepting = self.engine.finished, self.availability.accepting.tobytes()
        return before != (self._ended, self._accepting) or routes is not self._routes


def chooses(policy: kinds.Holding) -> bool:
    """Whether a policy chooses among the jobs of a queue; else it is asked about the head alone."""
    return getattr(policy.next_job, "__func__", None) is not kinds.Holding.next_job


@part
class JobHolding:
    """How a policy holds jobs back.

    Attributes:
        news: what may change an answer of a policy that chooses among jobs.
        is_central: whether all jobs wait in one queue, else each node has one.
        frees_by_events: whether only an event can free a held job (kinds.Holding.holds_for_events).
    """

    policies: ManagedPolicies
    views: Views
    availability: Availability
    announcements: Announcements
    schedule: SubmissionTimes
    periodic: PeriodicOffers
    news: News
    cores: Cores
    staging: Staging | None

    def __post_init__(self) -> None:
        main = self.policies.main
        assert isinstance(main, kinds.Holding)
        self.is_central, self.frees_by_events = main.central, main.holds_for_events
        self._chooses = chooses(main)

    def tell_of_initial(self, jobs: int) -> None:
        """Tell the policy, at 0, of the first `jobs` jobs, which are on their nodes from the beginning on."""
        self.look()
        for job in range(jobs):
            task, tasks = self.announcements.of(job, 0), self.announcements.width(job)
            view = self.views.of(task.home)
            if self.cores.is_counted:
                cores = view.hardware[task.home].cores
                times = -(-tasks // cores)
                lasts = expected_slices(task, times, longest_start_ms(task, view), view.slice_ms)
                self.cores.start(job, lasts, np.full(min(tasks, cores), task.home))
            self.policies.checked[task.home].found(task, tasks, view)

    def new_queue(self) -> JobQueue:
        """An empty queue of a head node."""
        none = np.zeros(0, np.int64)
        announced: dict[str, npt.NDArray[Any]] = {"needs": none, "first_need": none}
        for name in ("requested_ms", "announced_ms"):
            given = getattr(self.announcements, name)
            announced[name] = np.zeros(0) if given is None else np.ascontiguousarray(given)
        if self.staging is not None:
            catalogue = self.staging.catalogue
            announced["needs"] = np.ascontiguousarray(catalogue.needed_files, np.int64)
            announced["first_need"] = np.ascontiguousarray(catalogue.first_file, np.int64)
        main = self.policies.main
        assert isinstance(main, kinds.Holding)
        return JobQueue(
            self.announcements.jobs,
            main.job_notes,
            announced,
            lambda job: self.announcements.of(job, 0),
            self._longest_ms,
        )

    def _longest_ms(self, job: int) -> float:
        """The longest that starting a job on another node than its home takes [ms]."""
        task = self.announcements.of(job, 0)
        return longest_start_ms(task, self.views.of(self.availability.stand_in(task.home)))

    def look(self) -> None:
        """Before a round of `next_job`: answers are by the present state."""
        self.views.look()

    def next_job(self, queue: Queue) -> int:
        """The position in a queue of the job that starts now; -1: none."""
        manager = self.availability.stand_in(int(self.announcements.jobs["home"][queue[0]]))
        policy, view = self.policies.checked[manager], self.views.of(manager)
        if isinstance(queue, JobQueue) or self._chooses:
            seen = self._seen(queue, view)
        if self._chooses:
            return policy.next_job(seen, view)
        job = self.announcements.of(queue[0], 0)
        return -1 if policy.holds(job, self.announcements.width(queue[0]), view) else 0

    def _seen(self, queue: Queue, view: View) -> WaitingJobs:
        """The jobs of a queue as the policy sees them."""
        if not isinstance(queue, JobQueue):
            return self.announcements.waiting(list(queue), self.schedule.arrivals_ns)
        # How many cores each job gets depends on the nodes that are up.
        self.cores.note_open(view.refused)
        return queue.seen(self.cores.all_cores, view.now_ms, view.slice_ms)

    def start(self, queue: Queue, place: int) -> bool:
        """Start the job at a place of a head node's queue: give it its cores, if the policy says which.

        Returns False, and nothing has changed, if the manager of its home reaches no free core: links of its node have
        failed, and those that the policy counted are behind them.
        """
        if not isinstance(queue, JobQueue):
            return True
        clock = self.cores.clock
        self.cores.lasts = queue.lasts(place, clock.now_ms, clock.slice_ns / NS_PER_MS)
        if not self.cores.are_given:
            return True
        task, tasks = self.announcements.of(queue[place], 0), self.announcements.width(queue[place])
        manager = self.availability.stand_in(task.home)
        nodes = self.policies.checked[manager].cores_for(task, tasks, self.views.of(manager))
        if not len(nodes):
            return False
        self.cores.start(task.job, self.cores.lasts, nodes)
        return True

    def withdraw(self, job: int) -> None:
        """A job has not started after all: no node has taken it."""
        if self.cores.is_counted:
            self.cores.withdraw(job)

    def has_news(self) -> bool:
        """Whether anything has happened since the last call that may change an answer."""
        # About the head alone a policy may answer by the time, too: it is asked at every occasion.
        return self.news.have_come() if self._chooses else True

    @property
    def due_ns(self) -> int:
        """When held jobs are looked at again [ns]; NEVER: whenever a task has ended."""
        return self.periodic.due_ns


def holding_of(setup: Scenario, parts: Mapping[str, Any], are_sent: bool) -> JobHolding | None:
    """How the policy of a run holds jobs back; None: it holds none.

    Args:
        parts: what it is made of, by name (part.wire).
        are_sent: whether load managers report to each other.
    """
    if not parts["policies"].main.holds_jobs:
        return None
    # A node that has not reported until then is believed to have failed.
    reports_ms = setup.cluster.exchange_period_ms * (1 + setup.negotiation.missed_reports)
    # By way of a head node there are two routes.
    routes = 2 if setup.negotiation.mode == "head-node" else 1
    news = wire(News, parts, reports_ms=reports_ms, routes=routes if are_sent else 0)
    holding = wire(JobHolding, parts, news=news)
    if parts["work"].initial:
        holding.tell_of_initial(parts["work"].initial)
    return holding
