"""Hyper-scalable JSQ with sparse feedback: estimates are raised at each assignment, and corrected now and then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.talking import Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Positive


class SparseFeedback(Talking):
    """The head node estimates how many tasks each node has: one more at each assignment, and the truth whenever the
    node tells it. A task goes to a node of lowest estimate, of several one drawn at random.

    Nodes tell it independently (AUJSQ). If intervals are exponential and each node tells more than load / (1 - load)
    times in a mean demand, no task waits in the limit of many nodes (van der Boor, Borst, van Leeuwaarden 2019).
    """

    class Parameters(Talking.Parameters):
        """How often nodes tell."""

        update_ms: Positive = Field(1000.0, description="mean time between two messages of a node [ms]")
        intervals: Literal["exponential", "fixed"] = Field("exponential", description="these times")

    name = "sparse-jsq"
    source = "van der Boor, Borst, van Leeuwaarden 2019"
    summary = "the head sends each task to the node of lowest estimate, which it raises, and nodes now and then correct"
    rules = (("lowest estimate", "the head estimates fewest tasks on the target"),)
    central = True
    hears_ends = False

    parameters: Parameters

    @dataclass
    class Notes:
        """What a manager remembers.

        Attributes:
            plans: whether it has planned when to tell the head.
            estimates: of the head, estimated tasks of every node; none: it has estimated none yet.
        """

        plans: bool = False
        estimates: Queue[float] = queue()

    def begins(self, post: Post) -> None:
        """Plan when to tell the head; a node that is back, or has another head, tells it at once."""
        if post.now_ms > 0.0:
            post.send(post.head, "tasks", post.tasks_here)
        if post.notes.plans:
            return
        post.notes.plans = True
        if self.parameters.intervals == "fixed":
            post.remind(post.draw() * self.parameters.update_ms, "tell")
        else:
            self.plan(post)

    def plan(self, post: Post) -> None:
        """Set the next message."""
        exponential = self.parameters.intervals == "exponential"
        share = -math.log(post.draw()) if exponential else 1.0
        # A drawn time may be longer than any that a manager can wait.
        post.remind(min(share * self.parameters.update_ms, LONGEST_WAIT_MS), "tell")

    def hears(self, message: Message, post: Post) -> None:
        """It is time to tell; or, at the head, a node has told."""
        if message.topic == "tell":
            post.send(post.head, "tasks", post.tasks_here)
            self.plan(post)
        else:
            self.open_estimates(post)
            post.notes.estimates[message.source] = message.value

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """At the head: to a node of lowest estimate."""
        estimates = post.notes.estimates
        self.open_estimates(post)
        for task in tasks:
            node = self.lowest(post)
            post.start(task, node, "lowest estimate", "tasks", estimates[task.home], estimates[node])
            estimates[node] += 1.0

    def lowest(self, post: Post) -> int:
        """A node of lowest estimate, of several one drawn at random."""
        least, count = math.inf, 0
        for estimate in post.notes.estimates:
            if estimate < least:
                least, count = estimate, 0
            if estimate == least:
                count += 1
        before = int(post.draw() * count)
        for node, estimate in enumerate(post.notes.estimates):
            if estimate == least:
                if before == 0:
                    return node
                before -= 1
        return post.me

    def node_failed(self, node: int, post: Post) -> None:
        """Nothing goes there until it tells."""
        self.open_estimates(post)
        post.notes.estimates[node] = math.inf

    def open_estimates(self, post: Post) -> None:
        """Estimate from now on, if nothing is estimated yet."""
        if not post.notes.estimates:
            for _ in range(post.nodes):
                post.notes.estimates.append(0.0)
