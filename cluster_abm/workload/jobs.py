"""The job table of a run: from a scenario's distributions, or from a trace and, for what it leaves out, from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import JOB, NEVER, NONE, NS_PER_MS, PHASE, Table
from cluster_abm.errors import InputError
from cluster_abm.limits import check_jobs
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import LARGEST, RequestSize
from cluster_abm.workload.applications import as_application
from cluster_abm.workload.arrivals import submission_times_s
from cluster_abm.workload.draws import draw, mean_of
from cluster_abm.workload.from_trace import trace_columns
from cluster_abm.workload.programs import library, mean_cpu_ms, mixed
from cluster_abm.workload.streams import generator
from cluster_abm.workload.times import LONGEST_MS, whole_ns
from cluster_abm.workload.users import are_closed, plan_thinking, users_columns

Floats = npt.NDArray[np.float64]

MAX_TASKS = 100_000_000


def job_table(scenario: Scenario, seed: int) -> Table:
    """All jobs of a run by arrival, shape (jobs,), fields tables.JOB_FIELDS; the policy does not affect it.

    Those of closed users stand user by user; of each only the first arrival is known yet.

    Raises:
        InputError: a trace that cannot be read, is empty, or does not fit the cluster; more than 64 bits hold.
    """
    workload = as_application(scenario.workload, scenario.cluster)
    if workload is not scenario.workload:
        scenario = scenario.model_copy(update={"workload": workload})
    if scenario.workload.kind == "trace":
        arrival_ms, columns = trace_columns(scenario, seed)
    elif are_closed(scenario):
        arrival_ms, columns = users_columns(scenario)
    else:
        arrival_ms, columns = _synthetic_arrivals_ms(scenario, seed), {}
    jobs = _fill(scenario, seed, arrival_ms, columns)
    thinking_ms = plan_thinking(jobs, scenario, seed) if are_closed(scenario) else 0.0
    _check_size(jobs, scenario, thinking_ms)
    return jobs


def phase_table(scenario: Scenario) -> Table:
    """The phases of all programs that a run's jobs may run, fields tables.PHASE_FIELDS; none without programs."""
    programs = scenario.workload.programs
    return library(programs).phases if programs.mix or programs.file else np.zeros(0, PHASE)


def program_names(scenario: Scenario) -> tuple[str, ...]:
    """Names of the programs by the numbers in the job table; none without programs."""
    programs = scenario.workload.programs
    return library(programs).names if programs.mix or programs.file else ()


def _check_size(jobs: Table, scenario: Scenario, thinking_ms: float) -> None:
    """Whether the engine's 64 bits hold whatever may come of these jobs, one user of which thinks so long in all [ms].

    Raises InputError.
    """
    tasks = jobs["tasks"].sum(dtype=np.int64)
    if tasks > MAX_TASKS:
        raise InputError(f"workload: {tasks:,} tasks: allowed are {MAX_TASKS:,}")
    kinds = [scenario.cluster, *(scenario.cluster.like(group) for group in scenario.cluster.group)]
    request_ms = max(kind.disk_seek_rotation_ms for kind in kinds) + jobs["request_kb"] / min(
        kind.disk_mb_per_s for kind in kinds
    )
    with np.errstate(over="ignore"):
        alone_ms = jobs["cpu_ms"] * (1.0 / min(kind.cpu_speed for kind in kinds) + jobs["io_per_ms"] * request_ms)
        known_ns = jobs["arrival_ns"][jobs["arrival_ns"] < NEVER]
        # A clock goes as far as the node that has most to do; what a policy sends there besides, the run itself sees.
        at_home_ms = np.bincount(jobs["home"], alone_ms * jobs["tasks"])
        all_ms = float(at_home_ms.max(initial=0.0) + known_ns.max(initial=0) / NS_PER_MS) + thinking_ms
    for name, values, limit, unit in (
        ("memory_mb", jobs["memory_mb"] * jobs["tasks"], LARGEST, "MB"),
        ("initial_data_mb", jobs["initial_data_mb"], LARGEST, "MB"),
        ("io_per_ms", jobs["io_per_ms"], 1e6, "accesses per ms"),
        ("request_kb", jobs["request_kb"], LARGEST, "KB"),
        ("all work together", np.array([all_ms]), LONGEST_MS, "ms to its end on the home node that has most"),
    ):
        if len(values) and not values.max() <= limit:
            raise InputError(f"workload: {name} of the jobs reaches {values.max():.3g} {unit}: allowed is {limit:g}")


def jobs_per_second(scenario: Scenario) -> float:
    """Mean submission rate that the scenario asks for, by `jobs_per_s`, `utilisation` or `jobs` [1/s].

    Raises:
        InputError: closed users, which have no rate of their own; or a utilisation of no work.
    """
    workload = as_application(scenario.workload, scenario.cluster)
    if are_closed(scenario):
        raise InputError("workload.arrivals.kind closed: its jobs come when others have ended, at no given rate")
    if workload.jobs_per_s is not None:
        return workload.jobs_per_s
    if workload.jobs is not None:
        return workload.jobs / workload.duration_s
    assert workload.utilisation is not None  # the scenario's check
    cluster = scenario.cluster
    plain = cluster.nodes - sum(group.count for group in cluster.group)
    capacity = plain * cluster.cpu_speed + sum(
        group.count * (cluster.cpu_speed if group.cpu_speed is None else group.cpu_speed) for group in cluster.group
    )
    # A profile replaces what cpu_ms says.
    task_ms = mean_cpu_ms(workload.programs) if workload.programs.mix else mean_of(workload.cpu_ms)
    demand_s = task_ms / 1000.0 * workload.tasks.mean
    if demand_s <= 0:
        raise InputError("workload.utilisation: needs a mean of workload.cpu_ms above 0")
    return workload.utilisation * capacity / demand_s


