"""Hawk: long jobs are placed centrally, short ones by probes, and idle nodes steal short ones from behind long ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from cluster_abm.errors import InputError
from cluster_abm.policies.batch_sampling import BatchSampling
from cluster_abm.policy.parts.late_binding import Place
from cluster_abm.policy.parts.work_accounts import WorkAccounts
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.tasks import ArrivingTask, Demands
from cluster_abm.scenario.distributions import Count, Positive, Share


class Hawk(BatchSampling):
    """Jobs with a CPU demand a task above `long_ms` are long. The head node sends their tasks to the nodes of the
    general partition with least work of long jobs left; nodes 0, 1, ... up to `short_share` of all are kept for short
    jobs. A short job probes nodes of both (batch sampling with late binding). A node without work asks nodes of the
    general partition drawn at random, one after another, for the first group of short jobs' places that stands behind
    a long task.

    Where they are not set, jobs are long above the ninth decile of the announced demands, and short jobs' partition is
    their share of the work.
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
        self.long_ms, self.short_share = long_ms, short_share

    def is_long(self, task: ArrivingTask) -> bool:
        """Whether a task is long."""
        return task.cpu_ms > self.long_ms

    def short_nodes(self, post: Post) -> int:
        """How many nodes are kept for short jobs: one at least, and one at least is left to long ones."""
        return min(post.nodes - 1, max(1, round(self.short_share * post.nodes)))

    # ---- placing -----------------------------------------------------------------------------------------------------

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """A long job is handed to the head; a short one probes nodes."""
        if not self.is_long(tasks[0]) or post.meets_at_barriers(tasks[0]):
            super().arrives(tasks, post)
            return
        for task in tasks:
            if post.me == post.head:
                self.place_long(task, post)
            else:
                post.hand(task, post.head, "place")

    def place_long(self, task: ArrivingTask, post: Post) -> None:
        """At the head: hand a long task to the node of the general partition with least work of long jobs left."""
        accounts = self.accounts(post)
        node = accounts.least(post.now_ms)
        accounts.give(task, node, post.now_ms)
        post.notes.setdefault("given", {})[task.task] = node
        post.hand(task, node, "queue")

    def accounts(self, post: Post) -> WorkAccounts:
        """The head's account of the long jobs' work."""
        if "accounts" not in post.notes:
            post.notes["accounts"] = WorkAccounts(post.view.hardware, range(self.short_nodes(post), post.nodes))
        found: WorkAccounts = post.notes["accounts"]
        return found

    # ---- at a node ---------------------------------------------------------------------------------------------------

    def came(self, task: ArrivingTask, post: Post) -> None:
        """Note whether the task is long."""
        super().came(task, post)
        if self.is_long(task):
            post.notes.setdefault("long", set()).add(task.task)

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Tell the head of long tasks that have ended; look for work."""
        running: set[int] = post.notes.get("long", set())
        ended = running.intersection(task.task for task in tasks)
        running -= ended
        if ended:
            post.send(post.head, "long tasks left", self.long_left_ms(post))
        self.serve(post)
        self.look_for_work(post)

    def long_left_ms(self, post: Post) -> float:
        """The work of the long tasks that wait at the own node [ms]; that of running ones is not known."""
        hardware = post.view.hardware[post.me]
        long = {place.number for place in self.queue(post) if place.home < 0}
        return sum(
            task.cpu_on(hardware) / hardware.cores + task.io_on(hardware) for task in post.waiting if task.task in long
        )

    def look_for_work(self, post: Post) -> None:
        """A node without work asks another one for some."""
        idle = not self.queue(post) and post.tasks_here == 0 and not post.notes.get("asked")
        if self.steals and idle and "attempts" not in post.notes:
            post.notes["attempts"] = self.parameters.steal_attempts
            self.attempt(post)

    def attempt(self, post: Post) -> None:
        """Ask a node of the general partition, unless work has come or none of the attempts is left."""
        victims = post.draw_nodes(1, [*range(self.short_nodes(post)), post.me])
        if post.notes["attempts"] == 0 or self.queue(post) or post.tasks_here or not victims:
            del post.notes["attempts"]
            return
        post.notes["attempts"] -= 1
        post.send(victims[0], "steal")

    def taken(self, post: Post) -> list[Place]:
        """Take out of the queue the first group of short jobs' places that stands behind a long task."""
        queue = self.queue(post)
        behind, is_over = bool(post.notes.get("long")), False
        found: list[Place] = []
        kept: list[Place] = []
        for place in queue:
            if place.home < 0:
                behind, is_over = True, bool(found)
                kept.append(place)
            elif behind and not is_over:
                found.append(place)
            else:
                kept.append(place)
        queue.clear()
        queue.extend(kept)
        return found

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
            self.queue(post).append(Place(-1, message.task.task))
            self.serve(post)
        elif topic == "long tasks left":
            self.accounts(post).correct(message.source, message.value, message.sent_ms)
        elif topic == "steal":
            stolen = self.taken(post)
            for place in stolen:
                post.send(message.source, "stolen", about=place.number, nodes=(place.home,))
            if not stolen:
                post.send(message.source, "nothing to steal")
        elif topic == "stolen":
            post.notes.pop("attempts", None)
            self.queue(post).append(Place(message.nodes[0], message.about))
            self.serve(post)
        elif topic == "nothing to steal":
            if "attempts" in post.notes:
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
            self.arrives([message.task], post)
        elif message.topic == "queue":
            assert message.task is not None  # it was handed over
            self.place_long(message.task, post)
        elif message.topic == "steal":
            if "attempts" in post.notes:
                self.attempt(post)
        elif message.topic == "nothing to steal":
            post.send(message.target, message.topic)
        elif message.topic == "stolen":
            self.queue(post).append(Place(message.nodes[0], message.about))
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
            self.accounts(post).close(node)

    def begins(self, post: Post) -> None:
        """A node that is back tells the head."""
        if post.now_ms > 0.0:
            post.send(post.head, "long tasks left", 0.0)
