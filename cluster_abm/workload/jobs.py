"""The job table of a run: from a scenario's distributions, or from a trace and, for what it leaves out, from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.engine.tables import DEMAND, NEVER, PHASE, Table
from cluster_abm.errors import InputError
from cluster_abm.large_tables import blocks, column, forget_pages
from cluster_abm.limits import BYTES_A_JOB, BYTES_A_USERS_JOB, check_jobs
from cluster_abm.scenario import Scenario
from cluster_abm.workload.applications import as_application
from cluster_abm.workload.drawing.arrivals import submission_times_s
from cluster_abm.workload.drawing.dependence import work_over_means
from cluster_abm.workload.drawing.draws import mean_of
from cluster_abm.workload.drawing.own_demands import longest_of_jobs, task_demands
from cluster_abm.workload.filling import fill
from cluster_abm.workload.from_trace import programs_of, trace_jobs, trace_of
from cluster_abm.workload.generators import generator
from cluster_abm.workload.initial import initial_jobs
from cluster_abm.workload.late import LateJobs, can_be_late
from cluster_abm.workload.named_files import NamedFiles
from cluster_abm.workload.pacing import pace
from cluster_abm.workload.parents import Parents
from cluster_abm.workload.programs import Library, mean_cpu_ms
from cluster_abm.workload.requests import requested_by_sessions, requested_times
from cluster_abm.workload.sessions import SessionJobs, are_sessions, drawn_sessions, session_means
from cluster_abm.workload.times import LONGEST_MS, MAX_TASKS, Sizes, whole_ns
from cluster_abm.workload.traces.dependence import longest_path
from cluster_abm.workload.traces.logged import LoggedJobs
from cluster_abm.workload.traces.run_times import pause_jobs
from cluster_abm.workload.traces.table import RECORDED_RUN, THINK, USER
from cluster_abm.workload.users import are_closed, plan_thinking, users_columns, users_of_jobs


class RunJobs(NamedTuple):
    """The jobs of a run."""

    jobs: Table  # the job table, shape (jobs,), fields tables.JOB_FIELDS
    # The run time that each job requests, shape (jobs,) [ms]; NaN: it requests none. None: no job does.
    requested_ms: Floats | None
    # The jobs that have to end before each is submitted; None: no job waits for another one.
    parents: Parents | None = None
    # With parents: before which no job is submitted, shape (jobs,) [ns]. In the job table those that wait have NEVER.
    earliest_ns: list[int] | None = None
    # With an activity profile, of which the job table has the numbers; without names they are those of single jobs, and
    # it has their phases alone. None: no job runs one.
    programs: Library | None = None
    # The files that jobs name themselves; None: no job names any.
    files: NamedFiles | None = None
    # How many of the jobs, the first ones of the table, are on their nodes at time 0 and never submitted.
    initial: int = 0
    # Draws the rows of the job table as the run goes on; None: all are there.
    late: LateJobs | None = None
    # What a log says of them beside their work, and whose they are.
    logged: LoggedJobs = LoggedJobs()
    # The CPU demand of each task and what it announces, by the tasks' numbers, fields.DEMAND_FIELDS; None: all tasks of
    # a job have the demand of the job table and announce it.
    demands: Table | None = None
    # What had to be mended when they were made for these nodes, a line each.
    remarks: tuple[str, ...] = ()

    @property
    def arriving(self) -> Table:
        """The rows of the jobs that are submitted."""
        return self.jobs[self.initial :]

    @property
    def announced_ms(self) -> Floats | None:
        """The CPU demand that each task announces, shape (tasks,) [ms]; None: that of the job table."""
        return None if self.demands is None else self.demands["announced_ms"]

    @property
    def phases(self) -> Table:
        """The phases of all programs that jobs may run, fields tables.PHASE_FIELDS."""
        return np.zeros(0, PHASE) if self.programs is None else self.programs.phases

    @property
    def program_names(self) -> tuple[str, ...]:
        """Names of the programs by the numbers in the job table."""
        return () if self.programs is None else self.programs.names


def job_table(scenario: Scenario, seed: int) -> Table:
    """The job table alone, of `work_of`. Raises InputError."""
    return work_of(scenario, seed).jobs


def work_of(scenario: Scenario, seed: int, may_be_late: bool = False) -> RunJobs:
    """All jobs of a run: those of `workload.initial`, then the others by arrival; the policy does not affect them.

    Those of closed users stand user by user; of each only the first arrival is known yet.

    Args:
        may_be_late: whether rows need not be there before the jobs arrive, where they can be drawn then (`late`).

    Raises InputError: a trace that cannot be read, is empty, or does not fit the cluster; more than 64 bits hold.
    """
    workload = as_application(scenario.workload, scenario.cluster)
    if workload is not scenario.workload:
        scenario = scenario.model_copy(update={"workload": workload})
    if may_be_late and can_be_late(scenario):
        late = LateJobs(scenario, seed, jobs_per_second(scenario))
        return RunJobs(late.table, None, late=late)
    parents, earliest_ns, files, sessions, logged = None, None, None, None, LoggedJobs()
    trace = trace_of(scenario)
    programs = programs_of(scenario, trace)
    if scenario.workload.kind == "none":
        arrival_ms, columns = np.zeros(0), dict[str, Floats]()
    elif trace is not None:
        arrival_ms, columns, parents, files, logged = trace_jobs(scenario, seed, trace, programs)
    elif are_closed(scenario):
        arrival_ms, columns = users_columns(scenario)
        logged = LoggedJobs(users=users_of_jobs(scenario, len(arrival_ms)))
    elif are_sessions(scenario):
        sessions = _drawn_sessions(scenario, seed)
        arrival_ms, columns, parents = sessions.arrival_ms, sessions.columns, sessions.parents
        logged = LoggedJobs(users=sessions.users)
        if sessions.think_ms is not None:
            columns |= {THINK: sessions.think_ms}
    else:
        arrival_ms, columns = _synthetic_arrivals_ms(scenario, seed), {}
    ahead = len(scenario.workload.initial)
    table = fill(scenario, seed, arrival_ms, columns, programs, ahead)
    jobs = table[ahead:]
    remarks: tuple[str, ...] = ()
    if RECORDED_RUN in columns:
        pausing = pause_jobs(jobs, columns[RECORDED_RUN], scenario.cluster)
        programs, remarks = Library.nameless(pausing.phases), pausing.remarks
    pace(jobs, scenario)
    thinking_ms = plan_thinking(jobs, scenario, seed) if are_closed(scenario) else _idle_ms(parents, columns)
    demands = task_demands(scenario, seed, jobs)
    longest_ms = None if demands is None or not len(jobs) else longest_of_jobs(jobs, demands["cpu_ms"])
    if ahead:
        first_task = int(column(jobs, "tasks").sum(dtype=np.int64))
        table[:ahead], requested_first, demands_first = initial_jobs(scenario, seed, first_task)
        demands = _behind(demands, demands_first, table[:ahead])
    sizes = Sizes(scenario, thinking_ms)
    for rows in blocks(len(table)):
        sizes.add(table[rows])
        forget_pages(table)
    sizes.check()
    if sessions is None:
        requested_ms = requested_times(scenario, seed, jobs, columns.get("requested_ms"), programs, longest_ms)
    else:
        requested_ms = requested_by_sessions(scenario, jobs, sessions.session, sessions.requested_over_longest)
    if parents is not None:
        earliest_ns = _earliest_ns(jobs, columns.get(THINK), "trace" if sessions is None else "sessions")
        jobs["arrival_ns"][parents.counts > 0] = NEVER
    if ahead:
        requested_ms = _one_after_the_other(requested_first, ahead, requested_ms, len(jobs))
        if parents is not None:
            parents = parents.behind(ahead)
            earliest_ns = [0] * ahead + (earliest_ns or [])
    return RunJobs(
        table, requested_ms, parents, earliest_ns, programs, files, ahead, None, logged.behind(ahead), demands, remarks
    )


def program_names(scenario: Scenario) -> tuple[str, ...]:
    """Names of the programs by the numbers in the job table; none without programs."""
    programs = programs_of(scenario, trace_of(scenario))
    return () if programs is None else programs.names


def _idle_ms(parents: Parents | None, columns: dict[str, Floats]) -> float:
    """How long think times and pauses may keep the last job from its end, whatever nodes do: an upper bound [ms]."""
    own = [np.nan_to_num(columns[name]) for name in (THINK, RECORDED_RUN) if name in columns]
    if not own or parents is None:
        return float(own[0].max(initial=0.0)) if own else 0.0
    each = np.sum(own, axis=0)
    total = float(each.sum())
    # The longest chain of jobs is looked for where all together would be too much.
    return total if total <= LONGEST_MS / 10.0 else float(each[longest_path(parents, each)].sum())


def _earliest_ns(jobs: Table, think_ms: Floats | None, section: str) -> list[int]:
    """Before which no job is submitted [ns]. A job with a think time is submitted that long after its last parent's
    end, whenever the log had it submitted, or it was drawn to be; it goes into the job table.

    Args:
        section: of the workload, which says think times.
    """
    earliest = jobs["arrival_ns"].copy()
    if think_ms is not None:
        thinks = ~np.isnan(think_ms)
        jobs["think_ns"] = whole_ns(np.where(thinks, think_ms, 0.0), f"workload.{section}: the longest think time")
        earliest[thinks] = 0
    found: list[int] = earliest.tolist()
    return found


def _behind(demands: Table | None, first: Table | None, jobs: Table) -> Table | None:
    """The demands of all tasks: those of jobs that are there at 0, whose numbers come last, behind the others."""
    if demands is None and first is None:
        return None
    if first is None:
        alike = jobs["cpu_ms"].repeat(jobs["tasks"])
        first = np.zeros(len(alike), DEMAND)
        first["cpu_ms"] = first["announced_ms"] = alike
    return first if demands is None else np.concatenate([demands, first])


def _one_after_the_other(first: Floats | None, ahead: int, other: Floats | None, jobs: int) -> Floats | None:
    """Requested times of the first jobs, `ahead` of them, and of the other ones; None: no job requests any."""
    if first is None and other is None:
        return None
    none = np.full(ahead, np.nan), np.full(jobs, np.nan)
    return np.concatenate([none[0] if first is None else first, none[1] if other is None else other])


def have_users(scenario: Scenario) -> bool:
    """Whether it is known of a scenario's jobs whose they are. Raises InputError: a trace that cannot be read."""
    trace = trace_of(scenario)
    return are_closed(scenario) or are_sessions(scenario) if trace is None else USER in trace.table


