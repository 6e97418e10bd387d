"""What sessions hold: how many jobs, how wide, how long, and when each comes after the one before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.limits import BYTES_A_USERS_JOB, check_jobs
from cluster_abm.scenario.dependence import normal_correlation
from cluster_abm.scenario.sessions import SessionGroup, UserSessions
from cluster_abm.workload.drawing.dependence import LEAST, MOST
from cluster_abm.workload.drawing.draws import draw, quantile
from cluster_abm.workload.times import check_longest


@dataclass(frozen=True)
class Content:
    """Jobs, session after session."""

    first: Integers  # where the jobs of each session begin, and behind the last where they end, shape (sessions + 1,)
    run_s: Floats  # CPU time of a task of each, shape (jobs,) [s]
    tasks: Floats  # shape (jobs,)
    memory_mb: Floats  # of a task, NaN: its group does not say, shape (jobs,)
    # What a session requests over what its longest job takes alone, shape (sessions,); NaN: it requests nothing.
    requested_over_longest: Floats
    after_end: Flags  # which jobs come after the end of the previous one of their session, shape (jobs,)
    delay_s: Floats  # after that end, or after the previous submission; 0 of a first job, shape (jobs,) [s]
    response_s: Floats  # from the submission of each to its drawn end, shape (jobs,) [s]

    @property
    def session(self) -> Integers:
        """The session of each job, shape (jobs,)."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def offsets_s(self) -> Floats:
        """When each comes after the begin of its session, those after an end at the drawn one, shape (jobs,) [s]."""
        step = self.delay_s.copy()
        behind = np.flatnonzero(self.after_end)
        step[behind] += self.response_s[behind - 1]
        total = np.cumsum(step)
        return total - total[self.first[:-1]][self.session]


def drawn_content(sessions: UserSessions, groups: Integers, rng: np.random.Generator) -> Content:
    """Draw what sessions hold.

    Args:
        sessions: the laws.
        groups: the group of each session, shape (sessions,).
        rng: the generator; draws from nothing else.

    Raises InputError: more jobs than fit into memory, or times that no clock holds.
    """
    of_group = [np.flatnonzero(groups == number) for number in range(len(sessions.group))]
    drawn = np.ones(len(groups))
    for group, rows in zip(sessions.group, of_group, strict=True):
        drawn[rows] = _counts(group, len(rows), rng)
    check_jobs("workload.sessions.group: jobs of the sessions", float(drawn.sum()), 1.0, BYTES_A_USERS_JOB)
    counts = drawn.astype(np.int64)
    first = np.concatenate([[0], np.cumsum(counts)])
    jobs = int(first[-1])
    run_s, tasks, memory_mb = np.empty(jobs), np.empty(jobs), np.full(jobs, np.nan)
    requested, after_end, gap_s = np.full(len(groups), np.nan), np.zeros(jobs), np.zeros(jobs)
    for group, rows in zip(sessions.group, of_group, strict=True):
        if not len(rows):
            continue
        own = np.repeat(np.arange(len(rows)), counts[rows])
        places = np.arange(len(own)) - (np.cumsum(counts[rows]) - counts[rows])[own] + first[rows][own]
        tasks[places] = _widths(group, own, len(rows), rng)
        run_s[places] = _run_times(group, own, len(rows), tasks[places], rng)
        if group.memory_mb is not None:
            memory_mb[places] = draw(group.memory_mb, rng, len(own))
        if group.requested_over_longest is not None:
            requested[rows] = np.maximum(1.0, draw(group.requested_over_longest, rng, len(rows)))
        after_end[places] = group.after_end
        gap_s[places] = draw(group.gap_s, rng, len(rows))[own]
    response_s = run_s + draw(sessions.wait_s, rng, jobs)
    gap_s *= draw(sessions.gap_spread, rng, jobs)
    think_s = draw(sessions.think_s, rng, jobs)
    is_after = rng.random(jobs) < after_end
    # Who waits longer than a session's gaps last does not wait for the end.
    is_after[1:] &= response_s[:-1] <= sessions.longest_gap_s
    delay_s = np.where(is_after, think_s, gap_s)
    begins = first[:-1]
    is_after[begins], delay_s[begins] = False, 0.0
    for name, values in (("work_s", run_s), ("gap_s, think_s or wait_s", delay_s + response_s)):
        check_longest(values * 1000.0, f"workload.sessions: {name}")
    return Content(
        first=first,
        run_s=run_s,
        tasks=tasks,
        memory_mb=memory_mb,
        requested_over_longest=requested,
        after_end=is_after,
        delay_s=delay_s,
        response_s=response_s,
    )


