"""Idle nodes announce themselves, and get the next task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field

from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.talking import Ended, Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Count

NOBODY = -1


class Length(NamedTuple):
    """The length of the idle queue of a manager, which it has told."""

    node: int
    length: float


class JoinIdleQueue(Talking):
    """A node that falls idle joins the idle queue of one load manager; a task goes to the first node in the idle queue
    of its home, and where that is empty to a node drawn at random.

    The manager is drawn at random among those to which jobs come (JIQ-Random), or is the one of the shortest idle queue
    of several drawn ones that are asked (JIQ-SQ(d)). A node that gets a task from elsewhere leaves the queue that it is
    in. In the limit of many nodes, each of them a home, the share of managers with an idle node is about
    (1 - load) / (2 - load) for JIQ-Random (Lu et al. 2011, theorem 1, in which no node leaves a queue like this; Van
    Houdt 2024 has the exact limit, "with token withdrawals").
    """

    class Parameters(Talking.Parameters):
        """How an idle node chooses a manager."""

        probes: Count = Field(1, description="load managers that an idle node asks for the length of their idle queue")

    @dataclass
    class Notes:
        """What a manager remembers.

        Attributes:
            joined: the node of the manager whose idle queue its node is in; NOBODY: of none.
            asks: whether it waits for lengths of idle queues.
            asked: how many managers it has asked.
            lengths: what they have answered.
            idle: the nodes that have announced to it that they are idle.
        """

        joined: int = NOBODY
        asks: bool = False
        asked: int = 0
        lengths: Queue[Length] = queue()
        idle: Queue[int] = queue()

    name = "jiq"
    source = "Lu, Xie, Kliot, Geller, Larus, Greenberg 2011"
    summary = "a task goes to a node that has announced to its home that it is idle, else to a random one"
    rules = (
        ("first in the idle queue", "the target has announced that it is idle"),
        ("random: no node is known to be idle", "no node is known to be idle: drawn at random"),
    )
    hears_starts = True

    parameters: Parameters

    def begins(self, post: Post) -> None:
        """An idle node announces itself."""
        self.announce(post)

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """A node that has fallen idle announces itself."""
        self.announce(post)

    def announce(self, post: Post) -> None:
        """Join the idle queue of a manager, if the node is idle and in none."""
        notes = post.notes
        if post.tasks_here or notes.joined != NOBODY:
            return
        drawn = post.draw_homes(self.parameters.probes)
        if len(drawn) == 1:
            self.join(drawn[0], post)
            return
        notes.asks, notes.asked = True, len(drawn)
        notes.lengths.clear()
        for node in drawn:
            post.send(node, "how many are idle?")

    def join(self, node: int, post: Post) -> None:
        """Join the idle queue of a manager."""
        post.notes.joined = node
        post.send(node, "idle")

    def came(self, task: ArrivingTask, post: Post) -> None:
        """The node is idle no more: leave the queue it is in."""
        joined = post.notes.joined
        post.notes.joined, post.notes.asks = NOBODY, False
        if joined != NOBODY and task.home != joined:
            post.send(joined, "busy")

    def hears(self, message: Message, post: Post) -> None:
        """Nodes join and leave the own idle queue, ask for its length, or tell the length of theirs."""
        idle = post.notes.idle
        if message.topic == "idle":
            idle.append(message.source)
        elif message.topic == "busy":
            if message.source in idle:
                idle.remove(message.source)
        elif message.topic == "how many are idle?":
            post.send(message.source, "so many", len(idle))
        elif post.notes.asks:
            self.note_length(message.source, message.value, post)
            self.choose(post)

    def note_length(self, node: int, length: float, post: Post) -> None:
        """Note the length of a manager's idle queue; one that it has told before is no more."""
        lengths = post.notes.lengths
        for place in range(len(lengths)):
            if lengths[place].node == node:
                lengths[place] = Length(node, length)
                return
        lengths.append(Length(node, length))

    def unanswered(self, message: Message, post: Post) -> None:
        """Choose without a manager that does not answer; if the node has joined its queue, join another one."""
        if message.topic == "idle":
            if post.notes.joined == message.target:
                post.notes.joined = NOBODY
            self.announce(post)
        elif message.topic == "how many are idle?" and post.notes.asks:
            post.notes.asked -= 1
            self.choose(post)

    def choose(self, post: Post) -> None:
        """Once all have answered, join the shortest queue."""
        notes = post.notes
        if notes.asked == 0:
            notes.asks = False
            self.announce(post)
        elif len(notes.lengths) == notes.asked:
            notes.asks = False
            shortest = notes.lengths[0]
            for one in notes.lengths:
                if one.length < shortest.length:
                    shortest = one
            self.join(shortest.node, post)

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Each task to the node that has been idle for longest, as far as is known, else to a random one."""
        idle = post.notes.idle
        for task in tasks:
            if idle:
                post.start(task, idle.popleft(), "first in the idle queue")
            else:
                post.start(task, self.without_idle(post), "random: no node is known to be idle")

    def without_idle(self, post: Post) -> int:
        """Where a task goes while no node is known to be idle."""
        return post.draw_nodes(1)[0]

    def node_failed(self, node: int, post: Post) -> None:
        """It is in no queue any more; the node that had joined its queue joins another one."""
        if node in post.notes.idle:
            post.notes.idle.remove(node)
        if post.notes.joined == node:
            post.notes.joined = NOBODY
            self.announce(post)


class PersistentIdle(JoinIdleQueue):
    """One dispatcher, the head node, knows the nodes that are idle. While there are none it goes on sending to the
    node to which it sent last as to an idle one: no node is drawn that may be slow or long busy, so that unlike nodes
    are stable at every load below their capacity.
    """

    name = "persistent-idle"
    source = "Atar, Keslassy, Mendelson, Orda, Vargaftik 2019"
    summary = "the head sends a task to an idle node, else to the one that was idle last"
    rules = (
        ("an idle node", "the target is idle"),
        ("the node that was idle last", "no node is idle: the target was idle last"),
    )
    central = True

    @dataclass
    class Notes(JoinIdleQueue.Notes):
        """What a manager remembers; `last`: the node to which the head has sent last, NOBODY: to none."""

        last: int = NOBODY

    def announce(self, post: Post) -> None:
        """If the node is idle, and has not told this head yet, tell it."""
        if not post.tasks_here and post.notes.joined != post.head:
            self.join(post.head, post)

    def came(self, task: ArrivingTask, post: Post) -> None:
        """The node is no longer idle: the head knows, for it has sent the task."""
        post.notes.joined = NOBODY

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Each task to an idle node drawn at random, else to the last one."""
        notes = post.notes
        for task in tasks:
            if notes.idle:
                node = notes.idle[int(post.draw() * len(notes.idle))]
                notes.idle.remove(node)
                notes.last = node
                post.start(task, node, "an idle node")
                continue
            if notes.last == NOBODY:
                notes.last = post.draw_nodes(1)[0]
            post.start(task, notes.last, "the node that was idle last")

    def node_failed(self, node: int, post: Post) -> None:
        """It is neither idle nor the last any more."""
        super().node_failed(node, post)
        if post.notes.last == node:
            post.notes.last = NOBODY
