"""The records of the tasks that have ended: kept, or added to totals and forgotten."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cluster_abm import large_tables
from cluster_abm.arrays import Flags, Integers
from cluster_abm.engine.state import EngineState
from cluster_abm.errors import InputError
from cluster_abm.large_tables import blocks, columns, forget_rows
from cluster_abm.model.part import part
from cluster_abm.model.waiting.cores import Cores
from cluster_abm.ordered_rows import Rows
from cluster_abm.results.outcomes import Outcomes, RecordedOutcomes
from cluster_abm.results.totals import Totals, in_vain_ns
from cluster_abm.workload import RunJobs


class ReadsRecords(Protocol):
    """A part of the run that reads the records of ended tasks in their order."""

    @property
    def records_read(self) -> int:
        """How many it has read; NEVER: it reads none."""


@part
class TaskRecords:
    """Gives what became of the jobs. With `measure.records = "summary"` records become totals as the run goes on.

    Attributes:
        are_kept: whether all records stay.
        bound_ns: of bounded slowdowns [ns].
        from_ns: metrics are about the jobs that arrive from then on [ns].
    """

    engine: EngineState
    work: RunJobs
    cores: Cores
    are_kept: bool
    bound_ns: float
    from_ns: int

    def __post_init__(self) -> None:
        engine = self.engine
        self._totals = self._of_window = None
        if not self.are_kept:
            names, nodes = self.work.program_names, len(engine.nodes)
            self._totals = Totals(engine.jobs, engine.widths, nodes, self.bound_ns, names)
            if self.from_ns:
                self._of_window = Totals(engine.jobs, engine.widths, nodes, self.bound_ns, names)
        self._added = self._forgotten = 0
        # Of the blocks of job rows that have not all ended: which have, and how many the block has when next looked at.
        self._ended: dict[int, Flags] = {}
        self._look_at: dict[int, int] = {}

    def outcomes(self, records: Rows | None = None) -> Outcomes:
        """What became of the jobs until now.

        Args:
            records: those of the engine by (finish, task), where they are at hand.
        """
        if self._totals is None:
            rows = self.engine.ordered_records() if records is None else records
            return RecordedOutcomes(rows, self.engine.jobs, self.engine.widths, self.bound_ns)
        self._add_all(self._totals)
        return self._totals

    def of_window(self, from_ns: int, records: Rows | None = None) -> Outcomes:
        """What became of the jobs that arrived from an instant on: where records are not kept, from `from_ns` on.

        Args:
            from_ns: the instant [ns].
            records: as of `outcomes`.
        """
        if not from_ns:
            return self.outcomes(records)
        if self._of_window is not None and self._totals is not None:
            self._add_all(self._totals)
            return self._of_window
        rows = self.engine.ordered_records() if records is None else records
        kept = rows[rows["arrival_ns"] >= from_ns]
        return RecordedOutcomes(kept, self.engine.jobs, self.engine.widths, self.bound_ns)

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

    def forget(self, *readers: ReadsRecords) -> None:
        """At a boundary: add records to the totals, and forget those that are read nowhere any more.

        Args:
            readers: the parts of the run that read records in their order.
        """
        if self._totals is None or self.engine.finished - self._forgotten < large_tables.ROWS_AT_ONCE:
            return
        self._add_all(self._totals)
        if self.cores.is_counted:
            self.cores.note_ends()
        read = min([self._added, *(reader.records_read for reader in readers)])
        if read - self._forgotten >= large_tables.ROWS_AT_ONCE:
            forget_rows(self.engine.tables.records, self._forgotten, read)
            self._forgotten = read
            self._forget_jobs()

    def _add_all(self, totals: Totals) -> None:
        records = self.engine.records[self._added :]
        for rows in blocks(len(records)):
            totals.add(records[rows])
            if self._of_window is not None:
                part = records[rows]
                self._of_window.add(part[part["arrival_ns"] >= self.from_ns])
            if self.work.late is not None:
                self._note_ended(records["job"][rows])
        self._added += len(records)

    def _note_ended(self, jobs: Integers) -> None:
        """Note that these jobs, of one task each, have ended."""
        blocks_of = jobs // large_tables.ROWS_AT_ONCE
        for block in np.unique(blocks_of).tolist():
            first = block * large_tables.ROWS_AT_ONCE
            if block not in self._ended:
                self._ended[block] = np.zeros(min(large_tables.ROWS_AT_ONCE, len(self.engine.jobs) - first), bool)
                self._look_at[block] = len(self._ended[block]) * 7 // 8
            self._ended[block][jobs[blocks_of == block] - first] = True

    def _forget_jobs(self) -> None:
        """Forget rows of jobs that have ended, a block when 7 of 8 of its jobs have, then 63 of 64, and so on."""
        for block, have_ended in list(self._ended.items()):
            count = int(have_ended.sum())
            if count < self._look_at[block]:
                continue
            first = block * large_tables.ROWS_AT_ONCE
            rows = self.engine.jobs[first : first + len(have_ended)]
            left = rows[~have_ended]
            forget_rows(self.engine.jobs, first, first + len(rows))
            rows[~have_ended] = left
            self._look_at[block] = len(rows) - len(left) // 8
            if not len(left):
                del self._ended[block], self._look_at[block]
