"""A study carried out into a folder: what is there already is not run again, and what is finished is kept."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cluster_abm.errors import InputError
from cluster_abm.progress import Progress
from cluster_abm.study.design.expansion import Expansion, StudyCell, expand
from cluster_abm.study.design.metrics import nearest_metric
from cluster_abm.study.design.study_file import Study
from cluster_abm.study.results_folder import write_plan
from cluster_abm.study.runner.executors import open_executor
from cluster_abm.study.runner.record_keepers import InFolder, kept_in
from cluster_abm.study.runner.tasks import Where
from cluster_abm.study.runner.wanted import known_values, seeds_wanted
from cluster_abm.study.runner.work import Request, RequestedRuns
from cluster_abm.study.store.documents import check_folder
from cluster_abm.study.store.store import Contents, Record, Store


@dataclass
class BatchOutcome:
    """What came of a batch.

    Attributes:
        expected: runs that the study asks for, as far as is known.
        finished: runs in the store that finished, of those.
        made: runs that this call carried out.
        failed: records of those that failed.
        damaged: files that were found damaged and set aside.
        interrupted: whether Ctrl-C ended it.
    """

    expected: int = 0
    finished: int = 0
    made: int = 0
    failed: list[Record] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    interrupted: bool = False


def run_batch(
    study: Study,
    folder: str | Path,
    executor_kind: str = "process",
    workers: int | None = None,
    *,
    dask: str | None = None,
    slurm: Mapping[str, Any] | None = None,
    keep_failed: bool = False,
    quiet: bool = False,
) -> BatchOutcome:
    """Carry out the runs of a study that a folder does not hold yet; several processes may do so at once.

    Args:
        study: the study.
        folder: the store.
        executor_kind: inline, process, dask or slurm.
        workers: processes or jobs at most; None: as many as the executor finds (`dask` and `inline` have no choice).
        dask, slurm: as of `open_executor`.
        keep_failed: do not try again what failed in an earlier call.
        quiet: no progress bar, nothing about damaged files on stderr.

    Raises:
        InputError: something in the study is wrong, the folder holds another study or other files, an executor cannot
            be had.
    """
    if executor_kind == "slurm":
        # Its jobs and this process share the file system that holds the results.
        slurm = {"folder": str(Path(folder, "slurm")), **(slurm or {})}
    where = Where(executor_kind, workers, dask, slurm)
    where.check()
    expansion = expand(study)
    study = expansion.study
    for remark in expansion.remarks if not quiet else ():
        tqdm.write(f"note: {remark}", file=sys.stderr)
    check_folder(study.name, (study.file, Path(study.scenario_source)), folder)
    store = Store(folder)
    with kept_in(store, [study.precision_metric], quiet) as (keeper, contents, damaged):
        outcome = BatchOutcome(damaged=damaged)
        write_plan(store, expansion)
        with Progress(None, study.name, "run", quiet=quiet) as bar:
            work = _work_of(expansion, store, keeper, contents, keep_failed, bar)
            try:
                if work.queue:
                    with open_executor(*where.chosen(_most_to_come(study, work)), dask, slurm) as executor:
                        work.carry_on(executor)
                keeper.compact()
            except KeyboardInterrupt:
                outcome.interrupted = True
        outcome.expected, outcome.finished, outcome.made = work.expected, len(work.finished), work.made
        outcome.failed = sorted(work.failed.values(), key=lambda record: record.name)
    return outcome


def _work_of(
    expansion: Expansion, store: Store, keeper: InFolder, contents: Contents, keep_failed: bool, bar: Progress
) -> RequestedRuns:
    """The runs that the folder does not hold yet."""
    study = expansion.study
    # Points that come to the same scenario share their runs.
    cells: dict[str, StudyCell] = {}
    for cell in expansion.cells:
        cells.setdefault(cell.key, cell)
    failed = {run: record for run, record in contents.failed.items() if run[0] in cells}
    stays_failed = failed if keep_failed else {}
    known = known_values(study, cells, contents, stays_failed)

    def seeds(key: str, values: Mapping[int, float | None]) -> Sequence[int]:
        return range(study.first_seed, study.first_seed + seeds_wanted(study, values))

    request = Request(
        keys=list(cells),
        scenario=lambda run: expansion.scenario(cells[run[0]]),
        seeds=seeds,
        value=None if study.precision is None else partial(_precision_value, study),
        load_seed=study.first_seed,
    )
    to_retry = {} if keep_failed else {run: store.written_ns(run) for run in failed}
    return RequestedRuns(request, keeper, bar, known, stays_failed, to_retry)


def _most_to_come(study: Study, work: RequestedRuns) -> int:
    """Runs in the queue, and those that they may call for: precision asks only points that lack a run for more."""
    open_keys = {key for key, _ in work.queue}
    return len(work.queue) + sum(max(0, study.seed_limit - len(work.seeds_of(key))) for key in open_keys)


def _precision_value(study: Study, record: Record) -> float:
    """The value of the metric that precision is asked of. Raises InputError if the run has no such metric."""
    name = study.precision_metric
    if name in record.metrics and isinstance(record.metrics[name], int | float):
        return float(record.metrics[name])
    numbers = [key for key, value in record.metrics.items() if isinstance(value, int | float)]
    raise InputError(f"{study.file}: precision_metric = {name!r}: no such metric; {nearest_metric(name, numbers)}")
