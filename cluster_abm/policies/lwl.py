"""LWL: each task to the node with least work left."""

from __future__ import annotations

from collections.abc import Sequence

from cluster_abm.policy.parts.work_accounts import WorkAccounts
from cluster_abm.policy.talking import Ended, Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask


class LeastWorkLeft(Talking):
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
        self.accounts(post).correct(message.source, message.value, message.sent_ms)

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """At the head: one task after another to the node with least work left."""
        accounts = self.accounts(post)
        for task in tasks:
            node = accounts.least(post.now_ms)
            here, there = accounts.left_ms(task.home, post.now_ms), accounts.left_ms(node, post.now_ms)
            post.start(task, node, "least work left", "cpu_ms", here, there)
            accounts.give(task, node, post.now_ms)

    def node_failed(self, node: int, post: Post) -> None:
        """Give it no work until it says that it is back."""
        self.accounts(post).close(node)

    def accounts(self, post: Post) -> WorkAccounts:
        """The head's account."""
        if "accounts" not in post.notes:
            post.notes["accounts"] = WorkAccounts(post.view.hardware, range(post.nodes))
        found: WorkAccounts = post.notes["accounts"]
        return found
