"""Messages and other events between load managers, in the order of their instants."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

from cluster_abm.clock import whole_ns
from cluster_abm.engine.tables import NEVER, NONE
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.message_losses import MessageLosses
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.observing.happenings import LOST, Happenings
from cluster_abm.model.part import part
from cluster_abm.policies import ArrivingTask
from cluster_abm.policy.talking import Message


class Event(NamedTuple):
    """Something that a load manager is to be told."""

    at_ns: int  # when [ns]
    number: int  # events of one instant are told in the order of their numbers
    manager: int  # its node
    kind: str  # the method of Talking that is called
    given: tuple[Any, ...] = ()  # what it is called with: nothing, a Message, tasks, or a node's number

    @property
    def brings(self) -> tuple[ArrivingTask, ...]:
        """The tasks that wait at the manager from then on."""
        if self.kind == "arrives":
            return tuple(self.given[0])
        message = self.message
        return () if message is None or message.task is None else (message.task,)

    @property
    def message(self) -> Message | None:
        """The message of "hears" and "unanswered"."""
        return self.given[0] if self.kind in ("hears", "unanswered") else None


@part
class Mail:
    """What is in transit between load managers.

    Attributes:
        timeout_ms: a message that does not arrive is known as unanswered this long after it was sent [ms].
        slice_ns: length of a slice; it is known no sooner than that [ns], or a message sent again at once had no end.
        losses: which of the messages get lost.
        are_instant: whether messages take no time and none gets lost: mode `papers`, or a central policy.
        sent: how many messages were sent, those to the own node apart.
        number: how many events there have been.
        timeout_ns: the timeout in ns.
    """

    live: LiveNetwork
    availability: Availability
    timeout_ms: float
    slice_ns: int
    losses: MessageLosses
    are_instant: bool
    happenings: Happenings

    def __post_init__(self) -> None:
        self.timeout_ns = max(self.slice_ns, whole_ns(self.timeout_ms))
        self._events: list[Event] = []
        self.number = 0
        self.sent = 0

    @property
    def next_ns(self) -> int:
        """When the next event is due [ns]; NEVER: none is to come."""
        return self._events[0].at_ns if self._events else NEVER

    def tell(self, at_ns: int, manager: int, kind: str, *given: Any) -> None:
        """Let a manager be told something at an instant (Event)."""
        self.number += 1
        heapq.heappush(self._events, Event(at_ns, self.number, manager, kind, given))

    def send(self, message: Message, now_ns: int) -> None:
        """Send a message: it is heard after the latency of its route, or known as unanswered after the timeout."""
        source, target = message.source, message.target
        if source == target:
            self.tell(now_ns, target, "hears", message)
            return
        self.sent += 1
        latency_ms = float(self.live.routes.paths_from(source).latency_ms[target])
        if not self.availability.up[target] or latency_ms == float("inf") or self._is_lost():
            heard_ns = LOST
            self.tell(now_ns + self.timeout_ns, source, "unanswered", message)
        else:
            heard_ns = now_ns + (0 if self.are_instant else whole_ns(latency_ms))
            self.tell(heard_ns, target, "hears", message)
        task = NONE if message.task is None else message.task.task
        self.happenings.message(now_ns, heard_ns, source, target, message.topic, task)

    def submit(self, home: int, head: int) -> int:
        """A home tells the head node of a job, until it is told for certain; how long that takes [ns]."""
        if home == head:
            return 0
        self.sent += 1
        latency_ms = float(self.live.routes.paths_from(home).latency_ms[head])
        return 0 if self.are_instant or latency_ms == float("inf") else whole_ns(latency_ms)

    def take_all(self) -> list[Event]:
        """The events that are to come, in their order; from now on there is none."""
        events, self._events = sorted(self._events), []
        return events

    def put(self, events: Sequence[Event], number: int) -> None:
        """Have these events to come, in their order, of that number until now."""
        self._events, self.number = [*events], number

    def take(self, before_ns: int) -> Event | None:
        """The next event that is due before an instant; None: there is none."""
        return heapq.heappop(self._events) if self.next_ns < before_ns else None

    def node_fails(self, node: int, now_ns: int) -> list[ArrivingTask]:
        """Take from the mail what a failed node can neither hear nor be told; the tasks that were handed over to it.

        Managers of other nodes learn of it after the timeout.
        """
        kept: list[Event] = []
        tasks: list[ArrivingTask] = []
        told_ns = now_ns + self.timeout_ns
        for event in sorted(self._events):
            if event.manager != node:
                kept.append(event)
                continue
            tasks += event.brings
            message = event.message
            if message is not None and not event.brings and event.kind == "hears" and message.source != node:
                kept.append(Event(told_ns, event.number, message.source, "unanswered", (message,)))
        self._events = kept
        heapq.heapify(self._events)
        for manager, is_up in enumerate(self.availability.up.tolist()):
            if is_up and manager != node:
                self.tell(told_ns, manager, "node_failed", node)
        return tasks

    def brought(self) -> list[ArrivingTask]:
        """The waiting tasks that are in the mail."""
        return [task for event in sorted(self._events) for task in event.brings]

    def withdraw(self, job: int) -> list[ArrivingTask]:
        """Take the waiting tasks of a job out of the mail; which they are."""
        withdrawn, kept = [], []
        for event in sorted(self._events):
            of_job = [task for task in event.brings if task.job == job]
            if of_job:
                withdrawn += of_job
            else:
                kept.append(event)
        self._events = kept
        return withdrawn

    def _is_lost(self) -> bool:
        return not self.are_instant and self.losses.of_message(self.sent)
