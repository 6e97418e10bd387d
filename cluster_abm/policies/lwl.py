"""LWL: each task to the node with least work left."""

from __future__ import annotations

from collections.abc import Sequence

from cluster_abm.policy.parts.work_accounts import WorkAccounts
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.tasks import ArrivingTask


class LeastWorkLeft(WorkAccounts):
    """The head node keeps account of the work that it has given to each node, and gives a task to the node with least.

    Work is CPU, over the node's cores, and disk time, as announced. A node on which a task has ended says what it has
    left, which corrects the account. With equal nodes of one core, exact sizes, tasks without I/O that run until they
    end (`cluster.quantum_ms = inf`) and no cost of starting elsewhere, tasks start when they would from one central
    queue: M/G/k (Harchol-Balter, Crovella, Murta 1999).
    """

    name = "lwl"
    source = "Harchol-Balter, Crovella, Murta 1999 (Least-Work-Remaining)"
    summary = "the head node sends each task to the node with least unfinished work"
    rules = (("least work left", "the target has least unfinished work"),)
    central = True

    def begins(self, post: Post) -> None:
        """Tell the head what work is left: when the run begins, that of jobs that are there at 0."""
        self.tell(post)

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Tell the head what is left."""
        self.tell(post)

    def unanswered(self, message: Message, post: Post) -> None:
        """The head has not heard what work is left: tell it what is left now."""
        self.tell(post)

    def tell(self, post: Post) -> None:
        """Tell the head what work is left on the own node."""
        view = post.view
        post.send(post.head, "work left", view.measured("cpu_ms", post.me) + view.measured("io_ms", post.me))

    def hears(self, message: Message, post: Post) -> None:
        """At the head: correct the account."""
        self.correct(message.source, message.value, message.sent_ms, post)

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """At the head: one task after another to the node with least work left."""
        for task in tasks:
            node = self.least_work(post)
            here, there = self.left_ms(task.home, post), self.left_ms(node, post)
            post.start(task, node, "least work left", "cpu_ms", here, there)
            self.give(task, node, post)

    def node_failed(self, node: int, post: Post) -> None:
        """Give it no work until it says that it is back."""
        self.close_account(node, post)
