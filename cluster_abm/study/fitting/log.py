"""A log as a run would take it: when its jobs come, and what it says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Floats
from cluster_abm.engine.tables import NEVER, Table
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import LARGEST
from cluster_abm.workload import RunJobs, work_of
from cluster_abm.workload.from_trace import chosen_jobs, trace_path
from cluster_abm.workload.requests import alone_ms
from cluster_abm.workload.traces import LogReading, read_trace
from cluster_abm.workload.traces.table import RECORDED_RUN

FEWEST_JOBS = 50
LEAST_SPAN_MS = 1.0  # from the first to the last arrival
# What is fitted by itself, with its unit.
UNITS = {
    "cpu_ms": "ms", "memory_mb": "MB", "io_per_ms": "1/ms", "tasks": "1", "request_kb": "KB", "initial_data_mb": "MB",
}  # fmt: skip
# What a request over what a job takes alone is called.
REQUEST = "requested_over_actual"


class JobHoldings(NamedTuple):
    """What each job holds in a run, what the base scenario says of jobs that lack it included, shape (jobs,) each."""

    alone_ms: Floats  # how long a task of it takes alone [ms]
    tasks: Floats
    requested_ms: Floats | None  # NaN: a job requests no time; None: no job does [ms]

    def at(self, rows: npt.NDArray[np.int64]) -> JobHoldings:
        """Of some of the jobs."""
        requested_ms = None if self.requested_ms is None else self.requested_ms[rows]
        return JobHoldings(self.alone_ms[rows], self.tasks[rows], requested_ms)


@dataclass(frozen=True)
class Jobs:
    """Jobs in the order of their arrival, of a log or of one draw of a scenario."""

    times_s: Floats  # when each is submitted, from the begin of the window on, shape (jobs,) [s]
    window_s: float  # in which they come [s]
    # what is known of them, NaN where a job lacks it, shape (jobs,) each; names of UNITS and REQUEST
    columns: Mapping[str, Floats]
    homes: npt.NDArray[np.int64] | None  # the node of each, shape (jobs,); None: not known
    held: JobHoldings | None = None  # None: as the columns say
    users: npt.NDArray[np.int64] | None = None  # the user of each, -1: not known, shape (jobs,); None: of no job
    waits_s: Floats | None = None  # how long each waited in the log, NaN: not known, shape (jobs,) [s]; None: of no job

    def __len__(self) -> int:
        return len(self.times_s)

    @property
    def work_ms(self) -> float:
        """CPU time of all tasks of all jobs that say it [ms]."""
        return float(np.nansum(self.columns["cpu_ms"] * self.columns.get("tasks", np.ones(1))))

    def at(self, rows: npt.NDArray[np.int64], times_s: Floats, window_s: float) -> Jobs:
        """Some of the jobs, at other times.

        Args:
            rows: which, in the order of their arrival, shape (chosen,).
            times_s: when each of these comes, shape (chosen,) [s].
            window_s: in which they come [s].
        """
        return Jobs(
            times_s=times_s,
            window_s=window_s,
            columns={name: values[rows] for name, values in self.columns.items()},
            homes=None if self.homes is None else self.homes[rows],
            held=None if self.held is None else self.held.at(rows),
            users=None if self.users is None else self.users[rows],
            waits_s=None if self.waits_s is None else self.waits_s[rows],
        )


@dataclass(frozen=True)
class JobLog:
    """A log."""

    file: str  # its path, as given
    jobs: Jobs  # what is fitted
    header: Mapping[str, str]  # what an SWF log says of itself
    begin_s: float  # of the window, on the log's own clock [s]
    resolution_s: float  # of its clock [s]


def read_log(scenario: Scenario) -> JobLog:
    """The log of a scenario whose workload is a trace: those jobs, thinned and scaled, that a run of it has.

    Raises InputError: as a run of it; or too few jobs, all at one instant, or jobs that run programs with a profile.
    """
    scenario = _without_initial(scenario)
    where, seed, choice = trace_path(scenario), scenario.run.seed, scenario.workload.trace
    arrival_ms, given = chosen_jobs(scenario, seed)
    if len(arrival_ms) < FEWEST_JOBS:
        raise InputError(f"{where}: {len(arrival_ms)} jobs: a fit needs at least {FEWEST_JOBS}")
    if "program" in given:
        raise InputError(
            f"{where}: its jobs run programs with activity profiles, which no distribution describes: there is nothing "
            "to fit; workload.programs.mix draws from such profiles"
        )
    if RECORDED_RUN in given:
        raise InputError(
            f'{where}: workload.trace.cpu_time = "run": its tasks pause, and no distribution describes pauses: allowed '
            'for a fit: "used"'
        )
    first, last = float(arrival_ms[0]), float(arrival_ms[-1])
    if first == last:
        raise InputError(
            f"{where}: all {len(arrival_ms):,} jobs come at one instant, {first:g} ms: their arrivals cannot be fitted"
        )
    if last - first < LEAST_SPAN_MS:
        raise InputError(
            f"{where}: all {len(arrival_ms):,} jobs come within {last - first:.6g} ms: a fit needs at least "
            f"{LEAST_SPAN_MS:g} ms between the first and the last"
        )
    begin_ms = 0.0 if choice.duration_s is not None else first
    jobs = len(arrival_ms)
    # Without a window of its own: as long as its mean gap times the number of jobs.
    window_s = choice.duration_s or (last - first) / 1000.0 * jobs / (jobs - 1)
    table = work_of(scenario, seed)
    columns = {}
    for name in UNITS:
        source = "disk_mb" if name == "io_per_ms" and "disk_mb" in given else name
        if source in given and not np.isnan(given[source]).all():
            columns[name] = np.where(np.isnan(given[source]), np.nan, table.jobs[name].astype(float))
    requested = given.get("requested_ms")
    if requested is not None and table.requested_ms is not None and not np.isnan(requested).all():
        columns[REQUEST] = _over_alone(requested, table.jobs, scenario)
    users, waits_ms = table.logged.users, table.logged.recorded_wait_ms
    gaps = np.diff(np.unique(arrival_ms))
    return JobLog(
        file=str(where),
        jobs=Jobs(
            times_s=(arrival_ms - begin_ms) / 1000.0,
            window_s=window_s,
            columns=columns,
            homes=table.jobs["home"].astype(np.int64) if "home" in given else None,
            held=_held(table, scenario),
            users=None if users is None else users.numbers,
            waits_s=None if waits_ms is None else waits_ms / 1000.0,
        ),
        header=_header(scenario, where),
        begin_s=choice.start_s + begin_ms / 1000.0,
        # Of times that are written in decimals: differences have errors in the last digits.
        resolution_s=float(gaps[gaps > 1e-3].min(initial=np.inf)) / 1000.0 if (gaps > 1e-3).any() else 1e-6,
    )


def drawn_jobs(scenario: Scenario, seed: int, like: Jobs) -> Jobs:
    """The jobs of one seed of a synthetic scenario, with the columns that a log has.

    Raises InputError: users react to the ends of jobs, so that only a run says when jobs are submitted.
    """
    scenario = _without_initial(scenario)
    work = work_of(scenario, seed)
    table = work.jobs
    arrival_ns = table["arrival_ns"]
    if (arrival_ns >= NEVER).any():
        raise InputError(f"{scenario.name}: its jobs are submitted after the ends of others: only a run says when")
    columns = {name: table[name].astype(float) for name in like.columns if name != REQUEST}
    if REQUEST in like.columns and work.requested_ms is not None:
        columns[REQUEST] = _over_alone(work.requested_ms, table, scenario)
    return Jobs(
        times_s=arrival_ns / 1e9,
        window_s=scenario.workload.duration_s,
        columns=columns,
        homes=table["home"].astype(np.int64) if like.homes is not None else None,
        held=_held(work, scenario),
    )


def _without_initial(scenario: Scenario) -> Scenario:
    """The scenario without jobs that are on a node at 0: no log has them."""
    return scenario.model_copy(update={"workload": scenario.workload.model_copy(update={"initial": ()})})


def _held(work: RunJobs, scenario: Scenario) -> JobHoldings:
    return JobHoldings(
        alone_ms(work.jobs, scenario, work.programs), work.jobs["tasks"].astype(float), work.requested_ms
    )


def _over_alone(requested_ms: Floats, jobs: Table, scenario: Scenario) -> Floats:
    """Requested times over what jobs take alone, from 1 to the largest number that a law may have."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.clip(requested_ms / alone_ms(jobs, scenario), 1.0, LARGEST)


def _header(scenario: Scenario, where: Path) -> Mapping[str, str]:
    choice = scenario.workload.trace
    reading = LogReading(choice.cpu_time, "requested" if choice.memory == "requested" else "used")
    return read_trace(where, run=choice.run, format=choice.format, max_mb=choice.max_mb, reading=reading).header
