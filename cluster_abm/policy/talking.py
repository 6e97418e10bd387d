"""Policies whose load managers talk: they keep tasks waiting, and send each other messages that take their time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Integers
from cluster_abm.old_names import note_once
from cluster_abm.policy.base import KINDS, Policy
from cluster_abm.policy.decision import Decision
from cluster_abm.policy.tasks import Hardware
from cluster_abm.policy.view import ArrivingTask, View

Nodes = npt.NDArray[np.int64]


class Message(NamedTuple):
    """A message of one load manager to another; or a reminder, which a manager sends itself.

    Attributes:
        source, target: the nodes of the two managers.
        topic: what it is about, in the policy's own words.
        value: a number that goes along.
        about: the number of the job, task, node or call that it is about; -1: none.
        nodes: numbers of nodes that go along.
        task: the task that is handed over; None: none is.
        sent_ms: when it was sent [ms].
        note: a named tuple of the policy's own that goes along: numbers, texts, descriptions of tasks; (): none.
    """

    source: int
    target: int
    topic: str
    value: float = 0.0
    about: int = -1
    nodes: tuple[int, ...] = ()
    task: ArrivingTask | None = None
    sent_ms: float = 0.0
    note: tuple[Any, ...] = ()


class Ended(NamedTuple):
    """A task that has ended on the own node.

    Attributes:
        task, job: its number, and its job's.
        here_ms: how long it took, without what it waited at managers and was in transit [ms].
    """

    task: int
    job: int
    here_ms: float


class Post(Protocol):
    """What a load manager can know and do when its policy is asked."""

    @property
    def me(self) -> int:
        """Its node."""

    @property
    def nodes(self) -> int:
        """Number of nodes."""

    @property
    def head(self) -> int:
        """The head node (negotiation.head_node), or the node that stands in for it while it is down."""

    @property
    def now_ms(self) -> float:
        """Now [ms]: the exact instant of an arrival or of a message. Loads are those at which the slice begins."""

    @property
    def notes(self) -> Any:
        """What this manager's policy wants to remember: its `Notes`."""

    @property
    def waiting(self) -> Sequence[ArrivingTask]:
        """The tasks that wait at this manager, in the order in which they came."""

    @property
    def tasks_here(self) -> int:
        """Tasks on the own node, those on their way to it included; as in loads, no background programs."""

    @property
    def cores(self) -> int:
        """Cores of the own node."""

    @property
    def hardware(self) -> Sequence[Hardware]:
        """Hardware of all nodes, by number."""

    @property
    def slice_ms(self) -> float:
        """Length of a slice, which an end takes to become known at most [ms]."""

    @property
    def view(self) -> View:
        """What it knows of loads, hardware and routes, as in `Policy.place`. The others' loads are known by reports
        alone, if the policy uses reports, and in `negotiation.mode = "papers"`."""

    def meets_at_barriers(self, task: ArrivingTask) -> bool:
        """Whether the tasks of its job wait for each other at barriers."""

    def cores_of(self, node: int) -> int:
        """Cores of a node."""

    def send(
        self,
        node: int,
        topic: str,
        value: float = 0.0,
        about: int = -1,
        nodes: Sequence[int] | Integers = (),
        note: tuple[Any, ...] = (),
    ) -> None:
        """Send a message. It takes the latency of the route; to the own node it takes no time and is not counted."""

    def remind(self, after_ms: float, topic: str, value: float = 0.0, about: int = -1) -> None:
        """Have the own manager hear a message of its own after `after_ms`."""

    def hand(self, task: ArrivingTask, node: int, topic: str) -> None:
        """Hand a task that waits here to another manager, at which it waits from then on: a message.

        Its program and data stay at its home until it starts.
        """

    def start(
        self, task: ArrivingTask, node: int, rule: str, index: str = "", here: float = ..., there: float = ...
    ) -> None:
        """Start a task that waits here on a node; elsewhere than at its home it costs what any remote execution does.

        Args:
            task: one of `waiting`.
            node: where.
            rule: the rule that decided, for the record of decisions.
            index: the load index that was compared; "": none.
            here, there: its values for the task's home and for the node.
        """

    def move(self, task: ArrivingTask, decision: Decision) -> bool:
        """Start a task that waits here, as `start` does, or migrate one of the own node (`view.candidates`).

        Only policies that are `Migrating` too move running tasks.

        Args:
            task: the task.
            decision: where it goes, and why, for the record of decisions.

        Returns:
            False: the node takes no task, or no route leads there; a running task stays.
        """

    def refused(self, task: ArrivingTask, decision: Decision, reason: str) -> None:
        """Record that the node of a decision has refused a task: it counts in `refused_offers`."""

    def draw(self) -> float:
        """A number in (0, 1) of this manager's own stream."""

    def draw_nodes(
        self, count: int, excluded: Sequence[int] | Integers = (), first: int = 0, stop: int = sys.maxsize
    ) -> list[int]:
        """Draw different nodes that accept tasks, at most `count`, in random order.

        Args:
            count: how many at most.
            excluded: nodes that are left out.
            first, stop: of the nodes from `first` to the one before `stop`.
        """

    def draw_homes(self, count: int, excluded: Sequence[int] | Integers = ()) -> list[int]:
        """Draw different nodes at which jobs are submitted, as `draw_nodes` does: homes, or their stand-ins."""


class Talking(Policy):
    """A policy whose load managers hold tasks and talk by messages.

    Every task of a job waits at the manager of the job's home (at that of the head node, negotiation.head_node, if the
    policy is `central`) until a manager at which it waits starts it. Messages cross the network in the latency of their
    route, each counts in `messages_per_job`, and they may get lost (interconnect.loss_share).

    What managers say in a slice is said in the order of its exact instants, by loads as they are when the slice begins.
    An end of a task is known from the slice's end on.

    Class attributes:
        hears_ends, hears_starts: whether `ended` and `came` are called.
    """

    talks = True
    uses_reports = False
    hears_ends: ClassVar[bool] = True
    hears_starts: ClassVar[bool] = False

    def begins(self, post: Post) -> None:
        """Called when the run begins, when a failed node comes back with no notes, and, of a central policy, of all
        managers when another node stands in for the head node, or the head node is back."""

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """A job has arrived: its tasks wait here. Tasks that waited at a node that has failed arrive anew."""
        raise NotImplementedError

    def hears(self, message: Message, post: Post) -> None:
        """A message has arrived, or a reminder is due."""

    def came(self, task: ArrivingTask, post: Post) -> None:
        """A task has just been sent to the own node, to start there."""

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Tasks on the own node have ended in the slice that is over, in the order of their ends."""

    def unanswered(self, message: Message, post: Post) -> None:
        """A message of this manager did not arrive: it was lost, or its target is down or out of reach.

        It becomes known negotiation.timeout_ms after it was sent. A task that was handed over waits here again.
        """

    def node_failed(self, node: int, post: Post) -> None:
        """Another node has failed, negotiation.timeout_ms ago."""


KINDS["talks"] = Talking


def __getattr__(name: str) -> Any:
    """`TalkingPolicy`, the name of `Talking` before version 0.2."""
    if name != "TalkingPolicy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    note_once("cluster_abm.policy.talking.TalkingPolicy is cluster_abm.policies.Talking now")
    return Talking
