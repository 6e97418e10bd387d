"""What a job announces of its tasks when it is submitted."""

from __future__ import annotations

from dataclasses import fields
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import NS_PER_MS
from cluster_abm.engine.tables import JOB, Table
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.part import part
from cluster_abm.policies import ArrivingTask, WaitingJobs
from cluster_abm.policy.waiting import WAITING

# What the job table says of a task, in whatever order the fields of both stand.
_IN_JOB_TABLE = {"task": "first_task"}
ANNOUNCED = [
    field.name for field in fields(ArrivingTask) if _IN_JOB_TABLE.get(field.name, field.name) in (JOB.names or ())
]
_IN_BOTH = [name for name in WAITING.names or () if name in (JOB.names or ())]
announced = itemgetter(*((JOB.names or ()).index(_IN_JOB_TABLE.get(name, name)) for name in ANNOUNCED))
_received_ms = itemgetter((JOB.names or ()).index("received_ms"))


@part
class Announcements:
    """The demands that jobs announce."""

    jobs: Table  # the job table
    # the run time that each job requests, shape (jobs,) [ms]; None: no job requests any
    requested_ms: npt.NDArray[np.float64] | None
    # the CPU demand that each task announces, shape (tasks,) [ms]; None: what the job table says
    announced_ms: npt.NDArray[np.float64] | None
    staging: Staging | None  # the files that jobs need; None: they need none

    def of(self, job: int, rank: int) -> ArrivingTask:
        """The announced demands of a job's task of that rank; what it had received before the run is its age."""
        row = self.jobs[job].item()
        demands = dict(zip(ANNOUNCED, announced(row), strict=True))
        demands["task"] += rank
        if self.announced_ms is not None:
            demands["cpu_ms"] = float(self.announced_ms[demands["task"]])
        if (received_ms := _received_ms(row)) > 0.0:
            demands["cpu_ms"] = max(0.0, demands["cpu_ms"] - received_ms)
            demands["age_ms"] = received_ms
        if self.staging is not None:
            demands["files"] = self.staging.files_of(job)
        if self.requested_ms is not None:
            demands["requested_ms"] = float(self.requested_ms[job])
        return ArrivingTask(job=job, **demands)

    def width(self, job: int) -> int:
        """How many tasks a job has."""
        return int(self.jobs["tasks"][job])

    def waiting(self, jobs: list[int], arrivals_ns: npt.NDArray[np.int64]) -> WaitingJobs:
        """What the jobs of a queue announce, in its order.

        Args:
            jobs: their numbers.
            arrivals_ns: when each job of the run was submitted, shape (all jobs,) [ns].
        """
        numbers = np.array(jobs)
        said, rows = self.jobs[numbers], np.zeros(len(numbers), WAITING)
        for name in _IN_BOTH:
            rows[name] = said[name]
        rows["job"], rows["submitted_ms"] = numbers, arrivals_ns[numbers] / NS_PER_MS
        if self.announced_ms is not None:
            rows["cpu_ms"] = self.announced_ms[said["first_task"]]
        rows["requested_ms"] = np.nan if self.requested_ms is None else self.requested_ms[numbers]
        rows.flags.writeable = False
        return WaitingJobs(rows, lambda position: self.of(jobs[position], 0))
