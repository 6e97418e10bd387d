"""Many independent runs on the processors there are; what is finished is never lost."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.interrupts import PolicyInterrupted
from cluster_abm.limits import checked_workers
from cluster_abm.scenario import Scenario
from cluster_abm.study.executors import available_processors, open_executor
from cluster_abm.study.in_flight import Ended, InFlight
from cluster_abm.study.one_run import finished_model

# Of the runs that an interrupt ends, those are named that had taken so long: a policy may not have returned [s].
LONG_UNDER_WAY_S = 5.0


@dataclass(frozen=True)
class Task:
    """One run: a scenario (its policy included) from a seed."""

    scenario: Scenario
    seed: int


@dataclass
class Outcome:
    """What came of a list of runs.

    Attributes:
        summaries: one entry a task, in the tasks' order: the run's summary, or None if it did not finish.
        errors: what went wrong in runs that failed by a fault of this program, one text each.
        policy_faults: faults of policies, and how many runs each ended.
        interrupted: whether Ctrl-C, or SIGTERM, ended it.
        under_way: of an interrupted one the runs that had begun and not ended, in words.
    """

    summaries: list[dict[str, Any] | None]
    errors: list[str] = field(default_factory=list)
    policy_faults: dict[str, int] = field(default_factory=dict)
    interrupted: bool = False
    under_way: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """What a command ends with: 1 after a fault of this program, 2 after wrong input, else 0."""
        return 1 if self.errors else 2 if self.policy_faults else 0

    def book_fault(self, problem: PolicyFault) -> None:
        """Count a run that its policy's fault has ended."""
        for line in problem.problems:
            self.policy_faults[line] = self.policy_faults.get(line, 0) + 1

    @property
    def finished(self) -> int:
        """How many runs finished."""
        return sum(summary is not None for summary in self.summaries)


def run_one(task: Task) -> dict[str, Any]:
    """Carry out one run and give its summary."""
    with finished_model(task.scenario, task.seed) as model:
        return model.summary()


def run_all(tasks: Sequence[Task], workers: int | None = None, label: str = "runs", quiet: bool = False) -> Outcome:
    """Carry out all tasks; the result does not depend on the number of workers.

    Args:
        tasks: the runs.
        workers: processes; None: one per processor there is for this process; 1: all in this process.
            A script that asks for more needs `if __name__ == "__main__":` around the call (processes are spawned).
        label: what the progress bar on stderr calls them.
        quiet: no progress bar.

    Raises:
        InputError: what a run was given is wrong; the runs not yet begun are left out. The fault of a policy ends its
            own runs only, and is raised where no run of another one has finished; else `policy_faults` says it.
    """
    count = checked_workers(workers, available_processors(), len(tasks))
    outcome = Outcome([None] * len(tasks))
    with tqdm(total=len(tasks), desc=label, unit="run", disable=True if quiet else None, leave=False) as bar:
        try:
            _carry_out(tasks, count, outcome, bar)
        except KeyboardInterrupt as problem:
            outcome.interrupted = True
            if isinstance(problem, PolicyInterrupted):
                outcome.under_way = [str(problem)]
    if outcome.policy_faults and not outcome.finished and not outcome.interrupted:
        raise InputError(list(outcome.policy_faults))
    return outcome


def _carry_out(tasks: Sequence[Task], workers: int, outcome: Outcome, bar: tqdm[Any]) -> None:
    def book(ended: Ended[int]) -> None:
        if ended.problem is None:
            outcome.summaries[ended.name] = ended.result
        elif isinstance(ended.problem, PolicyFault):
            outcome.book_fault(ended.problem)
        else:
            text = "".join(traceback.format_exception(ended.problem))
            outcome.errors.append(_describe(tasks[ended.name], text))
        bar.update()

    waiting = deque(range(len(tasks)))
    chosen = ("process", workers) if workers > 1 else ("inline", None)
    with open_executor(*chosen) as executor, InFlight(executor, book) as flight:
        try:
            while waiting or flight:
                while waiting and flight.has_room:
                    index = waiting.popleft()
                    flight.send(index, run_one, tasks[index])
                flight.book_next()
        except KeyboardInterrupt:
            outcome.under_way = [
                f"{_name(tasks[index])}, for {since_s:.0f} s"
                for index, since_s in flight.under_way()
                if since_s >= LONG_UNDER_WAY_S
            ]
            raise


def _name(task: Task) -> str:
    return f"{task.scenario.name}, policy {task.scenario.policy.name}, seed {task.seed}"


def _describe(task: Task, text: str) -> str:
    return f"{_name(task)}: {text.rstrip()}"
