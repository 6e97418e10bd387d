"""Tasks on processes of this machine, each of which may die without harm to the others.

The standard pool breaks as a whole when one of its processes dies, and does not tell which task that one had. So each
worker here is a pool of one process. A thread owns them all: whatever happens is put into its queue as something to
call, so nothing needs a lock, and an interrupt of the main thread finds nothing half done.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.context import SpawnContext, SpawnProcess
from queue import SimpleQueue
from threading import Thread
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.study.executors.base import BatchExecutor, WorkerLost, said

# Workers that died before they could say a word, one after the other, until no more are started.
STARTS_IN_VAIN = 3
MASKS = hasattr(signal, "pthread_sigmask")


def available_processors() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ProcessExecutor(BatchExecutor):
    """A pool of spawned processes; the one that dies is replaced, and only its task raises `WorkerLost`.

    A script that uses it needs `if __name__ == "__main__":` around the call, as spawned processes import the script.

    Args:
        workers: processes at most; None: one per processor there is for this process.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._crew = _Crew(workers or available_processors())
        self._over = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have the function called by the next free process; tasks begin in the order they are submitted in."""
        if self._over:
            raise RuntimeError("cannot submit after shutdown")
        task = _Task(partial(function, *args, **kwargs))
        self._crew.events.put(partial(self._crew.enqueue, task))
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the processes end when the tasks are done; those not yet begun are cancelled if asked for."""
        self._over = True
        self._crew.events.put(partial(self._crew.close, cancel_futures))
        if wait:
            self._crew.thread.join()

    def abandon(self) -> None:
        """Cancel what waits, kill the processes and wait for their end."""
        self._over = True
        self._crew.events.put(self._crew.kill)
        self._crew.thread.join()


@dataclass(eq=False)
class _Task:
    call: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


class _RememberingContext(SpawnContext):
    """Spawns like any other, and keeps what was spawned: the standard pool does not tell its processes."""

    def __init__(self) -> None:
        super().__init__()
        self.spawned: list[SpawnProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> SpawnProcess:  # type: ignore[override]
        process = SpawnProcess(*args, **kwargs)
        self.spawned.append(process)
        return process


class _Worker:
    """One process and the pool that feeds it."""

    def __init__(self) -> None:
        self._context = _RememberingContext()
        # Made before the mask is set: the tracker of shared resources, which it starts, resets the mask.
        self.pool = ProcessPoolExecutor(1, mp_context=self._context, initializer=_begin_work)

    def start(self) -> Future[Any]:
        """Spawn the process; the future is done when it has said its first word."""
        # A process inherits the mask, and so ignores Ctrl-C from its first moment on; the parent decides what it means.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if MASKS else set()
        try:
            return self.pool.submit(os.getpid)
        finally:
            if MASKS:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def kill(self) -> None:
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


class _Crew:
    """The workers and what waits for them. But for `events`, only its own thread touches it."""

    def __init__(self, limit: int) -> None:
        self.events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.thread = Thread(target=self._live, name="cluster-abm-processes", daemon=True)
        self._limit = limit
        self._waiting: deque[_Task] = deque()
        self._starting: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._busy: dict[_Worker, _Task] = {}
        self._in_vain = 0
        self._closing = False
        self._over = False
        self.thread.start()

    def enqueue(self, task: _Task) -> None:
        self._waiting.append(task)

    def close(self, cancel: bool) -> None:
        self._closing = True
        if cancel:
            self._cancel_waiting()

    def kill(self) -> None:
        self._cancel_waiting()
        workers = self._workers()
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.pool.shutdown(cancel_futures=True)
        for task in self._busy.values():
            task.future.set_exception(WorkerLost("its process was stopped"))
        self._over = True

    def _live(self) -> None:
        while not self._over:
            self.events.get()()
            self._employ()
            if self._closing and not self._waiting and not self._busy and not self._over:
                self._dismiss()
                self._over = True

    def _dismiss(self) -> None:
        """Let all processes end, at the same time: an interpreter takes a while to clean up."""
        workers = self._workers()
        if workers:
            with ThreadPoolExecutor(len(workers)) as threads:
                list(threads.map(lambda worker: worker.pool.shutdown(), workers))

    def _workers(self) -> list[_Worker]:
        return [*self._starting, *self._idle, *self._busy]

    def _employ(self) -> None:
        """Give what waits to idle workers, and start workers for the rest."""
        while self._idle and self._waiting:
            task = self._waiting.popleft()
            if task.future.set_running_or_notify_cancel():
                self._give(self._idle.pop(), task)
        while not self._over and len(self._starting) < len(self._waiting) and len(self._workers()) < self._limit:
            if self._in_vain >= STARTS_IN_VAIN and self._workers():
                # Those there are will do it all; more of them cannot be had.
                break
            self._start()

    def _give(self, worker: _Worker, task: _Task) -> None:
        self._busy[worker] = task
        try:
            inner = worker.pool.submit(task.call)
        except BrokenProcessPool as problem:
            # It died while it was idle.
            inner = Future()
            inner.set_exception(problem)
        inner.add_done_callback(lambda done: self.events.put(partial(self._finish, worker, done)))

    def _finish(self, worker: _Worker, done: Future[Any]) -> None:
        task = self._busy.pop(worker)
        problem = done.exception()
        if isinstance(problem, BrokenProcessPool):
            lost = WorkerLost(f"{worker.last_words()}; {said(problem)}")
            lost.__cause__ = problem
            task.future.set_exception(lost)
        else:
            self._idle.append(worker)
            # The next task first: whoever waits for this result may take long over it.
            self._employ()
            if problem is None:
                task.future.set_result(done.result())
            else:
                task.future.set_exception(problem)

    def _start(self) -> None:
        try:
            worker = _Worker()
            word = worker.start()
        except (OSError, RuntimeError) as problem:
            # No memory or no more processes for this user; or this is itself a process that imports its script.
            self._start_in_vain(said(problem))
            return
        self._starting.add(worker)
        word.add_done_callback(lambda done: self.events.put(partial(self._welcome, worker, done)))

    def _welcome(self, worker: _Worker, done: Future[Any]) -> None:
        self._starting.discard(worker)
        if done.exception() is None:
            self._idle.append(worker)
            self._in_vain = 0
        else:
            self._start_in_vain(worker.last_words())

    def _start_in_vain(self, words: str) -> None:
        self._in_vain += 1
        if self._in_vain >= STARTS_IN_VAIN and not self._workers():
            self._give_up(words)

    def _give_up(self, words: str) -> None:
        text = (
            f"executor 'process': no process can be started here ({words}); a script that starts runs needs "
            "`if __name__ == '__main__':` around it, or use the executor 'inline'"
        )
        while self._waiting:
            task = self._waiting.popleft()
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(InputError(text))

    def _cancel_waiting(self) -> None:
        while self._waiting:
            task = self._waiting.popleft()
            task.future.cancel()
            task.future.set_running_or_notify_cancel()


def _begin_work() -> None:
    # Ctrl-C is the parent's to hear.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Thread(target=_end_with_the_parent, name="end-with-the-parent", daemon=True).start()


def _end_with_the_parent() -> None:
    """A parent that is killed (`kill -9`) tells nobody, and the standard pool's processes then wait for it for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
