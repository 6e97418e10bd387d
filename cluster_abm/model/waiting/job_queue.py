"""The queue of a head node: the jobs that wait, as rows that Python and compiled code share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.compiling.pointers import point
from cluster_abm.compiling.tables import (
    CORES_THEN,
    HEAD,
    QUEUE_COUNTS,
    SETTLED,
    TASK_ROW,
    WAITING_JOBS,
    address,
    queue_group,
)
from cluster_abm.compiling.texts import number_of
from cluster_abm.engine.tables import NONE, NS_PER_MS, Table
from cluster_abm.jit import inlined, kernel
from cluster_abm.jit.calls import address_of
from cluster_abm.native_arrays import copy_fields
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.policy.waiting import WAITING, WaitingJobs, slices_within

queue_of = queue_group.at
NOT_THEN = -1
ROOM = 256


@inlined
def has_room_for_one(queue: Any) -> bool:
    """Whether there is room for one more job."""
    return bool(queue.counts[HEAD] + queue.counts[WAITING_JOBS] < len(queue.rows))


@inlined
def put_in(queue: Any, jobs: Table, job: int, starts_ms: float) -> None:
    """Put a job at the end; `starts_ms`: the longest that its start on another node takes [ms]."""
    counts = queue.counts
    at = counts[HEAD] + counts[WAITING_JOBS]
    counts[WAITING_JOBS] += 1
    row, task, said = queue.rows[at], queue.tasks[at], jobs[job]
    copy_fields(row, said)
    copy_fields(task, said)
    requested_ms = queue.requested_ms[job] if len(queue.requested_ms) > 0 else math.nan
    row.job, row.submitted_ms, row.requested_ms = job, said.arrival_ns / NS_PER_MS, requested_ms
    task.task, task.job, task.place, task.requested_ms = said.first_task, job, NONE, requested_ms
    if len(queue.announced_ms) > 0:
        row.cpu_ms = task.cpu_ms = queue.announced_ms[said.first_task]
    if len(queue.first_need) > 0:
        task.files_at = address_of(queue.needs) + 8 * queue.first_need[job]
        task.files_0 = queue.first_need[job + 1] - queue.first_need[job]
    queue.starts_ms[at] = starts_ms
    for note in range(len(queue.note_values)):
        queue.note_values[note, at] = math.nan


@inlined
def take_out(queue: Any, place: int) -> None:
    """Take the job at a place out; those before it close up."""
    counts = queue.counts
    head = counts[HEAD]
    for at in range(head + place, head, -1):
        queue.rows[at] = queue.rows[at - 1]
        queue.tasks[at] = queue.tasks[at - 1]
        queue.starts_ms[at] = queue.starts_ms[at - 1]
        for note in range(len(queue.note_values)):
            queue.note_values[note, at] = queue.note_values[note, at - 1]
    counts[HEAD] += 1
    counts[WAITING_JOBS] -= 1
    counts[SETTLED] -= place < counts[SETTLED]
    if counts[WAITING_JOBS] == 0:
        counts[HEAD] = 0


@inlined
def copy_job_notes(queue: Any, values: Floats, to: Floats) -> None:
    """Copy what is noted of the waiting jobs from one table of notes to another, shape (notes, rows) each."""
    head = queue.counts[HEAD]
    for note in range(len(values)):
        for at in range(head, head + queue.counts[WAITING_JOBS]):
            to[note, at] = values[note, at]


@inlined
def lasts_of(queue: Any, at: int, starts_ms: float, now_ms: float, slice_ms: float) -> int:
    """How long the job of a row, whose cores are known, lasts by what it requests, started now [slices].

    Args:
        starts_ms: how long its start takes [ms].
        now_ms, slice_ms: now, and the length of a slice [ms].
    """
    row = queue.rows[at]
    lasts_ms = row.requested_ms * math.ceil(row.tasks / max(1, row.cores))
    return slices_within(lasts_ms + starts_ms + max(0.0, row.submitted_ms - now_ms), slice_ms)


@inlined
def plan_times(queue: Any, all_cores: int, now_ms: float, slice_ms: float) -> None:
    """Find how many cores each job gets, and how long it lasts by what it requests, started now.

    Args:
        all_cores: of all nodes that are up and accept tasks.
        now_ms: now [ms].
        slice_ms: length of a slice [ms].
    """
    counts, head = queue.counts, queue.counts[HEAD]
    first = counts[SETTLED] if counts[CORES_THEN] == all_cores else 0
    counts[CORES_THEN] = all_cores
    for place in range(first, counts[WAITING_JOBS]):
        row = queue.rows[head + place]
        row.cores = min(row.tasks, all_cores)
        row.lasts = lasts_of(queue, head + place, queue.starts_ms[head + place], now_ms, slice_ms)
        if row.submitted_ms <= now_ms and place == counts[SETTLED]:
            counts[SETTLED] += 1


@kernel
def put_in_at(at: int, jobs: Table, job: int, starts_ms: float) -> None:
    """`put_in`, called from Python."""
    put_in(queue_of(at), jobs, job, starts_ms)


@kernel
def take_out_at(at: int, place: int) -> None:
    """`take_out`, called from Python."""
    take_out(queue_of(at), place)


@kernel
def plan_times_at(at: int, all_cores: int, now_ms: float, slice_ms: float) -> None:
    """`plan_times`, called from Python."""
    plan_times(queue_of(at), all_cores, now_ms, slice_ms)


@kernel
def lasts_at(at: int, place: int, starts_ms: float, now_ms: float, slice_ms: float) -> int:
    """`lasts_of` the job at a place, called from Python."""
    queue = queue_of(at)
    return lasts_of(queue, queue.counts[HEAD] + place, starts_ms, now_ms, slice_ms)


class JobQueue:
    """The numbers of the jobs that wait at a head node, in the order of their submission.

    Args:
        jobs: the job table.
        notes: names of what the policy notes of each job.
        announced: what jobs announce beside the job table: requested_ms, announced_ms, needs, first_need
            (compiling.tables).
        task_of: the first task of a job, as it arrives.
        longest_start_ms: the longest that starting a job on another node takes [ms].

    Attributes:
        at: address of the rows that compiled code reads and changes (compiling.tables.queue_group).
    """

    def __init__(
        self,
        jobs: Table,
        notes: tuple[str, ...],
        announced: dict[str, Any],
        task_of: Callable[[int], ArrivingTask],
        longest_start_ms: Callable[[int], float],
    ) -> None:
        self._jobs, self._names, self._task_of, self._longest_start_ms = jobs, notes, task_of, longest_start_ms
        self.counts = np.zeros(QUEUE_COUNTS, np.int64)
        self.counts[CORES_THEN] = NOT_THEN
        self._arrays: dict[str, Any] = {
            "rows": np.zeros(ROOM, WAITING), "tasks": np.zeros(ROOM, TASK_ROW), "starts_ms": np.zeros(ROOM),
            "note_names": np.array([number_of(name) for name in notes], np.int64), "counts": self.counts,
            "note_values": np.zeros((len(notes), ROOM)), "notes_before": np.zeros((len(notes), ROOM)), **announced,
        }  # fmt: skip
        self._row = np.zeros(1, queue_group.row)
        self.at = address(self._row)
        point(self._row, self._arrays)

    def make_room(self) -> None:
        """Make room for more jobs: move them to the front, or to larger tables."""
        now = slice(int(self.counts[HEAD]), int(self.counts[HEAD] + self.counts[WAITING_JOBS]))
        count = len(self)
        size = max(ROOM, 2 * count)
        for name in ("rows", "tasks", "starts_ms", "note_values", "notes_before"):
            before = self._arrays[name]
            made = np.zeros((*before.shape[:-1], size), before.dtype)
            made[..., :count] = before[..., now]
            self._arrays[name] = made
        self.counts[HEAD] = 0
        point(self._row, self._arrays)

    def __len__(self) -> int:
        return int(self.counts[WAITING_JOBS])

    def __iter__(self) -> Iterator[int]:
        return iter(self._shown("rows")["job"].tolist())

    def __getitem__(self, place: int) -> int:
        return int(self._shown("rows")["job"][place])

    def __delitem__(self, place: int) -> None:
        take_out_at(self.at, place)

    def append(self, job: int) -> None:
        """Put a job at the end."""
        if self.counts[HEAD] + self.counts[WAITING_JOBS] == len(self._arrays["rows"]):
            self.make_room()
        put_in_at(self.at, self._jobs, job, self._longest_start_ms(job))

    def remove(self, job: int) -> None:
        """Take a job out."""
        del self[list(self).index(job)]

    def lasts(self, place: int, now_ms: float, slice_ms: float) -> int:
        """For how long the job at a place, which starts now, is expected to hold its cores [slices]."""
        return lasts_at(self.at, place, self._longest_start_ms(self[place]), now_ms, slice_ms)

    @property
    def notes(self) -> dict[str, Floats]:
        """What the policy has noted of each job, by name, shape (jobs,) each; NaN: nothing."""
        return dict(zip(self._names, self._shown("note_values"), strict=True))

    def seen(self, all_cores: int, now_ms: float, slice_ms: float) -> WaitingJobs:
        """The jobs as a policy sees them; arguments are those of `plan_times`."""
        plan_times_at(self.at, all_cores, now_ms, slice_ms)
        rows = self._shown("rows").view()
        rows.flags.writeable = False
        jobs = rows["job"]
        return WaitingJobs(rows, lambda place: self._task_of(int(jobs[place])), self.notes)

    def _shown(self, name: str) -> Any:
        first = int(self.counts[HEAD])
        return self._arrays[name][..., first : first + len(self)]
