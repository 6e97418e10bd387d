"""Hawk: long jobs are placed centrally, short ones by probes, and idle nodes steal short ones from behind long ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from pydantic import Field

from cluster_abm.errors import InputError
from cluster_abm.policies.batch_sampling import BatchSampling
from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.parts.late_binding import Place
from cluster_abm.policy.parts.work_accounts import WorkAccounts
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.tasks import ArrivingTask, Demands
from cluster_abm.scenario.distributions import Count, Positive, Share

# No node is asked for work.
NO_ATTEMPT = -1


class LongTask(NamedTuple):
    """A long task, and the node to which the head has given it."""

    task: int
    node: int


class Hawk(BatchSampling, WorkAccounts):
    """Jobs with a mean CPU demand a task above `long_ms` are long. The head node sends their tasks to the nodes of the
    general partition with least work of long jobs left; nodes 0, 1, ... up to `short_share` of all are kept for short
    jobs. A short job probes nodes of both (batch sampling with late binding). A node without work asks nodes of the
    general partition drawn at random, one after another, for the first group of short jobs' places that stands behind
    a long task.

    Where they are not set, jobs are long above the ninth decile of the announced demands, and short jobs' partition is
    their share of the work. Announced demands may be wrong (`workload.announced_error`).
    """

    class Parameters(BatchSampling.Parameters):
        """What is long, which nodes are kept for short jobs, and how often an idle node asks others."""

        long_ms: Positive | None = Field(None, description="CPU demand above which a task is long [ms]")
        short_share: Share | None = Field(None, description="share of the nodes that take no long task")
        steal_attempts: Count = Field(10, description="nodes that an idle node asks, one after another")

    name = "hawk"
    source = "Delgado, Dinu, Kermarrec, Zwaenepoel 2015"
    summary = "long jobs centrally in their partition, short ones by probes; idle nodes steal short ones"
    steals = True

    parameters: Parameters

    @dataclass
    class Notes(BatchSampling.Notes, WorkAccounts.Notes):
        """What a manager remembers beside that.

        Attributes:
            long_tasks: of the head, the nodes to which long tasks were given.
            long: the long tasks on the own node.
            attempts: how many nodes may still be asked for work; NO_ATTEMPT: none is asked now.
        """

        long_tasks: Queue[LongTask] = queue()
        long: Queue[int] = queue()
        attempts: int = NO_ATTEMPT

    def prepare(self, demands: Demands, nodes: int) -> None:
        """Find out what is long, and how much work is short."""
        cpu_ms, work_ms = demands.cpu_ms, demands.cpu_ms * demands.tasks
        long_ms, short_share = self.parameters.long_ms, self.parameters.short_share
        if long_ms is None:
            if len(cpu_ms) > 1 and cpu_ms[0] == cpu_ms[-1]:
                raise InputError(
                    f"policy {self.name!r}: needs tasks of different sizes, and all announce the same workload.cpu_ms; "
                    "set policy.long_ms, or take batch-sampling"
                )
            long_ms = math.inf if len(cpu_ms) == 0 else float(np.quantile(cpu_ms, 0.9, method="inverted_cdf"))
        if short_share is None:
            short_share = float(work_ms[cpu_ms <= long_ms].sum() / max(work_ms.sum(), 1e-300))
        self.limits = np.array([long_ms, short_share])

    @property
    def long_ms(self) -> float:
        """CPU demand above which a task is long [ms]."""
        return float(self.limits[0])

    @property
    def short_share(self) -> float:
        """Share of the nodes that take no long task."""
        return float(self.limits[1])

    def is_long(self, task: ArrivingTask) -> bool:
        """Whether a task is long by its own demand."""
        return task.cpu_ms > self.long_ms

    def is_long_job(self, tasks: Sequence[ArrivingTask]) -> bool:
        """Whether a job of these tasks is long: by the mean of what they announce."""
        # Where they are alike that is the first one's demand to the last digit.
        more_ms = 0.0
        for task in tasks:
            more_ms += task.cpu_ms - tasks[0].cpu_ms
        return tasks[0].cpu_ms + more_ms / len(tasks) > self.long_ms

    def short_nodes(self, post: Post) -> int:
        """How many nodes are kept for short jobs: one at least, and one at least is left to long ones."""
        return min(post.nodes - 1, max(1, round(self.short_share * post.nodes)))

    def first_accounted(self, post: Post) -> int:
        """Long jobs' work goes to the general partition."""
        return self.short_nodes(post)

    # ---- placing -----------------------------------------------------------------------------------------------------

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """A long job is handed to the head; a short one probes nodes."""
        if not self.is_long_job(tasks) or post.meets_at_barriers(tasks[0]):
            super().arrives(tasks, post)
            return
        for task in tasks:
            self.place_by_head(task, post)

    def place_by_head(self, task: ArrivingTask, post: Post) -> None:
        """Have the head place a long task."""
        if post.me == post.head:
            self.place_long(task, post)
        else:
            post.hand(task, post.head, "place")

    def place_long(self, task: ArrivingTask, post: Post) -> None:
        """At the head: hand a long task to the node of the general partition with least work of long jobs left."""
        node = self.least_work(post)
        self.give(task, node, post)
        self.forget_long(task.task, post)
        post.notes.long_tasks.append(LongTask(task.task, node))
        post.hand(task, node, "queue")

    def forget_long(self, number: int, post: Post) -> None:
        """At the head: forget a long task."""
        long_tasks = post.notes.long_tasks
        for place in range(len(long_tasks)):
            if long_tasks[place].task == number:
                del long_tasks[place]
                return

    # ---- at a node ---------------------------------------------------------------------------------------------------

    def came(self, task: ArrivingTask, post: Post) -> None:
        """Note whether the task is long: if it waited here, given by the head, or was not asked for and is long by its
        own demand."""
        waited = task.task in post.notes.started
        was_asked_for = self.asked_for(task.job, post) >= 0
        super().came(task, post)
        if waited or (not was_asked_for and self.is_long(task)):
            post.notes.long.append(task.task)

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Tell the head of long tasks that have ended; look for work."""
        has_long_ended = False
        for task in tasks:
            if task.task in post.notes.long:
                post.notes.long.remove(task.task)
                has_long_ended = True
        if has_long_ended:
            post.send(post.head, "long tasks left", self.long_left_ms(post))
        self.serve(post)
        self.look_for_work(post)

    def long_left_ms(self, post: Post) -> float:
        """The work of the long tasks that wait at the own node [ms]; that of running ones is not known."""
        left_ms = 0.0
        for task in post.waiting:
            for place in post.notes.places:
                if place.home < 0 and place.number == task.task:
                    left_ms += self.work_ms(task, post.me, post)
                    break
        return left_ms

    def look_for_work(self, post: Post) -> None:
        """A node without work asks another one for some."""
        notes = post.notes
        idle = not notes.places and post.tasks_here == 0 and not notes.asked
        if self.steals and idle and notes.attempts == NO_ATTEMPT:
            notes.attempts = self.parameters.steal_attempts
            self.attempt(post)

    def attempt(self, post: Post) -> None:
        """Ask a node of the general partition, unless work has come or none of the attempts is left."""
        notes = post.notes
        victims = post.draw_nodes(1, (post.me,), first=self.short_nodes(post))
        if notes.attempts == 0 or notes.places or post.tasks_here or not victims:
            notes.attempts = NO_ATTEMPT
            return
        notes.attempts -= 1
        post.send(victims[0], "steal")

    def give_stolen(self, thief: int, post: Post) -> None:
        """Give another node the first group of short jobs' places that stands behind a long task, or say that there is
        none."""
        places, found = post.notes.places, 0
        behind, is_over = len(post.notes.long) > 0, False
        for _ in range(len(places)):
            place = places.popleft()
            if place.home >= 0 and behind and not is_over:
                found += 1
                post.send(thief, "stolen", about=place.number, nodes=(place.home,))
                continue
            if place.home < 0:
                behind, is_over = True, found > 0
            places.append(place)
        if found == 0:
            post.send(thief, "nothing to steal")

    # ---- messages ----------------------------------------------------------------------------------------------------

    def hears(self, message: Message, post: Post) -> None:
        """Long tasks to place or to queue, their ends, and thefts; the rest as in batch sampling.

        If the home has no task left, and the node no work then, it tries to steal.
        """
        topic = message.topic
        if topic == "place":
            assert message.task is not None  # it was handed over
            self.place_long(message.task, post)
        elif topic == "queue":
            assert message.task is not None  # it was handed over
            post.notes.places.append(Place(-1, message.task.task, 0))
            self.serve(post)
        elif topic == "long tasks left":
            self.correct(message.source, message.value, message.sent_ms, post)
        elif topic == "steal":
            self.give_stolen(message.source, post)
        elif topic == "stolen":
            post.notes.attempts = NO_ATTEMPT
            post.notes.places.append(Place(message.nodes[0], message.about, 0))
            self.serve(post)
        elif topic == "nothing to steal":
            if post.notes.attempts != NO_ATTEMPT:
                self.attempt(post)
        else:
            super().hears(message, post)
            if topic == "none":
                self.look_for_work(post)

    def unanswered(self, message: Message, post: Post) -> None:
        """Place a task again; steal from another node; keep places that did not reach their thief; tell the head again.

        Other messages as in batch sampling; if the node has no work then, it tries to steal.
        """
        if message.topic == "place":
            assert message.task is not None  # it was handed over
            self.place_by_head(message.task, post)
        elif message.topic == "queue":
            assert message.task is not None  # it was handed over
            self.place_long(message.task, post)
        elif message.topic == "steal":
            if post.notes.attempts != NO_ATTEMPT:
                self.attempt(post)
        elif message.topic == "nothing to steal":
            post.send(message.target, message.topic)
        elif message.topic == "stolen":
            post.notes.places.append(Place(message.nodes[0], message.about, 0))
            self.serve(post)
        elif message.topic == "long tasks left":
            post.send(post.head, message.topic, self.long_left_ms(post))
        else:
            super().unanswered(message, post)
            if message.topic == "ready":
                self.look_for_work(post)

    def node_failed(self, node: int, post: Post) -> None:
        """The head gives it no work."""
        super().node_failed(node, post)
        if post.me == post.head:
            self.close_account(node, post)

    def begins(self, post: Post) -> None:
        """A node that is back tells the head."""
        if post.now_ms > 0.0:
            post.send(post.head, "long tasks left", 0.0)
