"""Persistent-Idle: to an idle node, else to the one that was last known to be idle."""

from __future__ import annotations

from collections.abc import Sequence

from cluster_abm.policies.jiq import JoinIdleQueue
from cluster_abm.policy.talking import Post
from cluster_abm.policy.tasks import ArrivingTask


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
