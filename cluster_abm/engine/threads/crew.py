"""Threads that help the one that runs a model: compiled code lets several of them compute at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread

Call = Callable[[], object]

# A thread without work ends after so long [s]: none is left over from a run, nor in the way of a fork.
IDLE_S = 1.0


class Crew:
    """Threads that carry out calls at once. They start when they are first needed; a copy, or a fork, has its own."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._helpers: list[_Helper] = []

    def __reduce__(self) -> tuple[type[Crew], tuple[()]]:
        return Crew, ()

    def carry_out(self, calls: Sequence[Call]) -> None:
        """Carry out all calls at once, the first one on the calling thread; all are over when this returns or raises.

        Where the system starts no more threads, the calling thread carries out what is left.
        """
        if os.getpid() != self._process:
            self._process, self._helpers = os.getpid(), []
        while len(self._helpers) < len(calls) - 1:
            self._helpers.append(_Helper())
        own, begun = [calls[0]], []
        try:
            for helper, call in zip(self._helpers, calls[1:], strict=False):
                if helper.begin(call):
                    begun.append(helper)
                else:
                    own.append(call)
            for call in own:
                call()
        finally:
            _await_all(begun)
        for helper in begun:
            if helper.problem is not None:
                raise helper.problem


def _await_all(helpers: Sequence[_Helper]) -> None:
    """Wait for the calls that were begun; an interrupt of this thread, Ctrl-C, is raised when they are over."""
    interrupt = None
    for helper in helpers:
        while helper.is_busy:
            try:
                helper.ends.get()
            except BaseException as problem:
                interrupt = problem
    if interrupt is not None:
        raise interrupt


class _Helper:
    """One thread, which takes one call at a time.

    Attributes:
        is_busy: whether a call was begun and is not over.
        ends: something is put into it whenever a call is over.
        problem: what the last call raised.
    """

    def __init__(self) -> None:
        self.is_busy = False
        self.ends: SimpleQueue[None] = SimpleQueue()
        self.problem: BaseException | None = None
        self._calls: SimpleQueue[Call] = SimpleQueue()
        # Held while the thread decides to end, or a call is given to it.
        self._lock = Lock()
        self._lives = False

    def begin(self, call: Call) -> bool:
        """Give the thread a call; False if there is no thread, and none can be started."""
        with self._lock:
            if not self._lives:
                with suppress(RuntimeError):
                    Thread(target=self._live, name="cluster-abm-nodes", daemon=True).start()
                    self._lives = True
            if self._lives:
                self.is_busy, self.problem = True, None
                self._calls.put(call)
            return self._lives

    def _live(self) -> None:
        while True:
            try:
                call: Call | None = self._calls.get(timeout=IDLE_S)
            except Empty:
                with self._lock:
                    if self._calls.empty():
                        self._lives = False
                        return
                continue
            try:
                assert call is not None
                call()
            except BaseException as problem:
                self.problem = problem
            # What it works on must not live on in a thread that waits.
            call = None
            self.is_busy = False
            self.ends.put(None)
