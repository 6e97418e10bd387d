"""What a load manager can know and do while it talks: the `Post` of its policy."""

from __future__ import annotations

import math
import sys
from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import LONGEST_WAIT_MS, NS_PER_MS, whole_ns
from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.deciding.in_python import NegotiationInPython
from cluster_abm.model.part import part
from cluster_abm.model.talking.mail import Mail
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.policies import ArrivingTask, Decision, View
from cluster_abm.policy.decision import NUMBERS, TEXTS, numbers_of, texts_of
from cluster_abm.policy.talking import Message
from cluster_abm.policy.tasks import Hardware

# Sends a task, its rank inside its job, to the node on which it starts: how long it has waited and how long telling its
# home takes [ns] (TaskStarts.start_waiting).
StartTask = Callable[[ArrivingTask, int, int, int, int], None]


@part
class PostActions:
    """Carries out what posts are asked for."""

    mail: Mail
    surroundings: Surroundings
    waiting: WaitingTasks
    log: DecisionLog
    negotiation: NegotiationInPython
    start_task: StartTask  # sends a task to its node
    hears_starts: bool  # whether managers are told of tasks that start on their nodes

    def send(self, message: Message, now_ns: int) -> None:
        """Send a message at an instant [ns]."""
        self.mail.send(message, now_ns)

    def remind(self, message: Message, at_ns: int) -> None:
        """Have a manager hear a message of its own at an instant [ns]."""
        self.mail.tell(at_ns, message.source, "hears", message)

    def start(self, post: ManagersPost, task: ArrivingTask, decision: Decision) -> None:
        """Start a waiting task at the instant of the post."""
        home, target, told_ns = self.surroundings.start_of(post.me, task.home, int(decision.target))
        held_ns = post.now_ns - self.waiting.arrival_ns(task.job)
        rank = self.waiting.started(task)
        self.log.record(home, task, replace(decision, target=target), target, True, decision.reason)
        with post.faults_of_scenario():
            self.start_task(task, rank, held_ns, target, told_ns)
        if self.hears_starts:
            self.mail.tell(post.now_ns, target, "came", task)

    def migrate(self, post: ManagersPost, task: ArrivingTask, decision: Decision) -> bool:
        """Send a task of the post's node to another one; what has passed of the slice counts as time in transit."""
        target = int(decision.target)
        if target in self.surroundings.closed_to(post.me):
            return False
        self.log.record(post.me, task, decision, target, True, "")
        with post.faults_of_scenario():
            since_ns = self.negotiation.departures.leaves_ns(post.me, task.task)
            asking_ns = max(0, post.now_ns - since_ns)
            self.negotiation.send_away(post.me, post.policy_name, task.task, target, asking_ns)
        if self.hears_starts:
            self.mail.tell(post.now_ns, target, "came", task)
        return True


