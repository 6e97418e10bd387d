"""Many independent runs on the processors there are; what is finished is never lost."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from cluster_abm.scenario import Scenario
from cluster_abm.study.executors import available_processors, open_executor
from cluster_abm.study.in_flight import Ended, InFlight
from cluster_abm.study.one_run import finished_model


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
        errors: what went wrong in runs that failed, one text each.
        interrupted: whether Ctrl-C ended it.
    """

    summaries: list[dict[str, Any] | None]
    errors: list[str] = field(default_factory=list)
    interrupted: bool = False

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
        InputError: what a run was given is wrong; the runs not yet begun are left out.
    """
    count = min(len(tasks), workers or available_processors())
    outcome = Outcome([None] * len(tasks))
    with tqdm(total=len(tasks), desc=label, unit="run", disable=True if quiet else None, leave=False) as bar:
        try:
            _carry_out(tasks, count, outcome, bar)
        except KeyboardInterrupt:
            outcome.interrupted = True
    return outcome


def _carry_out(tasks: Sequence[Task], workers: int, outcome: Outcome, bar: tqdm[Any]) -> None:
    def book(ended: Ended[int]) -> None:
        if ended.problem is None:
            outcome.summaries[ended.name] = ended.result
        else:
            text = "".join(traceback.format_exception(ended.problem))
            outcome.errors.append(_describe(tasks[ended.name], text))
        bar.update()

    waiting = deque(range(len(tasks)))
    chosen = ("process", workers) if workers > 1 else ("inline", None)
    with open_executor(*chosen) as executor, InFlight(executor, book) as flight:
        while waiting or flight:
            while waiting and flight.has_room:
                index = waiting.popleft()
                flight.send(index, run_one, tasks[index])
            flight.book_next()


def _describe(task: Task, text: str) -> str:
    return f"{task.scenario.name}, policy {task.scenario.policy.name}, seed {task.seed}: {text.rstrip()}"
