"""When jobs are submitted, where that is known beforehand."""

from __future__ import annotations

import numpy as np

from cluster_abm import large_tables
from cluster_abm.arrays import Integers
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.part import part
from cluster_abm.workload import RunJobs

NO_JOBS = np.zeros(0, np.int64)


@part
class SubmissionTimes:
    """Submission times that are known beforehand, in the order of the job table.

    Jobs of `workload.initial`, the first ones of the table, count as submitted from the beginning on.

    Attributes:
        waits_for_ends: whether the end of a job decides on a submission.
        arrivals_ns: when each job is submitted [ns], shape (jobs,).
        submitted: how many have been.
    """

    engine: EngineState
    work: RunJobs

    def __post_init__(self) -> None:
        self.arrivals_ns: Integers = self.engine.jobs["arrival_ns"]
        # Some of them in a column of their own: searching a field of a table would copy it each time.
        self._near_ns, self._near_from = np.zeros(0, np.int64), 0
        self.submitted = self.work.initial
        self._next_ns = self._arrival_ns(self.submitted)
        self.waits_for_ends = False

    @property
    def records_read(self) -> int:
        """How many records of ended tasks have been read here; NEVER: none is read."""
        return NEVER

    @property
    def is_over(self) -> bool:
        """Whether no job will be submitted, unless the end of a job leads to it."""
        return self.submitted == len(self.arrivals_ns)

    def first_after(self, time_ns: int) -> int:
        """When the first job after a time is submitted, as far as is known [ns]; NEVER if none is."""
        if self._next_ns > time_ns:
            return self._next_ns
        return self._arrival_ns(self._first_from(time_ns + 1))

    def after_next(self, jobs: int) -> int:
        """When the job after the next `jobs` ones is submitted, as far as is known [ns]; NEVER if none is."""
        return self._arrival_ns(self.submitted + jobs)

    def _arrival_ns(self, position: int) -> int:
        """When the job at a position is submitted [ns]; NEVER: there is none."""
        if position >= len(self.arrivals_ns):
            return NEVER
        self._draw(position + 1)
        return int(self.arrivals_ns[position])

    def _draw(self, rows: int) -> None:
        """Have the first rows of the job table drawn that are read now."""
        if self.work.late is not None and self.work.late.drawn < rows:
            self.work.late.draw(rows)

    def take(self, boundary_ns: int) -> Integers:
        """Jobs submitted before a boundary and not taken yet, in the order of their submission."""
        if self._next_ns >= boundary_ns:
            return NO_JOBS
        first = self.submitted
        self.submitted = self._first_from(boundary_ns)
        self._next_ns = self.first_after(boundary_ns - 1)
        return np.arange(first, self.submitted)

    def _first_from(self, time_ns: int) -> int:
        """The first job submitted at a time or later; no earlier time than that of a job that has been taken."""
        position = self.submitted
        while position < len(self.arrivals_ns):
            if not self._near_from <= position < self._near_from + len(self._near_ns):
                end = position + large_tables.ROWS_AT_ONCE
                self._draw(end)
                self._near_from, self._near_ns = position, self.arrivals_ns[position:end].copy()
            if self._near_ns[-1] >= time_ns:
                return self._near_from + int(self._near_ns.searchsorted(time_ns))
            position = self._near_from + len(self._near_ns)
        return position

    def taken(self, first: int, last: int) -> list[int]:
        """The jobs submitted from the `first`-th to the one before the `last`-th."""
        return list(range(first, last))

    def has_submitted(self, job: int) -> bool:
        """Whether a job has been submitted."""
        return job < self.submitted

    def note_ends(self) -> None:
        """Take note of the jobs that have ended since the last call."""
