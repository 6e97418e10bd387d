"""Tasks in the calling process, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from cluster_abm.study.runner.executors.base import BatchExecutor, ExecutorKind


class InlineExecutor(BatchExecutor):
    """Carries out a task when it is submitted; Ctrl-C comes out of `submit`."""

    @property
    def window(self) -> int:
        """One: it is done when `submit` returns."""
        return 1

    @property
    def is_in_process(self) -> bool:
        """As BatchExecutor."""
        return True

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function now; the future that comes back is done."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            result = function(*args, **kwargs)
        # An executor's duty: what a task raises is raised where its result is asked for. Ctrl-C is not the task's.
        except Exception as problem:
            future.set_exception(problem)
        else:
            future.set_result(result)
        return future

    def abandon(self) -> None:
        """Nothing runs between two calls of `submit`."""


EXECUTOR = ExecutorKind(
    opens=lambda asked: InlineExecutor(),
    refuses_workers=lambda workers: "has one; for more take 'process'" if workers > 1 else None,
)
