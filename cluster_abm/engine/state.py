"""The tables of one run and the few moves they allow: what `model` holds of the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.admission import admit
from cluster_abm.engine.advance import advance
from cluster_abm.engine.background import start_background
from cluster_abm.engine.candidates import describe
from cluster_abm.engine.ending import end_job
from cluster_abm.engine.failing import resume, save, strand, turn_back
from cluster_abm.engine.loads import measure
from cluster_abm.engine.migration import arrive_at, migrate, read_at, slot_of
from cluster_abm.engine.tables import (
    CANDIDATE,
    CHECKPOINT,
    COUNTERS,
    FREE_TOP,
    IN_FLIGHT,
    LAST_FINISH_NS,
    LIVE,
    LOAD,
    LOST,
    MEETINGS,
    NEVER,
    NONE,
    PHASE,
    RECORD,
    RECORDS,
    TASK,
    Table,
)

Integers = npt.NDArray[np.int64]


def _counters() -> Integers:
    return np.zeros(COUNTERS, np.int64)


@dataclass
class EngineState:
    """Nodes, live tasks and finished ones.

    Attributes:
        nodes: shape (nodes,), tables.NODE_FIELDS.
        jobs: shape (jobs,), tables.JOB_FIELDS; closed users' submissions are written into it as they happen.
        run_key: key of the service-time streams.
        slice_ns: length of a slice [ns].
        effective_rates: whether loads count I/O as it reaches the disk: buffer hits left out, page faults counted.
        phases: phases of all programs that jobs run, tables.PHASE_FIELDS.
        tasks: recycled rows of the live tasks; a row's number must never reach a result.
    """

    nodes: Table
    jobs: Table
    run_key: int
    slice_ns: int = 10_000_000
    effective_rates: bool = False
    phases: Table = field(default_factory=lambda: np.zeros(0, PHASE))
    tasks: Table = field(default_factory=lambda: np.zeros(0, TASK))
    free: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    counters: Integers = field(default_factory=_counters)
    _records: Table = field(default_factory=lambda: np.zeros(256, RECORD))
    _saved: Table = field(default_factory=lambda: np.zeros(0, CHECKPOINT))

    def __post_init__(self) -> None:
        """Nobody is at a barrier yet."""
        self.meetings = np.zeros(len(self.jobs), MEETINGS)
        for name in ("tasks", "communication_ns"):
            self.meetings[name] = self.jobs[name]
        self.meetings["lone_start_ns"] = self.jobs["arrival_ns"]
        self.meetings["head"] = NONE
        self.memory_is_limited = bool((self.nodes["limit_kb"] < NEVER).any())
        self.meetings["dies_together"] = (self.jobs["tasks"] > 1) & self.memory_is_limited
        self._opening = np.zeros(2 * len(self.jobs), np.int64)

    @property
    def serving_nodes(self) -> Table:
        """The rows that do the work: the nodes."""
        return self.nodes

    @property
    def live(self) -> int:
        """Tasks admitted and not finished."""
        return int(self.counters[LIVE])

    @property
    def finished(self) -> int:
        """Tasks finished."""
        return int(self.counters[RECORDS])

    @property
    def last_finish_ns(self) -> int:
        """When the last task so far ended [ns]."""
        return int(self.counters[LAST_FINISH_NS])

    @property
    def records(self) -> Table:
        """Records of the finished tasks so far, in the order they were booked (a view)."""
        return self._records[: self.finished]

    def sorted_records(self) -> Table:
        """Records by (finish, task): an order that no window, batch or node order can change."""
        records = self.records
        return records[np.lexsort((records["task"], records["finish_ns"]))]

    def admit(
        self,
        job_index: Integers,
        member: Integers,
        held_ns: Integers,
        target: Integers,
        delay_ns: Integers,
        origin: Integers | None = None,
    ) -> None:
        """Send tasks on their way (admission.admit), from their home unless another node is named."""
        if origin is None:
            origin = self.jobs["home"][job_index].astype(np.int64)
        self._make_room(len(job_index))
        admit(
            self.nodes, self.serving_nodes, self.tasks, self.free, self.counters, self.jobs, self.phases,
            np.uint64(self.run_key), job_index, member, held_ns, target, delay_ns, origin,
        )  # fmt: skip

    def start_background(self, programs: Table) -> None:
        """Start background programs, tables.BACKGROUND_FIELDS, at time 0 (background.start_background)."""
        self._make_room(len(programs))
        start_background(self.nodes, self.tasks, self.free, self.counters, np.uint64(self.run_key), programs)

    def submit(self, job: int, at_ns: int) -> None:
        """A job whose submission was not known beforehand is submitted at `at_ns`."""
        self.jobs["arrival_ns"][job] = at_ns
        self.meetings["lone_start_ns"][job] = at_ns

    def candidates(self, node: int, now_ns: int) -> Table:
        """The tasks on a node that can be sent elsewhere, as their load manager knows them, in the order in which they
        came to it: fields tables.CANDIDATE_FIELDS."""
        found = np.empty(int(self.nodes["tasks"][node] + self.nodes["flying"][node]), CANDIDATE)
        return found[: describe(self.nodes, self.tasks, self.jobs, node, now_ns, found)]

    def slot_of(self, node: int, task: int) -> int:
        """Row of a task that belongs to a node."""
        return int(slot_of(self.nodes, self.tasks, node, task))

    def migrate(self, slot: int, target: int, cost_ns: int, now_ns: int) -> int:
        """Freeze a task and send it to another node (migration.migrate); when it enters there [ns]."""
        self._make_room(1)
        return migrate(self.nodes, self.tasks, self.free, self.counters, slot, target, cost_ns, now_ns)

    def read(self, node: int, data_mb: float, now_ns: int) -> int:
        """A disk is to read data that is to be sent elsewhere (migration.read_at); when it is done [ns]."""
        self._make_room(1)
        return read_at(self.nodes, self.tasks, self.free, self.counters, node, data_mb * 1000.0, now_ns)

    def arrive(self, slot: int, enter_ns: int) -> None:
        """When a task under way arrives (migration.arrive_at)."""
        arrive_at(self.nodes, self.tasks, slot, enter_ns)

    def serve(self, end_ns: int, until_finish: bool = False, until_empty: bool = False) -> int:
        """Let every node live until `end_ns`, a slice's border, or to the end of the first slice in which a task ends
        (`until_finish`), or in which the last one does (`until_empty`).

        Returns the border reached [ns].
        """
        if self.memory_is_limited:
            # Whoever is killed while the disk serves it leaves a row behind.
            self._make_room(1)
        self._make_room_for_records()
        until_records = NEVER
        if until_finish:
            until_records = self.finished + 1
        elif until_empty and self.live:
            until_records = self.finished + self.live
        return int(self._advance(end_ns, until_records))

    def _advance(self, end_ns: int, until_records: int) -> int:
        return advance(
            self.nodes, self.tasks, self._records, self.free, self.counters, self.meetings, self._opening, self.phases,
            self.slice_ns, end_ns, until_records,
        )  # fmt: skip

    def measure(self, now_ns: int, loads: Table, first: int = 0, last: int | None = None) -> None:
        """Write the loads of nodes `first` to `last` - 1 at `now_ns` into `loads`."""
        last = len(self.nodes) if last is None else last
        measure(self.nodes, self.tasks, now_ns, loads, first, last, self.effective_rates)

    def busy_ns(self, now_ns: int) -> tuple[Integers, Integers]:
        """CPU and disk time given by each node until now, shape (nodes,) each [ns]."""
        nodes = self.nodes
        cpu = nodes["cpu_busy_ns"] + np.where(nodes["running"] >= 0, np.maximum(0, now_ns - nodes["leg_ns"]), 0)
        serving = nodes["disk_head"] >= 0
        service = np.zeros(len(nodes), np.int64)
        if serving.any():
            service[serving] = self.tasks["service_ns"][nodes["disk_head"][serving]]
        begun = nodes["disk_end_ns"] - service
        return cpu, nodes["disk_busy_ns"] + np.where(serving, now_ns - begun, 0)

    def empty_loads(self) -> Table:
        """A load table for all nodes, zeroed."""
        return np.zeros(len(self.nodes), LOAD)

    # ---- failures --------------------------------------------------------------------------------------------

    def on_their_way(self) -> Integers:
        """Rows of all tasks under way to a node, stranded ones included, by task number."""
        slots = np.flatnonzero(self.tasks["state"] == IN_FLIGHT)
        return slots[np.argsort(self.tasks["task"][slots])]

    def turn_back(self, slot: int, delay_ns: int, now_ns: int) -> None:
        """A task's transfer has failed (failing.turn_back)."""
        turn_back(self.nodes, self.tasks, slot, delay_ns, now_ns)

    def strand(self, node: int, now_ns: int) -> None:
        """A node fails (failing.strand)."""
        strand(self.nodes, self.tasks, self.free, self.counters, node, now_ns)

    def checkpoint(self, now_ns: int) -> None:
        """All tasks that have begun are checkpointed (failing.save)."""
        save(self.nodes, self.tasks, self._checkpoints(), now_ns)

    def resume(self, slot: int, target: int, delay_ns: int, now_ns: int) -> None:
        """A task that has lost its node goes on elsewhere (failing.resume)."""
        saved = self._checkpoints()
        resume(self.nodes, self.tasks, saved, self.jobs, self.phases, slot, target, delay_ns, now_ns)

    def has_checkpoint(self, slot: int) -> bool:
        """Whether a task has more to go on from than its start."""
        return bool(self._checkpoints()["task"][slot] == self.tasks["task"][slot])

    def lose(self, job: int, now_ns: int) -> None:
        """All that is left of a job is lost."""
        self._make_room(len(self.nodes))
        self._make_room_for_records()
        end_job(
            self.nodes, self.tasks, job, LOST, self._records, self.free, self.counters, self.meetings, now_ns
        )  # fmt: skip

    def _checkpoints(self) -> Table:
        if len(self._saved) < len(self.tasks):
            larger = np.zeros(len(self.tasks), CHECKPOINT)
            larger["task"] = NONE
            larger[: len(self._saved)] = self._saved
            self._saved = larger
        return self._saved

    def _make_room_for_records(self) -> None:
        needed = self.finished + self.live
        if needed > len(self._records):
            larger = np.zeros(max(needed, 2 * len(self._records)), RECORD)
            larger[: self.finished] = self.records
            self._records = larger

    def _make_room(self, count: int) -> None:
        lacking = count - int(self.counters[FREE_TOP])
        if lacking <= 0:
            return
        old = len(self.tasks)
        new = max(64, 2 * old, old + lacking)
        tasks = np.zeros(new, TASK)
        tasks[:old] = self.tasks
        free = np.zeros(new, np.int64)
        top = int(self.counters[FREE_TOP])
        free[:top] = self.free[:top]
        # Lowest slots on top of the stack: the hot rows stay together.
        free[top : top + new - old] = np.arange(new - 1, old - 1, -1)
        self.tasks, self.free = tasks, free
        self.counters[FREE_TOP] = top + new - old
