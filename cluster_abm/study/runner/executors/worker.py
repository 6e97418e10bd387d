"""One process that carries out one task at a time, from its first word to its last."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Thread
from typing import Any

from cluster_abm.interrupts import ENDING

MASKS = hasattr(signal, "pthread_sigmask")
# What a worker is called, and what one ends with that imports a script which starts runs as it is imported.
NAME, STARTS_RUNS = "cluster-abm worker", 97


class _RememberingContext(SpawnContext):
    """Spawns like any other, and keeps what was spawned: the standard pool does not name its processes."""

    def __init__(self) -> None:
        super().__init__()
        self.spawned: list[SpawnProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        process = SpawnProcess(*args, **{"name": NAME, **kwargs})
        self.spawned.append(process)
        return process


class Worker:
    """One process and the pool that feeds it.

    Args:
        begin: what the process does first, with the arguments `given`: what it shares with this one.
    """

    def __init__(self, begin: Callable[..., None] | None = None, given: Sequence[Any] = ()) -> None:
        self._context = _RememberingContext()
        # Made before the mask is set: the tracker of shared resources, which it starts, resets the mask.
        first = _begin_work if begin is None else partial(_begin_with, begin, tuple(given))
        self.pool = ProcessPoolExecutor(1, mp_context=self._context, initializer=first)

    def start(self) -> Future[Any]:
        """Spawn the process; the future is done when it has said its first word."""
        # A process inherits the mask, and so ignores Ctrl-C and SIGTERM, which a terminal, Slurm or systemd send to the
        # whole group, from its first moment on; the parent decides what they mean.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING) if MASKS else set()
        try:
            with _main_that_is_no_file_hidden():
                return self.pool.submit(os.getpid)
        finally:
            if MASKS:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    @property
    def imports_the_runs(self) -> bool:
        """Whether the process, which is dead, has ended itself by `end_if_imported`."""
        return any(process.exitcode == STARTS_RUNS for process in self._context.spawned)

    def kill(self) -> None:
        """End the process at once."""
        for process in self._context.spawned:
            process.kill()

    def last_words(self) -> str:
        """How the dead process ended; waits for its end."""
        self.pool.shutdown()
        for process in self._context.spawned:
            code = process.exitcode
            if code is not None and code < 0:
                return f"its process was killed by {_signal_name(-code)}{' (out of memory?)' if code == -9 else ''}"
            if code is not None:
                return f"its process ended with exit code {code}"
        return "its process ended"


@contextmanager
def _main_that_is_no_file_hidden() -> Iterator[None]:
    """Have spawned processes import no script that has come from standard input, "<stdin>": they would not find it."""
    main = vars(sys.modules["__main__"])
    file = main.get("__file__")
    if not isinstance(file, str) or os.path.exists(file):
        yield
        return
    del main["__file__"]
    try:
        yield
    finally:
        main["__file__"] = file


def end_if_imported() -> None:
    """End this process, without a word, if it is a worker that imports the script of the process which started it.

    A spawned process imports the script first. One that starts runs when it is imported would start them again in each
    process: the standard library refuses that by a traceback in each. Here the parent alone says what to do.
    """
    process = multiprocessing.current_process()
    # So the standard library knows a process that is still being set up.
    if process.name == NAME and getattr(process, "_inheriting", False):
        os._exit(STARTS_RUNS)


def _begin_with(begin: Callable[..., None], given: tuple[Any, ...]) -> None:
    _begin_work()
    begin(*given)


def _begin_work() -> None:
    # The parent handles these signals, and ends its workers by SIGKILL.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    if MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    atexit.register(_end_at_once)
    Thread(target=_end_with_the_parent, name="end-with-the-parent", daemon=True).start()


def _end_at_once() -> None:
    """End without taking the interpreter apart: with compiled code that takes half a second, for which others wait."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    os._exit(0)


def _end_with_the_parent() -> None:
    """End with the parent: if it is killed (`kill -9`), the standard pool's processes would wait for it for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
