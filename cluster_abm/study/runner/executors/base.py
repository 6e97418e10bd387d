"""What all executors share: the interface beyond `concurrent.futures`, and what a lost worker is called."""

from __future__ import annotations

import importlib
import traceback
from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cluster_abm.errors import InputError

# How often a run is submitted again after its worker died before it counts as failed: a run that takes too much memory
# kills every worker it gets.
TRIES_AFTER_LOSS = 3


class WorkerLost(Exception):
    """The process or machine that carried out a task ended before the task did; the task itself raised nothing.

    Submitting the task again is safe: runs have no effect but their result.
    """


class BatchExecutor(Executor):
    """A `concurrent.futures.Executor` that can also be left at once.

    Functions that are submitted stand at the top of a module; arguments and results are picklable.
    """

    @property
    @abstractmethod
    def window(self) -> int:
        """Tasks to have outstanding at once, by what is known now, so that no worker waits for the caller."""

    @property
    def at_once(self) -> int:
        """Tasks that are carried out at the same time, by what is known now."""
        return self.window

    @property
    def is_ready(self) -> bool:
        """Whether a task that is submitted now begins without a wait for a process that has to start first."""
        return True

    @property
    def is_in_process(self) -> bool:
        """Whether its tasks are carried out in this process."""
        return False

    @property
    def is_here(self) -> bool:
        """Whether its tasks are carried out by several processes of this machine, which share what one compiles."""
        return False

    @abstractmethod
    def abandon(self) -> None:
        """End now: nothing more is begun, what runs is stopped, and no process or job stays behind."""


@dataclass(frozen=True)
class ExecutorKind:
    """A kind of executor. It has the name of its module."""

    # opens an executor as it is asked for: `workers`, `dask` and `slurm`, as of `open_executor`
    opens: Callable[[Mapping[str, Any]], BatchExecutor]
    # why it cannot give that number of workers (1 or more); None: it can
    refuses_workers: Callable[[int], str | None] = lambda workers: None
    options: tuple[str, ...] = ()  # which of `dask` and `slurm` mean something to it


def library(name: str, extra: str) -> Any:
    """Import a library that an optional extra of the package brings.

    Raises InputError: it is not installed; says which extra to install.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        text = f"executor {extra!r}: {problem.name} is not installed: pip install '.[{extra}]'"
        raise InputError(text) from problem


def fail(future: Future[Any], problem: BaseException) -> None:
    """Have a future raise that, unless it is over already."""
    with suppress(InvalidStateError):
        future.set_exception(problem)


def message_of(problem: BaseException) -> str:
    """An exception in one line, its type included."""
    return " ".join("".join(traceback.format_exception_only(problem)).split())
