"""A synthetic scenario that behaves like a log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy.optimize import brentq

from cluster_abm.arrays import Floats
from cluster_abm.clock import HOUR_S
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, scenario_from
from cluster_abm.scenario.cluster import MOST_NODES
from cluster_abm.scenario.dependence import rank_correlation
from cluster_abm.scenario.distributions import LARGEST, Distribution, TaskCount
from cluster_abm.study.fitting.counts import Bursts, fit_bursts
from cluster_abm.study.fitting.courses import Course, fit_course, without_course
from cluster_abm.study.fitting.joint import fit_dependence, fit_repeats, spearman
from cluster_abm.study.fitting.log import REQUEST, JobLog
from cluster_abm.study.fitting.marginals import fit_quantiles, fit_widths
from cluster_abm.study.fitting.users.fit_sessions import fit_sessions, why_not, with_sessions
from cluster_abm.workload.drawing.dependence import product_over_means

# Load of the CPUs for which a cluster is made that nothing else says.
LOAD = 0.7
WORK = "cpu_ms,tasks"
# By how much the dependence of CPU time and tasks differs from their rank correlation, from where on it is said.
WORTH_SAYING = 0.03
# The largest normal correlation of CPU time and tasks that is tried.
MOST = 0.99


@dataclass(frozen=True)
class Fitted:
    """What was fitted."""

    scenario: Scenario  # the synthetic scenario
    tables: dict[str, Any]  # its nested tables, of keys that are said and not defaults
    # the law of each column, of the kind "fixed" or "quantiles"; tasks are not among them
    laws: Mapping[str, Distribution]
    course: Course  # of days and weeks
    notes: tuple[str, ...]  # what was done, and what the log lacks, a line each


def fit(base: Scenario, log: JobLog, name: str = "fitted") -> Fitted:
    """A scenario that behaves like a log.

    Args:
        base: of which all stays but the workload that the log says; its workload is the log as a trace.
        log: what `read_log` makes of that.
        name: of the scenario.

    Raises InputError: a base that cannot be a synthetic scenario.
    """
    reason = why_not(log.jobs)
    tables, common_laws = _common(base, log, name)
    if reason:
        tables, laws, course, notes = _independent_jobs(tables, log)
        notes.append(f"users: {reason}: jobs are drawn one by one, and no user holds back")
    else:
        tables, laws, course, notes = _of_users(tables, log)
    notes += list(_missing(log))
    scenario = scenario_from(tables, f"scenario fitted to {log.file}")
    return Fitted(scenario, tables, common_laws | laws, course, tuple(notes))


def _common(base: Scenario, log: JobLog, name: str) -> tuple[dict[str, Any], dict[str, Distribution]]:
    """The tables of the scenario without what is fitted in two ways, and the laws among them."""
    jobs = log.jobs
    laws = {name: _law(jobs.columns[name]) for name in ALONE if name in jobs.columns}
    tables = base.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    tables["name"], tables["summary"] = name, f"jobs like those of {re.sub('[{}]', '', PurePath(log.file).name)}"
    workload = {key: value for key, value in tables.get("workload", {}).items() if key not in REPLACED}
    workload |= {
        "duration_s": jobs.window_s,
        "jobs_per_s": len(jobs.times_s) / jobs.window_s,
        **{name: _said(law) for name, law in laws.items()},
    }
    if "request_kb" in laws:
        workload["request_kb"] |= {"per": "job"}
    if "io_per_ms" in laws:
        workload.pop("no_io_share", None)
    if jobs.homes is not None:
        counts = np.bincount(jobs.homes)
        workload["home"] = {"kind": "weights", "weights": [float(count) for count in counts]}
    tables["workload"] = workload
    return tables, laws


def _of_users(tables: dict[str, Any], log: JobLog) -> tuple[dict[str, Any], dict[str, Distribution], Course, list[str]]:
    """Jobs in sessions of users who hold back."""
    workload = {key: value for key, value in tables["workload"].items() if key not in SAID_BY_SESSIONS}
    workload["kind"] = "sessions"
    if "tasks" in tables["workload"]:
        barriers = {key: value for key, value in tables["workload"]["tasks"].items() if key in BARRIERS}
        workload |= {"tasks": barriers} if barriers else {}
    if "memory_mb" not in log.jobs.columns:
        workload |= {key: tables["workload"][key] for key in MEMORY if key in tables["workload"]}
    found = fit_sessions(tables | {"workload": workload}, log)
    gap_min, hold_back_h = found.section["longest_gap_s"] / 60.0, found.section["hold_back_s"] / HOUR_S
    held = f"half are put off by a day at a backlog of {hold_back_h:g} h" if hold_back_h else "none is put off"
    note = (
        f"users: {found.users:,} with {found.sessions:,} sessions, whose gaps are under {gap_min:g} min, in "
        f"{len(found.section['group'])} groups; {held}: of what was tried the work varies most like the log's"
    )
    return with_sessions(tables | {"workload": workload}, found), {}, found.course, [note]


def _independent_jobs(
    tables: dict[str, Any], log: JobLog
) -> tuple[dict[str, Any], dict[str, Distribution], Course, list[str]]:
    """Jobs one by one, by the laws of their columns and how these depend on each other."""
    jobs, columns = log.jobs, log.jobs.columns
    laws = {name: _law(values) for name, values in columns.items() if name != "tasks" and name not in ALONE}
    course = fit_course(jobs.times_s, jobs.window_s, log.header, log.begin_s)
    bursts = fit_bursts(without_course(jobs.times_s, jobs.window_s, course), jobs.window_s, log.resolution_s)
    workload = dict(tables["workload"]) | {
        "arrivals": _arrivals(bursts, course),
        **{name: _said(law) for name, law in laws.items()},
    }
    if "memory_mb" in laws:
        workload.pop("memory_of", None)
    if "tasks" in columns:
        barriers = {key: value for key, value in workload.get("tasks", {}).items() if key in BARRIERS}
        workload["tasks"] = barriers | {"widths": fit_widths(columns["tasks"][~np.isnan(columns["tasks"])])}
    fixed, notes = _work_kept(columns, laws, workload)
    dependence = fit_dependence(columns, fixed)
    if dependence:
        workload["dependence"] = dependence
    repeats = fit_repeats([columns[name] for name in DEMANDS if name in columns])
    if repeats.share:
        workload["repeats"] = repeats.model_dump()
    return tables | {"workload": workload}, laws, course, notes


# Keys of the base's workload that the log says in their place.
REPLACED = (
    "kind", "trace", "jobs", "jobs_per_s", "utilisation", "duration_s", "arrivals", "repeats", "dependence", "sessions",
    "users",
)  # fmt: skip
# Columns that are drawn for each job by itself in any case.
ALONE = ("io_per_ms", "request_kb", "initial_data_mb")
MEMORY = ("memory_mb", "memory_of")
SAID_BY_SESSIONS = ("cpu_ms", "task_cpu", "tasks", "requested_over_actual", *MEMORY)
BARRIERS = ("barrier_ms", "communication_ms")
DEMANDS = ("cpu_ms", "memory_mb", "io_per_ms", "tasks")


def nodes_for(log: JobLog) -> int | None:
    """How many nodes of speed 1 a log without homes keeps busy to LOAD; None: it says its homes, or no CPU times.

    Raises InputError: more than a cluster may have.
    """
    if log.jobs.homes is not None or "cpu_ms" not in log.jobs.columns:
        return None
    with np.errstate(over="ignore"):
        nodes = np.ceil(log.jobs.work_ms / 1000.0 / np.float64(log.jobs.window_s) / LOAD)
    if not nodes <= MOST_NODES:
        raise InputError(
            f"{log.file}: its work keeps {nodes:.6g} nodes busy to {LOAD:g}: allowed up to {MOST_NODES:,}; say how "
            "many there are: --set cluster.nodes=N"
        )
    return max(1, int(nodes))


def _law(values: Floats) -> Distribution:
    known = values[~np.isnan(values)]
    if not np.ptp(known):
        return Distribution(kind="fixed", mean=float(known[0]))
    found = fit_quantiles(known)
    return Distribution(kind="quantiles", values=found.values, probabilities=found.probabilities)


def _said(law: Distribution) -> dict[str, Any]:
    return law.model_dump(mode="json", exclude_defaults=True) | {"kind": law.kind}


def _arrivals(bursts: Bursts, course: Course) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": "poisson"}
    if bursts.scales_s:
        found = {"kind": "multiscale", "scales_s": list(bursts.scales_s), "variations": list(bursts.variations)}
    if bursts.batch_mean > 1.0:
        found |= {"batch_mean": bursts.batch_mean, "batch_gap_s": bursts.batch_gap_s}
    for name in ("daily", "weekly"):
        if getattr(course, name):
            found |= {name: list(getattr(course, name)), "starts_h": course.starts_h}
    return found


def _work_kept(
    columns: Mapping[str, Floats], laws: Mapping[str, Distribution], workload: Mapping[str, Any]
) -> tuple[dict[str, float], list[str]]:
    """The dependence of CPU time and tasks with which a job's mean work, and so the load, is the log's.

    A Gaussian copula with the log's rank correlation would miss it by some 10 to 30 % for the logs of the archive: work
    is made in the tails, ranks in the middle.
    """
    if "tasks" not in columns or "cpu_ms" not in columns:
        return {}, []
    cpu, tasks = columns["cpu_ms"], columns["tasks"]
    both = ~(np.isnan(cpu) | np.isnan(tasks))
    cpu, tasks = cpu[both], tasks[both]
    if not np.ptp(cpu) or not np.ptp(tasks):
        return {}, []
    with np.errstate(all="ignore"):
        wanted = float((cpu * tasks).mean() / cpu.mean() / tasks.mean())
    widths = TaskCount(**workload["tasks"])

    def over(correlation: float) -> float:
        return product_over_means(laws["cpu_ms"], widths, correlation) - wanted

    with np.errstate(all="ignore"):
        low, high = over(-MOST), over(MOST)
    if not np.isfinite([low, high]).all():
        return {}, []  # CPU times so small that their mean is 0
    if low * high > 0:
        nearest = MOST if abs(high) < abs(low) else -MOST
        words = f"CPU time x tasks: no dependence gives a job the log's mean work, {wanted:.3g} of the means' product"
        return {WORK: round(rank_correlation(nearest), 4)}, [words]
    fixed = round(rank_correlation(float(brentq(over, -MOST, MOST, xtol=1e-4))), 4)
    ranks = spearman(cpu, tasks)
    if abs(fixed - ranks) < WORTH_SAYING:
        return {WORK: fixed}, []
    words = f"cpu_ms and tasks depend on each other as a job's mean work has it ({fixed:g}); by ranks it is {ranks:.2g}"
    return {WORK: fixed}, [words]


def _missing(log: JobLog) -> Iterator[str]:
    columns = log.jobs.columns
    absent = [name for name in ("cpu_ms", "memory_mb", "io_per_ms", "tasks") if name not in columns]
    if absent:
        yield f"not in the log, as the base scenario has it: {', '.join(absent)}"
    for name, values in columns.items():
        share = float(np.isnan(values).mean())
        if share:
            yield f"{name}: {share:.1%} of the jobs lack it; fitted to the others"
        known = values[~np.isnan(values)]
        most = int((known >= LARGEST).sum())
        if name == REQUEST and most:
            yield f"{name}: {most:,} jobs request {LARGEST:g} times what they take alone, or more: cut to it"
        if not np.ptp(known):
            yield f"{name}: the same for all jobs, {known[0]:g}"
    if log.jobs.homes is None:
        yield "homes: not in the log, as the base scenario has them"
