"""The jobs that wait in a queue, as a policy that chooses among them sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cluster_abm.policy.described import Described, row_of
from cluster_abm.policy.tasks import ANNOUNCED, ArrivingTask, Table

# What a row of the table says of a job: all that it announces, and when it was submitted.
WAITING = row_of(
    [
        Described("job", "int", "job", "its number"),
        Described("submitted_ms", "float", "ms", "when; later than now of a job of the slice that begins"),
        Described("tasks", "int", "1", "how many tasks it has"),
        *ANNOUNCED,
    ]
)


@dataclass(frozen=True)
class WaitingJobs:
    """The jobs of a queue in the order of their submission; a job's place in it counts from 0, the head.

    `len(queue)` is how many there are, `queue["requested_ms"]` a column of `rows`.

    Attributes:
        rows: a row a job, shape (jobs,), columns WAITING. Read only.
        first_task: `first_task(place)`, the first task of the job at a place, as it arrives.
    """

    rows: Table
    first_task: Callable[[int], ArrivingTask]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> npt.NDArray[np.generic]:
        return self.rows[name]
