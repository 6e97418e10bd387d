"""Many independent runs on the processors there are; what is finished is never lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any

from tqdm import tqdm

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.schema import LONGEST_PERIOD_MS, Measure

Finished = SimpleQueue[tuple[int, Future[dict[str, Any]]]]


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
    from cluster_abm.model import ClusterModel

    # Nobody sees the measurements of a run among many, and no result depends on them.
    unmeasured = task.scenario.model_copy(update={"measure": Measure(period_ms=LONGEST_PERIOD_MS)})
    model = ClusterModel(unmeasured, seed=task.seed)
    model.run()
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
            if count <= 1:
                _run_here(tasks, outcome, bar)
            else:
                _run_on_processes(tasks, count, outcome, bar)
        except KeyboardInterrupt:
            outcome.interrupted = True
    return outcome


def available_processors() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run_here(tasks: Sequence[Task], outcome: Outcome, bar: tqdm[Any]) -> None:
    for index, task in enumerate(tasks):
        try:
            outcome.summaries[index] = run_one(task)
        except InputError:
            raise
        except Exception:
            outcome.errors.append(_describe(task, traceback.format_exc()))
        bar.update()


def _run_on_processes(tasks: Sequence[Task], workers: int, outcome: Outcome, bar: tqdm[Any]) -> None:
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_interrupts_to_the_parent)
    # A queue, not futures.wait: that locks all futures, and an interrupt inside it leaves some locked for ever.
    done: Finished = SimpleQueue()
    try:
        with _interrupts_held_back():
            for index, task in enumerate(tasks):
                executor.submit(run_one, task).add_done_callback(partial(_deliver, done, index))
        for _ in tasks:
            index, future = done.get()
            _book(future, index, tasks, outcome)
            bar.update()
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    executor.shutdown()


def _deliver(done: Finished, index: int, future: Future[dict[str, Any]]) -> None:
    done.put((index, future))


def _book(future: Future[dict[str, Any]], index: int, tasks: Sequence[Task], outcome: Outcome) -> None:
    try:
        outcome.summaries[index] = future.result()
    except InputError:
        raise
    except BrokenProcessPool:
        reason = "its process ended without a word (out of memory?)\n"
        outcome.errors.append(_describe(tasks[index], reason))
    except Exception as problem:
        outcome.errors.append(_describe(tasks[index], "".join(traceback.format_exception(problem))))


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C takes effect when the block is over; processes that start in it ignore it from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = False

    def note(*_: Any) -> None:
        nonlocal heard
        heard = True

    # The mask is for the processes, which inherit it. Another thread of ours may take the signal all the same, and
    # Python then calls the handler in this one.
    before = signal.signal(signal.SIGINT, note)
    masks = hasattr(signal, "pthread_sigmask")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    try:
        yield
    finally:
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if heard and callable(before):
        before(signal.SIGINT, None)


def _describe(task: Task, text: str) -> str:
    return f"{task.scenario.name}, policy {task.scenario.policy.name}, seed {task.seed}: {text.rstrip()}"
