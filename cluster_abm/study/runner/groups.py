"""Short runs travel together: how many of them make one task, and what a worker gives back for it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, median_low

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.study.runner.one_run import Assignment, HandedOver, failed_by
from cluster_abm.study.store.store import Record, RunName

# The work in a task that has several runs [s]: sending one costs some milliseconds, and a lost one is made again.
TASK_S = 0.5
# The most runs in a task: their records travel back in one message.
MOST_RUNS = 200
# A task has at most this share of what is left for each worker, so that all workers end at about the same time.
SHARE_OF_REST = 0.5
# As many of the last times say how long the next run takes: of the same key, and of all.
LAST_OF_KEY, LAST_OF_ALL = 9, 32

# Policies under which this process has carried out a run.
_loaded: set[str] = set()


@dataclass(frozen=True)
class RunsBack:
    """What came of the runs of one task."""

    records: tuple[Record, ...]  # of the first runs, in order
    # what each took [s]; None: it was the first of its policy in its process, which also loads compiled code
    seconds: tuple[float | None, ...]
    problem: InputError | None = None  # what ended the task after those runs, and ends all others


def carry_out_in_turn(carry_out: Callable[[Assignment], Record], *assignments: Assignment) -> RunsBack:
    """Carry out the runs of one task, one after the other; what was finished before bad input comes back with it.

    Args:
        carry_out: carries out one run (`one_run.carry_out`).
        assignments: the runs.
    """
    records: list[Record] = []
    seconds: list[float | None] = []
    for assignment in assignments:
        policy = assignment.scenario.policy.name
        begun_s = time.perf_counter()
        try:
            record = carry_out(assignment)
        except (KeyboardInterrupt, HandedOver):
            raise
        except BaseException as problem:
            if isinstance(problem, InputError) and not isinstance(problem, PolicyFault):
                return RunsBack(tuple(records), tuple(seconds), problem)
            record = failed_by(problem, assignment.key, assignment.seed)
        seconds.append(time.perf_counter() - begun_s if policy in _loaded else None)
        _loaded.add(policy)
        records.append(record)
    return RunsBack(tuple(records), tuple(seconds))


class Pace:
    """How long runs take, by those that are over, and how many of them make one task."""

    def __init__(self) -> None:
        self._of_key: dict[str, deque[float]] = {}
        self._of_all: deque[float] = deque(maxlen=LAST_OF_ALL)
        self._typical_s: float | None = None

    def note(self, run: RunName, seconds: float | None) -> None:
        """A run is over; None tells nothing (`RunsBack.seconds`)."""
        if seconds is not None:
            self._of_key.setdefault(run[0], deque(maxlen=LAST_OF_KEY)).append(seconds)
            self._of_all.append(seconds)
            self._typical_s = fmean(self._of_all)

    @property
    def typical_s(self) -> float | None:
        """What a run takes on average [s]; None: not known yet."""
        return self._typical_s

    def of(self, run: RunName) -> float | None:
        """What a run will take [s], as others of its key did, or as the last ones of any; None: not known yet."""
        times = self._of_key.get(run[0])
        return median_low(times) if times else self._typical_s

    def work_s(self, runs: int) -> float | None:
        """What a number of runs will take one worker [s]; None: not known yet."""
        return None if self._typical_s is None else runs * self._typical_s

    def task_s(self, runs: int, workers: int) -> float:
        """How much work the next task has [s].

        Args:
            runs: how many are left.
            workers: how many carry out tasks at once.
        """
        return min(TASK_S, SHARE_OF_REST * (self.work_s(runs) or 0.0) / max(1, workers))
