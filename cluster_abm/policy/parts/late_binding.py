"""Late binding: nodes keep places for jobs in their queues, and take a task only when a slot is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cluster_abm.policy.notes import Queue, queue
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
    tries: int


class Reservation(NamedTuple):
    """A place for a job that is kept in the queue of a node."""

    job: int
    node: int


class TasksAsked(NamedTuple):
    """How many tasks of a job a node has asked for."""

    job: int
    tasks: int


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

    @dataclass
    class Notes:
        """What a manager remembers.

        Attributes:
            jobs: its jobs for which nodes were probed, in this order.
            probed: the places that these nodes keep.
            places: the places in the own node's queue.
            asked: what the own node has asked for and not got.
            started: tasks that waited here and have started here, until they come.
            failed: nodes that have failed and have said nothing since.
        """

        jobs: Queue[int] = queue()
        probed: Queue[Reservation] = queue()
        places: Queue[Place] = queue()
        asked: Queue[TasksAsked] = queue()
        started: Queue[int] = queue()
        failed: Queue[int] = queue()

    # ---- at the home of a job ----------------------------------------------------------------------------------------

    def probe(self, job: int, nodes: Sequence[int], post: Post) -> None:
        """Take a place for a job in the queue of each of these nodes."""
        for node in nodes:
            self.probe_node(job, node, post)

    def probe_node(self, job: int, node: int, post: Post) -> None:
        """Take a place for a job in the queue of a node."""
        self.note_place(job, node, post)
        post.send(node, "probe", about=job, nodes=(post.me,))

    def note_place(self, job: int, node: int, post: Post) -> None:
        """Note the place of a job in the queue of a node."""
        if job not in post.notes.jobs:
            post.notes.jobs.append(job)
        post.notes.probed.append(Reservation(job, node))

    def lose_place(self, job: int, node: int, post: Post) -> bool:
        """Note that a place of a job in the queue of a node is no more; False: there was none."""
        place = Reservation(job, node)
        if place not in post.notes.probed:
            return False
        post.notes.probed.remove(place)
        return True

    def forget_job(self, job: int, post: Post) -> None:
        """Forget all places of a job."""
        if job not in post.notes.jobs:
            return
        post.notes.jobs.remove(job)
        probed = post.notes.probed
        for _ in range(len(probed)):
            place = probed.popleft()
            if place.job != job:
                probed.append(place)

    def answer(self, job: int, node: int, post: Post) -> None:
        """A node has a free slot for a job: start a task there, or say that none waits any more."""
        self.lose_place(job, node, post)
        waiting = 0
        for task in post.waiting:
            if task.job == job:
                waiting += 1
                if waiting == 1:
                    post.start(task, node, "late binding: a slot is free")
        if waiting == 0:
            post.send(node, "none", about=job)
        if waiting <= 1:
            self.forget_job(job, post)

    def probe_elsewhere(self, job: int, node: int, post: Post) -> None:
        """A job has lost its places at a node: while its tasks wait, probe others, or the same one if there is none."""
        lost = 0
        for _ in range(len(post.notes.probed)):
            if not self.lose_place(job, node, post):
                break
            lost += 1
        waits = False
        for task in post.waiting:
            waits = waits or task.job == job
        if waits:
            for _ in range(lost):
                drawn = post.draw_nodes(1, (node,))
                self.probe_node(job, drawn[0] if drawn else node, post)

    # ---- at a node ---------------------------------------------------------------------------------------------------

    def serve(self, post: Post) -> None:
        """Use free slots: start the next task, or ask for the next one."""
        places = post.notes.places
        for _ in range(len(places)):
            if self.open_slots(post) <= 0:
                break
            place = places.popleft()
            if place.home < 0:
                self.start_here(place.number, post)
            else:
                self.ask_for(place, post)

    def open_slots(self, post: Post) -> int:
        """Free slots for which no task has been asked for yet."""
        slots = self.free_slots(post)
        for asked in post.notes.asked:
            slots -= asked.tasks
        return slots

    def asked_for(self, job: int, post: Post) -> int:
        """Where it is noted that a task of a job is asked for; -1: none is."""
        asked = post.notes.asked
        for place in range(len(asked)):
            if asked[place].job == job:
                return place
        return -1

    def answered(self, job: int, post: Post) -> None:
        """A question for a task of a job has been answered, if there was one."""
        asked, place = post.notes.asked, self.asked_for(job, post)
        if place < 0:
            return
        tasks = asked[place].tasks - 1
        if tasks == 0:
            del asked[place]
        else:
            asked[place] = TasksAsked(job, tasks)

    def start_here(self, number: int, post: Post) -> None:
        """Start a task that waits here, if it still does."""
        for task in post.waiting:
            if task.task == number:
                post.notes.started.append(number)
                post.start(task, post.me, "next in the node's queue")

    def ask_for(self, place: Place, post: Post) -> None:
        """Ask the home of a job for a task."""
        asked, noted = post.notes.asked, self.asked_for(place.number, post)
        if noted < 0:
            asked.append(TasksAsked(place.number, 1))
        else:
            asked[noted] = TasksAsked(place.number, asked[noted].tasks + 1)
        post.send(place.home, "ready", place.tries, place.number)

    def came(self, task: ArrivingTask, post: Post) -> None:
        """The task that was asked for is coming."""
        if task.task in post.notes.started:
            post.notes.started.remove(task.task)
        else:
            self.answered(task.job, post)

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Slots have become free."""
        self.serve(post)

    # ---- messages ----------------------------------------------------------------------------------------------------

    def hears(self, message: Message, post: Post) -> None:
        """A probe, a question for a task, or its answer that there is none."""
        if message.source in post.notes.failed:
            post.notes.failed.remove(message.source)
        if message.topic == "probe":
            post.notes.places.append(Place(message.nodes[0], message.about, 0))
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
            if message.target not in post.notes.failed and tries < MOST_TRIES:
                post.notes.places.appendleft(Place(message.target, message.about, tries))
            self.serve(post)
        elif message.topic == "none" and message.value < MOST_TRIES:
            post.send(message.target, "none", message.value + 1.0, message.about)

    def node_failed(self, node: int, post: Post) -> None:
        """Take other places for jobs that had some there; forget those of its own jobs."""
        if node not in post.notes.failed:
            post.notes.failed.append(node)
        places = post.notes.places
        for _ in range(len(places)):
            place = places.popleft()
            if place.home != node:
                places.append(place)
        for job in post.notes.jobs:
            self.probe_elsewhere(job, node, post)
