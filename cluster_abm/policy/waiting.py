"""The jobs that wait in a queue, and the cores that running jobs hold; what a policy that chooses sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Floats, Integers
from cluster_abm.jit import inlinable
from cluster_abm.policy.described import Described, row_of
from cluster_abm.policy.tasks import ANNOUNCED, ArrivingTask, Table

# The time of a job that requests none, and of one of which no end is expected [slices].
LONGEST = 2**52
# Within a nanosecond, to which times are rounded.
NS_IN_MS = 1e-6
# What a row of the table says of a job: all that it announces, when it was submitted, and what it needs.
WAITING = row_of(
    [
        Described("job", "int", "job", "its number"),
        Described("submitted_ms", "float", "ms", "when; later than now of a job of the slice that begins"),
        Described("tasks", "int", "1", "how many tasks it has"),
        Described("cores", "int", "1", "cores that it needs: one a task, or all there are if it has more tasks"),
        Described("lasts", "int", "slices", "for how long from now on, by what it requests; LONGEST: nothing"),
        *ANNOUNCED,
    ]
)  # fmt: skip
# A running job, in the order of expected ends.
RUNNING = row_of(
    [
        Described("job", "int", "job", "its number"),
        Described("cores", "int", "1", "cores that it holds, on nodes that are up"),
        Described(
            "ends", "int", "slices", "when it is expected to release them; in the past: it has outrun its request"
        ),
    ]
)


@inlinable
def slices_within(time_ms: float, slice_ms: float) -> int:
    """How many slices after a border it is known that a time has passed [slices]: an end at a border is known later.

    Args:
        time_ms: the time [ms]; not a number: LONGEST.
        slice_ms: length of a slice [ms].
    """
    whole = math.floor((time_ms + NS_IN_MS) / slice_ms) + 1.0 if time_ms < 1e300 else math.inf
    return int(whole) if whole < LONGEST else LONGEST


@dataclass(frozen=True)
class WaitingJobs:
    """The jobs of a queue in the order of their submission; a job's place in it counts from 0, the head.

    `len(queue)` is how many there are, `queue["requested_ms"]` a column of `rows`.

    Attributes:
        rows: a row a job, shape (jobs,), columns WAITING. Read only.
        first_task: `first_task(place)`, the first task of the job at a place, as it arrives.
        notes: what the policy notes of each job, by the names of its `job_notes`, shape (jobs,) each; NaN: nothing yet.
    """

    rows: Table
    first_task: Callable[[int], ArrivingTask]
    notes: Mapping[str, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.rows[name]


@dataclass(frozen=True)
class CoresInUse:
    """The cores of a cluster whose head node starts jobs (`Policy.central`).

    Attributes:
        free: free cores of each node, shape (nodes,); 0 of nodes that are down, or that drain.
        running: the jobs that hold cores, in the order of their expected ends, shape (jobs,), columns RUNNING.
        nodes_of: `nodes_of(job)`, the nodes of which a job holds cores, one entry a core, in the order in which it got
            them, shape (cores,).
        rank_of: `rank_of(task)`, the number of a task inside its job.
    """

    free: Integers
    running: Table
    nodes_of: Callable[[int], Integers]
    rank_of: Callable[[ArrivingTask], int]


def no_cores(refused: frozenset[int] = frozenset()) -> CoresInUse:
    """What there is where no head node starts jobs."""
    nothing = np.zeros(0, np.int64)
    return CoresInUse(nothing, np.zeros(0, RUNNING), lambda job: nothing, lambda task: 0)
