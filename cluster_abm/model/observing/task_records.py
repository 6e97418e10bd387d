"""The records of the tasks that have ended: kept, or added to totals and forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.errors import InputError
from cluster_abm.large_tables import ROWS_AT_ONCE, blocks, columns, forget_rows
from cluster_abm.model.part import part
from cluster_abm.model.waiting.cores import Cores
from cluster_abm.ordered_rows import Rows
from cluster_abm.results.outcomes import Outcomes, RecordedOutcomes
from cluster_abm.results.totals import Totals, in_vain_ns
from cluster_abm.workload import RunJobs


@part
class TaskRecords:
    """Gives what became of the jobs. With `measure.records = "summary"` records become totals as the run goes on.

    Attributes:
        are_kept: whether all records stay.
        readers: how many records each part of the run that reads them in their order has read; more than there are: it
            reads none. Set once these parts are there.
    """

    engine: EngineState
    clock: Clock
    work: RunJobs
    cores: Cores
    are_kept: bool

    def __post_init__(self) -> None:
        self.readers: Sequence[Callable[[], int]] = ()
        engine = self.engine
        names = self.work.program_names
        self._totals = None if self.are_kept else Totals(engine.jobs, engine.widths, len(engine.nodes), names)
        self._added = self._forgotten = 0
        # Of each block of job rows, tasks that have ended and are to end.
        self._ended_in = np.zeros(len(engine.jobs) // ROWS_AT_ONCE + 1, np.int64)
        self._forgotten_jobs = np.zeros(len(self._ended_in), bool)

    def outcomes(self, records: Rows | None = None) -> Outcomes:
        """What became of the jobs until now.

        Args:
            records: those of the engine by (finish, task), where they are at hand.
        """
        if self._totals is None:
            rows = self.engine.ordered_records() if records is None else records
            return RecordedOutcomes(rows, self.engine.jobs, self.engine.widths)
        self._add_all(self._totals)
        return self._totals

    def in_vain_ns(self) -> int:
        """Received CPU whose work failures destroyed, of tasks that have ended [ns]."""
        if self._totals is None:
            outcome, cpu_ns, lost_cpu_ns = columns(self.engine.records, "outcome", "cpu_ns", "lost_cpu_ns")
            return in_vain_ns({"outcome": outcome, "cpu_ns": cpu_ns, "lost_cpu_ns": lost_cpu_ns})
        self._add_all(self._totals)
        return self._totals.in_vain_ns

    def check_kept(self, what: str) -> None:
        """Raise InputError if records are not kept: `what` needs them."""
        if not self.are_kept:
            raise InputError(
                f'{what}: measure.records = "summary" keeps no rows of tasks and decisions: allowed "all" (the default)'
            )

    def forget(self) -> None:
        """At a boundary: add records to the totals, and forget those that all readers have read."""
        if self._totals is None or self.engine.finished - self._forgotten < ROWS_AT_ONCE:
            return
        self._add_all(self._totals)
        if self.cores.is_counted:
            self.cores.note_ends()
        read = min([self._added, *(reader() for reader in self.readers)])
        if read - self._forgotten >= ROWS_AT_ONCE:
            forget_rows(self.engine.tables.records, self._forgotten, read)
            self._forgotten = read
            self._forget_jobs()

    def _add_all(self, totals: Totals) -> None:
        records = self.engine.records[self._added :]
        for rows in blocks(len(records)):
            totals.add(records[rows])
            self._ended_in += np.bincount(records["job"][rows] // ROWS_AT_ONCE, minlength=len(self._ended_in))
        self._added += len(records)

    def _forget_jobs(self) -> None:
        """Forget the rows of blocks of jobs all of which have ended, where they can be drawn."""
        late = self.work.late
        if late is None:
            return
        for block in np.flatnonzero((self._ended_in >= ROWS_AT_ONCE) & ~self._forgotten_jobs).tolist():
            forget_rows(self.engine.jobs, block * ROWS_AT_ONCE, (block + 1) * ROWS_AT_ONCE)
            self._forgotten_jobs[block] = True
