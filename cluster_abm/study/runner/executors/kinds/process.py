"""Tasks on processes of this machine, each of which may die without harm to the others.

The standard pool breaks as a whole when one of its processes dies, and does not report which task that one had. So each
worker here is a pool of one process. A thread owns them all: whatever happens is put into its queue as something to
call, so nothing needs a lock, and an interrupt of the main thread finds nothing half done.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.limits import available_processors
from cluster_abm.study.runner.executors.base import BatchExecutor, ExecutorKind, WorkerLost, fail, message_of
from cluster_abm.study.runner.executors.worker import Worker, end_if_imported

WITHOUT_GUARD = (
    "starts runs on several processes, each of which imports it first, and would start them again: put what starts "
    'them under `if __name__ == "__main__":`, or have them carried out in this process alone (workers=1)'
)
# Workers that died before they could say a word, one after the other, until no more are started.
STARTS_IN_VAIN = 3


def script_name() -> str:
    """The script that this process runs, for messages."""
    return getattr(sys.modules.get("__main__"), "__file__", None) or "the script"


class ProcessExecutor(BatchExecutor):
    """A pool of spawned processes; the one that dies is replaced, and only its task raises `WorkerLost`.

    A script that uses it needs `if __name__ == "__main__":` around the call, as spawned processes import the script.

    Args:
        workers: processes at most; None: one per processor there is for this process.
    """

    def __init__(self, workers: int | None = None) -> None:
        self._crew = _Crew(workers or available_processors())
        self._over = False

    @property
    def window(self) -> int:
        """Each process's task, and the next one for it."""
        return 2 * self._crew.limit

    @property
    def at_once(self) -> int:
        """One for each process."""
        return self._crew.limit

    @property
    def is_ready(self) -> bool:
        """Whether processes have been started before."""
        return self._crew.has_begun

    @property
    def is_here(self) -> bool:
        """As BatchExecutor."""
        return True

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have the function called by the next free process; tasks begin in the order they are submitted in."""
        if self._over:
            raise RuntimeError("cannot submit after shutdown")
        if self._crew.broken is not None:
            raise self._crew.broken
        task = _PendingTask(partial(function, *args, **kwargs))
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
class _PendingTask:
    call: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)


class _Crew:
    """The workers and what waits for them. But for `events`, only its own thread touches it."""

    def __init__(self, limit: int) -> None:
        self.events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.thread = Thread(target=self._live, name="cluster-abm-processes", daemon=True)
        self.limit = limit
        self._waiting: deque[_PendingTask] = deque()
        # All live workers; of these, those that are starting, idle, busy.
        self._staff: set[Worker] = set()
        self._starting: set[Worker] = set()
        self._idle: list[Worker] = []
        self._busy: dict[Worker, _PendingTask] = {}
        self._in_vain = 0
        self.has_begun = False
        self.broken: BrokenExecutor | None = None
        # The futures that are not done, which callers may wait for.
        self._promised: set[Future[Any]] = set()
        self._closing = False
        self._over = False
        self.thread.start()

    def enqueue(self, task: _PendingTask) -> None:
        self._promised.add(task.future)
        task.future.add_done_callback(self._promised.discard)
        self._waiting.append(task)
        if self.broken is not None:
            self._break(self.broken)

    def close(self, cancel: bool) -> None:
        self._closing = True
        if cancel:
            self._cancel_waiting()

    def kill(self) -> None:
        # First, so that the thread ends whatever comes next.
        self._over = True
        self._cancel_waiting()
        self._end_workers()
        for task in self._busy.values():
            fail(task.future, WorkerLost("its process was stopped"))

    def _live(self) -> None:
        while not self._over:
            try:
                self.events.get()()
                self._employ()
                if self._closing and not self._waiting and not self._busy and not self._over:
                    self._over = True
                    self._dismiss()
            except Exception as problem:
                self._break(problem)

    def _break(self, problem: Exception) -> None:
        """Fail all tasks that are waited for by a fault of this very program; later submissions raise it too."""
        if self.broken is None:
            self.broken = BrokenExecutor(f"executor 'process': {message_of(problem)}")
            self.broken.__cause__ = problem
        for future in list(self._promised):
            fail(future, self.broken)
        self._waiting.clear()
        self._end_workers()
        for workers in (self._staff, self._starting, self._idle, self._busy):
            workers.clear()

    def _end_workers(self) -> None:
        for worker in self._staff:
            worker.kill()
        for worker in self._staff:
            worker.pool.shutdown(cancel_futures=True)

    def _dismiss(self) -> None:
        """Let all processes end, at the same time: an interpreter takes a while to clean up."""
        # What is still being imported would be for nothing.
        for worker in self._starting:
            worker.kill()
        if self._staff:
            with ThreadPoolExecutor(len(self._staff)) as threads:
                list(threads.map(lambda worker: worker.pool.shutdown(), self._staff))

    def _employ(self) -> None:
        """Give what waits to idle workers, and start workers for the rest."""
        while self._idle and self._waiting:
            task = self._waiting.popleft()
            if task.future.set_running_or_notify_cancel():
                self._give(self._idle.pop(), task)
        while not self._over and len(self._starting) < len(self._waiting) and len(self._staff) < self.limit:
            if self._in_vain >= STARTS_IN_VAIN and self._staff:
                # Those there are will do it all; more of them cannot be had.
                break
            self._start()

    def _give(self, worker: Worker, task: _PendingTask) -> None:
        self._busy[worker] = task
        try:
            inner = worker.pool.submit(task.call)
        except BrokenProcessPool as problem:
            # It died while it was idle.
            inner = Future()
            inner.set_exception(problem)
        inner.add_done_callback(lambda done: self.events.put(partial(self._finish, worker, done)))

    def _finish(self, worker: Worker, done: Future[Any]) -> None:
        task = self._busy.pop(worker, None)
        if task is None:
            # The worker was ended after a fault of ours.
            return
        problem = done.exception()
        if isinstance(problem, BrokenProcessPool):
            self._staff.remove(worker)
            lost = WorkerLost(f"{worker.last_words()}; {message_of(problem)}")
            lost.__cause__ = problem
            task.future.set_exception(lost)
        else:
            self._idle.append(worker)
            # The next task first: the caller that gets this result may take long over it.
            self._employ()
            if problem is None:
                task.future.set_result(done.result())
            else:
                task.future.set_exception(problem)

    def _start(self) -> None:
        self.has_begun = True
        try:
            worker = Worker()
            word = worker.start()
        except (OSError, RuntimeError) as problem:
            # No memory or no more processes for this user; or this is itself a process that imports its script.
            self._start_in_vain(message_of(problem))
            return
        self._staff.add(worker)
        self._starting.add(worker)
        word.add_done_callback(lambda done: self.events.put(partial(self._welcome, worker, done)))

    def _welcome(self, worker: Worker, done: Future[Any]) -> None:
        if worker not in self._starting:
            # The same.
            return
        self._starting.remove(worker)
        if done.exception() is None:
            self._idle.append(worker)
            self._in_vain = 0
        else:
            self._staff.remove(worker)
            words = worker.last_words()
            if worker.imports_the_runs:
                self._give_up(f"{script_name()}: {WITHOUT_GUARD}")
            else:
                self._start_in_vain(words)

    def _start_in_vain(self, words: str) -> None:
        self._in_vain += 1
        if self._in_vain >= STARTS_IN_VAIN and not self._staff:
            self._give_up(
                f"executor 'process': no process can be started here ({words}); a script that starts runs needs "
                "`if __name__ == '__main__':` around it, or use the executor 'inline'"
            )

    def _give_up(self, text: str) -> None:
        while self._waiting:
            task = self._waiting.popleft()
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(InputError(text))

    def _cancel_waiting(self) -> None:
        while self._waiting:
            task = self._waiting.popleft()
            task.future.cancel()
            task.future.set_running_or_notify_cancel()


def _opened(asked: Mapping[str, Any]) -> ProcessExecutor:
    end_if_imported()
    return ProcessExecutor(asked["workers"])


EXECUTOR = ExecutorKind(opens=_opened)
