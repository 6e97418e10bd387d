"""What a job announces of its tasks when it is submitted."""

from __future__ import annotations

from dataclasses import fields
from operator import itemgetter

from cluster_abm.engine.tables import JOB, Table
from cluster_abm.model.migration.staging import Staging
from cluster_abm.policies import ArrivingTask

# What the job table says of a task, in whatever order the fields of both stand.
_IN_JOB_TABLE = {"task": "first_task"}
ANNOUNCED = [
    field.name for field in fields(ArrivingTask) if _IN_JOB_TABLE.get(field.name, field.name) in (JOB.names or ())
]
announced = itemgetter(*((JOB.names or ()).index(_IN_JOB_TABLE.get(name, name)) for name in ANNOUNCED))


class Announcements:
    """The demands that jobs announce.

    Args:
        jobs: the job table.
        staging: the files that jobs need; None: they need none.
    """

    def __init__(self, jobs: Table, staging: Staging | None) -> None:
        self._jobs, self._staging = jobs, staging

    def of(self, job: int, rank: int) -> ArrivingTask:
        """The announced demands of a job's task of that rank."""
        demands = dict(zip(ANNOUNCED, announced(self._jobs[job].item()), strict=True))
        demands["task"] += rank
        if self._staging is not None:
            demands["files"] = self._staging.files_of(job)
        return ArrivingTask(job=job, **demands)

    def width(self, job: int) -> int:
        """How many tasks a job has."""
        return int(self._jobs["tasks"][job])
