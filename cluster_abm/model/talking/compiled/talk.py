"""The load managers of a run that talk in compiled code, as long as nodes neither fail nor come back."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import Clock
from cluster_abm.compiling.pointers import point
from cluster_abm.compiling.tables import address
from cluster_abm.compiling.talking.entries import CompiledTalk
from cluster_abm.compiling.talking.tables import HELD, IDLE_SINCE_NS, KINDS, NUMBER, RECORDS_READ, SENT, WRITTEN
from cluster_abm.compiling.texts import text_of
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.jit import entry, native_address
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.compiled.inputs import CompiledInputs
from cluster_abm.model.deciding.compiled.negotiation import PolicyAsCompiled, Tallies, faults_unprinted
from cluster_abm.model.deciding.compiled.scratch import AT_FAULT, NO_ROOM, NOW_NS, OUTCOME, STARTED
from cluster_abm.model.deciding.task_starts import TaskStarts
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.observing.happenings import Happenings
from cluster_abm.model.part import part
from cluster_abm.model.talking.compiled.drawing import draw, draw_nodes
from cluster_abm.model.talking.compiled.handing_over import Spoken
from cluster_abm.model.talking.compiled.loop import go_on
from cluster_abm.model.talking.compiled.mail import hand, remind, send
from cluster_abm.model.talking.compiled.rows import TalkRows
from cluster_abm.model.talking.compiled.starts import start
from cluster_abm.model.talking.compiled.tables import tables_group
from cluster_abm.model.talking.compiled.views import look_around
from cluster_abm.model.talking.mail import Event, Mail
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.model.waiting.queues import Submissions, TaskArrivals
from cluster_abm.policy.talking import Talking

# What posts do in kernels, by the names of their addresses.
ON_TASK = {"hand": hand, "start": start}
OF_POST = {"send": send, "remind": remind, "draw": draw, "look": look_around}
KERNELS = (*ON_TASK, *OF_POST, "draw_nodes")


@part
class TalkInRows:
    """The conversation of a run in rows, which compiled code carries on.

    Attributes:
        policy: the policy of all load managers.
        compiled: its compiled form.
        ends_when_drained: whether the run ends with its last task.
        is_away: whether the conversation is here, and not in objects.
        has_ended: whether the run has ended with its last task in the latest call, in which nodes were served.
    """

    policy: Talking
    compiled: CompiledTalk
    inputs: CompiledInputs
    tallies: Tallies
    starts: TaskStarts
    engine: EngineState
    clock: Clock
    availability: Availability
    announcements: Announcements
    views: Views
    submissions: Submissions
    happenings: Happenings
    mail: Mail
    waiting: WaitingTasks
    surroundings: Surroundings
    hears_ends: bool
    hears_starts: bool
    is_central: bool
    ends_when_drained: bool

    def __post_init__(self) -> None:
        nodes = len(self.engine.nodes)
        self.rows = TalkRows(nodes, self.compiled.layout.size, self.happenings.are_kept)
        self.spoken = Spoken(self.rows, self.compiled.layout, self.announcements)
        self.is_away = self.has_ended = False
        self._pending = np.zeros(0, np.int64)
        self._as_compiled = PolicyAsCompiled(self.policy, KINDS)
        self._compares_alike = self.views.capacities(0) is None
        self._tables = np.zeros(1, tables_group.row)
        self._seen: tuple[Any, ...] = ()
        row, settings = self.rows.row, self.inputs.settings
        values: dict[str, Any] = {
            "tables_at": address(self._tables),
            "views_at": address(self.inputs.scratch.views),
            "numbers": address(self.compiled.numbers),
            "timeout_ns": self.mail.timeout_ns,
            "are_instant": self.mail.are_instant,
            "hears_starts": self.hears_starts,
            "hears_ends": self.hears_ends,
            "is_central": self.is_central,
            "draw_key": self.surroundings.draw_key,
            "slice_ms": self.surroundings.slice_ms,
            **dict(zip(("known_at", "scratch_at", "settings_at"), self.inputs.addresses, strict=True)),
            **addresses(),
        }
        for name, value in values.items():
            row[name] = value
        self._spare_rows = int(settings["spare_rows"][0])
        self.rows.set(methods=self.compiled.methods)

    # ---- what the window needs -----------------------------------------------------------------------------------

    @property
    def is_right(self) -> bool:
        """Whether what is compiled is the policy as it is, and for the nodes as they are."""
        are_alike = self.views.capacities(0) is None
        return are_alike == self._compares_alike and self._as_compiled.is_same

    @property
    def leaps(self) -> bool:
        """Whether it goes from event to event by itself; else one slice is gone through in a call."""
        return not (self.submissions.schedule.waits_for_ends or self.starts.notes_links or self.engine.is_detailed)

    @property
    def held(self) -> int:
        """How many tasks wait at some manager, are being handed over, or are to arrive."""
        return int(self.rows.counts[HELD]) + len(self._pending)

    @property
    def idle_since_ns(self) -> int:
        """Since when tasks wait while none runs [ns]."""
        return int(self.rows.counts[IDLE_SINCE_NS])

    @idle_since_ns.setter
    def idle_since_ns(self, now_ns: int) -> None:
        self.rows.counts[IDLE_SINCE_NS] = now_ns

    @property
    def number(self) -> int:
        """How many events there have been."""
        return int(self.rows.counts[NUMBER])

    @property
    def records_read(self) -> int:
        """Ends of tasks that managers have been told of."""
        return int(self.rows.counts[RECORDS_READ])

    @property
    def next_ns(self) -> int:
        """When the next event is due, or the next job arrives [ns]; NEVER: none is to come."""
        events = self.rows.events
        due_ns = int(events["at_ns"][0]) if len(events) else NEVER
        if len(self._pending):
            due_ns = min(due_ns, int(self.engine.jobs["arrival_ns"][self._pending[0]]))
        return due_ns

    # ---- from one form to the other ------------------------------------------------------------------------------

    def take_over(self, events: list[Event], drawn: list[int], records_read: int) -> None:
        """Go on in rows from here on."""
        counts = self.mail.number, self.mail.sent, records_read
        self.bring_up_to_date()
        waiting = [tasks.values() for tasks in self.waiting.at]
        self.spoken.put(events, waiting, self.views.notes, drawn, counts)
        self.is_away = True

    def arrive(self, jobs: Integers) -> None:
        """Jobs arrive in the window that begins."""
        self._pending = np.concatenate([self._pending, jobs])

    def take_pending(self) -> Integers:
        """Jobs that have not arrived yet; from now on there is none here."""
        jobs, self._pending = self._pending, self._pending[:0]
        return jobs

    # ---- many slices ---------------------------------------------------------------------------------------------

    def go_on(self, boundary_ns: int) -> Event | None:
        """Talk in the slice that begins, and in those that follow it up to a boundary [ns].

        Returns:
            None; or the event at which compiled code is at fault: the run cannot go on in it.
        """
        leaps = self.leaps and boundary_ns > self.clock.next_boundary_ns
        self.bring_up_to_date()
        while True:
            outcome = self._call(boundary_ns, leaps)
            if outcome == AT_FAULT:
                return self.spoken.event(self.rows.arrays["told"][0])
            if outcome != NO_ROOM:
                return None
            self._make_room()

    def _call(self, boundary_ns: int, leaps: bool) -> int:
        engine, inputs, log = self.engine, self.inputs, self.tallies.log
        engine.make_room(self._spare_rows)
        if self.starts.notes_links:
            inputs.make_room_to_start(0, self.rows.counts[HELD] + 1024)
        inputs.receive_reports(writes=log.is_read)
        decided = self.tallies.begin(inputs.scratch, self.clock.now_ns)
        if log.witness is not None:
            inputs.write_truths_to(log.truths_filling)
        self._point(decided=decided, silent_ns=inputs.silent_ns)
        schedule, counts = self.submissions.schedule, inputs.scratch.counts
        all_submitted = self.ends_when_drained and schedule.submitted == len(engine.jobs)
        with faults_unprinted():
            arrived = self._go_on(self.rows.at, self._pending, boundary_ns, leaps, all_submitted)
        self._pending = self._pending[arrived:]
        has_gone_on = bool(counts[NOW_NS] > self.clock.now_ns)
        self.has_ended = has_gone_on and all_submitted and self.held == 0 and engine.live == 0
        self._take_tallies(counts)
        if counts[NOW_NS] > self.clock.now_ns:
            self.clock.now_ns = engine.serve(int(counts[NOW_NS]))
        return int(counts[OUTCOME])

    def _take_tallies(self, counts: Integers) -> None:
        """Add what a call has counted, and note what it has written down."""
        scratch, rows = self.inputs.scratch, self.rows
        self.tallies.take_over(scratch, asks=False)
        self.mail.sent = int(rows.counts[SENT])
        if started := int(counts[STARTED]):
            job, rank, target, held_ns, told_ns = scratch.started[:, :started]
            placed = np.array([target, np.zeros_like(target), told_ns])
            self.starts.note_links(TaskArrivals(job, rank, held_ns), self.availability.stand_ins(), placed)
        if written := int(rows.counts[WRITTEN]):
            for sent_ns, heard_ns, sender, receiver, topic, task in rows.arrays["messages"][:written].tolist():
                self.happenings.message(sent_ns, heard_ns, sender, receiver, text_of(topic), task)
            rows.counts[WRITTEN] = 0

    def _make_room(self) -> None:
        """Make room for the start of every task that waits."""
        tasks = int(self.rows.counts[HELD]) + 1024
        self.engine.make_room(tasks + self._spare_rows)
        if self.tallies.log.is_read:
            self.tallies.log.room(tasks)
        if self.starts.notes_links:
            self.inputs.make_room_to_start(0, tasks)

    def bring_up_to_date(self) -> None:
        """Take over what may have changed since the last call: the network, and which nodes work."""
        inputs, availability, engine = self.inputs, self.availability, self.engine
        inputs.bring_up_to_date()
        self._point()
        row = self.rows.row
        row["head"], row["can_change"] = self.surroundings.head, availability.can_change
        seen = availability.up, availability.accepting, engine.nodes, engine.jobs, inputs.scratch.hardware
        if len(seen) == len(self._seen) and all(map(_is, seen, self._seen)):
            return
        self._seen = seen
        is_home = np.ones(len(engine.nodes), bool)
        is_home[list(self.surroundings.without_jobs())] = False
        stand_in = np.ascontiguousarray(availability.stand_ins(), np.int64)
        names = ("up", "accepting", "nodes", "jobs", "hardware")
        self.rows.set(stand_in=stand_in, is_home=is_home, **dict(zip(names, seen, strict=True)))

    def _point(self, **arrays: Any) -> None:
        starts = self.inputs.scratch.starts
        given = self.engine.tables._asdict() | {f"start_{name}": array for name, array in starts._asdict().items()}
        point(self._tables, given | arrays)

    @cached_property
    def _go_on(self) -> Callable[..., int]:
        return entry(go_on, 0, np.zeros(1, np.int64), 0, False, False)


def addresses() -> dict[str, int]:
    """Where the kernels are by which posts do what they do: the same for all policies."""
    found = {name: native_address(function, 0, 0, 0) for name, function in ON_TASK.items()}
    found |= {name: native_address(function, 0, 0) for name, function in OF_POST.items()}
    return found | {"draw_nodes": native_address(draw_nodes, 0, 0, 0, False, 0, 0, 0, 0)}


def _is(one: object, other: object) -> bool:
    return one is other
