"""Idle nodes announce themselves, and get the next task."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from pydantic import Field

from cluster_abm.policy.talking import Ended, Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Count


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
        if post.tasks_here or "joined" in post.notes:
            return
        drawn = post.draw_homes(self.parameters.probes)
        if len(drawn) == 1:
            self.join(drawn[0], post)
            return
        post.notes["lengths"], post.notes["asked"] = {}, len(drawn)
        for node in drawn:
            post.send(node, "how many are idle?")

    def join(self, node: int, post: Post) -> None:
        """Join the idle queue of a manager."""
        post.notes["joined"] = node
        post.send(node, "idle")

    def came(self, task: ArrivingTask, post: Post) -> None:
        """The node is idle no more: leave the queue it is in."""
        joined = post.notes.pop("joined", None)
        post.notes.pop("lengths", None)
        if joined is not None and joined != task.home:
            post.send(joined, "busy")

    def hears(self, message: Message, post: Post) -> None:
        """Nodes join and leave the own idle queue, ask for its length, or tell the length of theirs."""
        idle = self.idle_queue(post)
        if message.topic == "idle":
            idle.append(message.source)
        elif message.topic == "busy":
            if message.source in idle:
                idle.remove(message.source)
        elif message.topic == "how many are idle?":
            post.send(message.source, "so many", len(idle))
        elif "lengths" in post.notes:
            post.notes["lengths"][message.source] = message.value
            self.choose(post)

    def unanswered(self, message: Message, post: Post) -> None:
        """Choose without a manager that does not answer; if the node has joined its queue, join another one."""
        if message.topic == "idle":
            if post.notes.get("joined") == message.target:
                del post.notes["joined"]
            self.announce(post)
        elif message.topic == "how many are idle?" and "lengths" in post.notes:
            post.notes["asked"] -= 1
            self.choose(post)

    def choose(self, post: Post) -> None:
        """Once all have answered, join the shortest queue."""
        lengths: dict[int, float] = post.notes["lengths"]
        if not post.notes["asked"]:
            del post.notes["lengths"]
            self.announce(post)
        elif len(lengths) == post.notes["asked"]:
            del post.notes["lengths"]
            self.join(min(lengths, key=lambda node: lengths[node]), post)

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Each task to the node that has been idle for longest, as far as is known, else to a random one."""
        for task in tasks:
            idle = self.idle_queue(post)
            if idle:
                post.start(task, idle.popleft(), "first in the idle queue")
            else:
                post.start(task, self.without_idle(post), "random: no node is known to be idle")

    def without_idle(self, post: Post) -> int:
        """Where a task goes while no node is known to be idle."""
        return post.draw_nodes(1)[0]

    def node_failed(self, node: int, post: Post) -> None:
        """It is in no queue any more; the node that had joined its queue joins another one."""
        idle = self.idle_queue(post)
        if node in idle:
            idle.remove(node)
        if post.notes.get("joined") == node:
            del post.notes["joined"]
            self.announce(post)

    def idle_queue(self, post: Post) -> deque[int]:
        """The nodes that have announced to this manager that they are idle."""
        found: deque[int] = post.notes.setdefault("idle", deque())
        return found


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

    def announce(self, post: Post) -> None:
        """If the node is idle, and has not told this head yet, tell it."""
        if not post.tasks_here and post.notes.get("joined") != post.head:
            self.join(post.head, post)

    def came(self, task: ArrivingTask, post: Post) -> None:
        """The node is no longer idle: the head knows, for it has sent the task."""
        post.notes.pop("joined", None)

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Each task to an idle node drawn at random, else to the last one."""
        for task in tasks:
            idle = self.idle_queue(post)
            if idle:
                node = idle[int(post.draw() * len(idle))]
                idle.remove(node)
                post.notes["last"] = node
                post.start(task, node, "an idle node")
                continue
            if post.notes.get("last") is None:
                post.notes["last"] = post.draw_nodes(1)[0]
            post.start(task, post.notes["last"], "the node that was idle last")

    def node_failed(self, node: int, post: Post) -> None:
        """It is neither idle nor the last any more."""
        super().node_failed(node, post)
        if post.notes.get("last") == node:
            post.notes["last"] = None
