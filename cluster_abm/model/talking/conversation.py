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
from cluster_abm.model.talking.compiled.talk import TalkInRows
from cluster_abm.model.talking.mail import Event, Mail
from cluster_abm.model.talking.post import ManagersPost
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.model.waiting.queues import TaskArrivals
from cluster_abm.policies import ArrivingTask
from cluster_abm.policy.talking import Ended

# Managers that have talked for a day while tasks wait, and none runs or is to come, will not start any.
LONGEST_TALK_NS = 86_400 * 1_000_000_000


@part
class NodeNews:
    """Notices what has happened to nodes since the last slice, and tells their managers.

    Attributes:
        records_read: ends of tasks that managers have been told of.
    """

    engine: EngineState
    clock: Clock
    availability: Availability
    mail: Mail
    waiting: WaitingTasks
    surroundings: Surroundings

    def __post_init__(self) -> None:
        self._up, self._head_before = self.availability.up.copy(), self.surroundings.head_node
        self.records_read = 0

    @property
    def is_any(self) -> bool:
        """Whether nodes have failed or come back, or another one is the head node, since managers were told of it."""
        if not self.availability.can_change:
            return False
        other_head = self.waiting.is_central and self.surroundings.head != self._head_before
        return bool(other_head or not np.array_equal(self.availability.up, self._up))

    def note_ends(self) -> None:
        """Tell the managers of the nodes on which tasks have ended since the last call."""
        finished = self.engine.finished
        if finished == self.records_read:
            return
        new = self.engine.records[self.records_read : finished]
        self.records_read = finished
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
        self.surroundings.forget(manager)
        return tasks


