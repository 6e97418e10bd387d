"""What became of the jobs of a run, as its metrics read it: by the records of its tasks, or by what totals keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.tables import KILLED, LOST, Table
from cluster_abm.ordered_rows import Rows
from cluster_abm.results.shares.by_member import by_member
from cluster_abm.results.summary import (
    JobValues,
    by_program,
    ended_jobs,
    finished_jobs,
    finished_records,
    makespan_spread_ms,
    task_slowdowns,
)
from cluster_abm.workload.traces.members import Members


class EndedJobs(NamedTuple):
    """How many jobs have ended, and how."""

    finished: int  # all tasks finished
    killed: int  # a task was killed
    lost: int  # a task was lost with its node


class Outcomes(Protocol):
    """What became of the jobs of a run.

    Measures of a finished job have the names of summary.JobValues: slowdown, bounded_slowdown, log_slowdown,
    slowdown_job, slowdown_cpu_io, slowdown_cpu [1], response_ns [ns].
    """

    @property
    def ended(self) -> EndedJobs:
        """How many jobs have ended."""

    def mean_of_jobs(self, name: str) -> float | None:
        """The mean of a measure over all finished jobs; None: no job has finished; NaN: one of them has no value."""

    def quantile_of_jobs(self, name: str, share: float) -> float | None:
        """A quantile of a measure over all finished jobs, 0 <= share <= 1; None and NaN as `mean_of_jobs`."""

    def share_of_jobs_within(self, name: str, limit: float) -> float | None:
        """The share of all finished jobs whose measure is at most a limit; None: no job has finished."""

    def quantiles_of_jobs(self, name: str, shares: Floats, unit: float = 1.0) -> list[float]:
        """Quantiles of a measure, in units of `unit`, over the finished jobs that have a value; empty if none has."""

    def mean_of_tasks(self, part: str) -> float | None:
        """The mean of a time (BREAKDOWN) over all finished tasks [ns]; None: no task has finished."""

    def makespan_spread_ms(self) -> float | None:
        """As summary.makespan_spread_ms."""

    def by_program(self, programs: Sequence[str]) -> dict[str, dict[str, float]]:
        """As summary.by_program."""

    def of_members(self, members: Members, headline: str) -> pd.DataFrame | None:
        """The run by member of its jobs, as by_member.by_member; None: rows of tasks are not kept."""

    def waits_of_jobs(self) -> tuple[Integers, Floats] | None:
        """Numbers of the finished jobs, and their waits [ns]; None: rows of tasks are not kept."""

    def task_slowdowns(self) -> tuple[Floats, int]:
        """Slowdowns of the finished tasks that have one, or fewer numbers that are distributed like them, shape (n,);
        and how many tasks these are."""


@dataclass(frozen=True)
class RecordedOutcomes:
    """Outcomes, by the records of all tasks that have ended."""

    records: Rows  # by (finish, task)
    jobs: Table  # the job table
    widths: Integers  # how many tasks each job has, shape (jobs,)
    bound_ns: float  # of bounded slowdowns [ns]

    @cached_property
    def _finished(self) -> Rows:
        return finished_records(self.records)

    @cached_property
    def _of_jobs(self) -> JobValues:
        return JobValues(self._finished, self.widths, self.bound_ns)

    @property
    def ended(self) -> EndedJobs:
        """As Outcomes."""
        killed, lost = (len(ended_jobs(self.records, outcome)) for outcome in (KILLED, LOST))
        return EndedJobs(len(finished_jobs(self.records, self.widths)), killed, lost)

    def mean_of_jobs(self, name: str) -> float | None:
        """As Outcomes."""
        values = self._of_jobs[name]
        return float(values.mean()) if len(values) else None

    def quantile_of_jobs(self, name: str, share: float) -> float | None:
        """As Outcomes."""
        values = self._of_jobs[name]
        return float(np.quantile(values, share)) if len(values) else None

    def share_of_jobs_within(self, name: str, limit: float) -> float | None:
        """As Outcomes."""
        values = self._of_jobs[name]
        return float((values <= limit).mean()) if len(values) else None

    def quantiles_of_jobs(self, name: str, shares: Floats, unit: float = 1.0) -> list[float]:
        """As Outcomes."""
        values = self._of_jobs[name] / unit
        values = values[np.isfinite(values)]
        return np.quantile(values, shares).tolist() if len(values) else []

    def mean_of_tasks(self, part: str) -> float | None:
        """As Outcomes."""
        return float(self._finished[f"{part}_ns"].mean()) if len(self._finished) else None

    def makespan_spread_ms(self) -> float | None:
        """As Outcomes."""
        return makespan_spread_ms(self.records)

    def by_program(self, programs: Sequence[str]) -> dict[str, dict[str, float]]:
        """As Outcomes."""
        return by_program(self._finished, self.jobs, programs)

    def of_members(self, members: Members, headline: str) -> pd.DataFrame | None:
        """As Outcomes."""
        return by_member(self.records, self._of_jobs, members, headline)

    def waits_of_jobs(self) -> tuple[Integers, Floats] | None:
        """As Outcomes."""
        return self._of_jobs.jobs, self._of_jobs["wait_ns"]

    def task_slowdowns(self) -> tuple[Floats, int]:
        """As Outcomes."""
        values = task_slowdowns(self.records)
        return values, len(values)
