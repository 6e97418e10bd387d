"""When jobs are submitted: known beforehand, or by users who think once their previous job has ended."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import NEVER

if TYPE_CHECKING:
    from cluster_abm.model.model import ClusterModel

Integers = npt.NDArray[np.int64]
NOBODY = np.zeros(0, np.int64)


class Schedule:
    """Submission times that are known beforehand, in the order of the job table.

    Attributes:
        waits_for_ends: whether the end of a job decides on a submission.
        arrivals_ns: when each job is submitted [ns], shape (jobs,).
        submitted: how many have been.
    """

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        # A column of its own: searching a field of a table would copy it each time.
        self.arrivals_ns = np.ascontiguousarray(model.jobs["arrival_ns"])
        self._next_ns = int(self.arrivals_ns[0]) if len(model.jobs) else NEVER
        self.submitted = 0
        self.waits_for_ends = False

    @property
    def is_over(self) -> bool:
        """Whether nobody is submitted any more, unless the end of a job leads to it."""
        return self.submitted == len(self.arrivals_ns)

    def first_after(self, time_ns: int) -> int:
        """When the first job after a time is submitted, as far as is known [ns]; NEVER if none is."""
        if self._next_ns > time_ns:
            return self._next_ns
        first = int(self.arrivals_ns.searchsorted(time_ns, side="right"))
        return int(self.arrivals_ns[first]) if first < len(self.arrivals_ns) else NEVER

    def take(self, border_ns: int) -> Integers:
        """Jobs submitted before a border and not taken yet, in the order of their submission."""
        if self._next_ns >= border_ns:
            return NOBODY
        first = self.submitted
        self.submitted = int(self.arrivals_ns.searchsorted(border_ns))
        self._next_ns = self.first_after(border_ns - 1)
        return np.arange(first, self.submitted)

    def taken(self, first: int, last: int) -> list[int]:
        """The jobs submitted from the `first`-th to the one before the `last`-th."""
        return list(range(first, last))

    def hear_of_ends(self) -> None:
        """Jobs may have ended in the slice that is over."""


class Users(Schedule):
    """Each user submits the next job a think time after the end of the previous one has become known.

    Jobs of a user stand together in the table. An end becomes known at the border of its slice, so the next submission
    is not before that; the think time counts from the end itself.
    """

    def __init__(self, model: ClusterModel) -> None:
        super().__init__(model)
        self._coming = [(int(at), job) for job, at in enumerate(self.arrivals_ns) if at < NEVER]
        heapq.heapify(self._coming)
        self._order: list[int] = []
        self._left: list[int] = model.jobs["tasks"].tolist()
        self._ended_ns = [0] * len(model.jobs)
        self._heard = 0
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

    def take(self, border_ns: int) -> Integers:
        """As Schedule."""
        first = self.submitted
        while self._coming and self._coming[0][0] < border_ns:
            self._order.append(heapq.heappop(self._coming)[1])
        self.submitted = len(self._order)
        # As long as somebody will submit again.
        self.waits_for_ends = self.submitted < len(self.arrivals_ns)
        return np.array(self._order[first:], np.int64)

    def taken(self, first: int, last: int) -> list[int]:
        """As Schedule."""
        return self._order[first:last]

    def hear_of_ends(self) -> None:
        """Whose job has ended thinks; killed and lost jobs have ended too."""
        engine = self._model.engine
        new = engine.records[self._heard :]
        self._heard += len(new)
        for job, end_ns in zip(new["job"].tolist(), new["finish_ns"].tolist(), strict=True):
            self._left[job] -= 1
            self._ended_ns[job] = max(self._ended_ns[job], end_ns)
            following = job + 1
            if self._left[job] == 0 and following < len(self._left) and self.arrivals_ns[following] == NEVER:
                think_ns = int(self._model.jobs["think_ns"][following])
                at_ns = max(self._ended_ns[job] + think_ns, self._model.now_ns)
                self.arrivals_ns[following] = at_ns
                engine.submit(following, at_ns)
                heapq.heappush(self._coming, (at_ns, following))
