"""The talk of load managers that hold tasks: within a slice in the order of its exact instants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.errors import PolicyFault
from cluster_abm.model.part import part
from cluster_abm.model.talking.mail import Event, Mail
from cluster_abm.model.talking.node_news import NodeNews
from cluster_abm.model.talking.post import ManagersPost
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.policy.talking import Post

# Managers that have talked for a day while tasks wait, and none runs or is to come, will not start any.
LONGEST_TALK_NS = 86_400 * 1_000_000_000


class Talks(Protocol):
    """What is told of an event: a load manager."""

    def told(self, event: Event, post: Post) -> None:
        """Act by the policy."""


@part
class Conversation:
    """What the managers of a talking policy have been told, say, and keep waiting.

    Attributes:
        is_on: whether the policy talks; else nothing happens here.
        hears_ends: whether managers are told of tasks that end on their nodes.
        managers, posts: the load managers and their posts, by node; no posts if the policy does not talk.
        may_change: whether a submission, a failure, a repair or another event is to come.
        is_stuck: whether all that is left of the run are tasks that no manager will ever start.
    """

    is_on: bool
    hears_ends: bool
    managers: Sequence[Talks]
    posts: Sequence[ManagersPost]
    mail: Mail
    engine: EngineState
    clock: Clock
    waiting: WaitingTasks
    news: NodeNews
    may_change: Callable[[], bool]

    def __post_init__(self) -> None:
        self.is_stuck = False
        self._idle_since_ns = 0
        for post in self.posts:
            self.mail.tell(0, post.me, "begins")

    @property
    def held(self) -> int:
        """How many tasks wait at some manager, or are being handed over."""
        return self.waiting.count

    @property
    def due_ns(self) -> int:
        """The boundary at which the slice of the next event begins [ns]."""
        next_ns = self.mail.next_ns
        return self.clock.boundary_up_to(next_ns) if next_ns < NEVER else NEVER

    def go_on(self) -> None:
        """Let managers talk about what they learn in the slice that begins, in the order of its exact instants."""
        if not self.is_on:
            return
        self.news.note_failures()
        self.waiting.find_home()
        if self.hears_ends:
            self.news.note_ends()
        before_ns = self.clock.next_boundary_ns
        while (event := self.mail.take(before_ns)) is not None:
            self._tell(event)
        if not self.held or self.engine.live:
            self._idle_since_ns = self.clock.now_ns
        is_over = self.mail.next_ns == NEVER or self.clock.now_ns - self._idle_since_ns > LONGEST_TALK_NS
        waits = self.held and self.engine.live == 0 and is_over
        self.is_stuck = bool(waits and not self.may_change())

    def _tell(self, event: Event) -> None:
        post = self.posts[event.manager].at(event.at_ns)
        for task in event.brings:
            post.held[task.task] = task
        try:
            self.managers[event.manager].told(event, post)
        except PolicyFault:
            if post.problem is not None:
                raise post.problem from None
            raise