@part
class ManagersPost:
    """The post of one load manager (policy.talking.Post).

    Attributes:
        surroundings: what its manager can find out.
        actions: carries out what it is asked for.
        held: the tasks that wait at its manager, by their numbers.
        me: its node.
        policy_name: name of the policy, for messages about its faults.
        may_migrate: whether the policy moves running tasks.
        problem: a fault of the scenario that came up in a call of the policy.
        drawn: how many numbers it has drawn.
    """

    surroundings: Surroundings
    actions: PostActions
    held: dict[int, ArrivingTask]
    me: int
    policy_name: str
    may_migrate: bool = False

    def __post_init__(self) -> None:
        self.now_ns = 0
        self.problem: InputError | None = None
        self.drawn = 0
        self._view: View | None = None

    def at(self, now_ns: int) -> ManagersPost:
        """The same at another instant [ns]."""
        self.now_ns, self._view = now_ns, None
        return self

    @property
    def now_ms(self) -> float:
        """As Post."""
        return self.now_ns / NS_PER_MS

    @property
    def nodes(self) -> int:
        """As Post."""
        return self.surroundings.nodes

    @property
    def notes(self) -> Any:
        """As Post."""
        return self.surroundings.notes_of(self.me)

    @property
    def waiting(self) -> Sequence[ArrivingTask]:
        """As Post."""
        return tuple(self.held.values())

    @property
    def head(self) -> int:
        """As Post."""
        return self.surroundings.head

    @property
    def tasks_here(self) -> int:
        """As Post."""
        return self.surroundings.tasks_on(self.me)

    @property
    def cores(self) -> int:
        """As Post."""
        return self.cores_of(self.me)

    @property
    def hardware(self) -> Sequence[Hardware]:
        """As Post."""
        return self.surroundings.hardware

    @property
    def slice_ms(self) -> float:
        """As Post."""
        return self.surroundings.slice_ms

    def meets_at_barriers(self, task: ArrivingTask) -> bool:
        """As Post."""
        return self.surroundings.meets_at_barriers(task.job)

    def cores_of(self, node: int) -> int:
        """As Post."""
        self._check_node("cores_of", node)
        return self.surroundings.cores_of(node)

    @property
    def view(self) -> View:
        """As Post."""
        if self._view is None:
            self._view = self.surroundings.view_of(self.me)
        return self._view

    def send(
        self,
        node: int,
        topic: str,
        value: float = 0.0,
        about: int = -1,
        nodes: Sequence[int] | Integers = (),
        note: tuple[Any, ...] = (),
    ) -> None:
        """As Post."""
        self._check_node("send", node)
        self._check_words("send", topic, value, about)
        if not isinstance(note, tuple):
            raise self._wrong(f"send: note {note!r:.60}: a named tuple is needed")
        words = (topic, float(value), int(about), tuple(map(int, nodes)))
        self.actions.send(Message(self.me, int(node), *words, sent_ms=self.now_ms, note=note), self.now_ns)

    def remind(self, after_ms: float, topic: str, value: float = 0.0, about: int = -1) -> None:
        """As Post."""
        self._check_words("remind", topic, value, about)
        if not _is_number(after_ms) or not 0.0 <= after_ms <= LONGEST_WAIT_MS:
            raise self._wrong(f"remind: after_ms = {after_ms!r}: allowed is 0 to {LONGEST_WAIT_MS:g}")
        message = Message(self.me, self.me, topic, float(value), int(about), sent_ms=self.now_ms)
        self.actions.remind(message, self.now_ns + whole_ns(float(after_ms)))

    def hand(self, task: ArrivingTask, node: int, topic: str) -> None:
        """As Post."""
        self._check_node("hand", node)
        self._check_words("hand", topic, 0.0, -1)
        self._take("hand", task)
        message = Message(self.me, int(node), topic, about=task.job, task=task, sent_ms=self.now_ms)
        self.actions.send(message, self.now_ns)

    def start(
        self, task: ArrivingTask, node: int, rule: str, index: str = "", here: float = math.nan, there: float = math.nan
    ) -> None:
        """As Post."""
        self._check_node("start", node)
        if not (isinstance(rule, str) and isinstance(index, str) and _is_number(here) and _is_number(there)):
            raise self._wrong(f"start: rule {rule!r} and index {index!r} are texts, here and there are numbers")
        self._check_text("start: rule", rule)
        self._check_text("start: index", index)
        self._take("start", task)
        self._view = None
        self.actions.start(self, task, Decision(int(node), rule, index, load_here=float(here), load_there=float(there)))

    def move(self, task: ArrivingTask, decision: Decision) -> bool:
        """As Post."""
        self._check_decision("move", decision)
        number, self._view = getattr(task, "task", None), None
        if number in self.held:
            if decision.target in self.surroundings.closed_to(self.me) - {self.me}:
                return False
            self._take("move", task)
            self.actions.start(self, task, decision)
            return True
        if not self.may_migrate:
            raise self._wrong(f"move: task {number!r} does not wait here, and the policy is not `Migrating`")
        if decision.target == self.me:
            raise self._wrong(f"move: task {number!r} of node {self.me} is to migrate to it")
        return self.actions.migrate(self, task, decision)

    def refused(self, task: ArrivingTask, decision: Decision, reason: str) -> None:
        """As Post."""
        self._check_decision("refused", decision)
        self._check_text("refused: reason", reason)
        self.actions.log.record(self.me, task, decision, int(decision.target), False, reason)

    def draw(self) -> float:
        """As Post."""
        self.drawn += 1
        return self.surroundings.draw(self.me, self.drawn)

    def draw_nodes(
        self, count: int, excluded: Sequence[int] | Integers = (), first: int = 0, stop: int = sys.maxsize
    ) -> list[int]:
        """As Post."""
        among = range(max(0, first), min(self.nodes, stop))
        closed = sorted(node for node in self.surroundings.closed_to(self.me) | set(excluded) if node in among)
        drawn: list[int] = []
        for _ in range(min(count, len(among) - len(closed))):
            node = among.start + int(self.draw() * (len(among) - len(closed)))
            for closed_node in closed:
                node += closed_node <= node
            drawn.append(node)
            insort(closed, node)
        return drawn

    def draw_homes(self, count: int, excluded: Sequence[int] | Integers = ()) -> list[int]:
        """As Post."""
        return self.draw_nodes(count, [*self.surroundings.without_jobs(), *excluded])

    @contextmanager
    def faults_of_scenario(self) -> Iterator[None]:
        """What the block raises is the scenario's fault, and not the policy's, in whose call it comes up."""
        try:
            yield
        except InputError as problem:
            self.problem = problem
            raise

    def _check_decision(self, method: str, decision: Any) -> None:
        if not isinstance(decision, Decision):
            raise self._wrong(f"{method}: {decision!r:.60}: a Decision is needed")
        self._check_node(method, decision.target)
        texts, numbers = texts_of(decision), numbers_of(decision)
        if not all(isinstance(text, str) for text in texts) or not all(map(_is_number, numbers)):
            raise self._wrong(f"{method}: {decision!r}: {', '.join(TEXTS)} are texts, {', '.join(NUMBERS)} numbers")
        for name, text in zip(TEXTS, texts, strict=True):
            self._check_text(f"{method}: {name}", text)

    def _take(self, method: str, task: ArrivingTask) -> None:
        number = getattr(task, "task", None)
        if self.held.pop(number, None) is None:  # type: ignore[arg-type]
            raise self._wrong(f"{method}: task {number!r} does not wait at the manager of node {self.me}")

    def _check_node(self, method: str, node: Any) -> None:
        if not isinstance(node, int | np.integer) or isinstance(node, bool) or not 0 <= node < self.nodes:
            raise self._wrong(f"{method}: node {node!r}: allowed are 0 to {self.nodes - 1}")

    def _check_words(self, method: str, topic: Any, value: Any, about: Any) -> None:
        if not isinstance(topic, str):
            raise self._wrong(f"{method}: topic {topic!r}: a text is needed")
        if not _is_number(value) or not isinstance(about, int | np.integer):
            raise self._wrong(f"{method}: value {value!r}, about {about!r}: a number and a whole number are needed")

    def _check_text(self, what: str, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self._wrong(f"{what} {text!r}: a text that can be written as UTF-8 is needed") from None

    def _wrong(self, words: str) -> PolicyFault:
        return PolicyFault(f"policy {self.policy_name!r}: {words}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
