"""The talk of load managers that hold tasks: within a slice in the order of its exact instants."""

from __future__ import annotations

import math
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import NS_PER_MS, Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.streams import message_uniform
from cluster_abm.engine.tables import NEVER
from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.interconnect.units import whole_ns
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.talking.mail import Event, Mail
from cluster_abm.model.talking.post import ManagersPost
from cluster_abm.model.waiting.queues import Arrivals, Submissions
from cluster_abm.policies import ArrivingTask, Decision, View
from cluster_abm.policy.talking import Ended, Message, Post

# Managers that have talked for a day while tasks wait, and none runs or is to come, will not start any.
LONGEST_TALK_NS = 86_400 * 1_000_000_000
NOTHING = Arrivals(*(np.zeros(0, np.int64) for _ in Arrivals._fields))


class Talks(Protocol):
    """What is told of an event: a load manager."""

    def told(self, event: Event, post: Post) -> None:
        """Act by the policy."""


class StartsTasks(Protocol):
    """What sends a task to the node on which it starts."""

    def __call__(self, task: ArrivingTask, rank: int, held_ns: int, target: int, told_ns: int) -> None:
        """Placement.start."""


class Conversation:
    """What the managers of a talking policy have been told, say, and keep waiting.

    Args:
        is_on: whether the policy talks; else there is nothing here.
        hears_ends, hears_starts: whether managers are told of tasks that end on their nodes, and start there.
        head: the head node.
        homes: which nodes are a home of jobs, shape (nodes,); empty where nothing is on.
        is_central: whether the manager of the head node is told of all arrivals; else each of those of its own node.
        managers: the load managers, by node.
        start_task: sends a task to its node.
        draw_key: key of the managers' own numbers.
        may_change: whether a failure, a repair or another event is to come.

    Attributes:
        held: tasks that wait at some manager, or are being handed over.
        is_stuck: whether all that is left of the run are tasks that no manager will ever start.
    """

    def __init__(
        self,
        is_on: bool,
        hears_ends: bool,
        hears_starts: bool,
        head: int,
        homes: npt.NDArray[np.bool_],
        is_central: bool,
        name: str,
        managers: Sequence[Talks],
        mail: Mail,
        engine: EngineState,
        clock: Clock,
        live: LiveNetwork,
        availability: Availability,
        views: Views,
        log: DecisionLog,
        announcements: Announcements,
        submissions: Submissions,
        start_task: StartsTasks,
        draw_key: int,
        may_change: Callable[[], bool],
    ) -> None:
        self.is_on, self.hears_ends, self._hears_starts = is_on, hears_ends, hears_starts
        self._head, self._is_central, self._managers, self._mail = head, is_central, managers, mail
        self._homes = set(np.flatnonzero(homes).tolist())
        self._engine, self._clock, self._live, self._availability = engine, clock, live, availability
        self._views, self._log, self._announcements = views, log, announcements
        self._submissions, self._start_task, self._draw_key = submissions, start_task, np.uint64(draw_key)
        self._may_change = may_change
        self.nodes, self.slice_ms = len(engine.nodes), clock.slice_ns / NS_PER_MS
        self._posts = [ManagersPost(self, node, name) for node in range(self.nodes)] if is_on else []
        self._up, self._head_before = availability.up.copy(), head
        self._records_read = 0
        self._problem: InputError | None = None
        # Tasks that waited at nodes that have failed, job by job.
        self._homeless: list[list[ArrivingTask]] = []
        self.held = 0
        self.is_stuck = False
        self._idle_since_ns = 0
        for node in range(self.nodes if is_on else 0):
            mail.tell(0, node, "begins")

    @property
    def due_ns(self) -> int:
        """The boundary at which the slice of the next event begins [ns]."""
        next_ns = self._mail.next_ns
        return self._clock.boundary_up_to(next_ns) if next_ns < NEVER else NEVER

    @property
    def messages(self) -> int:
        """How many messages were sent."""
        return self._mail.sent

    # ---- a slice ---------------------------------------------------------------------------------------------------

    def arrive(self, arrivals: Arrivals) -> None:
        """Tasks have arrived: the manager of their home, or of the head node, is told at their exact instant."""
        by_job: dict[int, list[ArrivingTask]] = {}
        for job, rank in zip(arrivals.job.tolist(), arrivals.rank.tolist(), strict=True):
            by_job.setdefault(job, []).append(self._announcements.of(job, rank))
        for job, tasks in by_job.items():
            arrival_ns = int(self._submissions.schedule.arrivals_ns[job])
            self._submissions.held.add(job)
            self._wait_at_home(tasks, max(self._clock.now_ns, arrival_ns))

    def go_on(self) -> None:
        """Let managers talk about what they learn in the slice that begins, in the order of its exact instants."""
        if not self.is_on:
            return
        self._note_failures()
        if self._homeless and self._availability.any_accepting:
            for tasks in self._homeless:
                self.held -= len(tasks)
                self._wait_at_home(tasks, self._clock.now_ns)
            self._homeless = []
        if self.hears_ends:
            self._note_ends()
        before_ns = self._clock.next_boundary_ns
        while (event := self._mail.take(before_ns)) is not None:
            self._tell(event)
        if not self.held or self._engine.live:
            self._idle_since_ns = self._clock.now_ns
        is_over = self._mail.next_ns == NEVER or self._clock.now_ns - self._idle_since_ns > LONGEST_TALK_NS
        waits = self.held and self._engine.live == 0 and is_over
        self.is_stuck = bool(waits and self._submissions.schedule.is_over and not self._may_change())

    def waiting_tasks(self) -> list[ArrivingTask]:
        """The tasks that wait at managers, are being handed over, or have no node to wait at."""
        found = [task for post in self._posts for task in post.held.values()]
        return [*found, *self._mail.brought(), *(task for tasks in self._homeless for task in tasks)]

    def withdraw(self, job: int) -> Arrivals:
        """Take the waiting tasks of a job that is killed from the managers; which they are."""
        if not self.held:
            return NOTHING
        found = [task for post in self._posts for task in post.held.values() if task.job == job]
        found += self._mail.withdraw(job)
        found += [task for tasks in self._homeless for task in tasks if task.job == job]
        self._homeless = [tasks for tasks in self._homeless if tasks[0].job != job]
        for post in self._posts:
            post.held = {number: task for number, task in post.held.items() if task.job != job}
        self.held -= len(found)
        self._submissions.held.discard(job)
        first = int(self._engine.jobs["first_task"][job])
        ranks = np.array(sorted(task.task - first for task in found), np.int64)
        held_ns = max(0, self._clock.now_ns - int(self._submissions.schedule.arrivals_ns[job]))
        return Arrivals(np.full(len(ranks), job), ranks, np.full(len(ranks), held_ns))

    # ---- what a post does ------------------------------------------------------------------------------------------

    def send(self, message: Message) -> None:
        """Send a message now, at the exact instant of its sender."""
        self._mail.send(message, self._posts[message.source].now_ns)

    def remind(self, message: Message, at_ns: int) -> None:
        """Have a manager hear a message of its own at an instant [ns]."""
        self._mail.tell(at_ns, message.source, "hears", message)

    def start(
        self, post: ManagersPost, task: ArrivingTask, node: int, rule: str, index: str, here: float, there: float
    ) -> None:
        """Start a waiting task at the instant of the post."""
        job = task.job
        target = node if self._availability.accepting[node] else self._availability.stand_in(node)
        home = self._availability.stand_in(task.home)
        held_ns = post.now_ns - int(self._submissions.schedule.arrivals_ns[job])
        told_ns, latency_ms = 0, float(self._live.routes.paths_from(post.me).latency_ms[home])
        if target != home and (latency_ms == math.inf or self._live.routes.paths_from(home).mb_per_s[target] == 0.0):
            # No route leads there, or the home cannot be told.
            target = home
        if target != home and post.me != home and not self._views.all_is_known:
            # The home is told to send it.
            told_ns = whole_ns(latency_ms)
        self.held -= 1
        self._submissions.held.discard(job)
        decision = Decision(target, rule, index, load_here=here, load_there=there)
        rank = task.task - int(self._engine.jobs["first_task"][job])
        try:
            self._start_task(task, rank, held_ns, target, told_ns)
        except InputError as problem:
            # The scenario's fault, and not the policy's, in whose call it comes up.
            self._problem = problem
            raise
        self._log.record(home, task, decision, target, True, "")
        if self._hears_starts:
            self._mail.tell(post.now_ns, target, "came", task)

    @property
    def head(self) -> int:
        """The head node, or the node that stands in for it."""
        return self._availability.stand_in(self._head)

    def draw(self, manager: int, number: int) -> float:
        """A number in (0, 1) of a manager's own stream."""
        return float(message_uniform(self._draw_key, manager, number))

    def view_of(self, manager: int) -> View:
        """What a manager knows now."""
        if self._views.all_is_known:
            # Views show the loads that were measured last.
            self._views.look()
        return self._views.of(manager)

    def closed_to(self, manager: int) -> set[int]:
        """Nodes that a manager does not choose, for they have failed or no route leads there."""
        if not self._availability.can_change:
            return set()
        closed = ~self._availability.accepting | (self._live.routes.paths_from(manager).mb_per_s == 0)
        closed[manager] = not self._availability.accepting[manager]
        return set(np.flatnonzero(closed).tolist())

    def without_jobs(self) -> set[int]:
        """Nodes at which no job is submitted: neither a home, nor the stand-in of one that takes no jobs."""
        dispatchers = self._homes
        if not self._availability.all_accepting:
            dispatchers = {self._availability.stand_in(home) for home in self._homes}
        return set(range(self.nodes)) - dispatchers

    def notes_of(self, manager: int) -> MutableMapping[str, Any]:
        """What a manager's policy remembers."""
        return self._views.notes[manager]

    def tasks_on(self, node: int) -> int:
        """Tasks of jobs on a node, and on their way to it: the load `tasks`."""
        row = self._engine.nodes[node]
        return int(row["tasks"]) + int(row["in_transit"]) - int(row["background"])

    def meets_at_barriers(self, job: int) -> bool:
        """Whether the tasks of a job wait for each other at barriers."""
        row = self._engine.jobs[job]
        return bool(row["barrier_ms"] > 0.0 and row["tasks"] > 1)

    def cores_of(self, node: int) -> int:
        """Cores of a node."""
        return self._views.hardware[node].cores

    # ---- events ----------------------------------------------------------------------------------------------------

    def _tell(self, event: Event) -> None:
        post = self._posts[event.manager].at(event.at_ns)
        for task in event.brings:
            post.held[task.task] = task
        try:
            self._managers[event.manager].told(event, post)
        except PolicyFault:
            if self._problem is not None:
                raise self._problem from None
            raise

    def _wait_at_home(self, tasks: Sequence[ArrivingTask], at_ns: int) -> None:
        home = self._availability.stand_in(tasks[0].home)
        self.held += len(tasks)
        if not self._is_central:
            self._mail.tell(at_ns, home, "arrives", tuple(tasks))
            return
        self._mail.tell(at_ns + self._mail.submit(home, self.head), self.head, "arrives", tuple(tasks))

    def _note_ends(self) -> None:
        """Tell the managers of the nodes on which tasks have ended since the last call."""
        finished = self._engine.finished
        if finished == self._records_read:
            return
        new = self._engine.records[self._records_read : finished]
        self._records_read = finished
        new = new[np.lexsort((new["task"], new["finish_ns"]))]
        here_ns = new["finish_ns"] - new["arrival_ns"] - new["blocked_ns"] - new["migration_ns"]
        of_nodes: dict[int, list[Ended]] = {}
        columns = (new["node"], new["task"], new["job"], here_ns / NS_PER_MS)
        for node, task, job, here_ms in zip(*map(np.ndarray.tolist, columns), strict=True):
            if self._availability.up[node]:
                of_nodes.setdefault(node, []).append(Ended(task, job, here_ms))
        for node, tasks in sorted(of_nodes.items()):
            self._mail.tell(self._clock.now_ns, node, "ended", tuple(tasks))

    def _note_failures(self) -> None:
        """Managers of nodes that have failed forget all, and their waiting tasks arrive anew at their homes.

        So does a head node for which another one stands in, because it has failed or drains.
        """
        up = self._availability.up
        if not self._availability.can_change:
            return
        has_other_head = self._is_central and self.head != self._head_before
        if np.array_equal(up, self._up) and not has_other_head:
            return
        now_ns = self._clock.now_ns
        failed, back = np.flatnonzero(self._up & ~up).tolist(), np.flatnonzero(up & ~self._up).tolist()
        self._up = up.copy()
        anew: dict[int, list[ArrivingTask]] = {}
        for node in failed:
            for task in (*self._forget(node), *self._mail.node_fails(node, now_ns)):
                anew.setdefault(task.job, []).append(task)
        if has_other_head:
            for task in self._forget(self._head_before):
                anew.setdefault(task.job, []).append(task)
            self._head_before, back = self.head, np.flatnonzero(up).tolist()
        for node in back:
            self._mail.tell(now_ns, node, "begins")
        self._homeless += anew.values()

    def _forget(self, manager: int) -> list[ArrivingTask]:
        """A manager forgets all it knew; the tasks that waited there."""
        post = self._posts[manager]
        tasks, post.held = list(post.held.values()), {}
        self._views.notes[manager].clear()
        return tasks
