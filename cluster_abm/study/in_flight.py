"""Tasks that an executor has, and what comes of them, in the order in which they end."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from cluster_abm.errors import InputError
from cluster_abm.study.executors import TRIES_AFTER_LOSS, WorkerLost

Name = TypeVar("Name", bound=Hashable)

# A Ctrl-C that comes in the instant before a wait begins is heard when the wait ends: so none is longer than this.
WAIT_S = 0.5
# Tasks handed to executors whose number of workers is not known here.
WINDOW_ELSEWHERE = 256


@dataclass(frozen=True)
class Ended(Generic[Name]):
    """A task that is over.

    Attributes:
        name: what it was sent as.
        result: what it returned; None if it did not.
        problem: what it raised, or why its workers were lost; None if it returned.
    """

    name: Name
    result: Any
    problem: BaseException | None


def window(kind: str, workers: int | None) -> int:
    """Tasks to have in flight at once: each worker's, and the next one for it, so that none waits for the bookkeeping.

    Args:
        kind: of the executor, a name of `executors.KINDS`.
        workers: how many it has; None: not known.
    """
    if kind == "inline":
        return 1
    return WINDOW_ELSEWHERE if workers is None else 2 * workers


class InFlight(Generic[Name]):
    """Hands tasks to an executor, and again those whose worker died over them.

    Args:
        executor: where they are carried out.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._attempts: dict[Name, int] = {}
        # A queue, not futures.wait: that locks all futures, and an interrupt in it leaves some locked for ever.
        self._done: SimpleQueue[tuple[Name, Callable[[], Future[Any]], Future[Any]]] = SimpleQueue()

    def __len__(self) -> int:
        return len(self._attempts)

    def send(self, name: Name, function: Callable[..., Any], /, *args: Any) -> None:
        """Have a function called; no two tasks in flight have the same name."""
        self._attempts[name] = 0
        self._submit(name, partial(self._executor.submit, function, *args))

    def take(self) -> Ended[Name] | None:
        """The next task that is over, or None if for a while there was none.

        Raises:
            InputError: what a task was given is wrong, or the executor cannot carry out anything any more.
            KeyboardInterrupt: the task's process heard Ctrl-C.
        """
        try:
            name, submit, future = self._done.get(timeout=WAIT_S)
        except Empty:
            return None
        problem = future.exception()
        if isinstance(problem, InputError | KeyboardInterrupt):
            raise problem
        if isinstance(problem, WorkerLost):
            if self._attempts[name] <= TRIES_AFTER_LOSS:
                self._submit(name, submit)
                return None
            lost = WorkerLost(f"its worker was lost {self._attempts[name]} times; the last time: {problem}")
            lost.__cause__ = problem
            problem = lost
        del self._attempts[name]
        return Ended(name, None if problem else future.result(), problem)

    def _submit(self, name: Name, submit: Callable[[], Future[Any]]) -> None:
        self._attempts[name] += 1
        submit().add_done_callback(lambda future: self._done.put((name, submit, future)))
