"""One door to all executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.policy.finding.files import being_imported
from cluster_abm.study.runner.executors.base import BatchExecutor
from cluster_abm.study.runner.executors.inline import InlineExecutor
from cluster_abm.study.runner.executors.processes import ProcessExecutor
from cluster_abm.study.runner.executors.worker import end_if_imported

KINDS = ("inline", "process", "dask", "slurm")


@contextmanager
def open_executor(
    kind: str,
    workers: int | None = None,
    dask: str | None = None,
    slurm: Mapping[str, Any] | None = None,
) -> Iterator[BatchExecutor]:
    """Open a place where tasks are carried out; leaving the block waits for them, an exception in it stops them.

    A future of the executor raises what its task raised, `WorkerLost` if the worker died over it (submit it again), or
    `InputError` if nothing can be carried out there any more.

    Args:
        kind: `inline` (in this process, when it is submitted), `process` (on processes of this machine), `dask` (on the
            workers of a Dask scheduler), `slurm` (as jobs of a Slurm cluster).
        workers: `process`: processes, None: one per processor; `slurm`: jobs in the queue or running at once, None:
            1000 (`cluster=local`: one per processor). `inline` has one, and `dask` those of its scheduler.
        dask: address of the scheduler, such as `tcp://127.0.0.1:8786`.
        slurm: what submitit is to ask Slurm for; see `SlurmExecutor`.

    Raises:
        InputError: no such kind, something is given that means nothing to it, an optional extra is missing, or the
            scheduler or Slurm cannot be reached.
    """
    check_options(kind, workers, dask, slurm)
    file = being_imported()
    if file is not None:
        raise InputError(
            f"{file}: starts runs when it is imported, and every process that needs its policy imports it: put what "
            'starts them under `if __name__ == "__main__":`'
        )
    if kind == "process":
        end_if_imported()
    executor = _create(kind, workers, dask, slurm)
    try:
        yield executor
    except BaseException:
        executor.abandon()
        raise
    executor.shutdown()


def check_options(kind: str, workers: int | None, dask: str | None, slurm: Mapping[str, Any] | None) -> None:
    """Whether an executor can be asked for like that: as of `open_executor`, but nothing is looked for.

    Raises:
        InputError: no such kind, or something is given that means nothing to it; all problems at once.
    """
    problems = []
    if kind not in KINDS:
        problems.append(f"executor = {shortened(kind)}: allowed are {', '.join(KINDS)}")
    if dask is not None and kind != "dask":
        problems.append(
            f"dask = {shortened(dask)}: `--dask` needs `--executor dask`; the executor is {shortened(kind)}"
        )
    if slurm is not None and kind != "slurm":
        problems.append(
            f"slurm = {shortened(dict(slurm))}: `--slurm` needs `--executor slurm`; the executor is {shortened(kind)}"
        )
    if workers is not None and workers < 1:
        problems.append(f"workers = {workers}: allowed are 1 and more")
    elif kind == "inline" and workers not in (None, 1):
        problems.append(f"workers = {workers}: the executor 'inline' has one; for more take 'process'")
    elif kind == "dask" and workers is not None:
        problems.append(f"workers = {workers}: the executor 'dask' has those of its scheduler: start more there")
    if problems:
        raise InputError(problems)


def _create(kind: str, workers: int | None, dask: str | None, slurm: Mapping[str, Any] | None) -> BatchExecutor:
    match kind:
        case "inline":
            return InlineExecutor()
        case "process":
            return ProcessExecutor(workers)
        case "dask":
            from cluster_abm.study.runner.executors.dask_cluster import DaskExecutor

            return DaskExecutor(dask)
        case "slurm":
            from cluster_abm.study.runner.executors.slurm_jobs import SlurmExecutor

            return SlurmExecutor(workers, slurm)
    raise AssertionError(kind)
