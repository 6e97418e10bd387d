"""The talk of load managers that hold tasks: within a slice in the order of its exact instants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cluster_abm.clock import NS_PER_MS, Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.errors import PolicyFault
from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.part import part
from cluster_abm.model.talking.mail import Event, Mail
from cluster_abm.model.talking.post import ManagersPost
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.policies import ArrivingTask
from cluster_abm.policy.talking import Ended

# Managers that have talked for a day while tasks wait, and none runs or is to come, will not start any.
LONGEST_TALK_NS = 86_400 * 1_000_000_000


@part
class NodeNews:
    """Notices what has happened to nodes since the last slice, and tells their managers."""

    engine: EngineState
    clock: Clock
    availability: Availability
    mail: Mail
    waiting: WaitingTasks
    surroundings: Surroundings

    def __post_init__(self) -> None:
        self._up, self._head_before = self.availability.up.copy(), self.surroundings.head_node
        self._records_read = 0

    def note_ends(self) -> None:
        """Tell the managers of the nodes on which tasks have ended since the last call."""
        finished = self.engine.finished
        if finished == self._records_read:
            return
        new = self.engine.records[self._records_read : finished]
        self._records_read = finished
        new = new[np.lexsort((new["task"], new["finish_ns"]))]
        here_ns = new["finish_ns"] - new["arrival_ns"] - new["blocked_ns"] - new["migration_ns"]
        of_nodes: dict[int, list[Ended]] = {}
        columns = (new["node"], new["task"], new["job"], here_ns / NS_PER_MS)
        for node, task, job, here_ms in zip(*map(np.ndarray.tolist, columns), strict=True):
            if self.availability.up[node]:
                of_nodes.setdefault(node, []).append(Ended(task, job, here_ms))
        for node, tasks in sorted(of_nodes.items()):
            self.mail.tell(self.clock.now_ns, node, "ended", tuple(tasks))

    def note_failures(self) -> None:
        """Managers of nodes that have failed forget all, and their waiting tasks arrive anew at their homes.

        So does a head node for which another one stands in, because it has failed or drains.
        """
        up = self.availability.up
        if not self.availability.can_change:
            return
        head = self.surroundings.head
        has_other_head = self.waiting.is_central and head != self._head_before
        if np.array_equal(up, self._up) and not has_other_head:
            return
        now_ns = self.clock.now_ns
        failed, back = np.flatnonzero(self._up & ~up).tolist(), np.flatnonzero(up & ~self._up).tolist()
        self._up = up.copy()
        anew: dict[int, list[ArrivingTask]] = {}
        for node in failed:
            for task in (*self._forget(node), *self.mail.node_fails(node, now_ns)):
                anew.setdefault(task.job, []).append(task)
        if has_other_head:
            for task in self._forget(self._head_before):
                anew.setdefault(task.job, []).append(task)
            self._head_before, back = head, np.flatnonzero(up).tolist()
        for node in back:
            self.mail.tell(now_ns, node, "begins")
        self.waiting.lose_home(list(anew.values()))

    def _forget(self, manager: int) -> list[ArrivingTask]:
        """A manager forgets all it knew; the tasks that waited there."""
        held = self.waiting.at[manager]
        tasks = list(held.values())
        held.clear()
        self.surroundings.notes_of(manager).clear()
        return tasks


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
    managers: Sequence[LoadManager]
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
