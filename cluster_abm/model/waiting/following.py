"""Submissions that the ends of other jobs decide on."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import Clock
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.part import part
from cluster_abm.model.waiting.submission_times import SubmissionTimes


@part
class Following(SubmissionTimes, ABC):
    """Jobs of which some are submitted after others have ended; those with an arrival time need not wait.

    An end becomes known at the boundary of its slice, so that a job that waited for it is not submitted before that.
    Killed and lost jobs have ended too.
    """

    clock: Clock

    def __post_init__(self) -> None:
        super().__post_init__()
        self.arrivals_ns = self.arrivals_ns.copy()
        self._order = list(range(self.submitted))
        arriving = enumerate(self.arrivals_ns[self.submitted :], self.submitted)
        self._coming = [(int(at), job) for job, at in arriving if at < NEVER]
        heapq.heapify(self._coming)
        self._unfinished: list[int] = self.engine.jobs["tasks"].tolist()
        self._ended_ns = [0] * len(self.engine.jobs)
        self._records_read = 0
        self.waits_for_ends = True

    @property
    def records_read(self) -> int:
        """As SubmissionTimes."""
        return self._records_read

    @property
    def is_over(self) -> bool:
        """As SubmissionTimes."""
        return not self._coming

    def first_after(self, time_ns: int) -> int:
        """As SubmissionTimes: the earliest submission that is known and not taken yet."""
        if self._coming and self._coming[0][0] > time_ns:
            return self._coming[0][0]
        return min((at for at, _ in self._coming if at > time_ns), default=NEVER)

    def after_next(self, jobs: int) -> int:
        """As SubmissionTimes: how many are submitted before a time is not known, since more may join them."""
        return NEVER

    def take(self, boundary_ns: int) -> Integers:
        """As SubmissionTimes."""
        first = self.submitted
        while self._coming and self._coming[0][0] < boundary_ns:
            self._order.append(heapq.heappop(self._coming)[1])
        self.submitted = len(self._order)
        self.waits_for_ends = self.submitted < len(self.arrivals_ns)
        return np.array(self._order[first:], np.int64)

    def taken(self, first: int, last: int) -> list[int]:
        """As SubmissionTimes."""
        return self._order[first:last]

    def has_submitted(self, job: int) -> bool:
        """As SubmissionTimes."""
        return job in self._order

    def note_ends(self) -> None:
        """Plan the submissions that the jobs that have ended since the last call decide on."""
        new = self.engine.records[self._records_read :]
        self._records_read += len(new)
        for job, end_ns in zip(new["job"].tolist(), new["finish_ns"].tolist(), strict=True):
            self._unfinished[job] -= 1
            self._ended_ns[job] = max(self._ended_ns[job], end_ns)
            if not self._unfinished[job]:
                self._plan_after(job, self._ended_ns[job])

    @abstractmethod
    def _plan_after(self, job: int, ended_ns: int) -> None:
        """Plan what the end of a job decides on."""

    def _plan(self, job: int, at_ns: int) -> None:
        """Submit a job at a time, or at the next boundary if that has passed."""
        at_ns = max(at_ns, self.clock.now_ns)
        self.arrivals_ns[job] = at_ns
        self.engine.submit(job, at_ns)
        heapq.heappush(self._coming, (at_ns, job))
