"""Sessions of users: when they begin, whose they are, and the jobs that they are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.clock import DAY_S, HOUR_S
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.sessions.section import UserSessions
from cluster_abm.workload.drawing.arrivals import submission_times_s
from cluster_abm.workload.generators import generator
from cluster_abm.workload.parents import Parents, from_pairs
from cluster_abm.workload.sessions.content import Content, drawn_content
from cluster_abm.workload.sessions.holding_back import put_off, within
from cluster_abm.workload.sessions.hours import begins_of
from cluster_abm.workload.sessions.means import sessions_per_s
from cluster_abm.workload.traces.members import Members

OTHER = "other"


class SessionJobs(NamedTuple):
    """The jobs of all sessions, by their drawn submission."""

    arrival_ms: Floats  # shape (jobs,), ascending [ms]
    columns: dict[str, Floats]  # cpu_ms, tasks and, where a group says it, memory_mb; shape (jobs,) each
    users: Members
    session: Integers  # of each job, shape (jobs,)
    requested_over_longest: Floats  # of each session, NaN: it requests nothing, shape (sessions,)
    parents: Parents | None  # the job that each has to wait for; None: they come at their drawn submissions
    think_ms: Floats | None  # with parents, from that job's end to the submission, NaN without one, shape (jobs,) [ms]


def are_sessions(scenario: Scenario) -> bool:
    """Whether a scenario's jobs come in sessions of users."""
    return scenario.workload.kind == "sessions"


def drawn_sessions(scenario: Scenario, seed: int, jobs_per_s: float) -> SessionJobs:
    """Draw the sessions of a run, and their jobs.

    Jobs that reach beyond the window's end come at its begin, so that the rate is the same everywhere. Sessions that
    are put off beyond it come earlier by whole days.

    Args:
        scenario: whose workload comes in sessions.
        seed: of the run.
        jobs_per_s: mean rate [1/s].

    Raises InputError: as `drawn_content` and `put_off`.
    """
    workload = scenario.workload
    sessions, window_s = workload.sessions, workload.duration_s
    rate = sessions_per_s(scenario, jobs_per_s)
    begins = begins_of(workload)
    starts_s = submission_times_s(begins.arrivals, generator(seed, "arrivals"), window_s, None, rate)
    rng = generator(seed, "sessions")
    groups = _groups(begins.rates, (starts_s + workload.arrivals.starts_h * HOUR_S) % DAY_S, rng)
    users = _users(sessions, groups, rng)
    content = drawn_content(sessions, groups, generator(seed, "session_jobs"))
    offsets_s = content.offsets_s()
    if sessions.hold_back_s > 0.0 and window_s > DAY_S and len(starts_s):
        chance = generator(seed, "hold_back").random(len(starts_s))
        tolerated_s = sessions.hold_back_s * chance / (1.0 - chance)
        processors = float(content.run_s @ content.tasks) / window_s / sessions.reference_load
        later_s = put_off(
            starts_s, tolerated_s, content.first, offsets_s, content.run_s, content.tasks, window_s, processors
        )
        starts_s = within(later_s, window_s)
    session = content.session
    times_s = np.mod(starts_s[session] + offsets_s, window_s)
    order = np.argsort(times_s, kind="stable")
    parents, think_ms = _reacting(content, order) if workload.users == "react" else (None, None)
    columns = {"cpu_ms": content.run_s[order] * 1000.0, "tasks": content.tasks[order]}
    if not np.isnan(content.memory_mb).all():
        columns["memory_mb"] = content.memory_mb[order]
    names = tuple(map(str, range(len(sessions.users))))
    return SessionJobs(
        arrival_ms=times_s[order] * 1000.0,
        columns=columns,
        users=Members(users[session][order], names),
        session=session[order],
        requested_over_longest=content.requested_over_longest,
        parents=parents,
        think_ms=think_ms,
    )


def _groups(rates: Floats, at_s: Floats, rng: np.random.Generator) -> Integers:
    """The group of each session, shape (sessions,).

    Args:
        rates: of each group in each piece of the day, shape (groups, pieces).
        at_s: time of day at which each begins, shape (sessions,) [s].
        rng: the generator.
    """
    chance = rng.random(len(at_s))
    pieces = rates.shape[1]
    ends = np.cumsum(rates, axis=0)
    # At the edge of a piece in which no session begins the shares count.
    ends[:, ends[-1] == 0.0] = np.cumsum(rates.mean(axis=1))[:, None]
    ends /= ends[-1]
    piece = np.minimum((at_s / DAY_S * pieces).astype(np.int64), pieces - 1)
    found = np.zeros(len(at_s), np.int64)
    for number in np.unique(piece):
        rows = piece == number
        found[rows] = np.searchsorted(ends[:, number], chance[rows], side="right")
    return np.minimum(found, len(rates) - 1)


def _users(sessions: UserSessions, groups: Integers, rng: np.random.Generator) -> Integers:
    """The user of each session, shape (sessions,)."""
    chance = rng.random(len(groups))
    weights = np.array(sessions.users)
    weights = weights / weights.sum()
    found = np.zeros(len(groups), np.int64)
    for number, group in enumerate(sessions.group):
        own = weights
        if group.users:
            own = weights * group.users.get(OTHER, 0.0)
            for name, weight in group.users.items():
                if name != OTHER:
                    own[int(name)] += weight
        rows = groups == number
        found[rows] = np.searchsorted(np.cumsum(own) / own.sum(), chance[rows], side="right")
    return np.minimum(found, len(weights) - 1)


def _reacting(content: Content, order: Integers) -> tuple[Parents | None, Floats | None]:
    """The job after whose end each comes, and how long after it, in an order of the jobs; None: no job waits.

    Those that come without waiting after a job that does come as long after the same end.
    """
    jobs = len(order)
    place = np.arange(jobs)
    # The last job before, or at, each that comes after an end: of its own session, for a first job comes after none.
    last = np.maximum.accumulate(np.where(content.after_end, place, -1))
    last[last < content.first[:-1][content.session]] = -1
    waits = np.flatnonzero(last >= 0)
    if not len(waits):
        return None, None
    total = np.cumsum(content.delay_s)
    since = last[waits]
    think_s = total[waits] - total[since] + content.delay_s[since]
    rank = np.empty(jobs, np.int64)
    rank[order] = place
    think_ms = np.full(jobs, np.nan)
    think_ms[rank[waits]] = think_s * 1000.0
    return from_pairs(jobs, rank[since - 1], rank[waits]), think_ms
