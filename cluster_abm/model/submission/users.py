"""Closed users: each submits the next job once the previous one has ended."""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.submission.schedule import Schedule

Integers = npt.NDArray[np.int64]


class Users(Schedule):
    """Each user submits the next job a think time after the end of the previous one has become known.

    Jobs of a user stand together in the table. An end becomes known at the boundary of its slice, so the next
    submission is not before that; the think time counts from the end itself.
    """

    def __init__(self, engine: EngineState, clock: Clock) -> None:
        super().__init__(engine)
        self.arrivals_ns = self.arrivals_ns.copy()
        self._engine, self._clock = engine, clock
        self._coming = [(int(at), job) for job, at in enumerate(self.arrivals_ns) if at < NEVER]
        heapq.heapify(self._coming)
        self._order: list[int] = []
        self._unfinished: list[int] = engine.jobs["tasks"].tolist()
        self._ended_ns = [0] * len(engine.jobs)
        self._records_read = 0
        self.waits_for_ends = True

    @property
    def is_over(self) -> bool:
        """As Schedule."""
        return not self._coming

    def first_after(self, time_ns: int) -> int:
        """As Schedule: the earliest submission that is known and not taken yet."""
        if self._coming and self._coming[0][0] > time_ns:
            return self._coming[0][0]
        return min((at for at, _ in self._coming if at > time_ns), default=NEVER)

    def after_next(self, jobs: int) -> int:
        """As Schedule: there are as many submissions known as there are users, at most."""
        return NEVER

    def take(self, boundary_ns: int) -> Integers:
        """As Schedule."""
        first = self.submitted
        while self._coming and self._coming[0][0] < boundary_ns:
            self._order.append(heapq.heappop(self._coming)[1])
        self.submitted = len(self._order)
        self.waits_for_ends = self.submitted < len(self.arrivals_ns)
        return np.array(self._order[first:], np.int64)

    def taken(self, first: int, last: int) -> list[int]:
        """As Schedule."""
        return self._order[first:last]

    def note_ends(self) -> None:
        """Plan the next submission of every user whose job has ended; killed and lost jobs have ended too."""
        engine = self._engine
        new = engine.records[self._records_read :]
        self._records_read += len(new)
        for job, end_ns in zip(new["job"].tolist(), new["finish_ns"].tolist(), strict=True):
            self._unfinished[job] -= 1
            self._ended_ns[job] = max(self._ended_ns[job], end_ns)
            following = job + 1
            if self._unfinished[job] or following == len(self._unfinished) or self.arrivals_ns[following] < NEVER:
                continue
            think_ns = int(engine.jobs["think_ns"][following])
            at_ns = max(self._ended_ns[job] + think_ns, self._clock.now_ns)
            self.arrivals_ns[following] = at_ns
            engine.submit(following, at_ns)
            heapq.heappush(self._coming, (at_ns, following))
