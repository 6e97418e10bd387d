"""Sessions: the jobs that a user submits without a longer break."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.workload.traces.members import Members

# A gap as long as this, from one submission of a user to the next, ends a session. Where sessions are defined by think
# times (Zilber et al. 2005) it is 20 minutes from the end of a job. Submissions alone are known of every log, and do
# not depend on how long its machine made jobs wait.
LONGEST_GAP_MS = 20 * 60_000.0


class Sessions(NamedTuple):
    """The sessions of a log, numbered by user, and by time within a user."""

    of_jobs: Integers  # the session of each job, shape (jobs,)
    user: Integers  # whose it is, ascending, shape (sessions,)
    first_ms: Floats  # its first submission, shape (sessions,) [ms]
    last_ms: Floats  # its last one


def begin_sessions(users: Integers, times: Floats, longest_gap: float) -> Flags:
    """Which jobs are the first of their session, shape (jobs,).

    Args:
        users: of the jobs, user by user, shape (jobs,).
        times: of their submissions, ascending within a user, shape (jobs,).
        longest_gap: a gap as long as this, or longer, ends a session, in the unit of `times`.
    """
    begins = np.ones(len(times), bool)
    begins[1:] = (np.diff(users) != 0) | (np.diff(times) >= longest_gap)
    return begins


def sessions_of(arrival_ms: Floats, users: Members) -> Sessions:
    """The sessions of jobs. A job whose user is not known is a user's only one.

    Args:
        arrival_ms: ascending, shape (jobs,) [ms].
        users: of the jobs.
    """
    numbers = users.numbers.copy()
    unknown = numbers < 0
    numbers[unknown] = len(users.names) + np.arange(int(unknown.sum()))
    order = np.argsort(numbers, kind="stable")
    at_ms, by = arrival_ms[order], numbers[order]
    begins = begin_sessions(by, at_ms, LONGEST_GAP_MS)
    firsts = np.flatnonzero(begins)
    of_jobs = np.empty(len(order), np.int64)
    of_jobs[order] = np.cumsum(begins) - 1
    lasts = np.append(firsts[1:], len(order)) - 1
    return Sessions(of_jobs, by[firsts], at_ms[firsts], at_ms[lasts])
