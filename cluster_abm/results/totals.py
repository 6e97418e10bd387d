"""What is kept of the records of a run instead of the records: sums, and how often values came.

Whatever groups the records come in, and in whatever order, the totals are the same to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from cluster_abm.arrays import Array, Floats, Integers
from cluster_abm.engine.tables import BREAKDOWN, FINISHED, KILLED, LOST, NS_PER_MS, RECORD, Table
from cluster_abm.results.outcomes import EndedJobs
from cluster_abm.results.summary import OF_PROGRAMS, JobValues, ended_jobs, task_slowdowns
from cluster_abm.results.sums import Values, whole_sum
from cluster_abm.workload.traces.members import Members

# Slowdowns that a picture draws instead of those of all tasks.
MOST_DRAWN = 10_000


class Totals:
    """Outcomes of a run (outcomes.Outcomes) whose records are added and then forgotten.

    Args:
        jobs: the job table, of which the rows of jobs that end now are there.
        widths: how many tasks each job has, shape (jobs,).
        nodes: how many nodes there are.
        bound_ns: of bounded slowdowns [ns].
        programs: names of the programs with a profile, by their numbers.
    """

    def __init__(
        self, jobs: Table, widths: Integers, nodes: int, bound_ns: float, programs: Sequence[str] = ()
    ) -> None:
        self._jobs, self._widths, self._bound_ns, self._programs = jobs, widths, bound_ns, tuple(programs)
        # A width for all jobs takes no memory, and is 1.
        self._are_single = widths.strides == (0,)
        self.in_vain_ns = 0  # received CPU whose work failures destroyed [ns]
        self._finished_tasks = 0
        self._times_ns = Counter[str]()
        self._slowdowns = Values()
        self._of_jobs = {name: Values() for name in JobValues.NAMES}
        self._of_programs = {(name, measure): Values() for name in self._programs for measure in OF_PROGRAMS}
        self._ended = EndedJobs(0, 0, 0)
        self._last_end_ns = np.full(nodes, -1, np.int64)
        # Records of jobs of which some tasks have not ended.
        self._partial = np.zeros(0, RECORD)

    def add(self, records: Table) -> None:
        """Add records of tasks that have ended, shape (n,)."""
        finished = records[records["outcome"] == FINISHED]
        self._finished_tasks += len(finished)
        for part in BREAKDOWN:
            self._times_ns[part] += whole_sum(finished[f"{part}_ns"])
        self.in_vain_ns += in_vain_ns(records)
        np.maximum.at(self._last_end_ns, records["home"], records["finish_ns"])
        self._slowdowns.add(task_slowdowns(finished))
        self._add_programs(finished)
        self._add_jobs(records)

    def _add_programs(self, finished: Table) -> None:
        if not self._programs:
            return
        ran = self._jobs["program"][finished["job"]]
        for number, name in enumerate(self._programs):
            own = finished[ran == number]
            for measure, (measured, _) in OF_PROGRAMS.items():
                self._of_programs[name, measure].add(np.asarray(measured(own), float))

    def _add_jobs(self, records: Table) -> None:
        """Add the measures of the jobs that have ended whole; the records of the others wait."""
        if self._are_single:
            order = np.arange(len(records))
        else:
            records = np.concatenate([self._partial, records])
            _, place, found = np.unique(records["job"], return_inverse=True, return_counts=True)
            is_whole = found[place] == self._widths[records["job"]]
            self._partial, records = records[~is_whole], records[is_whole]
            # The order of a job's tasks, on which its mean slowdown depends in the last bit.
            order = np.lexsort((records["task"], records["finish_ns"]))
        if not len(records):
            return
        ended = records[order]
        numbers, place = np.unique(ended["job"], return_inverse=True)
        ended["job"] = place
        counts = [len(ended_jobs(ended, outcome)) for outcome in (KILLED, LOST)]
        values = JobValues(ended[ended["outcome"] == FINISHED], self._widths[numbers], self._bound_ns)
        self._ended = EndedJobs(*(a + b for a, b in zip(self._ended, (len(values.jobs), *counts), strict=True)))
        for name, of_jobs in self._of_jobs.items():
            of_jobs.add(values[name])

    @property
    def ended(self) -> EndedJobs:
        """As Outcomes."""
        counts = [len(ended_jobs(self._partial, outcome)) for outcome in (KILLED, LOST)]
        return EndedJobs(self._ended.finished, self._ended.killed + counts[0], self._ended.lost + counts[1])

    def mean_of_jobs(self, name: str) -> float | None:
        """As Outcomes."""
        return self._of_jobs[name].mean

    def quantile_of_jobs(self, name: str, share: float) -> float | None:
        """As Outcomes, within 0.5 % of the value."""
        values = self._of_jobs[name]
        if not values.count:
            return None
        return float("nan") if values.missing else values.histogram.quantiles(np.array([share]))[0]

    def share_of_jobs_within(self, name: str, limit: float) -> float | None:
        """As Outcomes; jobs within 0.5 % of the limit may count on either side."""
        values = self._of_jobs[name]
        return values.histogram.count_up_to(limit) / values.count if values.count else None

    def quantiles_of_jobs(self, name: str, shares: Floats, unit: float = 1.0) -> list[float]:
        """As Outcomes, within 0.5 % of their values."""
        return [value / unit for value in self._of_jobs[name].histogram.quantiles(shares)]

    def mean_of_tasks(self, part: str) -> float | None:
        """As Outcomes."""
        return self._times_ns[part] / self._finished_tasks if self._finished_tasks else None

    def makespan_spread_ms(self) -> float | None:
        """As Outcomes."""
        last_ns = self._last_end_ns[self._last_end_ns >= 0]
        return float((last_ns.max() - last_ns.min()) / NS_PER_MS) if len(last_ns) else None

    def by_program(self, programs: Sequence[str]) -> dict[str, dict[str, float]]:
        """As Outcomes."""
        numbers = {}
        for name in programs:
            means = {
                measure: mean * factor
                for measure, (_, factor) in OF_PROGRAMS.items()
                if (mean := self._of_programs[name, measure].mean) is not None
            }
            if means:
                numbers[name] = {"tasks": self._of_programs[name, "page_faults"].count, **means}
        return numbers

    def of_members(self, members: Members, headline: str) -> None:
        """As Outcomes: no rows are kept."""

    def waits_of_jobs(self) -> None:
        """As Outcomes: no rows are kept."""

    def task_slowdowns(self) -> tuple[Floats, int]:
        """As Outcomes: at most MOST_DRAWN numbers, evenly spread."""
        return self._slowdowns.histogram.spread(MOST_DRAWN), self._slowdowns.sum.count


def in_vain_ns(records: Table | Mapping[str, Array]) -> int:
    """Received CPU of these tasks whose work failures destroyed [ns]."""
    in_vain = np.where(records["outcome"] == LOST, records["cpu_ns"], records["lost_cpu_ns"])
    return whole_sum(in_vain)
