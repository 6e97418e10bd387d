"""A central queue: a core that falls idle takes the task that has waited longest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.parts.slots import SlottedPolicy
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.view import ArrivingTask


class CentralQueue(SlottedPolicy):
    """Tasks wait at the head node, first come, first served; nodes with room pull them (the queue M/G/k).

    A node tells the head how many slots have become free on it. The head starts the oldest task in the slot that was
    announced first; without cost and with slots of one core this is the queue M/G/k in which a task occupies its slot
    until the slice ends in which it does.
    """

    name = "central-queue"
    source = "textbook (M/G/k); pull"
    summary = "tasks wait at the head node; a node with a free slot takes the oldest one"
    rules = (("oldest to the first free slot", "the oldest waiting task; the target was first to have a free slot"),)
    central = True
    hears_starts = True

    @dataclass
    class Notes:
        """What a manager remembers.

        Attributes:
            begun_ms: when it began, with no slot announced [ms].
            announced: how many free slots of its node the head knows of.
            free: of the head, the node of each slot that has been announced, the first first.
        """

        begun_ms: float = math.inf
        announced: int = 0
        free: Queue[int] = queue()

    def begins(self, post: Post) -> None:
        """Announce all slots: the head knows of none."""
        post.notes.begun_ms, post.notes.announced = post.now_ms, 0
        self.announce(post)

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Announce the slots that have become free."""
        self.announce(post)

    def announce(self, post: Post) -> None:
        """Announce the free slots that the head does not know of."""
        free = self.free_slots(post) - post.notes.announced
        if free > 0:
            post.notes.announced += free
            post.send(post.head, "free slots", free)

    def came(self, task: ArrivingTask, post: Post) -> None:
        """The head has filled an announced slot; a task whose job meets at barriers fills none."""
        if not post.meets_at_barriers(task):
            post.notes.announced = max(0, post.notes.announced - 1)

    def unanswered(self, message: Message, post: Post) -> None:
        """The head has not heard of these slots: announce them again, unless all were announced to a new head since."""
        if message.sent_ms >= post.notes.begun_ms:
            post.notes.announced -= int(message.value)
            self.announce(post)

    def hears(self, message: Message, post: Post) -> None:
        """At the head: slots have become free on a node."""
        for _ in range(int(message.value)):
            post.notes.free.append(message.source)
        self.start_waiting(post)

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """At the head: a job has come."""
        if not self.start_together(tasks, post):
            self.start_waiting(post)

    def start_waiting(self, post: Post) -> None:
        """Start the oldest tasks in the slots that were announced first."""
        free = post.notes.free
        for task in post.waiting[: len(free)]:
            post.start(task, free.popleft(), "oldest to the first free slot")

    def node_failed(self, node: int, post: Post) -> None:
        """Its slots are gone."""
        for _ in range(post.notes.free.count(node)):
            post.notes.free.remove(node)
