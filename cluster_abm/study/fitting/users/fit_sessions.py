"""Sessions fitted to a log: which gap ends one, and how strongly users hold back, by how work varies with time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from cluster_abm.clock import DAY_S, HOUR_S, WEEK_S
from cluster_abm.progress import Progress
from cluster_abm.scenario import Scenario, scenario_from
from cluster_abm.scenario.distributions import LARGEST
from cluster_abm.scenario.sessions import UserSessions
from cluster_abm.study.fitting.courses import Course, fit_course
from cluster_abm.study.fitting.log import JobLog, Jobs
from cluster_abm.study.fitting.users.groups import groups_of
from cluster_abm.study.fitting.users.section import section_of
from cluster_abm.study.fitting.users.seen import SeenJobs, seen_jobs, seen_sessions
from cluster_abm.study.fitting.users.variations import WorkCourse, WorkInTime, course_of
from cluster_abm.workload.sessions import drawn_sessions

# What is tried: gaps that end a session [s], and backlogs at which half of the sessions are put off [s]; 0: none is.
GAPS_S = (1200.0, HOUR_S, 3 * HOUR_S, 8 * HOUR_S, 16 * HOUR_S)
HOLD_BACKS_S = (0.0, 3 * DAY_S, DAY_S, 8 * HOUR_S)
SEEDS = (1, 2, 3)
REFERENCE_LOAD = UserSessions().reference_load
# What a log needs.
FEWEST_JOBS, FEWEST_SESSIONS, FEWEST_USERS, LEAST_KNOWN = 1000, 200, 2, 0.9
SHORTEST_S = 2 * WEEK_S


class FittedSessions(NamedTuple):
    """What was fitted."""

    section: dict[str, Any]  # [workload.sessions]
    course: Course  # of the begins of sessions
    sessions: int  # of the log
    users: int
    error: float  # how far the course of the work of its draws is from that of the log's (WorkCourse.error)


def why_not(jobs: Jobs) -> str:
    """Why a log's sessions cannot be fitted; "": they can."""
    if jobs.users is None or jobs.held is None:
        return "no job has a user"
    if "cpu_ms" not in jobs.columns:
        return "no CPU times"
    known = (jobs.users >= 0) & (np.nan_to_num(jobs.columns["cpu_ms"]) > 0)
    if known.mean() < LEAST_KNOWN:
        return f"{known.mean():.0%} of the jobs have a user and a CPU time, needed are {LEAST_KNOWN:.0%}"
    if known.sum() < FEWEST_JOBS:
        return f"{known.sum():,} jobs with a user, needed are {FEWEST_JOBS:,}"
    if jobs.window_s < SHORTEST_S:
        return f"{jobs.window_s / DAY_S:.3g} days, needed are {SHORTEST_S / DAY_S:g}"
    users = len(np.unique(jobs.users[known]))
    if users < FEWEST_USERS:
        return f"{users} user, needed are {FEWEST_USERS}"
    sessions = seen_sessions(seen_jobs(jobs), GAPS_S[-1])
    if sessions.work_s.max() > LARGEST:
        return f"a session has {sessions.work_s.max():.3g} s of work, allowed are {LARGEST:g}"
    if len(sessions) < FEWEST_SESSIONS:
        return f"{len(sessions)} sessions with gaps under {GAPS_S[-1] / 3600.0:g} h, needed are {FEWEST_SESSIONS}"
    return ""


def fit_sessions(tables: Mapping[str, Any], log: JobLog) -> FittedSessions:
    """The sessions whose draws vary most like the log's work.

    Args:
        tables: of a scenario with everything but [workload.sessions] and workload.arrivals.
        log: with users (`why_not`).
    """
    seen = seen_jobs(log.jobs)
    wanted = course_of(WorkInTime(seen.times_s, seen.cpu_s, seen.tasks, log.jobs.window_s), REFERENCE_LOAD)
    best: FittedSessions | None = None
    with Progress(len(GAPS_S) * len(HOLD_BACKS_S), "fitting sessions", "choice") as progress:
        for gap_s in GAPS_S:
            found = _without_holding_back(seen, log, gap_s)
            for hold_back_s in HOLD_BACKS_S:
                one = found._replace(section=found.section | {"hold_back_s": hold_back_s})
                one = one._replace(error=_error(_scenario(tables, one), wanted))
                if best is None or one.error < best.error:
                    best = one
                progress.update()
    assert best is not None
    return best


def _without_holding_back(seen: SeenJobs, log: JobLog, gap_s: float) -> FittedSessions:
    jobs = log.jobs
    sessions = seen_sessions(seen, gap_s)
    starts_s = np.sort(seen.times_s[sessions.first])
    course = fit_course(starts_s, jobs.window_s, log.header, log.begin_s)
    memory_mb = jobs.columns["memory_mb"][seen.rows] if "memory_mb" in jobs.columns else None
    section = section_of(sessions, groups_of(sessions), memory_mb, course, jobs.window_s)
    return FittedSessions(section, course, len(sessions), int(seen.user.max()) + 1, np.inf)


def _scenario(tables: Mapping[str, Any], found: FittedSessions) -> Scenario:
    return scenario_from(with_sessions(tables, found), "sessions")


def with_sessions(tables: Mapping[str, Any], found: FittedSessions) -> dict[str, Any]:
    """The tables of a scenario with these sessions: the course of the day is that of the groups."""
    arrivals: dict[str, Any] = {"kind": "poisson"}
    if found.course.weekly:
        arrivals["weekly"] = list(found.course.weekly)
    if found.course.weekly or any("daily" in group for group in found.section["group"]):
        arrivals["starts_h"] = found.course.starts_h
    return {**tables, "workload": {**tables["workload"], "arrivals": arrivals, "sessions": found.section}}


def _error(scenario: Scenario, wanted: WorkCourse) -> float:
    """How far the course of the work of a scenario's draws is from that of the log, as a mean over draws."""
    return float(np.mean([wanted.error(one) for one in _of_draws(scenario)]))


def _of_draws(scenario: Scenario) -> Iterator[WorkCourse]:
    rate = scenario.workload.jobs_per_s
    assert rate is not None  # as it is written
    for seed in SEEDS:
        jobs = drawn_sessions(scenario, seed, rate)
        run_s, tasks = jobs.columns["cpu_ms"] / 1000.0, jobs.columns["tasks"]
        yield course_of(
            WorkInTime(jobs.arrival_ms / 1000.0, run_s, tasks, scenario.workload.duration_s), REFERENCE_LOAD
        )
