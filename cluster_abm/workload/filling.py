"""The columns of the job table, drawn block after block: as if all rows were drawn at once, without the room for it."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.tables import JOB, NONE, NS_PER_MS, Table
from cluster_abm.large_tables import blocks, forget_pages, zeros
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import Distribution, RequestSize
from cluster_abm.workload.drawing.dependence import Dependent, widths
from cluster_abm.workload.drawing.draws import Stream, later, quantile
from cluster_abm.workload.drawing.repeats import Copies
from cluster_abm.workload.generators import generator
from cluster_abm.workload.homes import home_weights
from cluster_abm.workload.programs import Library, mixed
from cluster_abm.workload.times import check_longest, whole_ns

SUBMISSION = "workload: the submission of the last job"  # as messages name it
# The stream of each column.
STREAMS = {
    "io_per_ms": "io", "request_kb": "request", "cpu_ms": "cpu", "memory_mb": "memory", "initial_data_mb": "data",
    "tasks": "tasks",
}  # fmt: skip


def fill(
    scenario: Scenario,
    seed: int,
    arrival_ms: Floats,
    given: dict[str, Floats],
    library: Library | None = None,
    ahead: int = 0,
) -> Table:
    """A job table of these arrivals: columns that are given, gaps (NaN) in them and missing ones drawn.

    A row's draw never depends on the gaps. Jobs with `disk_mb` make as many accesses of their size as that takes.

    Args:
        arrival_ms: shape (jobs,).
        given: columns by name, shape (jobs,) each.
        library: the programs whose numbers stand in the column `program`, or of which the mix is; None: none.
        ahead: rows of zeros that stand before them.
    """
    check_longest(arrival_ms, SUBMISSION)
    table = zeros(ahead + len(arrival_ms), JOB, "jobs")
    jobs = table[ahead:]
    filling = Filling(scenario, seed, len(jobs))
    programs = _programs_of(scenario, seed, len(jobs), given.get("program"))
    for rows in blocks(len(jobs)):
        part = jobs[rows]
        filling.fill(part, arrival_ms[rows], {name: values[rows] for name, values in given.items()})
        if programs is not None and library is not None:
            _describe_programs(part, library, programs[rows])
        forget_pages(jobs)
    return table


class Filling:
    """Fills in rows of a job table, block after block: the streams of all columns are where the last block ended.

    Args:
        count: how many rows there will be.
    """

    def __init__(self, scenario: Scenario, seed: int, count: int) -> None:
        self._first_task = 0
        workload = self._workload = scenario.workload
        streams = {name: generator(seed, purpose) for name, purpose in STREAMS.items()}
        self._laws: dict[str, Distribution] = {
            "io_per_ms": workload.io_per_ms, "request_kb": workload.request_kb, "cpu_ms": workload.cpu_ms,
            "memory_mb": workload.memory_mb, "initial_data_mb": workload.initial_data_mb,
        }  # fmt: skip
        self._dependent = Dependent(workload.dependence, streams) if workload.dependence else None
        self._streams = {name: Stream(law, streams[name], count) for name, law in self._laws.items()}
        self._no_io = generator(seed, "no_io")
        self._home, self._home_boundaries = generator(seed, "home"), _home_boundaries(scenario)
        self._parallel = streams["tasks"]
        self._width = later(self._parallel, count)
        repeats = workload.repeats
        self._copies = Copies(repeats, generator(seed, "repeats"), count) if repeats.share else None

    def fill(self, jobs: Table, arrival_ms: Floats, given: dict[str, Floats]) -> None:
        """Fill in the next rows of the table, of jobs without a program.

        Args:
            arrival_ms: when they are submitted, shape as `jobs` [ms].
            given: columns that are not drawn, by name, shape as `jobs` each; NaN: drawn.
        """
        jobs["arrival_ns"] = whole_ns(arrival_ms, SUBMISSION)
        self._fill_columns(jobs, given)
        jobs["program"] = NONE
        ends = self._first_task + np.cumsum(jobs["tasks"], dtype=np.int64)
        jobs["first_task"] = ends - jobs["tasks"]
        self._first_task = int(ends[-1])

    def _fill_columns(self, jobs: Table, given: dict[str, Floats]) -> None:
        workload, count = self._workload, len(jobs)
        drawn = self._drawn(count)

        def column(name: str, values: Floats) -> Floats:
            if name not in given:
                return values
            return np.where(np.isnan(given[name]), values, given[name])

        jobs["cpu_ms"] = column("cpu_ms", drawn["cpu_ms"])
        jobs["home"] = column("home", drawn["home"]).astype(np.int32)
        jobs["tasks"] = column("tasks", drawn["tasks"]).astype(np.int32)
        memory_mb = drawn["memory_mb"]
        if workload.memory_of == "job":
            memory_mb = memory_mb / jobs["tasks"]
        jobs["memory_mb"] = column("memory_mb", memory_mb)
        jobs["io_per_ms"] = column("io_per_ms", drawn["io_per_ms"])
        jobs["request_kb"] = column("request_kb", drawn["request_kb"])
        if "disk_mb" in given:
            with np.errstate(over="ignore"):  # more than a float holds is refused below, as all that is too much
                accesses = given["disk_mb"] * 1000.0 / jobs["request_kb"]
                said = ~np.isnan(accesses)
                jobs["io_per_ms"][said] = accesses[said] / jobs["cpu_ms"][said]
        jobs["request_shape"] = _request_shape(workload.request_kb)
        jobs["reaccess_rate"] = column("reaccess_rate", np.full(count, workload.reaccess_rate))
        jobs["write_share"] = column("write_share", np.full(count, workload.write_share))
        if not workload.write_only_moves:
            # Data that stays where it was written is no part of d_W, which is all that the share is read for.
            jobs["write_share"] = 0.0
        jobs["initial_data_mb"] = column("initial_data_mb", drawn["initial_data_mb"])
        jobs["barrier_ms"] = workload.tasks.barrier_ms
        jobs["communication_ns"] = round(workload.tasks.communication_ms * NS_PER_MS)

    def _drawn(self, count: int) -> dict[str, Floats]:
        """All that is drawn for the next jobs, shape (count,) each."""
        workload = self._workload
        uniform = self._dependent.next(count) if self._dependent else {}
        drawn = {
            name: quantile(self._laws[name], uniform[name]) if name in uniform else stream.next(count)
            for name, stream in self._streams.items()
        }
        drawn["io_per_ms"][self._no_io.random(count) < workload.no_io_share] = 0.0
        if workload.request_kb.per == "request":
            drawn["request_kb"] = np.full(count, workload.request_kb.mean)
        drawn["home"] = self._homes(count)
        drawn["tasks"] = widths(workload.tasks, uniform["tasks"]) if "tasks" in uniform else self._task_counts(count)
        return self._copies.next(drawn) if self._copies else drawn

    def _homes(self, count: int) -> Floats:
        boundaries = self._home_boundaries
        homes = np.searchsorted(boundaries, self._home.random(count), side="right")
        return np.minimum(homes, len(boundaries) - 1).astype(float)

    def _task_counts(self, count: int) -> Floats:
        tasks = self._workload.tasks
        if tasks.widths:
            return widths(tasks, self._parallel.random(count))
        parallel = self._parallel.random(count) < tasks.parallel_share
        width = tasks.minimum + np.floor(self._width.random(count) * (tasks.maximum - tasks.minimum + 1))
        return np.where(parallel, width, 1.0)


def _home_boundaries(scenario: Scenario) -> Floats:
    """Up to which uniform number each node is the home."""
    weights = home_weights(scenario)
    return np.asarray(np.cumsum(weights) / weights.sum())


def _request_shape(size: RequestSize) -> float:
    """Gamma shape of a request's size; 0 when each has the job's size exactly."""
    if size.per == "job" or size.kind == "fixed":
        return 0.0
    return 1.0 if size.kind == "exponential" else (size.mean / size.sd) ** 2


def _programs_of(scenario: Scenario, seed: int, count: int, given: Floats | None) -> Integers | Floats | None:
    """The number of the program that each job runs; None: none runs one."""
    programs = scenario.workload.programs
    if given is not None:
        return given
    return mixed(programs, count, generator(seed, "program")) if programs.mix else None


def _describe_programs(jobs: Table, library: Library, numbers: Integers | Floats) -> None:
    """What jobs that run programs with a profile announce: all their CPU, largest memory, mean rate of accesses."""
    number = numbers.astype(np.int32)
    jobs["program"] = number
    jobs["first_phase"], jobs["phases"] = library.first[number], library.count[number]
    jobs["cpu_ms"] = library.over("cpu_ms", "sum")[number]
    jobs["memory_mb"] = library.over("memory_kb", "max")[number] / 1000.0
    jobs["io_per_ms"] = (library.over("accesses", "sum") / library.over("cpu_ms", "sum"))[number]
