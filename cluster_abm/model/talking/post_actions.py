"""What load managers that talk do: they send messages, and start tasks that wait."""

from __future__ import annotations

from typing import Protocol

from cluster_abm.errors import InputError
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.part import part
from cluster_abm.model.talking.mail import Mail
from cluster_abm.model.talking.post import ManagersPost
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.policies import ArrivingTask, Decision
from cluster_abm.policy.talking import Message


class StartsTasks(Protocol):
    """What sends a task to the node on which it starts."""

    def __call__(self, task: ArrivingTask, rank: int, held_ns: int, target: int, told_ns: int) -> None:
        """TaskStarts.start_waiting."""


@part
class PostActions:
    """Carries out what posts are asked for.

    Attributes:
        start_task: sends a task to its node.
        hears_starts: whether managers are told of tasks that start on their nodes.
    """

    mail: Mail
    surroundings: Surroundings
    waiting: WaitingTasks
    log: DecisionLog
    start_task: StartsTasks
    hears_starts: bool

    def send(self, message: Message, now_ns: int) -> None:
        """Send a message at an instant [ns]."""
        self.mail.send(message, now_ns)

    def remind(self, message: Message, at_ns: int) -> None:
        """Have a manager hear a message of its own at an instant [ns]."""
        self.mail.tell(at_ns, message.source, "hears", message)

    def start(
        self, post: ManagersPost, task: ArrivingTask, node: int, rule: str, index: str, here: float, there: float
    ) -> None:
        """Start a waiting task at the instant of the post."""
        home, target, told_ns = self.surroundings.start_of(post.me, task.home, node)
        held_ns = post.now_ns - self.waiting.arrival_ns(task.job)
        rank = self.waiting.started(task)
        decision = Decision(target, rule, index, load_here=here, load_there=there)
        try:
            self.start_task(task, rank, held_ns, target, told_ns)
        except InputError as problem:
            # The scenario's fault, and not the policy's, in whose call it comes up.
            post.problem = problem
            raise
        self.log.record(home, task, decision, target, True, "")
        if self.hears_starts:
            self.mail.tell(post.now_ns, target, "came", task)
