"""The tables of a run, which grow as tasks start and end."""

from __future__ import annotations

import numpy as np

from cluster_abm import large_tables
from cluster_abm.arrays import Array, Integers
from cluster_abm.columns import joined, ordered_columns
from cluster_abm.engine.cores import free_cores
from cluster_abm.engine.tables import (
    BARRIER,
    BLOCK,
    CHECKPOINT,
    CORE,
    COUNTERS,
    DEMAND,
    FREE_TOP,
    JOURNAL,
    JOURNAL_ROWS,
    LIVE,
    NEVER,
    NONE,
    PHASE,
    RECORD,
    RECORDS,
    TASK,
    Table,
    Tables,
    rows_in_lines,
)
from cluster_abm.large_tables import column, columns, forget_pages, mapping_of, passing_zeros, zeros
from cluster_abm.ordered_rows import OrderedRows, in_order


class GrowingTables:
    """The tables of a run, and room for what is added to them.

    Args:
        nodes: shape (nodes,), fields.NODE_FIELDS.
        jobs: shape (jobs,), fields.JOB_FIELDS; closed users' submissions are written into it as they happen.
        run_key: key of the service-time streams.
        slice_ns: length of a slice [ns].
        effective_rates: whether loads count I/O as it reaches the disk: buffer hits left out, page faults counted.
        phases: phases of all programs that jobs run, fields.PHASE_FIELDS.
        keeps_journal: whether the run is recorded, so that each departure of a task is kept (`journal`).
        keeps_records: whether all records stay; else those that have been read are forgotten, row by row.
        are_single: whether each job is known to have one task, before its row is there.
        demands: of each task, shape (tasks,), fields.DEMAND_FIELDS; None: they are what the job table says.

    Attributes:
        tables: all of them; another tuple once one of them has grown.
        widths: how many tasks each job has, shape (jobs,).
        total_tasks: how many they all have.
        counters: the one of them that counts, shape (tables.COUNTERS,).
    """

    # Of as many records as there were when they were last asked for.
    _ordered: OrderedRows | None = None

    def __init__(
        self,
        nodes: Table,
        jobs: Table,
        run_key: int,
        slice_ns: int = 10_000_000,
        effective_rates: bool = False,
        phases: Table | None = None,
        keeps_journal: bool = False,
        *,
        keeps_records: bool = True,
        are_single: bool = False,
        demands: Table | None = None,
    ) -> None:
        self.run_key, self.slice_ns, self.effective_rates = run_key, slice_ns, effective_rates
        self.memory_is_limited = bool((nodes["limit_kb"] < NEVER).any())
        # One for all takes no memory.
        self.widths: Array = np.broadcast_to(np.int32(1), len(jobs))
        self.total_tasks, parallel = len(jobs), np.zeros(0, np.int64)
        if not are_single:
            widths = column(jobs, "tasks")
            self.total_tasks, parallel = int(widths.sum(dtype=np.int64)), np.flatnonzero(widths > 1)
            if self.total_tasks != len(jobs) or len(parallel):
                self.widths = widths
        new_records = zeros if keeps_records else passing_zeros
        serving = self._serving(nodes)
        serving["number"] = np.arange(len(serving))
        serving["first_core"] = np.cumsum(serving["cores"]) - serving["cores"]
        cores = np.zeros(int(serving["cores"].sum()), CORE)
        free_cores(serving, cores)
        self.tables = Tables(
            homes=nodes,
            nodes=serving,
            cores=cores,
            jobs=jobs,
            tasks=np.zeros(0, TASK),
            free=np.zeros(0, np.int64),
            counters=np.zeros(COUNTERS, np.int64),
            first_event_ns=np.full(len(serving) // BLOCK + 1, NEVER),
            # One a task, each of which ends once; memory is taken by those that are written.
            records=new_records(self.total_tasks, RECORD, "records of tasks"),
            barriers=passing_zeros(len(jobs), BARRIER, "barriers of jobs")
            if are_single
            else self._closed_barriers(jobs, parallel),
            pending_jobs=np.zeros(2 * len(parallel), np.int64),
            phases=np.zeros(0, PHASE) if phases is None else phases,
            journal=np.zeros(0, JOURNAL),
            demands=np.zeros(0, DEMAND) if demands is None else demands,
        )
        self.keeps_journal = keeps_journal
        # Full blocks of the journal; each stands in a file where it is large.
        self._journal: list[Table] = []
        self.counters = self.tables.counters
        self._checkpoints = np.zeros(0, CHECKPOINT)
        self._on_disk = [
            table for table in (jobs, self.tables.records, self.tables.barriers) if mapping_of(table) is not None
        ]
        self._done_when_given_back = 0

    def _serving(self, nodes: Table) -> Table:
        """The rows on which tasks run: the nodes themselves."""
        return nodes

    def _closed_barriers(self, jobs: Table, parallel: Integers) -> Table:
        """Rows of jobs of one task stay zero, and take no memory: nothing comes to a barrier there."""
        if not len(parallel):
            return np.zeros(len(jobs), BARRIER)
        barriers = zeros(len(jobs), BARRIER, "barriers of jobs")
        for part in np.array_split(parallel, len(parallel) // large_tables.ROWS_AT_ONCE + 1):
            for name in ("tasks", "communication_ns"):
                barriers[name][part] = jobs[name][part]
            barriers["isolated_start_ns"][part] = jobs["arrival_ns"][part]
            barriers["head"][part] = NONE
            barriers["dies_together"][part] = self.memory_is_limited
            forget_pages(jobs, barriers)
        return barriers

    @property
    def nodes(self) -> Table:
        """The nodes, on which jobs are submitted."""
        return self.tables.homes

    @property
    def jobs(self) -> Table:
        """The jobs."""
        return self.tables.jobs

    @property
    def tasks(self) -> Table:
        """Rows of the live tasks, and free rows among them."""
        return self.tables.tasks

    @property
    def serving_nodes(self) -> Table:
        """The rows on which tasks run: the nodes, or the one row of a pooled cluster."""
        return self.tables.nodes

    @property
    def live(self) -> int:
        """Tasks that have started and not ended."""
        return int(self.counters[LIVE])

    @property
    def finished(self) -> int:
        """Tasks that have ended."""
        return int(self.counters[RECORDS])

    @property
    def records(self) -> Table:
        """Records of the tasks that have ended so far, in the order they were booked (a view)."""
        return self.tables.records[: self.finished]

    @property
    def journal(self) -> Table:
        """Where tasks have set out so far, fields.JOURNAL_FIELDS, in the order in which they did (a copy)."""
        return joined([*self._journal, self.tables.journal[: int(self.counters[JOURNAL_ROWS])]], JOURNAL)

    def _room_in_journal(self, departures: int) -> None:
        journal, filled = self.tables.journal, int(self.counters[JOURNAL_ROWS])
        if not self.keeps_journal or filled + departures <= len(journal):
            return
        if filled:
            self._journal.append(journal[:filled])
            forget_pages(journal)
        size = max(departures, min(large_tables.ROWS_AT_ONCE, 2 * len(journal)), 1024)
        self.tables = self.tables._replace(journal=zeros(size, JOURNAL, "departures of tasks"))
        self.counters[JOURNAL_ROWS] = 0

    def _room_for_checkpoints(self) -> Table:
        if len(self._checkpoints) < len(self.tasks):
            larger = np.zeros(len(self.tasks), CHECKPOINT)
            larger["task"] = NONE
            larger[: len(self._checkpoints)] = self._checkpoints
            self._checkpoints = larger
        return self._checkpoints

    def make_room(self, tasks: int) -> None:
        """Make room for that many more tasks."""
        self._make_room(tasks)

    def _give_pages_back(self) -> None:
        """Rows of submitted jobs, and of tasks that have ended, are left to the disk if they are there."""
        counters = self.counters
        done = int(2 * counters[RECORDS] + counters[LIVE])
        if self._on_disk and done - self._done_when_given_back >= large_tables.ROWS_AT_ONCE:
            forget_pages(*self._on_disk)
            self._done_when_given_back = done

    def _make_room(self, count: int) -> None:
        self._room_in_journal(count)
        top = int(self.counters[FREE_TOP])
        lacking = count - top
        if lacking <= 0:
            return
        old = len(self.tasks)
        new = max(64, 2 * old, old + lacking)
        tasks = rows_in_lines(new, TASK)
        copy_rows(tasks, self.tasks)
        free = np.zeros(new, np.int64)
        free[:top] = self.tables.free[:top]
        # Lowest slots on top of the stack: the hot rows stay together.
        free[top : top + new - old] = np.arange(new - 1, old - 1, -1)
        self.counters[FREE_TOP] = top + new - old
        self.tables = self.tables._replace(tasks=tasks, free=free)

    def ordered_records(self) -> OrderedRows:
        """Records so far by (finish, task): an order that no window, batch or node order can change."""
        if self._ordered is None or len(self._ordered) != self.finished:
            self._ordered = None
            finish_ns, task = columns(self.records, "finish_ns", "task")
            # They are booked almost in this order, which is sorted soon.
            order = np.argsort(finish_ns, kind="stable")
            end_ns, number = finish_ns[order], task[order]
            if ((end_ns[1:] == end_ns[:-1]) & (number[1:] < number[:-1])).any():
                order = np.lexsort((task, finish_ns))
            self._ordered = in_order(self.records, order)
        return self._ordered

    def sorted_records(self) -> Table:
        """As `ordered_records`, as a table of their own."""
        return self.ordered_records().table()

    def sorted_columns(self) -> dict[str, Array]:
        """As `ordered_records`, as a column of its own of each field."""
        ordered = self.ordered_records()
        if isinstance(ordered.order, slice):
            return {name: ordered[name] for name in RECORD.names or ()}
        return ordered_columns(self.records, ordered.order)


def copy_rows(to: Table, rows: Table) -> None:
    """Copy rows to the beginning of a table of the same fields, as they lie there: field by field takes five times as
    long."""
    to.view(np.uint8)[: rows.nbytes] = rows.view(np.uint8)
