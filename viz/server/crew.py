"""One process that computes one task at a time for the page, and the pipe on which it says how far it is."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from threading import Thread
from typing import Any

from cluster_abm.study.runner.executors import worker as workers
from viz.server.computing import begin, compute
from viz.server.said import Made, Task


class Worker:
    """A process that is ready for runs of the page's scenario.

    Args:
        asked: what the page is asked to show (first.ASKED).
        hear: called with this worker and what it says, from a thread.
    """

    def __init__(self, asked: Mapping[str, Any], hear: Callable[[Worker, bytes], None]) -> None:
        self._hear = hear
        # The policies that it has loaded.
        self.knows: set[str] = set()
        self._connection, self._theirs = multiprocessing.get_context("spawn").Pipe()
        self._worker = workers.Worker(begin, (self._theirs, dict(asked)))

    def start(self) -> Future[Any]:
        """Spawn the process; the future is done when it is ready."""
        word = self._worker.start()
        # The process has its own now; so the pipe ends with it.
        self._theirs.close()
        Thread(target=self._listen, name="cluster-abm listener", daemon=True).start()
        return word

    def compute(self, number: int, task: Task) -> Future[Made]:
        """Have a task carried out."""
        try:
            return self._worker.pool.submit(compute, number, task)
        except (BrokenProcessPool, RuntimeError) as problem:
            # It died while it was idle, or this process ends.
            failed: Future[Made] = Future()
            failed.set_exception(problem)
            return failed

    def abandon(self, number: int) -> None:
        """Tell it that a task is not wanted any more."""
        with suppress(OSError):
            self._connection.send_bytes(json.dumps(number).encode())

    def kill(self) -> None:
        """End the process at once."""
        self._worker.kill()

    def last_words(self) -> str:
        """How the process ended, which is dead."""
        return self._worker.last_words()

    def _listen(self) -> None:
        with suppress(OSError, EOFError):
            while True:
                self._hear(self, self._connection.recv_bytes())


def started(asked: Mapping[str, Any], hear: Callable[[Worker, bytes], None]) -> tuple[Worker, Future[Any]]:
    """A worker, and a future that is done when it is ready. Raises OSError, RuntimeError: none can be had."""
    worker = Worker(asked, hear)
    return worker, worker.start()
