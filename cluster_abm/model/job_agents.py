"""Jobs as agents, made when somebody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import RECORD, Table
from cluster_abm.model.agents import Job

if TYPE_CHECKING:
    from cluster_abm.model.model import ClusterModel


class JobAgents:
    """Keeps Mesa's register of jobs as a Mesa user expects it, at no cost to a run nobody watches.

    Until `model.agents` (or a relative) is first read no job is an agent. From then on jobs join the register
    when they arrive and leave it when they finish, so a kept AgentSet stays live; a kept job stays readable.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._watched = False
        self._agents: dict[int, Job] = {}
        self._next_job = 0
        self._records_seen = 0
        self._left: npt.NDArray[np.int64] = model.jobs["tasks"].astype(np.int64)
        self._finished_tasks: dict[int, list[int]] = {}

    def materialise(self) -> None:
        """Somebody looks."""
        if not self._watched:
            self._watched = True
            self._bring_up_to_date()

    def complete(self) -> None:
        """Jobs that arrived join, jobs that finished leave."""
        if self._watched:
            self._bring_up_to_date()

    def records_of(self, job: int) -> Table:
        """Records of a job's finished tasks, in the order they finished."""
        self._bring_up_to_date()
        rows = self._finished_tasks.get(job)
        return self._model.engine.records[rows] if rows else np.zeros(0, RECORD)

    def _bring_up_to_date(self) -> None:
        model = self._model
        if model.engine.finished == self._records_seen and model.submitted_jobs == self._next_job:
            return
        new = model.engine.records[self._records_seen :]
        for row, job in enumerate(new["job"].tolist(), self._records_seen):
            self._finished_tasks.setdefault(job, []).append(row)
            self._left[job] -= 1
        self._records_seen += len(new)
        for job in model.submitted_between(self._next_job, model.submitted_jobs):
            if self._left[job] > 0:
                self._agents[job] = Job(model, job)
        self._next_job = model.submitted_jobs
        for job in dict.fromkeys(new["job"].tolist()):
            if self._left[job] == 0 and job in self._agents:
                self._agents.pop(job).remove()
