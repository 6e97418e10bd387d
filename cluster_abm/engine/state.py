"""The tables of one run and the few moves they allow: what `model` holds of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Integers
from cluster_abm.engine.admission import Starts, admit
from cluster_abm.engine.advance import advance, end_slice
from cluster_abm.engine.altering import change_buffers, change_cpu_speed, change_disk_speed, change_memory
from cluster_abm.engine.barriers import open_barrier_of
from cluster_abm.engine.detail.window import DetailedWindow
from cluster_abm.engine.ending import end_job_at_boundary
from cluster_abm.engine.failing import orphan_tasks, resume, save_checkpoints, strand, turn_back
from cluster_abm.engine.growing import GrowingTables
from cluster_abm.engine.journal import note
from cluster_abm.engine.loads import busy, describe, measure
from cluster_abm.engine.migration import arrive_at, migrate, read_at, slot_of
from cluster_abm.engine.programs.background import start_background
from cluster_abm.engine.tables import (
    ENTERS,
    FREE,
    IN_TRANSIT,
    LAST_FINISH_NS,
    LOAD,
    LOST_NODE,
    NEVER,
    NONE,
    NS_PER_MS,
    REQUEST_ONLY,
    RESTARTS,
    RETURNS,
    Table,
    Tables,
)
from cluster_abm.errors import InputError
from cluster_abm.jit import entry, native_address

# 146 years of simulated time: the largest number of ms with a digit behind it before NEVER.
LONGEST_NS = 4_600_000_000_000 * NS_PER_MS


class Addresses(NamedTuple):
    """Addresses of kernels, for code that calls them without being compiled together with them; `migrate` may be 0."""

    advance: int
    admit: int
    measure: int
    migrate: int


class EngineState(GrowingTables):
    """The tables of a run, and what may be done to them: all that the model does to the engine."""

    # While what tasks do is noted: what serves nodes then.
    _detailed: DetailedWindow | None = None

    @cached_property
    def _served_alone(self) -> set[int]:
        """Nodes that `serve_node` has served in this slice."""
        return set()

    @property
    def is_detailed(self) -> bool:
        """Whether what tasks do is noted: then nodes are served by `serve` alone."""
        return self._detailed is not None

    @property
    def last_finish_ns(self) -> int:
        """When the last task so far ended [ns]."""
        return int(self.counters[LAST_FINISH_NS])

    def admit(
        self,
        job: Integers,
        rank: Integers,
        held_ns: Integers,
        target: Integers,
        delay_ns: Integers,
        origin: Integers | None = None,
    ) -> None:
        """Send tasks to the nodes on which they start (admission.Starts: contiguous int64), or from their home."""
        if origin is None:
            origin = self.jobs["home"][job].astype(np.int64)
        self._make_room(len(job))
        starts = Starts(job, rank, held_ns, target, delay_ns, origin)
        self._compiled_admit(self.tables, np.uint64(self.run_key), starts)

    def start_initial(self, jobs: int) -> None:
        """Start the first jobs of the table at time 0, each in its home node, where its tasks are from then on."""
        widths = self.widths[:jobs].astype(np.int64)
        job = np.arange(jobs).repeat(widths)
        rank = np.arange(len(job)) - (np.cumsum(widths) - widths).repeat(widths)
        at_once = np.zeros(len(job), np.int64)
        self.admit(job, rank, at_once, self.jobs["home"][job].astype(np.int64), at_once)
        self._advance(1, NEVER)

    def start_background(self, programs: Table) -> None:
        """Start background programs, tables.BACKGROUND_FIELDS, at time 0 (background.start_background)."""
        self._make_room(len(programs))
        start_background(self.tables, np.uint64(self.run_key), programs)

    def submit(self, job: int, at_ns: int) -> None:
        """Submit, at `at_ns`, a job with a submission time that was not known beforehand."""
        self.jobs["arrival_ns"][job] = at_ns
        self.tables.barriers["isolated_start_ns"][job] = at_ns

    def candidates(self, node: int, now_ns: int, row: np.dtype[np.void]) -> Table:
        """The tasks on a node that can be sent elsewhere, as their load manager knows them, in the order in which they
        came to it: rows as `describe` fills them."""
        found = np.empty(int(self.nodes["tasks"][node] + self.nodes["in_transit"][node]), row)
        return found[: describe(self.nodes, self.tasks, self.jobs, node, now_ns, found)]

    def slot_of(self, node: int, task: int) -> int:
        """Row of a task that belongs to a node."""
        return int(slot_of(self.nodes, self.tasks, node, task))

    def migrate(self, slot: int, target: int, cost_ns: int, now_ns: int) -> int:
        """Freeze a task and send it to another node (migration.migrate); when it enters there [ns]."""
        self._make_room(1)
        return migrate(self.tables, slot, target, cost_ns, now_ns)

    def read(self, node: int, data_mb: float, now_ns: int) -> int:
        """A disk is to read data that is to be sent elsewhere (migration.read_at); when it is done [ns]."""
        self._make_room(1)
        return read_at(self.tables, node, data_mb * 1000.0, now_ns)

    def arrive(self, slot: int, enter_ns: int) -> None:
        """Set when a task in transit arrives (migration.arrive_at)."""
        arrive_at(self.tables, slot, enter_ns)
        self._note(slot, ENTERS, enter_ns)

    def serve(self, end_ns: int, until_finish: bool = False, until_empty: bool = False) -> int:
        """Let every node live until `end_ns`, a slice boundary, or to the end of the first slice in which a task ends
        (`until_finish`), or in which the last one does (`until_empty`).

        Returns the boundary reached [ns].

        Raises InputError: the tasks take longer than 64 bits hold.
        """
        if self.memory_is_limited:
            # A task that is killed while the disk serves it leaves a row behind.
            self._make_room(1)
        self._give_pages_back()
        until_records = NEVER
        if until_finish:
            until_records = self.finished + 1
        elif until_empty and self.live:
            until_records = self.finished + self.live
        reached_ns = int(self._advance(end_ns, until_records))
        self._check_time(reached_ns)
        return reached_ns

    def serve_node(self, node: int, end_ns: int) -> None:
        """Let one node live until `end_ns`, the end of the slice."""
        self._served_alone.add(node)
        # Compiled code is called where something happens: a call takes longer than a look.
        if self.nodes["next_event_ns"][node] < end_ns:
            if self.memory_is_limited:
                self._make_room(1)
            self._compiled_advance(self.tables, 0, end_ns, NEVER, node, node + 1)

    def serve_others(self, end_ns: int) -> None:
        """Let every node that `serve_node` has not served in this slice live until its end, `end_ns`."""
        served = len(self._served_alone)
        self._served_alone.clear()
        self._give_pages_back()
        if served < len(self.nodes):
            if self.memory_is_limited:
                self._make_room(1)
            # For nodes that have been served nothing is left to do.
            self._compiled_advance(self.tables, 0, end_ns, NEVER, 0, len(self.nodes))

    def end_slice(self, now_ns: int, opens_barriers: bool) -> None:
        """At the boundary of a slice that nodes were served to one by one (advance.end_slice).

        Raises InputError: as `serve`.
        """
        self._make_room(len(self.nodes))
        end_slice(self.tables, self.slice_ns, now_ns, opens_barriers)
        self._check_time(now_ns)

    def open_barrier(self, job: int, now_ns: int) -> None:
        """Open a job's barrier at a slice boundary if all its tasks have come to it (barriers.open_barrier_of)."""
        if self.tables.barriers["waiting"][job]:
            open_barrier_of(self.tables, job, self.slice_ns, now_ns)

    def _check_time(self, now_ns: int) -> None:
        """Raise InputError: the tasks take longer than 64 bits hold."""
        if now_ns >= LONGEST_NS and self.live:
            raise InputError(
                f"run: after 146 years of simulated time {self.live:,} tasks have not ended: allowed is what 64 bits "
                "of nanoseconds hold (less work, more nodes, or run.until)"
            )

    def set_speed(self, node: int, speed: float, now_ns: int) -> None:
        """Another CPU speed of a node when nothing is wrong (altering.change_cpu_speed)."""
        self._as_built["speed"][node] = speed
        change_cpu_speed(self.tables, node, speed * float(self.nodes["cpu_factor"][node]), now_ns)

    def slow_cpu(self, node: int, factor: float, now_ns: int) -> None:
        """A node's CPU works at `factor` times the speed that it has when nothing is wrong."""
        speed = float(self._as_built["speed"][node])
        self.nodes["cpu_factor"][node] = factor
        change_cpu_speed(self.tables, node, speed * factor, now_ns)

    def slow_disk(self, node: int, factor: float, now_ns: int) -> None:
        """A node's disk works at `factor` times the speed that it was built with (altering.change_disk_speed)."""
        change_disk_speed(self.tables, node, factor, self._as_built, now_ns)

    @cached_property
    def _as_built(self) -> Table:
        """The nodes with nothing wrong: first asked for before anything is."""
        return self.nodes.copy()

    def set_memory(self, node: int, memory_kb: int, now_ns: int) -> None:
        """Another size of a node's RAM (altering.change_memory)."""
        self._make_room(len(self.nodes))
        change_memory(self.tables, node, memory_kb, now_ns)

    def grow_buffers(self, more_kb: Integers, now_ns: int) -> None:
        """Nodes' I/O buffers take more of the memory, or give some of it to programs (altering.change_buffers)."""
        change_buffers(self.tables, more_kb, now_ns)

    def shorten_faults(self, saved_ns: Integers, elsewhere: npt.NDArray[np.float64]) -> None:
        """Page faults of each node are served sooner by this much on average, shape (nodes,) [ns]: by remote
        memory, which serves such a share of them, shape (nodes,)."""
        self.nodes["fault_saved_ns"] = saved_ns
        self.nodes["faults_elsewhere"] = elsewhere

    def note_averages(self, averages: Mapping[str, npt.NDArray[np.float64]]) -> None:
        """Averages of every node's load, shape (nodes,) each, by field of the node table."""
        for name, values in averages.items():
            self.nodes[name] = values

    def bring_data(self, slot: int, data_mb: float) -> None:
        """A task in transit brings data, which the disk of its target has to write [MB]."""
        self.tasks["arrival_write_kb"][slot] = data_mb * 1000.0

    def load_links(self, source: int, target: int, mb: float) -> None:
        """A transfer of `mb` [MB] begins, or (negative) is over, between two nodes."""
        # Whole numbers, so that the sum returns to 0.
        kb = round(mb * 1000.0)
        self.nodes["net_kb"][source] += kb
        self.nodes["net_kb"][target] += kb

    def live_jobs(self) -> Integers:
        """Numbers of the jobs of which tasks have started and not ended, ascending."""
        tasks = self.tasks
        return np.unique(tasks["job"][(tasks["state"] != FREE) & (tasks["job"] != NONE)])

    def live_tasks_of(self, job: int) -> Integers:
        """Numbers of a job's tasks that have started and not ended, in the order of their rows."""
        tasks = self.tasks
        of_job = (tasks["job"] == job) & (tasks["state"] != FREE) & (tasks["state"] != REQUEST_ONLY)
        return np.asarray(tasks["task"][of_job])

    def look_closer(self, now_ns: int | None) -> Table | None:
        """From `now_ns` on, the slice boundary that is reached, note what each task does; None: no longer, and return
        what has been noted (detail.looking.NOTE). Nodes must then be served all together, by `serve`."""
        notes = None if self._detailed is None else self._detailed.notes()
        self._detailed = None if now_ns is None else DetailedWindow(self, now_ns)
        return notes

    def _advance(self, end_ns: int, until_records: int) -> int:
        if self._detailed is not None:
            return self._detailed.advance(end_ns, until_records)
        return self._compiled_advance(self.tables, self.slice_ns, end_ns, until_records, 0, len(self.nodes))

    @cached_property
    def _compiled_advance(self) -> Callable[[Tables, int, int, int, int, int], int]:
        return entry(advance, self.tables, self.slice_ns, 0, 0, 0, 0)

    def addresses(self, migrates: bool) -> Addresses:
        """Where the kernels are that compiled negotiations call; that by which tasks migrate only if asked for."""
        tables, starts = self.tables, Starts(*(np.zeros(1, np.int64),) * 6)
        return Addresses(
            advance=native_address(advance, tables, 0, 0, 0, 0, 0),
            admit=native_address(admit, tables, np.uint64(0), starts),
            measure=native_address(measure, self.nodes, self.tasks, 0, self.empty_loads(), 0, 0, False, False, False),
            migrate=self.address_of_migrate() if migrates else 0,
        )

    def address_of_migrate(self) -> int:
        """Where the kernel is by which a task migrates."""
        return native_address(migrate, self.tables, 0, 0, 0, 0)

    @cached_property
    def _compiled_admit(self) -> Callable[[Tables, np.uint64, Starts], None]:
        return entry(admit, self.tables, np.uint64(0), Starts(*(np.zeros(1, np.int64),) * 6))

    @cached_property
    def _compiled_busy(self) -> Callable[[Table, Table, Table, int, Integers, Integers], None]:
        times = np.zeros(1, np.int64)
        return entry(busy, self.tables.nodes, self.tables.tasks, self.tables.cores, 0, times, times)

    @cached_property
    def _compiled_measure(self) -> Callable[[Table, Table, int, Table, int, int, bool, bool, bool], None]:
        return entry(measure, self.nodes, self.tasks, 0, self.empty_loads(), 0, 0, False, False, False)

    def measure(
        self, now_ns: int, loads: Table, first: int = 0, last: int | None = None, counts_effective: bool = True,
        truly: bool = False,
    ) -> None:  # fmt: skip
        """Write the loads of nodes `first` to `last` - 1 at `now_ns` into `loads`.

        Args:
            counts_effective: False: `effective_tasks` is NaN, which saves time.
            truly: whether CPU to come is counted as it is; False: as it was announced, which policies see.
        """
        tables, last = self.tables, len(self.nodes) if last is None else last
        self._compiled_measure(
            tables.homes, tables.tasks, now_ns, loads, first, last, self.effective_rates, counts_effective, truly
        )

    def busy_ns(self, now_ns: int) -> tuple[Integers, Integers]:
        """CPU of all cores, and time with a request in the disk's device, of each node until now, shape (nodes,) each
        [ns]."""
        cpu_ns, disk_ns = np.empty(len(self.nodes), np.int64), np.empty(len(self.nodes), np.int64)
        tables = self.tables
        self._compiled_busy(tables.nodes, tables.tasks, tables.cores, now_ns, cpu_ns, disk_ns)
        return cpu_ns, disk_ns

    def in_device_ns(self, now_ns: int) -> Integers:
        """Sum over the requests of each node's disk of the time that each was in its device, shape (nodes,) [ns]."""
        nodes = self.nodes
        with_several = nodes["in_device_ns"] + nodes["in_device"] * (now_ns - nodes["device_mark_ns"])
        return np.where(nodes["channels"] == 1, self.busy_ns(now_ns)[1], with_several)

    def empty_loads(self) -> Table:
        """A load table for all nodes, zeroed."""
        return np.zeros(len(self.nodes), LOAD)

    # ---- failures --------------------------------------------------------------------------------------------

    def rows_in_transit(self) -> Integers:
        """Return the rows of all tasks in transit to a node, orphaned ones included, by task number."""
        slots = np.flatnonzero(self.tasks["state"] == IN_TRANSIT)
        return slots[np.argsort(self.tasks["task"][slots])]

    def turn_back(self, slot: int, delay_ns: int, now_ns: int) -> None:
        """A task's transfer has failed (failing.turn_back)."""
        target = int(self.tasks["node"][slot])
        turn_back(self.tables, slot, delay_ns, now_ns)
        self._note(slot, RETURNS, max(now_ns, int(self.tasks["since_ns"][slot])), target)

    def orphan_tasks(self, node: int, now_ns: int) -> None:
        """Take all tasks in a failing node from it (failing.orphan_tasks)."""
        orphan_tasks(self.tables, node, now_ns)

    def strand(self, slot: int, now_ns: int) -> None:
        """A task in transit waits for another node from now on (failing.strand)."""
        strand(self.tables, slot, now_ns)
        self._note(slot, LOST_NODE, max(now_ns, int(self.tasks["since_ns"][slot])))

    def _note(self, slot: int, kind: int, at_ns: int, origin: int = NONE) -> None:
        """If the run is recorded, write down what has become of a task in transit (journal.note)."""
        if self.keeps_journal:
            self._room_in_journal(1)
            note(self.tables, slot, kind, origin, at_ns)

    def checkpoint(self, now_ns: int) -> None:
        """All tasks that have begun are checkpointed (failing.save_checkpoints)."""
        save_checkpoints(self.nodes, self.tasks, self._room_for_checkpoints(), now_ns)

    def resume(self, slot: int, target: int, delay_ns: int, now_ns: int) -> None:
        """A task that has lost its node goes on elsewhere (failing.resume)."""
        lost = int(self.tasks["node"][slot])
        resume(self.tables, self._room_for_checkpoints(), slot, target, delay_ns, now_ns)
        self._note(slot, RESTARTS, int(self.tasks["since_ns"][slot]), lost)

    def has_checkpoint(self, slot: int) -> bool:
        """Whether a task has more to go on from than its start."""
        return bool(self._room_for_checkpoints()["task"][slot] == self.tasks["task"][slot])

    def end_job(self, job: int, outcome: int, now_ns: int) -> None:
        """All live tasks of a job end with an outcome (ending.end_job)."""
        self._make_room(len(self.nodes))
        end_job_at_boundary(self.tables, job, outcome, now_ns)
