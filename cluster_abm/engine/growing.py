"""The tables of a run, which grow as tasks start and end."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import (
    BARRIER,
    CHECKPOINT,
    COUNTERS,
    FREE_TOP,
    LIVE,
    NEVER,
    NONE,
    PHASE,
    RECORD,
    RECORDS,
    TASK,
    Table,
    Tables,
)

Integers = npt.NDArray[np.int64]

# Records that room is made for before they are needed: 3 GB of addresses.
MOST_AT_ONCE = 2**24


class GrowingTables:
    """The tables of a run, and room for what is added to them.

    Args:
        nodes: shape (nodes,), fields.NODE_FIELDS.
        jobs: shape (jobs,), fields.JOB_FIELDS; closed users' submissions are written into it as they happen.
        run_key: key of the service-time streams.
        slice_ns: length of a slice [ns].
        effective_rates: whether loads count I/O as it reaches the disk: buffer hits left out, page faults counted.
        phases: phases of all programs that jobs run, fields.PHASE_FIELDS.

    Attributes:
        tables: all of them; another tuple once one of them has grown.
        counters: the one of them that counts, shape (tables.COUNTERS,).
    """

    def __init__(
        self,
        nodes: Table,
        jobs: Table,
        run_key: int,
        slice_ns: int = 10_000_000,
        effective_rates: bool = False,
        phases: Table | None = None,
    ) -> None:
        self.run_key, self.slice_ns, self.effective_rates = run_key, slice_ns, effective_rates
        self.memory_is_limited = bool((nodes["limit_kb"] < NEVER).any())
        self.tables = Tables(
            homes=nodes,
            nodes=self._serving(nodes),
            jobs=jobs,
            tasks=np.zeros(0, TASK),
            free=np.zeros(0, np.int64),
            counters=np.zeros(COUNTERS, np.int64),
            # Room for all of them at once: pages that are never written take no memory, and none is copied later.
            records=np.zeros(min(MOST_AT_ONCE, max(256, int(jobs["tasks"].sum(dtype=np.int64)))), RECORD),
            barriers=self._closed_barriers(jobs),
            pending_jobs=np.zeros(2 * len(jobs), np.int64),
            phases=np.zeros(0, PHASE) if phases is None else phases,
        )
        self.counters = self.tables.counters
        self._checkpoints = np.zeros(0, CHECKPOINT)

    def _serving(self, nodes: Table) -> Table:
        """The rows on which tasks run: the nodes themselves."""
        return nodes

    def _closed_barriers(self, jobs: Table) -> Table:
        barriers = np.zeros(len(jobs), BARRIER)
        for name in ("tasks", "communication_ns"):
            barriers[name] = jobs[name]
        barriers["isolated_start_ns"] = jobs["arrival_ns"]
        barriers["head"] = NONE
        barriers["dies_together"] = (jobs["tasks"] > 1) & self.memory_is_limited
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

    def _room_for_checkpoints(self) -> Table:
        if len(self._checkpoints) < len(self.tasks):
            larger = np.zeros(len(self.tasks), CHECKPOINT)
            larger["task"] = NONE
            larger[: len(self._checkpoints)] = self._checkpoints
            self._checkpoints = larger
        return self._checkpoints

    def _make_room_for_records(self) -> None:
        self.make_room(0, 0)

    def make_room(self, tasks: int, records: int) -> None:
        """Make room for so many tasks more, and for records of so many beside those of the tasks alive."""
        self._make_room(tasks)
        needed = int(self.counters[RECORDS] + self.counters[LIVE]) + records
        if needed > len(self.tables.records):
            larger = np.zeros(max(needed, 2 * len(self.tables.records)), RECORD)
            copy_rows(larger, self.records)
            self.tables = self.tables._replace(records=larger)

    def _make_room(self, count: int) -> None:
        top = int(self.counters[FREE_TOP])
        lacking = count - top
        if lacking <= 0:
            return
        old = len(self.tasks)
        new = max(64, 2 * old, old + lacking)
        tasks = np.zeros(new, TASK)
        copy_rows(tasks, self.tasks)
        free = np.zeros(new, np.int64)
        free[:top] = self.tables.free[:top]
        # Lowest slots on top of the stack: the hot rows stay together.
        free[top : top + new - old] = np.arange(new - 1, old - 1, -1)
        self.counters[FREE_TOP] = top + new - old
        self.tables = self.tables._replace(tasks=tasks, free=free)


def copy_rows(to: Table, rows: Table) -> None:
    """Copy rows to the beginning of a table of the same fields, as they lie there: field by field takes five times as
    long."""
    to.view(np.uint8)[: rows.nbytes] = rows.view(np.uint8)
