"""A list of runs, carried out on what processors there are; what is finished is never lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.interrupts import PolicyInterrupted
from cluster_abm.limits import available_processors, checked_workers
from cluster_abm.progress import Progress
from cluster_abm.scenario import Scenario
from cluster_abm.study.design.fingerprint import cell_key
from cluster_abm.study.runner.cuts import SETTLED, common_beginnings_s, measured_from
from cluster_abm.study.runner.executors import BatchExecutor, check_options, open_executor
from cluster_abm.study.runner.record_keepers import InMemory, ResultKeeper, kept_in
from cluster_abm.study.runner.wanted import Values
from cluster_abm.study.runner.work import Request, RequestedRuns
from cluster_abm.study.store.segments import joined
from cluster_abm.study.store.store import Record, RunName, Store

FAULT = f"{PolicyFault.__name__}: "


@dataclass(frozen=True)
class SeededRun:
    """One run: a scenario (its policy included) from a seed."""

    scenario: Scenario
    seed: int


@dataclass(frozen=True)
class Where:
    """Where runs are carried out, and where their results are kept."""

    executor: str = "process"  # "inline", "process", "dask" or "slurm"
    # processes or jobs at most; None: as many as the executor finds, and as fit into memory
    workers: int | None = None
    # dask, slurm: as of `open_executor`
    dask: str | None = None
    slurm: Mapping[str, Any] | None = None
    # results are kept in this folder: runs that it has already are not carried out again. None: in memory.
    folder: Path | None = None

    def check(self) -> None:
        """Raise InputError for what is given and means nothing to the executor."""
        check_options(self.executor, self.workers, self.dask, self.slurm)

    def chosen(self, runs: int) -> tuple[str, int | None]:
        """The executor for some runs, and its workers. Raises InputError for more workers than fit into memory."""
        if self.executor != "process":
            return self.executor, self.workers
        workers = checked_workers(self.workers, available_processors(), runs)
        # One process of its own would only take longer to begin.
        return ("process", workers) if workers > 1 else ("inline", None)


@dataclass
class RunsOutcome:
    """What came of a list of runs."""

    # one entry a task, in the tasks' order: its metrics (as of `measure_run`), or None if it did not finish
    rows: list[dict[str, Any] | None]
    # what went wrong in runs that failed by a fault of this program, one text each
    errors: list[str] = field(default_factory=list)
    policy_faults: dict[str, int] = field(default_factory=dict)  # faults of policies, and how many runs each ended
    interrupted: bool = False  # whether Ctrl-C, or SIGTERM, ended it
    # of an interrupted one the runs that had begun and not ended, in words
    under_way: list[str] = field(default_factory=list)
    made: int = 0  # how many runs were carried out; the others were in the folder already

    def take_in(self, rows: Mapping[int, dict[str, Any] | None], again: RunsOutcome) -> None:
        """Put rows of runs that were carried out again in the place of the first ones.

        Args:
            rows: by their numbers among the tasks.
            again: what came of these runs.
        """
        for number, row in rows.items():
            before = self.rows[number]
            assert before is not None
            self.rows[number] = None if row is None else row | {SETTLED: before[SETTLED]}
        self.errors += again.errors
        for line, count in again.policy_faults.items():
            self.policy_faults[line] = self.policy_faults.get(line, 0) + count
        self.interrupted |= again.interrupted
        self.under_way += again.under_way
        self.made += again.made

    @property
    def exit_code(self) -> int:
        """What a command ends with: 1 after a fault of this program, 2 after wrong input, else 0."""
        return 1 if self.errors else 2 if self.policy_faults else 0

    @property
    def finished(self) -> int:
        """How many runs finished."""
        return sum(row is not None for row in self.rows)

    @property
    def problems(self) -> list[str]:
        """What ended runs before their end, a line each, without tracebacks; empty if all finished."""
        lines = [f"{line} (ended {runs} runs)" if runs > 1 else line for line, runs in self.policy_faults.items()]
        # Each is a run in words and a traceback, whose last line says what went wrong.
        lines += [f"{error.partition(': Traceback')[0]}: {error.splitlines()[-1]}" for error in self.errors]
        if self.interrupted:
            lines.append(f"interrupted: {self.finished} of {len(self.rows)} runs are kept")
        return lines


def run_all(
    tasks: Sequence[SeededRun],
    workers: int | None = None,
    label: str = "runs",
    quiet: bool = False,
    where: Where | None = None,
    executor: BatchExecutor | None = None,
    keeps_responses: bool = False,
    whole: tuple[str, int, int] | None = None,
) -> RunsOutcome:
    """Carry out all tasks; the result does not depend on where, nor on the number of workers.

    With `measure.warmup = "mser"` runs that differ in policy and seed alone have one cut (`cuts.common_beginnings_s`):
    those that need less are run again, and measured from there on.

    Args:
        tasks: the runs.
        workers: processes; None: one per processor there is for this process; 1: all in this process.
            A script that asks for more needs `if __name__ == "__main__":` around the call (processes are spawned).
        label: what the progress on stderr calls them.
        quiet: no progress.
        where: executor, its workers and folder, in place of `workers`; default: processes, results in memory.
        executor: an open one, in place of one that is opened for this call; its caller ends it.
        keeps_responses: whether rows hold the response time of each job too, as `measuring.RESPONSES`.
        whole: of tasks that are a part of a larger work: as of `Progress`.

    Raises:
        InputError: what a run was given is wrong; the runs not yet begun are left out. The fault of a policy ends its
            own runs only, and is raised where no run of another one has finished; else `policy_faults` says it.
    """
    place = where or Where(workers=workers)
    place.check()
    first = _run_each(tasks, label, quiet, place, executor, keeps_responses, whole)
    scenarios = [task.scenario for task in tasks]
    begins_s = common_beginnings_s(scenarios, first.rows)
    again: dict[int, SeededRun] = {}
    cut: dict[tuple[int, float], Scenario] = {}
    for number, (task, begin_s, row) in enumerate(zip(tasks, begins_s, first.rows, strict=True)):
        if begin_s is None or row is None:
            continue
        if first.interrupted:
            # The beginning that all have in common is not known.
            first.rows[number] = None
        elif row["from_s"] < begin_s:
            at = id(task.scenario), begin_s
            cut[at] = cut.get(at) or measured_from(task.scenario, begin_s)
            again[number] = SeededRun(cut[at], task.seed)
    if again:
        words = f"{label}, measured from one beginning"
        second = _run_each([*again.values()], words, quiet, place, executor, keeps_responses, None)
        first.take_in(dict(zip(again, second.rows, strict=True)), second)
    return first


def _run_each(
    tasks: Sequence[SeededRun],
    label: str,
    quiet: bool,
    place: Where,
    executor: BatchExecutor | None,
    keeps_responses: bool,
    whole: tuple[str, int, int] | None,
) -> RunsOutcome:
    """Carry out tasks as they are (arguments and errors as of `run_all`)."""
    names, scenarios = _named(tasks, place.folder is not None)
    chosen = place.chosen(len(set(names)))
    seeds: dict[str, list[int]] = {}
    for key, seed in dict.fromkeys(names):
        seeds.setdefault(key, []).append(seed)
    request = Request(
        keys=list(seeds),
        scenario=lambda run: scenarios[run[0]],
        seeds=lambda key, _: seeds[key],
        raises_bad_input=True,
        keeps_responses=keeps_responses,
        to_come=0 if whole is None else max(0, whole[2] - whole[1] - len(tasks)),
    )
    outcome = RunsOutcome([None] * len(tasks))
    bar = Progress(len(tasks), label, "run", quiet=quiet, whole=whole)
    with bar, _kept(place.folder, quiet) as (keeper, rows, failed_ns):
        known: dict[str, Values] = {
            key: {seed: None for seed in own if (key, seed) in rows} for key, own in seeds.items()
        }

        def take(record: Record) -> None:
            rows[record.name] = record.metrics

        work = RequestedRuns(request, keeper, bar, known, to_retry=failed_ns, on_finished=take)
        try:
            if work.queue:
                opened = open_executor(*chosen, place.dask, place.slurm) if executor is None else nullcontext(executor)
                with opened as workers_of_call:
                    work.carry_on(workers_of_call)
        except KeyboardInterrupt as problem:
            outcome.interrupted = True
            outcome.under_way = [f"{_words(scenarios, run)}, for {since:.0f} s" for run, since in work.under_way]
            if isinstance(problem, PolicyInterrupted):
                outcome.under_way = [str(problem)]
        outcome.made = work.made
    outcome.rows = [rows.get(name) for name in names]
    _book_failures(outcome, work.failed, scenarios)
    return outcome


def _named(tasks: Sequence[SeededRun], are_kept: bool) -> tuple[list[RunName], dict[str, Scenario]]:
    """Return the name of each task's run, and the scenario of each key; scenarios of equal runs share a key.

    What is wrong with one is found by its run, unless runs are kept in a folder, by their names.
    """
    keys: dict[str, str] = {}
    scenarios: dict[str, Scenario] = {}
    names = []
    by_object: dict[int, str] = {}
    for task in tasks:
        key = by_object.get(id(task.scenario))
        if key is None:
            document = task.scenario.model_dump_json()
            if document not in keys:
                try:
                    keys[document] = cell_key(task.scenario)
                except InputError:
                    if are_kept:
                        raise
                    keys[document] = str(len(keys))
            key = by_object[id(task.scenario)] = keys[document]
        scenarios.setdefault(key, task.scenario)
        names.append((key, task.seed))
    return names, scenarios


# Where records are kept, the metrics of runs that are there, and when the record of a failed one was written [ns].
Kept = tuple[ResultKeeper, dict[RunName, dict[str, Any]], dict[RunName, int | None]]


@contextmanager
def _kept(folder: Path | None, quiet: bool) -> Iterator[Kept]:
    """Open what keeps the records of a call."""
    if folder is None:
        yield InMemory(), {}, {}
        return
    store = Store(folder)
    with kept_in(store, None, quiet) as (keeper, contents, _):
        rows: dict[RunName, dict[str, Any]] = {}
        for row in joined(contents.tables).to_pylist() if contents.tables else ():
            metrics = {name.removeprefix("metrics."): value for name, value in row.items()}
            rows[row["key"], row["seed"]] = {
                name: value for name, value in metrics.items() if name not in ("key", "seed")
            }
        yield keeper, rows, {run: store.written_ns(run) for run in contents.failed}
        keeper.compact()


def _book_failures(outcome: RunsOutcome, failed: Mapping[RunName, Record], scenarios: Mapping[str, Scenario]) -> None:
    for run, record in sorted(failed.items(), key=lambda one: one[0][1]):
        if record.error.startswith(FAULT):
            line = record.error.removeprefix(FAULT)
            outcome.policy_faults[line] = outcome.policy_faults.get(line, 0) + 1
        else:
            outcome.errors.append(f"{_words(scenarios, run)}: {record.traceback.rstrip()}")
    if outcome.policy_faults and not outcome.finished and not outcome.interrupted:
        raise InputError(list(outcome.policy_faults))


def _words(scenarios: Mapping[str, Scenario], run: RunName) -> str:
    scenario = scenarios[run[0]]
    return f"{scenario.name}, policy {scenario.policy.label}, seed {run[1]}"
