"""Late binding: nodes keep places for jobs in their queues, and take a task only when a slot is free."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from cluster_abm.policy.parts.slots import SlottedPolicy
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.tasks import ArrivingTask

# How often a node that does not answer is asked.
MOST_TRIES = 100


class Place(NamedTuple):
    """A place in a node's queue.

    Attributes:
        home: the node of the manager to ask for a task of the job; -1: the task waits here itself.
        number: the job's number, or the task's.
        tries: how often the home was asked in vain.
    """

    home: int
    number: int
    tries: int = 0


class ReservingPolicy(SlottedPolicy):
    """Load managers probe nodes, and probed nodes ask for tasks (Sparrow: batch sampling with late binding).

    A probe of a job takes a place in the queue of a node. When its turn has come and a slot is free, the node asks the
    job's home for a task; the home starts one there, or says that there is none left. A node that has asked keeps the
    slot free until it is answered.
    """

    rules = (
        ("late binding: a slot is free", "the target was first to have a free slot for this job"),
        ("next in the node's queue", "the task is next in the target's queue"),
    )

    hears_starts = True

    # ---- at the home of a job ----------------------------------------------------------------------------------------

    def probe(self, job: int, nodes: Sequence[int], post: Post) -> None:
        """Take a place for a job in the queue of each of these nodes."""
        post.notes.setdefault("probed", {}).setdefault(job, []).extend(nodes)
        for node in nodes:
            post.send(node, "probe", about=job, nodes=(post.me,))

    def answer(self, job: int, node: int, post: Post) -> None:
        """A node has a free slot for a job: start a task there, or say that none waits any more."""
        probed: list[int] = post.notes.get("probed", {}).get(job, [])
        if node in probed:
            probed.remove(node)
        waiting = [task for task in post.waiting if task.job == job]
        if waiting:
            post.start(waiting[0], node, "late binding: a slot is free")
        else:
            post.send(node, "none", about=job)
        if len(waiting) <= 1:
            post.notes.get("probed", {}).pop(job, None)

    def probe_elsewhere(self, job: int, node: int, post: Post) -> None:
        """A job has lost its places at a node: while its tasks wait, probe others, or the same one if there is none."""
        probed: list[int] = post.notes.get("probed", {}).get(job, [])
        lost = probed.count(node)
        if not lost:
            return
        post.notes["probed"][job] = [one for one in probed if one != node]
        if any(task.job == job for task in post.waiting):
            self.probe(job, [(post.draw_nodes(1, [node]) or [node])[0] for _ in range(lost)], post)

    # ---- at a node ---------------------------------------------------------------------------------------------------

    def queue(self, post: Post) -> deque[Place]:
        """The places in the own node's queue, in their order."""
        found: deque[Place] = post.notes.setdefault("queue", deque())
        return found

    def serve(self, post: Post) -> None:
        """Use free slots: start the next task, or ask for the next one."""
        queue = self.queue(post)
        while queue and self.open_slots(post) > 0:
            place = queue.popleft()
            if place.home < 0:
                self.start_here(place.number, post)
            else:
                self.ask_for(place, post)

    def open_slots(self, post: Post) -> int:
        """Free slots for which no task has been asked for yet."""
        asked: dict[int, int] = post.notes.get("asked", {})
        return self.free_slots(post) - sum(asked.values())

    def answered(self, job: int, post: Post) -> None:
        """A question for a task of a job has been answered, if there was one."""
        asked: dict[int, int] = post.notes.get("asked", {})
        if asked.get(job):
            asked[job] -= 1
            if not asked[job]:
                del asked[job]

    def start_here(self, number: int, post: Post) -> None:
        """Start a task that waits here, if it still does."""
        for task in post.waiting:
            if task.task == number:
                post.notes.setdefault("started", set()).add(number)
                post.start(task, post.me, "next in the node's queue")

    def ask_for(self, place: Place, post: Post) -> None:
        """Ask the home of a job for a task."""
        asked: dict[int, int] = post.notes.setdefault("asked", {})
        asked[place.number] = asked.get(place.number, 0) + 1
        post.send(place.home, "ready", place.tries, place.number)

    def came(self, task: ArrivingTask, post: Post) -> None:
        """The task that was asked for is coming."""
        started: set[int] = post.notes.get("started", set())
        if task.task in started:
            started.remove(task.task)
        else:
            self.answered(task.job, post)

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Slots have become free."""
        self.serve(post)

    # ---- messages ----------------------------------------------------------------------------------------------------

    def hears(self, message: Message, post: Post) -> None:
        """A probe, a question for a task, or its answer that there is none."""
        post.notes.get("failed", set()).discard(message.source)
        if message.topic == "probe":
            self.queue(post).append(Place(message.nodes[0], message.about))
            self.serve(post)
        elif message.topic == "ready":
            self.answer(message.about, message.source, post)
        elif message.topic == "none":
            self.answered(message.about, post)
            self.serve(post)

    def unanswered(self, message: Message, post: Post) -> None:
        """Probe another node; ask again, unless the home has failed; say again that there is no task left."""
        if message.topic == "probe" and message.nodes[0] == post.me:
            self.probe_elsewhere(message.about, message.target, post)
        elif message.topic == "ready":
            self.answered(message.about, post)
            tries = int(message.value) + 1
            if message.target not in post.notes.get("failed", ()) and tries < MOST_TRIES:
                self.queue(post).appendleft(Place(message.target, message.about, tries))
            self.serve(post)
        elif message.topic == "none" and message.value < MOST_TRIES:
            post.send(message.target, "none", message.value + 1.0, message.about)

    def node_failed(self, node: int, post: Post) -> None:
        """Take other places for jobs that had some there; forget those of its own jobs."""
        post.notes.setdefault("failed", set()).add(node)
        queue = self.queue(post)
        for place in [one for one in queue if one.home == node]:
            queue.remove(place)
        for job in list(post.notes.get("probed", {})):
            self.probe_elsewhere(job, node, post)
