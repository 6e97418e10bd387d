"""The register of jobs as agents, which are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER, RECORD, Table
from cluster_abm.model.agents.job import Job
from cluster_abm.model.observing.task_records import TaskRecords
from cluster_abm.model.part import part
from cluster_abm.model.waiting.submission_times import SubmissionTimes


@part
class JobRegister:
    """Keeps Mesa's register of jobs as a Mesa user expects it, at no cost to a run of which no agent is asked for.

    Until `model.agents` (or a relative) is first read, or agents step, no job is an agent. From then on jobs join the
    register when they arrive and leave it when they end, so a kept AgentSet stays live; a kept job stays readable.

    Attributes:
        make_agent: makes the agent of a job.
        is_kept: whether it is kept from the beginning.
        task_records: whether records of ended tasks are kept.
    """

    make_agent: Callable[[int], Job]
    engine: EngineState
    schedule: SubmissionTimes
    is_kept: bool
    task_records: TaskRecords

    def __post_init__(self) -> None:
        self._agents: dict[int, Job] = {}
        self._next_job = 0
        self._records_read = 0
        # Of each job; made when the register is first kept.
        self._unfinished: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._finished_tasks: dict[int, list[int]] = {}

    def keep(self) -> None:
        """From now on keep the register."""
        if not self.is_kept:
            self.is_kept = True
            self._bring_up_to_date()

    def update(self) -> None:
        """Jobs that have arrived join, jobs that have ended leave."""
        if self.is_kept:
            self._bring_up_to_date()

    @property
    def agents(self) -> list[Job]:
        """The registered jobs, in the order of their submission."""
        return list(self._agents.values())

    def __contains__(self, job: int) -> bool:
        return job in self._agents

    @property
    def records_read(self) -> int:
        """How many records of ended tasks have been read here; NEVER: none is read."""
        return self._records_read if self.is_kept else NEVER

    def records_of(self, job: int) -> Table:
        """Records of a job's tasks that have ended, in the order in which they did."""
        self.task_records.check_kept(f"job {job}")
        self._bring_up_to_date()
        rows = self._finished_tasks.get(job)
        return self.engine.records[rows] if rows else np.zeros(0, RECORD)

    def _bring_up_to_date(self) -> None:
        engine, submitted = self.engine, self.schedule.submitted
        if engine.finished == self._records_read and submitted == self._next_job:
            return
        if not len(self._unfinished):
            self._unfinished = engine.widths.astype(np.int64)
        new = engine.records[self._records_read :]
        for row, job in enumerate(new["job"].tolist(), self._records_read):
            if self.task_records.are_kept:
                self._finished_tasks.setdefault(job, []).append(row)
            self._unfinished[job] -= 1
        self._records_read += len(new)
        for job in self.schedule.taken(self._next_job, submitted):
            if self._unfinished[job] > 0:
                self._agents[job] = self.make_agent(job)
        self._next_job = submitted
        for job in dict.fromkeys(new["job"].tolist()):
            if self._unfinished[job] == 0 and job in self._agents:
                self._agents.pop(job).remove()
