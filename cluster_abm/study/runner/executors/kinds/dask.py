"""Tasks on the workers of a running Dask scheduler."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.study.design.fingerprint import result_version
from cluster_abm.study.runner.code_version import with_same_code
from cluster_abm.study.runner.executors.base import BatchExecutor, ExecutorKind, WorkerLost, library, message_of

ANSWERS_WITHIN_S = 5
# Workers come and go; how many there are is asked for no more often than this.
COUNTED_EVERY_S = 2.0
# A cluster that grows by what waits for it is to see that much, even while it has no worker yet.
FEWEST_IN_FLIGHT = 256


class DaskExecutor(BatchExecutor):
    """Sends tasks to a scheduler, and passes on what comes back.

    If a worker dies, the scheduler gives its task to another one; if several die over the same task (Dask's
    `distributed.scheduler.allowed-failures`, 3), it raises `WorkerLost`. Dask's messages are pickles: scheduler and
    workers belong to the user, on a network that is trusted or under Dask's own TLS.

    Args:
        address: of the scheduler, such as `tcp://127.0.0.1:8786`.

    Raises:
        InputError: Dask is not installed, nothing answers at the address, or a worker has other sources of cluster_abm.
    """

    def __init__(self, address: str | None) -> None:
        if not address:
            raise InputError("executor 'dask': the scheduler's address is missing (--dask tcp://HOST:8786)")
        distributed = library("distributed", "dask")
        self._address = address
        self._killed: type[Exception] = distributed.KilledWorker
        # In two steps, so that there is something to close where the second fails: a client that is left open closes
        # when it is garbage, and hangs if that happens while the next client starts (seen with distributed 2026.8).
        client = self._client = distributed.Client.__new__(distributed.Client)
        try:
            client.__init__(address, timeout=ANSWERS_WITHIN_S, set_as_default=False)
        except (OSError, ValueError) as problem:
            client.close()
            text = f"executor 'dask': no Dask scheduler answers at {address!r} ({message_of(problem)})"
            raise InputError(text) from problem
        try:
            self._check_workers()
        except BaseException:
            self._client.close()
            raise
        self._window, self._counted_s, self._threads = FEWEST_IN_FLIGHT, -math.inf, 0
        # Not pure: the same run submitted again must be carried out again, not be the first one's failure.
        self._tasks = self._client.get_executor(pure=False)

    @property
    def window(self) -> int:
        """Each thread's task, and the next one for it, of the workers there are now."""
        now_s = time.monotonic()
        if now_s - self._counted_s > COUNTED_EVERY_S and self._client.status == "running":
            self._counted_s = now_s
            # If the scheduler does not answer now, sending the next task reports it.
            with suppress(OSError):
                self._threads = sum(self._client.nthreads(callback_timeout=ANSWERS_WITHIN_S).values())
                self._window = max(FEWEST_IN_FLIGHT, 2 * self._threads)
        return self._window

    @property
    def at_once(self) -> int:
        """One for each thread of the workers there are now; while there are none, as many as the window."""
        return min(self.window, self._threads or self.window)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have the function called by a worker."""
        if not self._connected():
            raise InputError(self._gone())
        inner = self._tasks.submit(partial(with_same_code, result_version(), function, *args, **kwargs))
        # A future of our own: Dask's would keep the task's result in the cluster's memory for as long as it lives.
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        inner.add_done_callback(partial(self._pass_on, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the scheduler when the tasks are done, or at once, which makes it drop them."""
        self._tasks.shutdown(wait=wait and not cancel_futures)
        self._client.close()

    def abandon(self) -> None:
        """Have the scheduler drop all tasks of ours, and leave it."""
        self.shutdown(wait=False, cancel_futures=True)

    def _pass_on(self, future: Future[Any], inner: Future[Any]) -> None:
        if inner.cancelled():
            # Not by us: the scheduler is a new one that knows nothing of it, or has gone.
            lost = WorkerLost("the Dask scheduler lost it") if self._connected() else InputError(self._gone())
            future.set_exception(lost)
            return
        problem = inner.exception()
        if problem is None:
            future.set_result(inner.result())
        elif isinstance(problem, self._killed):
            killed = WorkerLost(message_of(problem))
            killed.__cause__ = problem
            future.set_exception(killed)
        else:
            future.set_exception(problem)

    def _connected(self) -> bool:
        return self._client.status in ("running", "connecting")

    def _check_workers(self) -> None:
        answers = self._client.run(result_version, on_error="return")
        if not answers:
            logging.getLogger(__name__).warning("the scheduler %s has no worker yet: runs wait for one", self._address)
        # One that cannot be reached has just gone, which is no obstacle.
        others = {
            worker: message_of(answer) if isinstance(answer, Exception) else f"other sources ({answer})"
            for worker, answer in sorted(answers.items())
            if answer != result_version() and not isinstance(answer, OSError)
        }
        if others:
            raise InputError(
                f"executor 'dask': worker {worker}: {answer}: install the cluster_abm that is used here "
                f"({result_version()}) and start the worker again"
                for worker, answer in others.items()
            )

    def _gone(self) -> str:
        return (
            f"executor 'dask': the scheduler at {self._address} has gone; what is finished is kept: "
            "start it and give the same command again"
        )


EXECUTOR = ExecutorKind(
    opens=lambda asked: DaskExecutor(asked["dask"]),
    refuses_workers=lambda workers: "has those of its scheduler: start more there",
    options=("dask",),
)
