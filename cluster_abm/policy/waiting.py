"""The jobs that wait in a queue, as a policy that chooses among them sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cluster_abm.policy.tasks import ArrivingTask, Table

# What a row of the table says of a job: all that it announces, and when it was submitted.
WAITING_FIELDS: list[tuple[str, str, str, str]] = [
    ("job", "i8", "job", "its number"),
    ("home", "i4", "node", "where it was submitted"),
    ("submitted_ms", "f8", "ms", "when; later than now of a job of the slice that begins"),
    ("tasks", "i4", "1", "how many tasks it has"),
    ("cpu_ms", "f8", "ms", "CPU demand of each task at speed 1"),
    ("requested_ms", "f8", "ms", "run time that it requests; NaN: none"),
    ("memory_mb", "f8", "MB", "memory demand of each task"),
    ("io_per_ms", "f8", "1/ms", "accesses of each task per ms of CPU"),
    ("request_kb", "f8", "KB", "mean size of an access"),
    ("initial_data_mb", "f8", "MB", "data on the home disk that must follow a task"),
    ("reaccess_rate", "f8", "1", "re-access rate"),
    ("write_share", "f8", "1", "share of accesses that write"),
]
WAITING = np.dtype([(name, kind) for name, kind, _, _ in WAITING_FIELDS])


@dataclass(frozen=True)
class WaitingJobs:
    """The jobs of a queue in the order of their submission; a job's place in it counts from 0, the head.

    `len(queue)` is how many there are, `queue["requested_ms"]` a column of `rows`.

    Attributes:
        rows: a row a job, shape (jobs,), columns WAITING_FIELDS. Read only.
        first_task: `first_task(place)`, the first task of the job at a place, as it arrives.
    """

    rows: Table
    first_task: Callable[[int], ArrivingTask]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> npt.NDArray[np.generic]:
        return self.rows[name]
