"""How a policy holds jobs back: what it is asked, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.interconnect.units import whole_ns
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.periodic import PeriodicOffers
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.managed_policies import ManagedPolicies
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.part import part
from cluster_abm.model.waiting.submission_times import SubmissionTimes
from cluster_abm.policies import Policy
from cluster_abm.scenario import Scenario


class Holding(NamedTuple):
    """How a policy holds jobs back.

    Attributes:
        is_central: whether all jobs wait in one queue, else each node has one.
        frees_by_events: whether only an event can free a held job (Policy.holds_for_events).
        look: called before a round of `next_job`, so that its answers are by the present state.
        next_job: the position in a queue of the job that starts now; -1: none.
        has_news: whether anything has happened since the last call that may change an answer.
        due_ns: when held jobs are looked at again [ns]; NEVER: whenever a task has ended.
        news_ns: how long it takes until all managers know the present state, if nothing changes [ns].
    """

    is_central: bool
    frees_by_events: bool
    look: Callable[[], None]
    next_job: Callable[[Sequence[int]], int]
    has_news: Callable[[], bool]
    due_ns: Callable[[], int]
    news_ns: Callable[[], int]


@part
class News:
    """What has happened since it was asked for the last time: ends of tasks, changes of nodes and of links."""

    engine: EngineState
    availability: Availability
    live: LiveNetwork

    def __post_init__(self) -> None:
        self._ended, self._accepting, self._routes = -1, b"", self.live.routes

    def have_come(self) -> bool:
        """Whether a task has ended, or a node or a link has changed, since the last call."""
        before = self._ended, self._accepting
        # The routes themselves, which are others once the network has changed: another object may have their address.
        routes, self._routes = self._routes, self.live.routes
        self._ended, self._accepting = self.engine.finished, self.availability.accepting.tobytes()
        return before != (self._ended, self._accepting) or routes is not self._routes


def chooses(policy: Policy) -> bool:
    """Whether a policy chooses among the jobs of a queue; else it is asked about the head alone."""
    return getattr(policy.next_job, "__func__", None) is not Policy.next_job


def holding_of(
    setup: Scenario,
    *,
    engine: EngineState,
    clock: Clock,
    policies: ManagedPolicies,
    views: Views,
    availability: Availability,
    announcements: Announcements,
    schedule: SubmissionTimes,
    periodic: PeriodicOffers,
    live: LiveNetwork,
    are_sent: bool,
) -> Holding | None:
    """How the policy of a run holds jobs back; None: it holds none.

    Args:
        are_sent: whether load managers report to each other.
    """
    main = policies.main
    if not main.holds_jobs:
        return None
    news = News(engine=engine, availability=availability, live=live)

    def next_job(queue: Sequence[int]) -> int:
        manager = availability.stand_in(int(engine.jobs["home"][queue[0]]))
        policy, view = policies.checked[manager], views.of(manager)
        if chooses(main):
            return policy.next_job(announcements.waiting(list(queue), schedule.arrivals_ns), view)
        return -1 if policy.holds(announcements.of(queue[0], 0), announcements.width(queue[0]), view) else 0

    def news_ns() -> int:
        # A node that has not reported until then is believed to have failed.
        reports_ms = setup.cluster.exchange_period_ms * (1 + setup.negotiation.missed_reports)
        # By way of a head node there are two routes.
        routes = 2 if setup.negotiation.mode == "head-node" else 1
        return whole_ns(reports_ms + routes * live.network.longest_latency_ms) if are_sent else 0

    return Holding(
        is_central=main.central,
        frees_by_events=main.holds_for_events,
        look=views.look,
        next_job=next_job,
        # About the head alone a policy may answer by the time, too: it is asked at every occasion.
        has_news=news.have_come if chooses(main) else lambda: True,
        due_ns=lambda: periodic.due_ns,
        news_ns=news_ns,
    )
