"""Places arriving tasks where a caller outside the model says, and tells that caller what load managers know.

It is the compiled negotiation of any policy (model.negotiation.arriving) whose policy is told the node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types

from cluster_abm.compiling.calls import address_of, native_call
from cluster_abm.compiling.tables import task_of, view_of
from cluster_abm.compiling.texts import number_of
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.streams import policy_uniform
from cluster_abm.engine.tables import DEPENDENT, FINISHED, LOAD, NEVER, Table, Tables
from cluster_abm.formulas import slowdown
from cluster_abm.jit import called, entry, kernel, native_address
from cluster_abm.model.negotiation.arriving import announce, desk_of, known_of, place_arrivals, terms_of
from cluster_abm.model.negotiation.asking import advance_at, close_view, look, open_view
from cluster_abm.model.negotiation.compiled import CompiledNegotiation
from cluster_abm.model.negotiation.decisions import DECIDED
from cluster_abm.model.negotiation.desk import AT_STOP, DONE, NOW_NS, OUTCOME
from cluster_abm.model.submission.queues import Arrivals
from cluster_abm.policies.base import Decision, Policy
from cluster_abm.policies.features import (
    COST,
    CPU,
    CPU_WAIT,
    DOWN,
    FEATURES,
    HALF_MS,
    HALF_SHARE,
    HALF_TASKS,
    HOME,
    IO,
    IO_WAIT,
    MEMORY,
    NOISE,
    PAGE,
    TASK_CPU,
    TASK_IO,
    TASK_MEMORY,
    TASKS,
    Numbers,
    share_of,
    squashed,
)
from cluster_abm.policies.view import ArrivingTask, View

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

TOLD = "told"
_LOADS = LOAD.names or ()
TASKS_ROW, CPU_ROW, IO_ROW, PAGE_ROW, MEMORY_ROW, QUEUE_ROW, AT_DISK_ROW = (
    _LOADS.index(name) for name in ("tasks", "cpu_ms", "io_ms", "page_ms", "memory_mb", "queue", "at_disk")
)
place_at = native_call(
    types.int64, "tables", "starts", "known_at", "desk_at", "terms_at", "decided", "up", "accepting", "silent_ns",
    "stand_in", "arrivals", "placed", "first", "last",
)  # fmt: skip


class Outside(Policy):
    """Each arriving task to the node that its load manager has been told from outside.

    It has no name by which a scenario could call it.
    """

    source = "cluster_abm.gym"
    summary = "each task to the node that is decided outside the model"

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The node told; home if that one is believed to be down, or has not answered."""
        target = view.notes.get("told", view.me)
        if target in view.refused:
            return Decision(view.me, "from outside", reason="the node is down, or has not answered")
        return Decision(target, "from outside")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept: what is decided outside holds."""
        return ""


@called
def describe(known: Any, desk: Any, terms: Any, manager: int, features: Numbers) -> None:
    """Fill in the features of all nodes, shape (nodes, features), as the desk's view tells of them (features_of)."""
    loads, view, task = (
        known.table[known.audience[manager]],
        view_of(address_of(desk.views)),
        task_of(address_of(desk.task)),
    )
    for node in range(features.shape[0]):
        row, hardware = features[node], desk.hardware[node]
        cpu_ms, io_ms = task.cpu_on(hardware), task.io_on(hardware)
        cores = float(hardware.cores)
        row[HOME] = 1.0 if node == manager else 0.0
        row[DOWN] = float(desk.down[node]) if terms.can_change else 0.0
        row[TASKS] = squashed(loads[TASKS_ROW, node] / cores, HALF_TASKS)
        row[CPU] = squashed(loads[CPU_ROW, node], HALF_MS)
        row[IO] = squashed(loads[IO_ROW, node], HALF_MS)
        row[PAGE] = squashed(loads[PAGE_ROW, node], HALF_MS)
        row[MEMORY] = squashed(loads[MEMORY_ROW, node] / hardware.user_memory_mb, HALF_SHARE)
        row[TASK_CPU] = squashed(cpu_ms, HALF_MS)
        row[TASK_IO] = squashed(io_ms, HALF_MS)
        row[TASK_MEMORY] = squashed(desk.task[0].memory_mb / hardware.user_memory_mb, HALF_SHARE)
        row[COST] = squashed(view.cost_ms(task, node), HALF_MS)
        row[CPU_WAIT] = share_of(cpu_ms, io_ms) * squashed(loads[QUEUE_ROW, node] / cores, HALF_TASKS)
        row[IO_WAIT] = share_of(io_ms, cpu_ms) * squashed(loads[AT_DISK_ROW, node], HALF_TASKS)
        row[NOISE] = policy_uniform(terms.policy_key, desk.task[0].task, node)


