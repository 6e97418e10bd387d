"""JSQ(d) with memory: the best of the nodes probed last is probed again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from pydantic import Field

from cluster_abm.arrays import Floats, Integers
from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.talking import Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Count


class Probe(NamedTuple):
    """A task for which nodes are probed.

    Attributes:
        task: its number.
        asked: how many nodes are asked and may still answer.
        since_ms: when they were asked [ms].
    """

    task: int
    asked: int
    since_ms: float


class LoadAnswer(NamedTuple):
    """What a node has answered about a task: it had `tasks` tasks at `at_ms` [ms]."""

    task: int
    node: int
    tasks: float
    at_ms: float


class SentTo(NamedTuple):
    """A task that was sent to a node at an instant [ms]."""

    at_ms: float
    node: int


class JoinShortestWithMemory(Talking):
    """For each task the head node probes d nodes drawn at random and the m that it remembers; the task goes to the one
    with fewest tasks, and the m with fewest, that task included, are remembered.
    """

    class Parameters(Talking.Parameters):
        """How many are probed."""

        d: Count = Field(2, description="nodes probed, drawn at random")
        memory: Count = Field(1, description="nodes remembered, and probed too")

    name = "jsq-memory"
    source = "Mitzenmacher, Prabhakar, Shah 2002"
    summary = "each task to the shortest of d queues drawn at random and of the m best seen last, which are probed"
    rules = (("shortest of {}", "the target has fewest tasks of the {} nodes probed"),)
    central = True
    hears_ends = False

    parameters: Parameters

    @dataclass
    class Notes:
        """What the head remembers.

        Attributes:
            remembered: the nodes that are probed for the next task too.
            open: the tasks for which nodes are probed.
            answers: what these nodes have answered.
            sent: tasks that were sent since the oldest of these probes.
        """

        remembered: Queue[int] = queue()
        open: Queue[Probe] = queue()
        answers: Queue[LoadAnswer] = queue()
        sent: Queue[SentTo] = queue()

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Probe nodes for each task."""
        for task in tasks:
            self.probe(task, post)

    def probe(self, task: ArrivingTask, post: Post) -> None:
        """Ask the nodes for one task how many tasks they have."""
        self.forget(task.task, post)
        remembered = post.notes.remembered
        drawn = post.draw_nodes(self.parameters.d, remembered)
        post.notes.open.append(Probe(task.task, len(remembered) + len(drawn), post.now_ms))
        for node in remembered:
            post.send(node, "how many tasks?", about=task.task)
        for node in drawn:
            post.send(node, "how many tasks?", about=task.task)

    def hears(self, message: Message, post: Post) -> None:
        """A node is asked, or has answered."""
        if message.topic == "how many tasks?":
            post.send(message.source, "so many", post.tasks_here, message.about)
        elif self.place_of(message.about, post) >= 0:
            self.note_answer(LoadAnswer(message.about, message.source, message.value, message.sent_ms), post)
            self.choose(message.about, post)

    def place_of(self, number: int, post: Post) -> int:
        """The place of a task among those for which nodes are probed; -1: none is."""
        for place, probe in enumerate(post.notes.open):
            if probe.task == number:
                return place
        return -1

    def forget(self, number: int, post: Post) -> None:
        """Nodes are probed for a task no more."""
        place, answers = self.place_of(number, post), post.notes.answers
        if place >= 0:
            del post.notes.open[place]
        for _ in range(len(answers)):
            answer = answers.popleft()
            if answer.task != number:
                answers.append(answer)

    def note_answer(self, answer: LoadAnswer, post: Post) -> None:
        """Note an answer; an earlier one of the same node about the same task is no more."""
        answers = post.notes.answers
        for place in range(len(answers)):
            if answers[place].task == answer.task and answers[place].node == answer.node:
                answers[place] = answer
                return
        answers.append(answer)

    def unanswered(self, message: Message, post: Post) -> None:
        """A node does not answer; forget it, and go by the others. Say again what the head has not heard."""
        place = self.place_of(message.about, post)
        if message.topic == "so many":
            post.send(message.target, message.topic, post.tasks_here, message.about)
        elif place >= 0:
            self.node_failed(message.target, post)
            probe = post.notes.open[place]
            post.notes.open[place] = Probe(probe.task, probe.asked - 1, probe.since_ms)
            self.choose(message.about, post)

    def node_failed(self, node: int, post: Post) -> None:
        """Forget a node that has failed."""
        for _ in range(post.notes.remembered.count(node)):
            post.notes.remembered.remove(node)

    def choose(self, number: int, post: Post) -> None:
        """Once all have answered about a task, start it on the node of fewest tasks, and remember the best."""
        notes, place = post.notes, self.place_of(number, post)
        count = 0
        for answer in notes.answers:
            count += answer.task == number
        if count < notes.open[place].asked:
            return
        nodes, tasks = np.zeros(count, np.int64), np.zeros(count)
        found = 0
        for answer in notes.answers:
            if answer.task == number:
                nodes[found] = answer.node
                tasks[found] = answer.tasks + self.sent_since(answer.at_ms, answer.node, post)
                found += 1
        self.forget(number, post)
        for task in post.waiting:
            if task.task == number:
                if count == 0:
                    self.probe(task, post)
                else:
                    self.start(task, nodes, tasks, post)
                return

    def start(self, task: ArrivingTask, nodes: Integers, tasks: Floats, post: Post) -> None:
        """Start a task on the first of these nodes that has fewest tasks, and remember the best."""
        target = int(tasks.argmin())
        post.start(task, int(nodes[target]), f"shortest of {len(nodes)}", "tasks", there=float(tasks[target]))
        tasks[target] += 1.0
        self.note_start(int(nodes[target]), post)
        post.notes.remembered.clear()
        for _ in range(min(self.parameters.memory, len(nodes))):
            best = int(tasks.argmin())
            post.notes.remembered.append(int(nodes[best]))
            tasks[best] = math.inf

    def sent_since(self, at_ms: float, node: int, post: Post) -> int:
        """How many tasks were sent to a node since it answered: several tasks may be probing at once."""
        count = 0
        for sent in post.notes.sent:
            if sent.node == node and sent.at_ms >= at_ms:
                count += 1
        return count

    def note_start(self, node: int, post: Post) -> None:
        """Note that a task is sent to a node, for as long as a task is probing that asked before."""
        since_ms = math.inf
        for probe in post.notes.open:
            since_ms = min(since_ms, probe.since_ms)
        sent = post.notes.sent
        sent.append(SentTo(post.now_ms, node))
        for _ in range(len(sent)):
            # They stand in the order of their times.
            if sent[0].at_ms >= since_ms:
                break
            sent.popleft()