@part
class Conversation:
    """What the managers of a talking policy have been told, say, and keep waiting.

    Attributes:
        is_on: whether the policy talks; else nothing happens here.
        hears_ends: whether managers are told of tasks that end on their nodes.
        managers: the load managers, by node.
        posts_here: their posts, which know nothing while the conversation is in rows; none if the policy does not talk.
        waiting_here: likewise the waiting tasks.
        in_rows: carries the conversation on in compiled code; None: nothing does.
        may_change: whether a submission, a failure, a repair or another event is to come.
        is_stuck: whether all that is left of the run are tasks that no manager will ever start.
    """

    is_on: bool
    hears_ends: bool
    managers: Sequence[LoadManager]
    posts_here: Sequence[ManagersPost]
    mail: Mail
    engine: EngineState
    clock: Clock
    waiting_here: WaitingTasks
    news: NodeNews
    may_change: Callable[[], bool]
    in_rows: TalkInRows | None

    def __post_init__(self) -> None:
        self.is_stuck = False
        self._idle_since_ns = 0
        for post in self.posts_here:
            self.mail.tell(0, post.me, "begins")

    @property
    def posts(self) -> Sequence[ManagersPost]:
        """The posts of all managers, by node, as they are now."""
        self.come_back()
        return self.posts_here

    @property
    def waiting(self) -> WaitingTasks:
        """The tasks that wait at managers, as they are now."""
        self.come_back()
        return self.waiting_here

    @property
    def records_read(self) -> int:
        """How many records of ended tasks managers have been told of; NEVER: they hear of none."""
        if not (self.is_on and self.hears_ends):
            return NEVER
        return self.in_rows.records_read if self._is_away and self.in_rows else self.news.records_read

    @property
    def held(self) -> int:
        """How many tasks wait at some manager, or are being handed over."""
        return self.in_rows.held if self._is_away and self.in_rows else self.waiting_here.count

    @property
    def due_ns(self) -> int:
        """The boundary at which the slice of the next event begins [ns]."""
        next_ns = self.in_rows.next_ns if self._is_away and self.in_rows else self.mail.next_ns
        return self.clock.boundary_up_to(next_ns) if next_ns < NEVER else NEVER

    @property
    def ends_windows_ns(self) -> int:
        """The boundary that no window reaches beyond, for managers talk there in Python [ns]."""
        return NEVER if self._is_away and self.in_rows and self.in_rows.leaps else self.due_ns

    @property
    def leaps(self) -> bool:
        """Whether managers talk over many slices in one call: then jobs of a whole window may arrive at once."""
        return self._may_go_away and self.in_rows is not None and self.in_rows.leaps

    @property
    def _is_away(self) -> bool:
        return self.in_rows is not None and self.in_rows.is_away

    @property
    def _may_go_away(self) -> bool:
        in_rows = self.in_rows
        return in_rows is not None and in_rows.is_right and not self.waiting_here.any_homeless and not self.news.is_any

    def arrive(self, arrivals: TaskArrivals) -> None:
        """Tasks have arrived: their managers are told at their exact instants."""
        if self._may_go_away and self.in_rows is not None:
            # Those of a whole window: each arrives when its slice begins.
            self.in_rows.arrive(arrivals.job[arrivals.rank == 0])
        else:
            self.come_back()
            self.waiting_here.arrive(arrivals)

    def go_on(self, boundary_ns: int) -> int:
        """Let managers talk about what they learn in the slice that begins, in the order of its exact instants.

        Args:
            boundary_ns: compiled code goes on over the slices up to this boundary [ns].

        Returns:
            the boundary; where the run has ended with its last task before it, the present [ns].
        """
        if not self.is_on:
            return boundary_ns
        if self._may_go_away and self.in_rows is not None:
            if not self._is_away:
                self._go_away(self.in_rows)
            event = self.in_rows.go_on(boundary_ns)
            if event is not None:
                self._find_fault(event)
            next_ns, idle_since_ns = self.in_rows.next_ns, self.in_rows.idle_since_ns
        else:
            self.come_back()
            self._go_on_in_python()
            next_ns, idle_since_ns = self.mail.next_ns, self._idle_since_ns
        is_over = next_ns == NEVER or self.clock.now_ns - idle_since_ns > LONGEST_TALK_NS
        waits = self.held and self.engine.live == 0 and is_over
        self.is_stuck = bool(waits and not self.may_change())
        return self.clock.now_ns if self.in_rows is not None and self.in_rows.has_ended else boundary_ns

    def _go_on_in_python(self) -> None:
        self.news.note_failures()
        self.waiting_here.find_home()
        if self.hears_ends:
            self.news.note_ends()
        before_ns = self.clock.next_boundary_ns
        while (event := self.mail.take(before_ns)) is not None:
            self._tell(event)
        if not self.held or self.engine.live:
            self._idle_since_ns = self.clock.now_ns

    def _go_away(self, in_rows: TalkInRows) -> None:
        """Have the conversation in rows, and not here."""
        in_rows.take_over(self.mail.take_all(), [post.drawn for post in self.posts_here], self.news.records_read)
        in_rows.idle_since_ns = self._idle_since_ns
        self.waiting_here.leave()

    def come_back(self) -> None:
        """Have the conversation here, and not in rows."""
        in_rows = self.in_rows
        if in_rows is None or not in_rows.is_away:
            return
        in_rows.is_away = False
        spoken = in_rows.spoken
        self.mail.put(spoken.events(), in_rows.number)
        self.news.records_read, self._idle_since_ns = in_rows.records_read, in_rows.idle_since_ns
        self.waiting_here.return_with(spoken.waiting())
        for post, drawn in zip(self.posts_here, spoken.drawn(), strict=True):
            post.drawn = drawn
            in_rows.views.put_notes(post.me, spoken.notes(post.me))
        pending = in_rows.take_pending()
        if len(pending):
            self.waiting_here.arrive(self.waiting_here.submissions.tasks_of(pending))

    def _find_fault(self, event: Event) -> None:
        """A compiled policy is at fault: it says in Python why. Raises what it raises there, or PolicyFault."""
        self.come_back()
        self._tell(event)
        raise PolicyFault(
            f"policy {self.posts_here[0].policy_name!r}: its compiled `{event.kind}` fails, and not so in Python: "
            "run it with compile_decisions=False"
        )

    def _tell(self, event: Event) -> None:
        post = self.posts_here[event.manager].at(event.at_ns)
        for task in event.brings:
            post.held[task.task] = task
        try:
            self.managers[event.manager].told(event, post)
        except PolicyFault:
            if post.problem is not None:
                raise post.problem from None
            raise