@kernel
def observe(
    tables: Tables, starts: Starts, known_at: int, desk_at: int, terms_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, stand_in: Integers, arrivals: tuple[Integers, Integers, Integers],
    placed: Integers, first: int, last: int, features: Numbers,
) -> int:  # fmt: skip
    """Let the nodes live until the slice of the first of some arriving tasks begins, and fill in what is known then.

    Arguments as of arriving.place_arrivals, which it prepares; it places no task.

    Args:
        features: filled for each of the tasks, shape (at least last - first, nodes, features).

    Returns:
        `last`, or `first` if reports have to be received before; `counts[OUTCOME]` says which.
    """
    known, desk, terms = known_of(known_at), desk_of(desk_at), terms_of(terms_at)
    counts = desk.counts
    now_ns = counts[NOW_NS]
    desk.views[0].remote_execution_ms, desk.views[0].migration_ms = terms.remote_execution_ms, terms.migration_ms
    begins_ns = max(now_ns, tables.jobs[arrivals[0][first]].arrival_ns // terms.slice_ns * terms.slice_ns)
    if begins_ns >= terms.stop_ns:
        counts[NOW_NS], counts[OUTCOME] = begins_ns, AT_STOP
        return first
    if begins_ns > now_ns:
        now_ns = begins_ns
        if tables.counters[DEPENDENT] > 0:
            advance_at(terms.advance, tables, terms.slice_ns, now_ns, NEVER, 0, tables.nodes.shape[0])
    if terms.all_is_known:
        look(tables, known, desk, terms, now_ns)
    for place in range(first, last):
        job = arrivals[0][place]
        manager = stand_in[tables.jobs[job].home]
        announce(desk, tables.jobs, job, arrivals[1][place])
        # No literal 0: for that numba would compile `open_view` again.
        none_declined = 0 * manager
        changed = open_view(tables, known, desk, terms, accepting, silent_ns, manager, none_declined, now_ns)
        describe(known, desk, terms, manager, features[place - first])
        close_view(known, desk, terms, manager, 0, changed)
    counts[NOW_NS], counts[OUTCOME] = now_ns, DONE
    return last


@kernel
def act(
    tables: Tables, starts: Starts, known_at: int, desk_at: int, terms_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, stand_in: Integers, arrivals: tuple[Integers, Integers, Integers],
    placed: Integers, first: int, last: int, targets: Integers, place: int, told: int,
) -> int:  # fmt: skip
    """Place arriving tasks as arriving.place_arrivals does, each on the node told; arguments and result as there.

    Args:
        targets: the node of each arrival, from the first of `arrivals` on.
        place: address of place_arrivals.
        told: number of the note by which the policy `Outside` is told.
    """
    desk = desk_of(desk_at)
    for task in range(first, last):
        manager = stand_in[tables.jobs[arrivals[0][task]].home]
        desk.note_names[manager, 0] = told
        desk.note_values[manager, 0] = float(targets[task])
        done = place_at(
            place, tables, starts, known_at, desk_at, terms_at, decided, up, accepting, silent_ns, stand_in, arrivals,
            placed, task, task + 1,
        )  # fmt: skip
        if done == task or desk.counts[OUTCOME] != DONE:
            return done
    return last


@kernel
def add_up(records: Table, jobs: Table, first: int, last: int, now_ns: int, ago_ns: Integers) -> float:
    """Return the sum over finished tasks of their slowdown, each divided by how many tasks its job has.

    Args:
        records: records of ended tasks; those from `first` to `last` - 1 are looked at.
        jobs: the job table.
        now_ns: now [ns].
        ago_ns: set to how long ago all of them ended, added up, shape (1,) [ns].
    """
    slowdowns = 0.0
    ago_ns[0] = 0
    for place in range(first, last):
        record = records[place]
        ago_ns[0] += now_ns - record.finish_ns
        if record.outcome == FINISHED:
            alone_ns = record.isolated_cpu_ns + record.isolated_io_ns
            alone_ns += record.isolated_paging_ns + record.isolated_barrier_ns
            slowdowns += slowdown(float(record.finish_ns - record.arrival_ns), float(alone_ns)) / jobs[record.job].tasks
    return slowdowns


class OutsideNegotiation(CompiledNegotiation):
    """The compiled negotiation in two parts: what is known of some arriving tasks, and to place them as told."""

    def look_at(self, arrivals: Arrivals, stand_in: Integers, first: int, last: int, features: Numbers) -> None:
        """Let the nodes live until the slice of the `first`-th of the arrivals begins, and fill in what is known.

        Args:
            arrivals: the tasks, in the order of arrival.
            stand_in: the node that takes the arrivals of each node.
            first, last: from the `first`-th to the one before the `last`-th.
            features: filled, shape (at least last - first, nodes, features).
        """
        self.bring_up_to_date()
        nothing = np.zeros((3, 0), np.int64)

        def look(*arguments: Any) -> int:
            return int(self._observe(*arguments, features))

        while self.some(look, arrivals, nothing, stand_in, first, last, _no_fault) < last:
            # Reports have come in between.
            pass

    def place_as_told(
        self, arrivals: Arrivals, placed: Integers, stand_in: Integers, first: int, last: int, targets: Integers,
        at_fault: Callable[[int, bool], None],
    ) -> None:  # fmt: skip
        """Place them, each on its node of `targets`, shape (tasks,); else as CompiledNegotiation.place."""
        self.bring_up_to_date()

        def place(*arguments: Any) -> int:
            return int(self._act(*arguments, targets, self._place_address, self._told))

        done = first
        while done < last:
            done = self.some(place, arrivals, placed, stand_in, done, last, at_fault)

    @cached_property
    def _samples(self) -> tuple[Any, ...]:
        rows, flags, numbers, table = (
            np.zeros(0, DECIDED),
            np.zeros(1, bool),
            np.zeros(1, np.int64),
            np.zeros((1, 1), int),
        )
        return (
            self._engine.tables, Starts(*(numbers,) * 6), 0, 0, 0, rows, flags, flags, table, numbers, (numbers,) * 3,
            table, 0, 0,
        )  # fmt: skip

    @cached_property
    def _told(self) -> int:
        return number_of(TOLD)

    @cached_property
    def _place_address(self) -> int:
        return native_address(place_arrivals, *self._samples)

    @cached_property
    def _observe(self) -> Callable[..., int]:
        return entry(observe, *self._samples, np.zeros((1, 1, len(FEATURES)), np.float32))

    @cached_property
    def _act(self) -> Callable[..., int]:
        return entry(act, *self._samples, np.zeros(1, np.int64), 0, 0)


def _no_fault(entry: int, has_started: bool) -> None:
    raise AssertionError("to look finds no fault")
