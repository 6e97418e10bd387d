"""The sessions of a log: jobs of one user, each submitted soon after the one before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.study.fitting.log import Jobs
from cluster_abm.workload.resampling.sessions import begin_sessions


@dataclass(frozen=True)
class SeenJobs:
    """Jobs of which user and CPU time are known, user by user, by submission."""

    rows: Integers  # their places in the log, shape (jobs,)
    times_s: Floats  # shape (jobs,) [s]
    user: Integers  # numbered from 0, shape (jobs,)
    cpu_s: Floats  # of a task, shape (jobs,) [s]
    tasks: Floats  # shape (jobs,)
    response_s: Floats  # wait in the log, 0 where not known, and run time alone, shape (jobs,) [s]
    wait_s: Floats  # NaN: not known, shape (jobs,) [s]
    alone_s: Floats  # run time alone, shape (jobs,) [s]
    requested_s: Floats  # NaN: nothing, shape (jobs,) [s]

    def __len__(self) -> int:
        return len(self.times_s)


def seen_jobs(jobs: Jobs) -> SeenJobs:
    """The jobs of a log whose users it names."""
    assert jobs.users is not None
    assert jobs.held is not None
    known = (jobs.users >= 0) & ~np.isnan(jobs.columns["cpu_ms"]) & (jobs.columns["cpu_ms"] > 0)
    place = np.flatnonzero(known)
    place = place[np.lexsort((jobs.times_s[place], jobs.users[place]))]
    wait_s = np.full(len(place), np.nan) if jobs.waits_s is None else jobs.waits_s[place]
    held = jobs.held.at(place)
    alone_s = held.alone_ms / 1000.0
    return SeenJobs(
        rows=place,
        times_s=jobs.times_s[place],
        user=np.unique(jobs.users[place], return_inverse=True)[1].astype(np.int64),
        cpu_s=jobs.columns["cpu_ms"][place] / 1000.0,
        tasks=held.tasks,
        response_s=np.nan_to_num(wait_s) + alone_s,
        wait_s=wait_s,
        alone_s=alone_s,
        requested_s=np.full(len(place), np.nan) if held.requested_ms is None else held.requested_ms / 1000.0,
    )


@dataclass(frozen=True)
class SeenSessions:
    """Sessions whose jobs follow each other within a gap."""

    jobs: SeenJobs
    longest_gap_s: float  # gaps from one submission to the next are shorter [s]
    first: Integers  # where the jobs of each begin, shape (sessions,)
    session: Integers  # of each job, shape (jobs,)
    count: Integers  # jobs of each, shape (sessions,)
    work_s: Floats  # CPU time of all tasks of each, shape (sessions,) [s]
    gap_s: Floats  # from the submission of the job before, 0 of a first one, shape (jobs,) [s]
    since_end_s: Floats  # from the end of the job before; below 0: it came before that, shape (jobs,) [s]
    follows: Flags  # which jobs are not the first of their session, shape (jobs,)
    # which of these could have come after the end of the one before, for it ended within the gap, and which did
    could_wait: Flags
    after_end: Flags
    # the mean gap of the jobs that follow and did not come after an end; NaN: no such job, shape (sessions,) [s]
    mean_gap_s: Floats

    def __len__(self) -> int:
        return len(self.first)

    def mean(self, of_jobs: Floats) -> Floats:
        """The mean of what is known of each job over the jobs of each session, shape (sessions,)."""
        return np.asarray(np.bincount(self.session, of_jobs, len(self)) / self.count)


def seen_sessions(jobs: SeenJobs, longest_gap_s: float) -> SeenSessions:
    """Cut the jobs of each user where the next one is submitted a gap after the one before, or later."""
    gap_s = np.diff(jobs.times_s, prepend=jobs.times_s[:1])
    begins = begin_sessions(jobs.user, jobs.times_s, longest_gap_s)
    session = np.cumsum(begins) - 1
    gap_s = np.where(begins, 0.0, gap_s)
    before_s = np.concatenate([[0.0], jobs.response_s[:-1]])
    since_end_s = np.where(begins, 0.0, gap_s - before_s)
    could_wait = ~begins & (before_s <= longest_gap_s)
    after_end = could_wait & (since_end_s >= 0.0)
    at_once = ~begins & ~after_end
    with np.errstate(invalid="ignore"):
        mean_gap_s = np.bincount(session, gap_s * at_once) / np.bincount(session, at_once)
    return SeenSessions(
        jobs=jobs,
        longest_gap_s=longest_gap_s,
        first=np.flatnonzero(begins),
        session=session,
        count=np.bincount(session),
        work_s=np.bincount(session, jobs.cpu_s * jobs.tasks).astype(float),
        gap_s=gap_s,
        since_end_s=since_end_s,
        follows=~begins,
        could_wait=could_wait,
        after_end=after_end,
        mean_gap_s=mean_gap_s,
    )
