"""One door to all executors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.found_modules import EXECUTORS
from cluster_abm.policy.finding.files import being_imported
from cluster_abm.study.runner.executors.base import BatchExecutor, ExecutorKind


@contextmanager
def open_executor(
    kind: str, workers: int | None = None, dask: str | None = None, slurm: Mapping[str, Any] | None = None
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
    executor = _kind(kind).opens({"workers": workers, "dask": dask, "slurm": slurm})
    try:
        yield executor
    except BaseException:
        executor.abandon()
        raise
    executor.shutdown()


def check_options(kind: str, workers: int | None, dask: str | None, slurm: Mapping[str, Any] | None) -> None:
    """Whether an executor can be asked for like that: as of `open_executor`, but nothing is looked for.

    Raises InputError: no such kind, or something is given that means nothing to it; all problems at once.
    """
    problems = []
    if kind not in EXECUTORS:
        problems.append(f"executor = {shortened(kind)}: allowed are {', '.join(EXECUTORS)}")
    for option, value in (("dask", dask), ("slurm", slurm if slurm is None else dict(slurm))):
        takers = [name for name in EXECUTORS if option in _kind(name).options]
        if value is not None and kind not in takers:
            needed = f"`--{option}` needs `--executor {' or '.join(takers)}`"
            problems.append(f"{option} = {shortened(value)}: {needed}; the executor is {shortened(kind)}")
    if workers is not None and workers < 1:
        problems.append(f"workers = {workers}: allowed are 1 and more")
    elif workers is not None and kind in EXECUTORS and (why := _kind(kind).refuses_workers(workers)):
        problems.append(f"workers = {workers}: the executor '{kind}' {why}")
    if problems:
        raise InputError(problems)


def _kind(name: str) -> ExecutorKind:
    found: ExecutorKind = import_module(f"{__package__}.kinds.{name}").EXECUTOR
    return found