def jobs_per_second(scenario: Scenario) -> float:
    """Mean submission rate that the scenario asks for, by `jobs_per_s`, `utilisation` or `jobs` [1/s].

    Raises InputError: closed users, which have no rate of their own; or a utilisation of no work.
    """
    workload = as_application(scenario.workload, scenario.cluster)
    if workload.kind == "none":
        return 0.0
    if are_closed(scenario):
        raise InputError("workload.arrivals.kind closed: its jobs come when others have ended, at no given rate")
    if workload.jobs_per_s is not None:
        return workload.jobs_per_s
    if workload.jobs is not None:
        return workload.jobs / workload.duration_s
    assert workload.utilisation is not None  # the scenario's check
    cluster = scenario.cluster
    *groups, plain = (count * kind.cpu_speed * kind.cores for kind, count in cluster.kinds)
    capacity = plain + sum(groups)
    if are_sessions(scenario):
        means = session_means(scenario)
        return workload.utilisation * capacity * means.jobs / means.work_s
    # A profile replaces what cpu_ms says.
    task_ms = mean_cpu_ms(workload.programs) if workload.programs.mix else mean_of(workload.cpu_ms)
    demand_s = task_ms / 1000.0 * workload.tasks.mean * work_over_means(workload)
    if demand_s <= 0:
        raise InputError("workload.utilisation: needs a mean of workload.cpu_ms above 0")
    return workload.utilisation * capacity / demand_s


