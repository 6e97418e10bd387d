"""Runs on their way to an executor: which of them make a task, and what is done if one comes back without its runs."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from functools import partial

from cluster_abm.study.runner.assigning import Assigning
from cluster_abm.study.runner.executors import BatchExecutor, WorkerLost
from cluster_abm.study.runner.groups import MOST_RUNS, Pace, RunsBack, carry_out_in_turn
from cluster_abm.study.runner.in_flight import EndedTask, InFlight
from cluster_abm.study.runner.one_run import Assignment, HandedOver, failed_by
from cluster_abm.study.store.store import Record, RunName

# The runs of a task, which it is sent as.
Runs = tuple[RunName, ...]
# So long few runs are sent, since tasks of several are made once it is known how long one takes [s].
FEW_FOR_S = 5.0


class Sending:
    """Makes tasks of the runs in a queue, and sends them.

    Args:
        assigning: makes the assignments.
        queue: the runs to be carried out; those that have to be sent again are put at its head.

    Attributes:
        pace: how long runs take.
        runs: how many have been sent and are not over.
    """

    def __init__(self, assigning: Assigning, queue: deque[RunName]) -> None:
        self._assigning, self._queue = assigning, queue
        self.pace = Pace()
        self.runs = 0
        # Runs that are sent alone, since a task with them came back without its runs, and the workers lost over each.
        self._alone: dict[RunName, int] = {}
        self._begun_s: float | None = None

    def has_room(self, flight: InFlight[Runs], executor: BatchExecutor) -> bool:
        """Whether another task is to be sent."""
        if not flight.has_room:
            return False
        if len(flight) < 2 * executor.at_once:
            return True
        if self.pace.typical_s is None:
            # Where workers come as they are needed, they are to see what waits for them.
            return self._begun_s is not None and time.monotonic() - self._begun_s > FEW_FOR_S
        return self.runs < executor.window

    def send_next(
        self,
        flight: InFlight[Runs],
        executor: BatchExecutor,
        takes: Callable[[RunName], bool],
        carry_out: Callable[[Assignment], Record],
    ) -> Runs:
        """Send the next runs of the queue as a task.

        Args:
            flight: what sends it.
            executor: where it is carried out.
            takes: takes a run for this process; False: it is left out.
            carry_out: carries out a run there.

        Returns:
            the runs that have to be given up: they are carried out elsewhere.
        """
        runs = self._next(executor, takes)
        if not runs:
            return ()
        assignments = [self._assigning.of(run, executor.is_in_process) for run in runs]
        if self._begun_s is None:
            self._begun_s = time.monotonic()
        self.runs += len(runs)
        function = partial(carry_out_in_turn, carry_out)
        losses = self._alone.get(runs[0], 0)
        try:
            flight.send(runs, function, *assignments, losses=losses, again=len(runs) == 1)
        except HandedOver:
            flight.forget(runs)
            self._put_back(runs)
            return runs
        return ()

    def _next(self, executor: BatchExecutor, takes: Callable[[RunName], bool]) -> Runs:
        # What a task of this process has finished would be lost at Ctrl-C while the next of its runs goes on.
        task_s = 0.0 if executor.is_in_process else self.pace.task_s(len(self._queue), executor.at_once)
        runs: list[RunName] = []
        work_s = 0.0
        while self._queue and len(runs) < MOST_RUNS and not (runs and self._queue[0] in self._alone):
            run = self._queue.popleft()
            if not takes(run):
                continue
            runs.append(run)
            took_s = self.pace.of(run)
            work_s += math.inf if took_s is None or run in self._alone else took_s
            if work_s >= task_s:
                break
        return tuple(runs)

    def come_back(self, ended: EndedTask[Runs]) -> RunsBack | None:
        """What came of the runs of a task that is over; None: it is not known, and each is sent again, alone.

        The runs before the one that ended a worker are made again, too: which one did it is not known.
        """
        self.runs -= len(ended.name)
        if ended.problem is None:
            back: RunsBack = ended.result
            for record, seconds in zip(back.records, back.seconds, strict=True):
                self.pace.note(record.name, seconds)
                self._alone.pop(record.name, None)
            return back
        if len(ended.name) == 1:
            # What a run raises is its record. A problem here: it was not sent, or lost its process often.
            self._alone.pop(ended.name[0], None)
            return RunsBack((failed_by(ended.problem, *ended.name[0]),), (None,))
        losses = 1 if isinstance(ended.problem, WorkerLost) else 0
        self._alone |= dict.fromkeys(ended.name, losses)
        self._queue.extendleft(reversed(ended.name))
        return None

    def _put_back(self, runs: Runs) -> None:
        self.runs -= len(runs)
        self._queue.extendleft(reversed(runs))

    def bring_forward(self, key: str) -> None:
        """Put the next run of a key at the head of the queue, if there is one."""
        for run in self._queue:
            if run[0] == key:
                self._queue.remove(run)
                self._queue.appendleft(run)
                return
