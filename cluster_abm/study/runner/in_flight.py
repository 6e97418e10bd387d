"""Tasks that an executor has, and what comes of them, in the order in which they end."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.interrupts import interrupt_held_back
from cluster_abm.study.runner.executors import TRIES_AFTER_LOSS, BatchExecutor, WorkerLost

Name = TypeVar("Name", bound=Hashable)

# A Ctrl-C in the instant before a wait begins is noticed when the wait ends: so none is longer than this.
WAIT_S = 0.5
# What is no task's own doing ends all of them; a policy's fault ends the runs of that policy.
ENDS_ALL = (InputError, KeyboardInterrupt, BrokenExecutor)


@dataclass(frozen=True)
class EndedTask(Generic[Name]):
    """A task that is over."""

    name: Name  # what it was sent as
    result: Any  # what it returned; None if it did not
    problem: BaseException | None  # what it raised, or why its workers were lost; None if it returned


@dataclass
class _Sent:
    submit: Callable[[], Future[Any]]
    attempts: int = 0
    again: bool = True
    began_s: float | None = None
    """Of the last attempt: when it was first seen at work; None: not yet."""
    future: Future[Any] | None = None
    """Of the last attempt; None while it is being submitted."""


class InFlight(Generic[Name]):
    """Hands tasks to an executor; a task is handed over again if its worker died.

    A task is outstanding until it is booked, so nothing that has come back is dropped: if the `with` block is left by
    Ctrl-C, or because the executor can do no more, what has come back by then is booked first.

    Args:
        executor: where they are carried out.
        book: what is to be done with each that is over; Ctrl-C in it takes effect when it is done.
    """

    def __init__(self, executor: BatchExecutor, book: Callable[[EndedTask[Name]], None]) -> None:
        self._executor, self._book = executor, book
        self._sent: dict[Name, _Sent] = {}
        # A queue, not futures.wait: that locks all futures, and an interrupt in it leaves some locked for ever.
        self._done: SimpleQueue[Name] = SimpleQueue()

    def __enter__(self) -> InFlight[Name]:
        return self

    def __exit__(self, _kind: object, problem: BaseException | None, _traceback: object) -> None:
        if isinstance(problem, ENDS_ALL):
            # All of it, however often Ctrl-C is pressed: each may have taken hours, and booking takes milliseconds.
            with interrupt_held_back():
                self._book_what_is_back()

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def has_room(self) -> bool:
        """Whether the executor wants more tasks than it has."""
        return len(self) < self._executor.window

    def send(
        self, name: Name, function: Callable[..., Any], /, *args: Any, losses: int = 0, again: bool = True
    ) -> None:
        """Have a function called; no two outstanding tasks have the same name.

        Args:
            name: of the task.
            function, args: what is called.
            losses: how many workers have been lost over it before.
            again: whether it is handed over again if its worker dies; else its loss is booked.
        """
        self._sent[name] = _Sent(partial(self._executor.submit, function, *args), losses, again)
        self._submit(name)

    def forget(self, name: Name) -> None:
        """Let go of a task that its executor gave up when it was sent."""
        del self._sent[name]

    def book_next(self) -> bool:
        """Book the next task that is over; False if for a while there was none.

        Raises:
            InputError: what a task was given is wrong, or the executor cannot carry out anything any more.
            BrokenExecutor: the executor has a fault of its own.
            KeyboardInterrupt: the task's process received Ctrl-C.
        """
        self._look()
        try:
            name = self._done.get(timeout=WAIT_S)
        except Empty:
            return False
        sent = self._sent[name]
        assert sent.future is not None
        problem = sent.future.exception()
        if isinstance(problem, ENDS_ALL) and not isinstance(problem, PolicyFault):
            raise problem
        if isinstance(problem, WorkerLost):
            if sent.again and sent.attempts <= TRIES_AFTER_LOSS:
                self._submit(name)
                return False
            lost = WorkerLost(f"its worker was lost {sent.attempts} times; the last time: {problem}")
            lost.__cause__ = problem
            problem = lost
        self._end(EndedTask(name, None if problem else sent.future.result(), problem))
        return True

    def under_way(self) -> list[tuple[Name, float]]:
        """The tasks that are being carried out, and for how long at least [s]."""
        now_s = time.monotonic()
        found = [(name, sent.began_s) for name, sent in self._sent.items() if sent.began_s is not None]
        return [(name, now_s - began_s) for name, began_s in found]

    def _look(self) -> None:
        for sent in self._sent.values():
            if sent.began_s is None and sent.future is not None and sent.future.running():
                sent.began_s = time.monotonic()

    def _book_what_is_back(self) -> None:
        """Book what has come back, without waiting; a task that lost its worker is left to the next call."""
        for name, sent in list(self._sent.items()):
            if sent.future is None or not sent.future.done() or sent.future.cancelled():
                continue
            problem = sent.future.exception()
            if isinstance(problem, PolicyFault) or not isinstance(problem, (*ENDS_ALL, WorkerLost)):
                self._end(EndedTask(name, None if problem else sent.future.result(), problem))

    def _end(self, ended: EndedTask[Name]) -> None:
        with interrupt_held_back():
            # Whatever booking comes to, it is not tried twice.
            del self._sent[ended.name]
            self._book(ended)

    def _submit(self, name: Name) -> None:
        sent = self._sent[name]
        sent.attempts += 1
        sent.future = sent.began_s = None
        sent.future = sent.submit()
        sent.future.add_done_callback(lambda _: self._done.put(name))
