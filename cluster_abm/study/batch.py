"""A study carried out into a folder: what is there already is not run again, and what is finished is kept."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cluster_abm.errors import InputError
from cluster_abm.interrupts import interrupt_held_back
from cluster_abm.limits import checked_workers
from cluster_abm.scenario import nearest
from cluster_abm.study.documents import check_folder
from cluster_abm.study.executors import BatchExecutor, available_processors, check_options, open_executor
from cluster_abm.study.expansion import Cell, Expansion, expand
from cluster_abm.study.in_flight import Ended, InFlight
from cluster_abm.study.leases import Leases
from cluster_abm.study.one_run import Assignment, carry_out, failed_by
from cluster_abm.study.policy_sources import policy_version
from cluster_abm.study.results_folder import write_plan
from cluster_abm.study.setting_aside import set_aside
from cluster_abm.study.store import Contents, Record, RunName, Store
from cluster_abm.study.study_file import Study
from cluster_abm.study.wanted import Values, known_values, seeds_wanted

# How often somebody looks whether others have finished what they claimed.
LOOK_S = 0.5


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
    check_options(executor_kind, workers, dask, slurm)
    if executor_kind == "slurm":
        # Its jobs and this process meet on the file system that holds the results.
        slurm = {"folder": str(Path(folder, "slurm")), **(slurm or {})}
    expansion = expand(study)
    for remark in expansion.remarks if not quiet else ():
        tqdm.write(f"note: {remark}", file=sys.stderr)
    check_folder(study, folder)
    store = Store(folder)
    store.prepare()
    with Leases(store.folder) as leases, store.written_by(leases.token):
        for token in leases.dead():
            store.forget_partial(token)
        contents = store.contents([study.precision_metric])
        outcome = BatchOutcome(damaged=set_aside(store, leases, contents.damaged, quiet))
        write_plan(store, expansion)
        with tqdm(desc=study.name, unit="run", disable=True if quiet else None, leave=False) as bar:
            work = _Work(expansion, store, leases, contents, keep_failed, bar)
            try:
                if work.queue:
                    kind, count = _executor(executor_kind, workers, work.most_to_come)
                    with open_executor(kind, count, dask, slurm) as executor:
                        work.carry_on(executor)
                work.compact()
            except KeyboardInterrupt:
                outcome.interrupted = True
        outcome.expected, outcome.finished, outcome.made = work.expected, len(work.finished), work.made
        outcome.failed = sorted(work.failed.values(), key=lambda record: record.name)
    return outcome


def _executor(kind: str, workers: int | None, runs: int) -> tuple[str, int | None]:
    if kind == "process":
        workers = checked_workers(workers, available_processors(), runs)
        # One process of its own would only take longer to begin.
        return ("process", workers) if workers > 1 else ("inline", None)
    return kind, workers


class _Work:
    """What is to be done, is being done, and is done."""

    def __init__(
        self,
        expansion: Expansion,
        store: Store,
        leases: Leases,
        contents: Contents,
        keep_failed: bool,
        bar: tqdm[Any],
    ) -> None:
        self._expansion, self._study = expansion, expansion.study
        self._store, self._leases, self._bar = store, leases, bar
        # Points that come to the same scenario share their runs.
        self._cells: dict[str, Cell] = {}
        for cell in expansion.cells:
            self._cells.setdefault(cell.key, cell)
        self._values: dict[str, Values] = {}
        self._wanted = dict.fromkeys(self._cells, 0)
        self.finished: set[RunName] = set()
        self.failed: dict[RunName, Record] = {}
        # Of earlier calls: those that stay failed, and those to try again, with when their record was written.
        self._failed_before: dict[RunName, Record] = {}
        self._to_retry: dict[RunName, int | None] = {}
        self.queue: deque[RunName] = deque()
        self._elsewhere: list[RunName] = []
        self.made = 0
        self._take_stock(contents, keep_failed)

    @property
    def expected(self) -> int:
        """Runs the study asks for, as far as is known."""
        return sum(self._wanted.values())

    @property
    def most_to_come(self) -> int:
        """Runs in the queue, and those that they may call for: precision asks only points that lack a run for more."""
        open_cells = {key for key, _ in self.queue}
        return len(self.queue) + sum(max(0, self._study.seed_limit - self._wanted[key]) for key in open_cells)

    def carry_on(self, executor: BatchExecutor) -> None:
        """Until all that is wanted is there."""
        compacted = 0
        with InFlight(executor, self._book) as flight:
            while self.queue or self._elsewhere or flight:
                self._fill(flight)
                self._show(len(flight))
                if self.made >= compacted + self._store.runs_a_part:
                    self.compact()
                    compacted = self.made
                if flight:
                    if flight.book_next():
                        continue
                elif self._elsewhere:
                    time.sleep(LOOK_S)
                # Nothing has ended here for a while: others may be through with what they claimed.
                self.queue.extend(self._elsewhere)
                self._elsewhere.clear()

    def compact(self) -> None:
        """Put runs into parts while there are enough of them, unless another process does."""
        if not self._leases.claim("compaction"):
            return
        while self._store.compact():
            pass
        self._leases.release("compaction")

    def _take_stock(self, contents: Contents, keep_failed: bool) -> None:
        failed = {run: record for run, record in contents.failed.items() if run[0] in self._cells}
        if keep_failed:
            self._failed_before = failed
        else:
            self._to_retry = {run: self._store.written_ns(run) for run in failed}
        self._values = known_values(self._study, self._cells, contents, self._failed_before)
        for key in self._cells:
            self._ask_for(key)
        # Seed by seed, so that policies can be compared before all is done.
        self.queue = deque(sorted(self.queue, key=lambda run: run[1]))
        self._bar.initial = self._bar.n = len(self.finished) + len(self.failed)

    def _ask_for(self, key: str) -> None:
        """Put what a cell still needs into the queue."""
        count = seeds_wanted(self._study, self._values[key])
        first = self._study.first_seed
        for seed in range(first + self._wanted[key], first + count):
            if seed not in self._values[key]:
                self.queue.append((key, seed))
            elif (key, seed) in self._failed_before:
                self.failed[key, seed] = self._failed_before[key, seed]
            else:
                self.finished.add((key, seed))
        self._wanted[key] = count
        self._bar.total = self.expected

    def _fill(self, flight: InFlight[RunName]) -> None:
        while self.queue and flight.has_room:
            run = self.queue.popleft()
            name = _claim_name(run)
            if not self._leases.claim(name):
                self._elsewhere.append(run)
                continue
            record = self._store.look_up(run)
            if record is not None and not (record.failed and self._is_as_before(run)):
                with interrupt_held_back():
                    self._leases.release(name)
                    self._settle(record)
                continue
            flight.send(run, carry_out, self._assignment(run))

    def _is_as_before(self, run: RunName) -> bool:
        """Whether a failed run's record is that of before this call; else another process has tried it again."""
        written_ns = self._to_retry.get(run)
        return written_ns is not None and self._store.written_ns(run) == written_ns

    def _assignment(self, run: RunName) -> Assignment:
        key, seed = run
        keeps_load = seed == self._study.first_seed
        scenario = self._expansion.scenario(self._cells[key])
        return Assignment(scenario, key, seed, policy_version(scenario.policy.name), self._study.warmup, keeps_load)

    def _book(self, ended: Ended[RunName]) -> None:
        # The run itself raises nothing: it could not be sent, left its process in its own way, or lost it too often.
        record = ended.result if ended.problem is None else failed_by(ended.problem, *ended.name)
        # As a whole, as of `InFlight`: what is told at the end is what is on disk.
        self._store.add(record)
        self._leases.release(_claim_name(ended.name))
        self.made += 1
        self._settle(record)

    def _settle(self, record: Record) -> None:
        key, seed = record.name
        if record.failed:
            self.failed[record.name] = record
            self._values[key][seed] = None
        else:
            self.finished.add(record.name)
            self._values[key][seed] = self._metric(record) if self._study.precision is not None else None
        self._bar.update()
        if self._study.precision is not None:
            self._ask_for(key)

    def _metric(self, record: Record) -> float:
        name = self._study.precision_metric
        if name in record.metrics and isinstance(record.metrics[name], int | float):
            return float(record.metrics[name])
        numbers = [key for key, value in record.metrics.items() if isinstance(value, int | float)]
        raise InputError(f"{self._study.file}: precision_metric = {name!r}: no such metric; {nearest(name, numbers)}")

    def _show(self, running: int) -> None:
        elsewhere = {"elsewhere": len(self._elsewhere)} if self._elsewhere else {}
        self._bar.set_postfix(running=running, failed=len(self.failed), **elsewhere, refresh=False)


def _claim_name(run: RunName) -> str:
    return f"{run[0]}-{run[1]}"
