"""One load manager of a talking policy: a test calls its handlers one by one, and sees what each call does.

No model runs: messages are not delivered, and a started task changes nothing but the manager's own count of tasks.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from cluster_abm.policies import ArrivingTask, Decision, Hardware
from cluster_abm.policy.talking import Ended, Message, Talking

# One core of speed 1. A request of 100 KB takes its disk 8 + 2 ms.
NODE = Hardware(1.0, 100.0, 0.0, math.inf, False, 8.0, 8.0, 50.0, 0.0)


@dataclass(frozen=True)
class Sent:
    """A message to the manager of a node."""

    node: int
    topic: str
    value: float = 0.0
    about: int = -1
    nodes: tuple[int, ...] = ()
    note: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Reminded:
    """A reminder to itself, due after this time [ms]."""

    after_ms: float
    topic: str
    value: float = 0.0
    about: int = -1


@dataclass(frozen=True)
class Handed:
    """A task, by its number, that was handed over to the manager of a node."""

    task: int
    node: int
    topic: str


@dataclass(frozen=True)
class Started:
    """A task, by its number, that was started on a node; the deciding index, and its values for home and node.

    A value that the policy does not give (NaN in the program) is None here, so that two starts can be compared.
    """

    task: int
    node: int
    rule: str
    index: str = ""
    here: float | None = None
    there: float | None = None


def task(
    number: int, job: int | None = None, home: int = 0, cpu_ms: float = 100.0, io_per_ms: float = 0.0, **more: Any
):
    """A task; its job has the same number unless `job` says otherwise."""
    return ArrivingTask(number, number if job is None else job, home, cpu_ms, io_per_ms, 100.0, 0.0, 0.0, **more)


@dataclass(frozen=True)
class Moved:
    """A task, by its number, that was started on a node or sent there, and by which rule."""

    task: int
    node: int
    rule: str
    reason: str = ""


@dataclass(frozen=True)
class Refused:
    """A task, by its number, that a node has refused, and why."""

    task: int
    node: int
    reason: str


class Manager:
    """The manager of one node. Each handler of its policy is a method of the same name; it returns what was done.

    Args:
        policy: its policy.
        me, nodes, head: its node, the number of nodes, and the head node.
        order: the order in which nodes are drawn, the same in each draw; None: by their numbers.
        homes: nodes at which jobs are submitted; None: all.
        numbers: the numbers that are drawn, one after another.
        barriers: jobs whose tasks meet at barriers.

    Attributes:
        waiting: tasks that wait here.
        tasks_here: number of tasks on the node: a task counts from its start here, or from `came`, until `ended`.
        now_ms: the time; it changes only when a test sets it.
        loads: measured loads of the own node, by index.
        view: what the policy sees; by default the hardware and these loads.
        can_move: whether other nodes take the tasks that are sent to them.
    """

    def __init__(
        self,
        policy: Talking,
        me: int = 0,
        nodes: int = 4,
        head: int = 0,
        *,
        order: Sequence[int] | None = None,
        homes: Sequence[int] | None = None,
        numbers: Sequence[float] = (),
        barriers: Sequence[int] = (),
        hardware: Sequence[Hardware] | None = None,
        tasks_here: int = 0,
        now_ms: float = 0.0,
    ) -> None:
        self.policy, self.me, self.nodes, self.head = policy, me, nodes, head
        self.order = list(range(nodes) if order is None else order)
        self.homes, self.numbers, self.barriers = homes, list(numbers), barriers
        self.hardware = tuple(hardware or [NODE] * nodes)
        self.tasks_here, self.now_ms, self.slice_ms = tasks_here, now_ms, 10.0
        self.notes: Any = policy.Notes()
        self.loads: dict[str, float] = {}
        self.view: Any = SimpleNamespace(hardware=self.hardware, measured=self._measured)
        self.can_move = True
        self._waiting: dict[int, ArrivingTask] = {}
        self._started_here: set[int] = set()
        self._done: list[Any] = []

    # ---- handlers of its policy ------------------------------------------------------------------------------------

    def begins(self) -> list[Any]:
        return self._done_by(self.policy.begins)

    def arrives(self, *tasks: ArrivingTask) -> list[Any]:
        self.keeps_waiting(*tasks)
        return self._done_by(self.policy.arrives, tasks)

    def hears(self, source: int, *content: Any, **more: Any) -> list[Any]:
        """A message from the manager of a node arrives; its content as for `_message`."""
        return self._done_by(self.policy.hears, self._message(source, self.me, *content, **more))

    def unanswered(self, target: int, *content: Any, **more: Any) -> list[Any]:
        """A message to the manager of a node got no answer; its content as for `_message`."""
        return self._done_by(self.policy.unanswered, self._message(self.me, target, *content, **more))

    def came(self, task: ArrivingTask) -> list[Any]:
        if task.task in self._started_here:
            self._started_here.remove(task.task)
        else:
            self.tasks_here += 1
        assert self.policy.hears_starts
        return self._done_by(self.policy.came, task)

    def ended(self, *tasks: ArrivingTask, here_ms: float = 100.0) -> list[Any]:
        self.tasks_here -= len(tasks)
        assert self.policy.hears_ends
        return self._done_by(self.policy.ended, [Ended(task.task, task.job, here_ms) for task in tasks])

    def node_failed(self, node: int) -> list[Any]:
        return self._done_by(self.policy.node_failed, node)

    # ---- what the model does beside them ---------------------------------------------------------------------------

    def keeps_waiting(self, *tasks: ArrivingTask) -> None:
        """Tasks wait here; no handler is called."""
        self._waiting |= {task.task: task for task in tasks}

    def loses(self, task: ArrivingTask) -> None:
        """A task that waits here is killed."""
        del self._waiting[task.task]

    def _message(self, source: int, target: int, topic: str, value: float = 0.0, about: int = -1,
                 nodes: Sequence[int] = (), task: ArrivingTask | None = None,
                 sent_ms: float | None = None, note: tuple[Any, ...] = ()) -> Message:  # fmt: skip
        """A message, sent now unless `sent_ms` says otherwise; its task waits here."""
        if task is not None:
            self.keeps_waiting(task)
        sent_ms = self.now_ms if sent_ms is None else sent_ms
        return Message(source, target, topic, float(value), about, tuple(nodes), task, sent_ms, note)

    def _done_by(self, handler: Any, *given: Any) -> list[Any]:
        handler(*given, self)
        done, self._done = self._done, []
        return done

    # ---- the post of its policy ------------------------------------------------------------------------------------

    @property
    def waiting(self) -> tuple[ArrivingTask, ...]:
        return tuple(self._waiting.values())

    @property
    def cores(self) -> int:
        return self.hardware[self.me].cores

    def meets_at_barriers(self, task: ArrivingTask) -> bool:
        return task.job in self.barriers

    def send(self, node: int, topic: str, value: float = 0.0, about: int = -1, nodes: tuple[int, ...] = (),
             note: tuple[Any, ...] = ()) -> None:  # fmt: skip
        self._done.append(Sent(node, topic, value, about, tuple(map(int, nodes)), note))

    def remind(self, after_ms: float, topic: str, value: float = 0.0, about: int = -1) -> None:
        self._done.append(Reminded(after_ms, topic, value, about))

    def move(self, task: ArrivingTask, decision: Decision) -> bool:
        if not self.can_move and decision.target != self.me:
            return False
        self._waiting.pop(task.task, None)
        self._done.append(Moved(task.task, decision.target, decision.rule, decision.reason))
        return True

    def refused(self, task: ArrivingTask, decision: Decision, reason: str) -> None:
        self._done.append(Refused(task.task, decision.target, reason))

    def hand(self, task: ArrivingTask, node: int, topic: str) -> None:
        del self._waiting[task.task]
        self._done.append(Handed(task.task, node, topic))

    def start(self, task: ArrivingTask, node: int, rule: str, index: str = "", here: float = math.nan,
              there: float = math.nan) -> None:  # fmt: skip
        del self._waiting[task.task]
        if node == self.me:
            self.tasks_here += 1
            self._started_here.add(task.task)
        values = (None if math.isnan(value) else value for value in (here, there))
        self._done.append(Started(task.task, node, rule, index, *values))

    def draw(self) -> float:
        return self.numbers.pop(0)

    def draw_nodes(
        self, count: int, excluded: Sequence[int] = (), first: int = 0, stop: int = sys.maxsize
    ) -> list[int]:
        return [node for node in self.order if node not in excluded and first <= node < stop][:count]

    def draw_homes(self, count: int, excluded: Sequence[int] = ()) -> list[int]:
        drawn = self.draw_nodes(self.nodes, excluded)
        return [node for node in drawn if self.homes is None or node in self.homes][:count]

    def _measured(self, index: str, node: int) -> float:
        assert node == self.me
        return self.loads[index]
