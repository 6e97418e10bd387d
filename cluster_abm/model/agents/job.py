"""A job as an agent: a view of its row in the job table, of its live tasks and of its records."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cluster_abm.clock import NS_PER_MS
from cluster_abm.engine.tables import FREE, KILLED, LOST, OUTCOME_NAMES, RUNNING, STATE_NAMES
from cluster_abm.model.agents.base import ClusterAgent
from cluster_abm.results.frames import isolated_ns, slowdowns


class Job(ClusterAgent):
    """A submitted job: a view of its row in the job table and of its tasks, also after it has ended.

    Under the pooled reference no job steps: a subclass with a `step` of its own is refused.

    Attributes:
        job: its number.
    """

    turn = "jobs"

    def __init__(self, model: Any, job: int) -> None:
        super().__init__(model)
        self.job = job

    def step(self) -> None:
        """At the end of a slice: let the job's tasks go on if all have come to their barrier.

        `model.step()` calls it once a slice for each submitted job that has not ended, in the order of their
        submission; `run()` only where a subclass overrides it. If a subclass overrides it without a call of
        `super().step()`, barriers of the job do not open in that slice.
        """
        self.check_turn()
        parts = self.parts
        parts.engine.open_barrier(self.job, parts.clock.now_ns)

    def kill(self) -> None:
        """End the job now, wherever its tasks are; it counts as killed.

        Raises:
            InputError: it has ended already.
        """
        self.model.job_actions.kill(self.job)

    @property
    def home(self) -> int:
        """Node on which it was submitted."""
        return int(self.parts.engine.jobs["home"][self.job])

    @property
    def width(self) -> int:
        """Number of its tasks."""
        return int(self.parts.engine.jobs["tasks"][self.job])

    @property
    def arrival_ms(self) -> float:
        """Submission [ms]."""
        return float(self.parts.engine.jobs["arrival_ns"][self.job] / NS_PER_MS)

    @property
    def cpu_ms(self) -> float:
        """CPU demand of each task at speed 1 [ms]; the mean of them where tasks differ (`workload.task_cpu`)."""
        return float(self.parts.engine.jobs["cpu_ms"][self.job])

    @property
    def io_per_ms(self) -> float:
        """Accesses of each task per ms of its CPU [1/ms]."""
        return float(self.parts.engine.jobs["io_per_ms"][self.job])

    @property
    def memory_mb(self) -> float:
        """Memory demand of each task [MB]."""
        return float(self.parts.engine.jobs["memory_mb"][self.job])

    @property
    def state(self) -> str:
        """ "held" (submitted, and not started yet), "running", "finished", "killed" or "lost"."""
        if self.job in self.parts.submissions.held:
            return "held"
        for outcome in (KILLED, LOST):
            if (self._records["outcome"] == outcome).any():
                return OUTCOME_NAMES[outcome]
        return "finished" if self.finished_tasks == self.width else "running"

    @property
    def finished_tasks(self) -> int:
        """How many of its tasks have ended."""
        return len(self._records)

    @property
    def task_states(self) -> dict[int, tuple[str, int]]:
        """Its unfinished tasks: number to (state, node)."""
        rows = self._rows
        return {int(row["task"]): (STATE_NAMES[int(row["state"])], int(row["node"])) for row in rows}

    @property
    def cpu_received_ms(self) -> float:
        """CPU its tasks have received in the run so far, together [ms]: without the age of jobs that are there at 0."""
        rows = self._rows
        running = rows["state"] == RUNNING
        unbooked = np.maximum(0, self.parts.clock.now_ns - rows["leg_ns"])
        return float((rows["cpu_ns"].sum() + unbooked[running].sum() + self._records["cpu_ns"].sum()) / NS_PER_MS)

    @property
    def response_ms(self) -> float | None:
        """Submission to end of its last task [ms]; None before that."""
        if self.state != "finished":
            return None
        return float((self._records["finish_ns"].max()) / NS_PER_MS - self.arrival_ms)

    @property
    def slowdown(self) -> float | None:
        """Mean slowdown of its tasks (IOLB 2); None before it has finished, or where a task took no time by itself."""
        if self.state != "finished":
            return None
        records = self._records
        wall_ns = records["finish_ns"] - records["arrival_ns"]
        mean = float(np.mean(slowdowns(wall_ns, isolated_ns(records))))
        return None if math.isnan(mean) else mean

    @property
    def _rows(self) -> Any:
        tasks = self.parts.engine.tasks
        return tasks[(tasks["job"] == self.job) & (tasks["state"] != FREE)]

    @property
    def _records(self) -> Any:
        return self.model.records_of(self.job)