def _counts(group: SessionGroup, count: int, rng: np.random.Generator) -> Floats:
    """Jobs of each session, whole numbers: between two of them one of both, so that the mean is the law's."""
    drawn = draw(group.jobs, rng, count)
    return np.maximum(1.0, np.floor(drawn + rng.random(count)))


def _widths(group: SessionGroup, session: Integers, sessions: int, rng: np.random.Generator) -> Floats:
    """Tasks of each job: those of its session's first one in sessions of one width, else its own or those of the job
    before."""
    numbers = np.array([int(name) for name in group.widths], float)
    ends = np.cumsum(np.array(list(group.widths.values())))
    ends /= ends[-1]

    def drawn(count: int) -> Floats:
        return numbers[np.minimum(np.searchsorted(ends, rng.random(count), side="right"), len(numbers) - 1)]

    has_one, own = rng.random(sessions) < group.one_width, drawn(len(session))
    is_same = has_one[session] | (rng.random(len(session)) < group.same_width)
    is_same[np.unique(session, return_index=True)[1]] = False
    # Of each job the last one up to it that does not follow another one.
    return own[np.maximum.accumulate(np.where(is_same, 0, np.arange(len(session))))]


def _beside(values: Floats, spearman: float, rng: np.random.Generator) -> Floats:
    """Uniform numbers in 0..1, neither end, of a rank correlation with values, shape as `values`."""
    chance = rng.permutation(len(values))  # among equal values
    rank = np.empty(len(values))
    # Anywhere within its part, so that few values have uniform ranks, too.
    rank[np.lexsort((chance, values))] = (np.arange(len(values)) + rng.random(len(values))) / len(values)
    rank = np.clip(rank, LEAST, MOST)
    correlation = normal_correlation(spearman)
    normal = correlation * ndtri(rank) + np.sqrt(1.0 - correlation**2) * rng.standard_normal(len(values))
    return np.clip(ndtr(normal), LEAST, MOST)


def _run_times(
    group: SessionGroup, session: Integers, sessions: int, tasks: Floats, rng: np.random.Generator
) -> Floats:
    """CPU time of a task of each job [s]: the session's work, in the ratios of the jobs' spread.

    What is longer than the group's longest is cut, and the others of the session get longer by one factor, until none
    is. Where all are as long as that, the rest of the work is lost.
    """
    of_session = np.bincount(session, tasks, sessions).astype(float)
    work_s = quantile(group.work_s, _beside(of_session, group.work_with_tasks, rng))
    ratio = draw(group.spread, rng, len(session))
    largest = np.maximum.reduceat(ratio, np.flatnonzero(np.diff(session, prepend=-1)))[session]
    # Ratios of which a float holds none above 0 say nothing: jobs of such a session are alike.
    ratio = np.divide(ratio, largest, out=np.ones(len(session)), where=largest > 0.0)
    run_s = ratio * (work_s / np.bincount(session, ratio * tasks, sessions))[session]
    is_cut = np.zeros(len(session), bool)
    while (longer := ~is_cut & (run_s > group.longest_s)).any():
        is_cut |= longer
        held = np.bincount(session, group.longest_s * tasks * is_cut, sessions)
        others = np.bincount(session, np.where(is_cut, 0.0, run_s * tasks), sessions)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(others > 0, np.maximum(work_s - held, others) / others, 1.0)
        run_s = np.where(is_cut, group.longest_s, run_s * factor[session])
    return run_s
