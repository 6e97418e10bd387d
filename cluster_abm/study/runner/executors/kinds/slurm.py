"""Tasks as jobs of a Slurm cluster, through submitit."""

from __future__ import annotations

import logging
import subprocess
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.limits import available_processors
from cluster_abm.study.design.fingerprint import result_version
from cluster_abm.study.runner.code_version import with_same_code
from cluster_abm.study.runner.executors.base import BatchExecutor, ExecutorKind, WorkerLost, fail, library, message_of

# Slurm's own limit of an array (MaxArraySize) is 1001 unless a site sets another.
ARRAY = 1000
# A poll of a job costs two calls of a shared file system, and Slurm's controller serves all users. What is submitted
# within a poll interval becomes one array.
POLL_INTERVAL_S = {"local": 0.1, "slurm": 5.0}
# A job's time limit by default, in minutes: submitit's own, 5, would end honest runs.
TIME_MIN = 60
# A shared file system may be away for a while (ESTALE, EIO); if a job's files cannot be read for longer, it is lost.
UNSEEN_FOR_S = 600.0


class SlurmExecutor(BatchExecutor):
    """Submits tasks as job arrays and collects their results from files that all machines see.

    submitit writes tasks and results as pickles. What is unpickled here are results that jobs of this very executor
    wrote into its own, new folder: never a file from elsewhere.

    Args:
        workers: jobs in the queue or running at once; None: 1000, or the processors of this machine if local.
        parameters: `folder` (on a file system that all machines share; default `slurm-jobs` in the current one),
            `cluster` (`slurm`, or `local` for processes of this machine), and what submitit's SlurmExecutor takes,
            named as there: `partition`, `time` (minutes; default 60), `mem` ("4GB"), `cpus_per_task`, `account`, `qos`,
            `array_parallelism`, `setup`, ...

    Raises InputError: submitit is not installed, there is no Slurm here, or a parameter is wrong.
    """

    def __init__(self, workers: int | None = None, parameters: Mapping[str, Any] | None = None) -> None:
        self._submitit = library("submitit", "slurm")
        # It logs to stdout, which is for results.
        logging.getLogger("submitit").handlers.clear()
        given = dict(parameters or {})
        cluster = given.pop("cluster", "slurm")
        if cluster not in ("slurm", "local"):
            raise InputError(f"executor 'slurm': cluster = {cluster!r}: allowed are 'slurm' and 'local'")
        self._local = cluster == "local"
        # A folder of its own: submitit names files by the job's number, and numbers come again.
        self._folder = Path(given.pop("folder", "slurm-jobs")).absolute() / uuid.uuid4().hex[:12]
        self._jobs = self._open(cluster, given)
        self._limit = workers or (available_processors() if self._local else ARRAY)
        self._queue: SimpleQueue[_SlurmTask] = SimpleQueue()
        self._waiting: deque[_SlurmTask] = deque()
        self._running: list[_SlurmTask] = []
        self._broken: BrokenExecutor | None = None
        self._closing, self._dropping, self._leaving, self._awake = Event(), Event(), Event(), Event()
        self._period_s = POLL_INTERVAL_S[cluster]
        # A result may take some time from one machine's cache to another's.
        self._patience_s = 0.0 if self._local else 60.0
        self._thread = Thread(target=self._live, name="cluster-abm-slurm", daemon=True)
        self._thread.start()

    @property
    def window(self) -> int:
        """As many jobs as may be in the queue or running at once."""
        return self._limit

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have the function called by a job; tasks that are submitted together become one array."""
        if self._closing.is_set() or self._leaving.is_set():
            raise RuntimeError("cannot submit after shutdown")
        if self._broken is not None:
            raise self._broken
        task = _SlurmTask(partial(_carried, result_version(), partial(function, *args, **kwargs)))
        self._queue.put(task)
        return task.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop when the jobs are done; those not yet submitted are cancelled if asked for."""
        if cancel_futures:
            self._dropping.set()
        self._closing.set()
        self._awake.set()
        if wait:
            self._thread.join()

    def abandon(self) -> None:
        """Cancel all jobs."""
        self._leaving.set()
        self._awake.set()
        self._thread.join()

    def _open(self, cluster: str, given: dict[str, Any]) -> Any:
        generic = ("timeout_min", "mem_gb", "name", "stderr_to_stdout")
        named = {key if key in generic or key.startswith("slurm_") else f"slurm_{key}": given[key] for key in given}
        if not {"timeout_min", "slurm_time"} & set(named):
            named["timeout_min"] = TIME_MIN
        try:
            jobs = self._submitit.AutoExecutor(folder=self._folder, cluster=cluster)
            jobs.update_parameters(**named)
        except (RuntimeError, ValueError, TypeError, NameError, AssertionError) as problem:
            raise InputError(f"executor 'slurm': {message_of(problem)}") from problem
        except OSError as problem:
            raise InputError(f"executor 'slurm': folder {self._folder}: {problem.strerror}") from problem
        return jobs

    def _live(self) -> None:
        """Submit what came and look at what runs, now and then; all that touches submitit is this thread's."""
        over = False
        while not over:
            self._awake.wait(self._period_s)
            self._awake.clear()
            try:
                self._waiting.extend(self._drained())
                over = self._end() if self._leaving.is_set() else self._go_on()
            except Exception as problem:
                self._break(problem)
                over = self._leaving.is_set()

    def _go_on(self) -> bool:
        """Whether all is done that there was to do."""
        if self._dropping.is_set():
            self._cancel_waiting()
        self._send()
        self._collect()
        return self._closing.is_set() and self._queue.empty() and not self._waiting and not self._running

    def _end(self) -> bool:
        self._cancel_waiting()
        self._cancel_jobs()
        for task in self._running:
            fail(task.future, WorkerLost("its job was cancelled"))
        return True

    def _break(self, problem: Exception) -> None:
        """Fail all tasks that are waited for by a fault of this very program; later submissions raise it too."""
        if self._broken is None:
            self._broken = BrokenExecutor(f"executor 'slurm': {message_of(problem)}")
            self._broken.__cause__ = problem
        self._waiting.extend(self._drained())
        for task in (*self._waiting, *self._running):
            fail(task.future, self._broken)
        self._waiting.clear()
        try:
            self._cancel_jobs()
        except Exception as further:
            jobs = " ".join(sorted({task.job.job_id for task in self._running if task.job is not None}))
            logging.getLogger(__name__).warning("jobs that could not be cancelled (%s): %s", message_of(further), jobs)
        self._running.clear()

    def _drained(self) -> list[_SlurmTask]:
        found = []
        while True:
            try:
                found.append(self._queue.get_nowait())
            except Empty:
                return found

    def _send(self) -> None:
        batch: list[_SlurmTask] = []
        while self._waiting and len(self._running) + len(batch) < self._limit and len(batch) < ARRAY:
            task = self._waiting.popleft()
            if task.future.set_running_or_notify_cancel():
                batch.append(task)
        if not batch:
            return
        # Before they are submitted: whatever happens now, each of them is waited for.
        self._running += batch
        try:
            with self._jobs.batch():
                jobs = [self._jobs.submit(task.call) for task in batch]
        except (RuntimeError, OSError, subprocess.SubprocessError) as problem:
            refused = InputError(f"executor 'slurm': the jobs could not be submitted: {message_of(problem)}")
            del self._running[-len(batch) :]
            for task in batch:
                fail(task.future, refused)
            return
        for task, job in zip(batch, jobs, strict=True):
            task.job = job

    def _collect(self) -> None:
        self._running = [task for task in self._running if not self._is_over(task)]

    def _is_over(self, task: _SlurmTask) -> bool:
        try:
            over = self._look(task)
        except OSError as problem:
            # Not the job's end: its files are looked at again later.
            task.unseen_s = task.unseen_s or time.monotonic()
            if time.monotonic() - task.unseen_s < UNSEEN_FOR_S:
                return False
            fail(
                task.future, WorkerLost(f"job {task.job.job_id}: its files cannot be looked at: {message_of(problem)}")
            )
            return True
        task.unseen_s = None
        return over

    def _look(self, task: _SlurmTask) -> bool:
        if not task.job.done():
            return False
        if task.job.paths.result_pickle.exists():
            self._book(task)
            return True
        # submitit would wait here, for every such job in turn.
        task.ended_s = task.ended_s or time.monotonic()
        if time.monotonic() - task.ended_s < self._patience_s:
            return False
        fail(task.future, WorkerLost(f"job {task.job.job_id} {task.job.state.lower()}: {_end_of(task.job)}"))
        return True

    def _book(self, task: _SlurmTask) -> None:
        try:
            raised, value = task.job.result()
        except OSError:
            raise
        except (RuntimeError, EOFError) as problem:
            # submitit's own words for a job that was ended before its function was: by its time limit, for one.
            fail(task.future, WorkerLost(f"job {task.job.job_id}: {message_of(problem)}"))
            return
        except Exception as problem:
            # What came back cannot be read here, and would not be the next time.
            fail(task.future, problem)
            return
        if raised:
            fail(task.future, value)
        else:
            task.future.set_result(value)
        # Ten thousand runs would leave forty thousand files.
        paths = task.job.paths
        for path in (paths.submitted_pickle, paths.result_pickle, paths.stdout, paths.stderr):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _cancel_waiting(self) -> None:
        while self._waiting:
            task = self._waiting.popleft()
            task.future.cancel()
            task.future.set_running_or_notify_cancel()

    def _cancel_jobs(self) -> None:
        jobs = [task.job for task in self._running if task.job is not None]
        if self._local:
            for job in jobs:
                job.cancel(check=False)
            deadline = time.monotonic() + 5.0
            while time.monotonic() < deadline and not all(job.done() for job in jobs):
                time.sleep(0.05)
        elif jobs:
            # By the numbers of their arrays, of which all jobs are ours: one call instead of thousands.
            numbers = sorted({job.job_id.split("_")[0] for job in jobs})
            subprocess.run(["scancel", *numbers], check=False)


@dataclass(eq=False)
class _SlurmTask:
    call: Callable[[], Any]
    future: Future[Any] = field(default_factory=Future)
    job: Any = None
    ended_s: float | None = None
    """When the job was first seen to have ended without a result, on the monotonic clock."""
    unseen_s: float | None = None
    """Since when its files cannot be looked at, on the same."""


def _carried(version: str, call: Callable[[], Any]) -> tuple[bool, Any]:
    """Carry out a task; its exception comes back as it is (submitit keeps no more of it than a text)."""
    try:
        return False, with_same_code(version, call)
    except Exception as problem:
        return True, problem


def _end_of(job: Any) -> str:
    """The last line a job wrote to its error stream."""
    try:
        lines = (job.stderr() or "").strip().splitlines()
    except UnicodeDecodeError:
        lines = []
    return lines[-1] if lines else "it left no result"


EXECUTOR = ExecutorKind(opens=lambda asked: SlurmExecutor(asked["workers"], asked["slurm"]), options=("slurm",))
