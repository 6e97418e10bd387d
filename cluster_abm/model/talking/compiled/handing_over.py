"""A conversation goes from objects to rows, and back: whichever form goes on has all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from cluster_abm.clock import NS_PER_MS
from cluster_abm.compiling.talking.notes import NotesLayout, kinds_of_record, stride_of
from cluster_abm.compiling.talking.queues import BLOCK, HEAD, LENGTH, ROOM
from cluster_abm.compiling.talking.tables import (
    ENDED_FIELDS,
    ENDED_STRIDE,
    EVENTS,
    GROW_EVENTS,
    HELD,
    KINDS,
    NONE,
    NUMBER,
    RECORDS_READ,
    SENT,
    talk_of,
)
from cluster_abm.compiling.texts import number_of, text_of
from cluster_abm.jit import kernel
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.compiled.arriving import announce
from cluster_abm.model.deciding.compiled.scratch import scratch_group
from cluster_abm.model.talking.compiled.rows import TalkRows
from cluster_abm.model.talking.compiled.waiting import new_row, wait_at
from cluster_abm.model.talking.mail import Event
from cluster_abm.native_arrays import copy_fields
from cluster_abm.policies import ArrivingTask
from cluster_abm.policy.talking import Ended, Message

scratch_of = scratch_group.at


@kernel
def put_task(talk_at: int, job: int, rank: int, manager: int) -> int:
    """Put a task into a row, and let it wait at a manager (NONE: at none yet); which row it is."""
    talk = talk_of(talk_at)
    scratch = scratch_of(talk.scratch_at)
    announce(scratch, talk.jobs, job, rank)
    row = new_row(talk_at)
    talk = talk_of(talk_at)
    copy_fields(talk.tasks[row], scratch.task[0])
    if manager != NONE:
        wait_at(talk, manager, row)
    return row


class Spoken:
    """What is said, waited for and noted, as it goes from one form to the other.

    Args:
        rows: the rows.
        layout: of the policy's notes.
        announcements: what jobs announce.
    """

    def __init__(self, rows: TalkRows, layout: NotesLayout, announcements: Announcements) -> None:
        self.rows, self.layout, self.announcements = rows, layout, announcements

    # ---- from objects to rows ------------------------------------------------------------------------------------

    def put(
        self, events: Iterable[Event], waiting: Iterable[Iterable[ArrivingTask]], notes: Iterable[Any],
        drawn: Iterable[int], counts: tuple[int, int, int],
    ) -> None:  # fmt: skip
        """Put all into the rows, which have had nothing in them.

        Args:
            events: in the order in which they are told.
            waiting: tasks by manager.
            notes: of each manager.
            drawn: numbers that each manager has drawn.
            counts: numbers given to events, messages sent, records that managers have been told of.
        """
        rows = self.rows
        rows.empty()
        rows.counts[NUMBER], rows.counts[SENT], rows.counts[RECORDS_READ] = counts
        for manager, tasks in enumerate(waiting):
            for task in tasks:
                self._put_task(task, manager)
        for event in events:
            self._put_event(event)
        rows.arrays["managers"]["drawn"] = list(drawn)
        for manager, noted in enumerate(notes):
            self._put_notes(manager, noted)

    def _put_task(self, task: ArrivingTask, manager: int = NONE) -> int:
        first = int(self.announcements.jobs["first_task"][task.job])
        self.rows.counts[HELD] += 1
        return put_task(self.rows.at, task.job, task.task - first, manager)

    def _put_event(self, event: Event) -> None:
        rows, counts = self.rows, self.rows.counts
        place = int(counts[EVENTS])
        if place == len(rows.arrays["events"]):
            rows.make_longer(GROW_EVENTS, place + 1)
        row = rows.arrays["events"][place : place + 1]
        row["at_ns"], row["number"], row["manager"] = event.at_ns, event.number, event.manager
        row["kind"] = KINDS.index(event.kind)
        for name in ("source", "target", "about", "task", "first"):
            row[name] = NONE
        row["topic"] = row["count"] = row["sent_ns"] = 0
        row["value"] = 0.0
        counts[EVENTS] += 1
        message = event.message
        if event.kind == "arrives":
            row["first"], row["count"] = rows.block([self._put_task(task) for task in event.given[0]])
        elif event.kind == "came":
            row["task"] = self._put_task(event.given[0])
            # It has started.
            counts[HELD] -= 1
        elif event.kind == "ended":
            ends = [[*end, 0.0] for end in event.given[0]]
            row["first"], _ = rows.block([number for end in ends for number in end])
            row["count"] = len(ends)
        elif event.kind == "node_failed":
            row["about"] = event.given[0]
        elif message is not None:
            row["source"], row["target"], row["about"] = message.source, message.target, message.about
            row["topic"], row["value"] = number_of(message.topic), message.value
            row["sent_ns"] = round(message.sent_ms * NS_PER_MS)
            row["first"], row["count"] = rows.block(message.nodes)
            if message.task is not None:
                row["task"] = self._put_task(message.task)

    def _put_notes(self, manager: int, noted: Any) -> None:
        row = self.rows.arrays["notes"][manager]
        for one in self.layout.fields:
            value = getattr(noted, one.name)
            if not one.is_queue:
                row[one.slot] = value
                continue
            stride = stride_of(one.kind)
            items = [item if isinstance(item, tuple) else (item,) for item in value]
            room = 1
            while room < len(items):
                room *= 2
            numbers = np.zeros((room, stride))
            for place, item in enumerate(items):
                numbers[place, : len(item)] = item
            if items:
                block, _ = self.rows.block(numbers.reshape(-1))
                row[one.slot + BLOCK], row[one.slot + ROOM] = block, room
            row[one.slot + HEAD], row[one.slot + LENGTH] = 0, len(items)

    # ---- from rows to objects ------------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """The events that are to come, in the order in which they are told."""
        found = [self.event(row) for row in self.rows.events]
        return sorted(found, key=lambda event: (event.at_ns, event.number))

    def event(self, row: Any) -> Event:
        """The event of a row."""
        kind = KINDS[row["kind"]]
        given: tuple[Any, ...] = ()
        if kind == "arrives":
            given = (tuple(map(self._task, self._numbers(row, int))),)
        elif kind == "came":
            given = (self._task(row["task"]),)
        elif kind == "ended":
            first = int(row["first"])
            numbers = self.rows.arrays["blocks"][first : first + ENDED_STRIDE * int(row["count"])]
            ends = numbers.reshape(-1, ENDED_STRIDE)[:, : len(ENDED_FIELDS)].tolist()
            given = (tuple(Ended(int(task), int(job), here_ms) for task, job, here_ms in ends),)
        elif kind == "node_failed":
            given = (int(row["about"]),)
        elif kind in ("hears", "unanswered"):
            given = (self._message(row),)
        return Event(int(row["at_ns"]), int(row["number"]), int(row["manager"]), kind, given)

    def _message(self, row: Any) -> Message:
        return Message(
            int(row["source"]),
            int(row["target"]),
            text_of(int(row["topic"])),
            float(row["value"]),
            int(row["about"]),
            tuple(self._numbers(row, int)),
            None if row["task"] == NONE else self._task(row["task"]),
            int(row["sent_ns"]) / NS_PER_MS,
        )

    def _numbers(self, row: Any, kind: type) -> list[Any]:
        first, count = int(row["first"]), int(row["count"])
        return [kind(number) for number in self.rows.arrays["blocks"][first : first + count]] if count else []

    def _task(self, row: int) -> ArrivingTask:
        task = self.rows.arrays["tasks"][int(row)]
        job = int(task["job"])
        return self.announcements.of(job, int(task["task"]) - int(self.announcements.jobs["first_task"][job]))

    def waiting(self) -> list[dict[int, ArrivingTask]]:
        """The tasks that wait at each manager, by their numbers, in the order in which they came."""
        found = []
        for manager in self.rows.arrays["managers"]:
            tasks, row = {}, int(manager["first"])
            while row != NONE:
                task = self._task(row)
                tasks[task.task], row = task, int(self.rows.arrays["links"][row]["next"])
            found.append(tasks)
        return found

    def drawn(self) -> list[int]:
        """How many numbers each manager has drawn."""
        return list(map(int, self.rows.arrays["managers"]["drawn"]))

    def notes(self, manager: int) -> Any:
        """What a manager has noted."""
        row, made = self.rows.arrays["notes"][manager], self.layout.notes()
        for one in self.layout.fields:
            if not one.is_queue:
                setattr(made, one.name, one.kind(row[one.slot]))
                continue
            queue = getattr(made, one.name)
            queue.clear()
            queue.extend(self._items(row[one.slot : one.slot + LENGTH + 1], one.kind))
        return made

    def _items(self, own: Any, kind: Any) -> list[Any]:
        block, room, head, length = (int(own[place]) for place in (BLOCK, ROOM, HEAD, LENGTH))
        if not length:
            return []
        stride, blocks = stride_of(kind), self.rows.arrays["blocks"]
        found = []
        for item in range(length):
            place = block + ((head + item) & (room - 1)) * stride
            found.append(item_of(kind, blocks[place : place + stride]))
        return found


def item_of(kind: Any, numbers: Any) -> Any:
    """An item of a queue of its numbers."""
    if kind in (int, float, bool):
        return kind(numbers[0])
    return kind(*(of(number) for of, number in zip(kinds_of_record(kind), numbers, strict=False)))