def _synthetic_arrivals_ms(scenario: Scenario, seed: int) -> Floats:
    workload = scenario.workload
    rate = jobs_per_second(scenario)
    if rate * workload.duration_s > MAX_TASKS:
        raise InputError(
            f"workload: {rate:g} jobs per second during duration_s = {workload.duration_s:g} are "
            f"{rate * workload.duration_s:.3g} jobs: allowed are {MAX_TASKS:,}"
        )
    rates = {name: getattr(workload, name) for name in ("jobs", "jobs_per_s", "utilisation")}
    what = ", ".join(f"workload.{name} = {value:,}" for name, value in rates.items() if value is not None)
    if workload.jobs is None:
        what += f" during workload.duration_s = {workload.duration_s:,g}"
    check_jobs(what, rate * workload.duration_s, workload.tasks.mean)
    times_s = submission_times_s(
        workload.arrivals, generator(seed, "arrivals"), workload.duration_s, workload.jobs, rate
    )
    return times_s * 1000.0


def _fill(scenario: Scenario, seed: int, arrival_ms: Floats, given: dict[str, Floats]) -> Table:
    """Columns that are given, gaps (NaN) in them and missing ones drawn: a row's draw never depends on the gaps."""
    workload = scenario.workload
    count = len(arrival_ms)
    jobs = np.zeros(count, JOB)
    jobs["arrival_ns"] = whole_ns(arrival_ms, "workload: the submission of the last job")

    def column(name: str, drawn: Floats) -> Floats:
        if name not in given:
            return drawn
        return np.where(np.isnan(given[name]), drawn, given[name])

    io_per_ms = draw(workload.io_per_ms, generator(seed, "io"), count)
    io_per_ms[generator(seed, "no_io").random(count) < workload.no_io_share] = 0.0
    size_kb = draw(workload.request_kb, generator(seed, "request"), count)
    if workload.request_kb.per == "request":
        size_kb = np.full(count, workload.request_kb.mean)
    jobs["cpu_ms"] = column("cpu_ms", draw(workload.cpu_ms, generator(seed, "cpu"), count))
    jobs["home"] = column("home", _homes(scenario, seed, count)).astype(np.int32)
    jobs["tasks"] = column("tasks", _task_counts(scenario, seed, count)).astype(np.int32)
    memory_mb = draw(workload.memory_mb, generator(seed, "memory"), count)
    if workload.memory_of == "job":
        memory_mb = memory_mb / jobs["tasks"]
    jobs["memory_mb"] = column("memory_mb", memory_mb)
    jobs["io_per_ms"] = column("io_per_ms", io_per_ms)
    jobs["request_kb"] = column("request_kb", size_kb)
    jobs["request_shape"] = _request_shape(workload.request_kb)
    jobs["reaccess_rate"] = column("reaccess_rate", np.full(count, workload.reaccess_rate))
    jobs["write_share"] = column("write_share", np.full(count, workload.write_share))
    jobs["initial_data_mb"] = column("initial_data_mb", draw(workload.initial_data_mb, generator(seed, "data"), count))
    jobs["barrier_ms"] = workload.tasks.barrier_ms
    jobs["communication_ns"] = round(workload.tasks.communication_ms * NS_PER_MS)
    _describe_programs(jobs, scenario, seed, given.get("program"))
    jobs["first_task"] = np.concatenate([[0], np.cumsum(jobs["tasks"][:-1])]) if count else 0
    return jobs


def _describe_programs(jobs: Table, scenario: Scenario, seed: int, given: Floats | None) -> None:
    """What jobs that run programs with a profile announce: all their CPU, largest memory, mean rate of accesses."""
    programs = scenario.workload.programs
    jobs["program"] = NONE
    if given is not None:
        jobs["program"] = given.astype(np.int32)
    elif programs.mix:
        jobs["program"] = mixed(programs, len(jobs), generator(seed, "program"))
    else:
        return
    found = library(programs)
    number = jobs["program"]
    jobs["first_phase"], jobs["phases"] = found.first[number], found.count[number]
    jobs["cpu_ms"] = found.over("cpu_ms", "sum")[number]
    jobs["memory_mb"] = found.over("memory_kb", "max")[number] / 1000.0
    jobs["io_per_ms"] = (found.over("accesses", "sum") / found.over("cpu_ms", "sum"))[number]


def _request_shape(size: RequestSize) -> float:
    """Gamma shape of a request's size; 0 when each has the job's size exactly."""
    if size.per == "job" or size.kind == "fixed":
        return 0.0
    return 1.0 if size.kind == "exponential" else (size.mean / size.sd) ** 2


def _homes(scenario: Scenario, seed: int, count: int) -> Floats:
    home, nodes = scenario.workload.home, scenario.cluster.nodes
    if home.kind == "weights":
        weights = np.asarray(home.weights, float)
    elif home.kind == "skewed":
        weights = (np.arange(nodes) + 1.0) ** -home.skew
    else:
        weights = np.ones(nodes)
    boundaries = np.cumsum(weights) / weights.sum()
    homes = np.searchsorted(boundaries, generator(seed, "home").random(count), side="right")
    return np.minimum(homes, len(weights) - 1).astype(float)


def _task_counts(scenario: Scenario, seed: int, count: int) -> Floats:
    tasks = scenario.workload.tasks
    rng = generator(seed, "tasks")
    parallel = rng.random(count) < tasks.parallel_share
    width = tasks.minimum + np.floor(rng.random(count) * (tasks.maximum - tasks.minimum + 1))
    return np.where(parallel, width, 1.0)