def _drawn_sessions(scenario: Scenario, seed: int) -> SessionJobs:
    rate = jobs_per_second(scenario)
    _check_number(scenario, rate, session_means(scenario).tasks, BYTES_A_USERS_JOB)
    return drawn_sessions(scenario, seed, rate)


def _synthetic_arrivals_ms(scenario: Scenario, seed: int) -> Floats:
    workload = scenario.workload
    rate = jobs_per_second(scenario)
    _check_number(scenario, rate, workload.tasks.mean)
    times_s = submission_times_s(
        workload.arrivals, generator(seed, "arrivals"), workload.duration_s, workload.jobs, rate
    )
    times_s *= 1000.0
    return times_s


def _check_number(scenario: Scenario, rate: float, mean_tasks: float, bytes_a_job: float = BYTES_A_JOB) -> None:
    """Raise InputError: at this rate [1/s] more jobs are submitted than are allowed, or fit into memory."""
    workload = scenario.workload
    if not rate * workload.duration_s <= MAX_TASKS:
        raise InputError(
            f"workload: {rate:g} jobs per second during duration_s = {workload.duration_s:g} are "
            f"{rate * workload.duration_s:.3g} jobs: allowed are {MAX_TASKS:,}"
        )
    rates = {name: getattr(workload, name) for name in ("jobs", "jobs_per_s", "utilisation")}
    what = ", ".join(f"workload.{name} = {value:,}" for name, value in rates.items() if value is not None)
    if workload.jobs is None:
        what += f" during workload.duration_s = {workload.duration_s:,g}"
    check_jobs(what, rate * workload.duration_s, mean_tasks, bytes_a_job)
