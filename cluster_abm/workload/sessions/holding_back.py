"""Users hold back: sessions that would begin while a reference machine has a large backlog begin on a later day.

In logs less work is submitted the more work waits: users wait for what they have submitted, and long jobs come when the
machine is quiet. What is drawn independently of it queues several times as long as the log. The reference machine makes
draws hold back the same way for every policy: it serves the drawn jobs as a fluid, whatever the simulated cluster does.
"""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.clock import DAY_S, HOUR_S
from cluster_abm.jit import kernel
from cluster_abm.limits import check_memory

DAY_HOURS = 24
# From when on, past the window, no session is put off any more [hours]: what is left comes then.
LATEST_H = 24 * 366
# Its place in `busy` and `head` of `_serve`.
BYTES_AN_HOUR = 16


def put_off(
    starts_s: Floats, tolerated_s: Floats, first: Integers, offsets_s: Floats, run_s: Floats, tasks: Floats,
    window_s: float, processors: float,
) -> Floats:  # fmt: skip
    """When sessions begin that are put off by whole days, until the backlog is what their users tolerate, shape
    (sessions,) [s]; some may lie beyond the window.

    In an hour the reference machine does what its processors can of the work of the jobs that are there, as if each ran
    alone from its submission on; the rest is its backlog, in hours of the whole machine.

    Args:
        starts_s: when they would begin, ascending, shape (sessions,) [s].
        tolerated_s: the backlog at which each still begins, shape (sessions,) [s].
        first: where the jobs of each begin, and behind the last where they end, shape (sessions + 1,).
        offsets_s: submission of each job after the begin of its session, shape (jobs,) [s].
        run_s: how long each runs alone, shape (jobs,) [s].
        tasks: of each, shape (jobs,).
        window_s: in which they would begin [s].
        processors: of the reference machine.

    Raises InputError: a window of more hours than fit into memory.
    """
    hours = math.ceil(window_s / HOUR_S) + LATEST_H
    check_memory(f"workload.duration_s = {window_s:g} with users who hold back", hours * BYTES_AN_HOUR, hours, "hours")
    begins = starts_s.copy()
    head, following = np.full(hours, -1, np.int64), np.full(len(begins), -1, np.int64)
    _serve(begins, tolerated_s / HOUR_S, first, offsets_s, run_s, tasks, processors, np.zeros(hours), head, following)
    return begins


def within(begins_s: Floats, window_s: float) -> Floats:
    """When sessions begin in the window: those that are put off beyond it come earlier by as many of its whole days as
    it takes, so that they keep their hour, shape (sessions,) [s].

    Args:
        begins_s: from 0 on, shape (sessions,) [s].
        window_s: longer than a day [s].
    """
    whole_s = window_s // DAY_S * DAY_S
    times = np.floor((begins_s - window_s) / whole_s) + 1.0
    return begins_s - np.maximum(times, 0.0) * whole_s


@kernel
def _serve(
    begins_s: Floats, tolerated_h: Floats, first: Integers, offsets_s: Floats, run_s: Floats, tasks: Floats,
    processors: float, busy: Floats, head: Integers, following: Integers,
) -> None:  # fmt: skip
    """Go through the hours, and move `begins_s`.

    Args:
        busy: processors that jobs would keep busy in each hour, 0 at first, shape (hours,).
        head: the first session of each hour, -1: none, shape (hours,); following: the one after each session.
    """
    hours = len(busy)
    for session in range(len(begins_s) - 1, -1, -1):
        hour = min(int(begins_s[session] // HOUR_S), hours - 1)
        following[session] = head[hour]
        head[hour] = session
    backlog_h = 0.0
    for hour in range(hours):
        session = head[hour]
        while session >= 0:
            after = following[session]
            later = hour + DAY_HOURS
            if backlog_h > tolerated_h[session] and later < hours:
                begins_s[session] += DAY_HOURS * HOUR_S
                following[session] = head[later]
                head[later] = session
            else:
                for job in range(first[session], first[session + 1]):
                    _keep_busy(busy, begins_s[session] + offsets_s[job], run_s[job], tasks[job])
            session = after
        backlog_h = max(0.0, backlog_h + (busy[hour] - processors) / processors)


@kernel
def _keep_busy(busy: Floats, begin_s: float, run_s: float, tasks: float) -> None:
    """Add a job's processors to the hours in which it runs."""
    end_s = begin_s + run_s
    hour = int(begin_s // HOUR_S)
    while begin_s < end_s and hour < len(busy):
        until_s = min(end_s, (hour + 1) * HOUR_S)
        busy[hour] += tasks * (until_s - begin_s) / HOUR_S
        begin_s = until_s
        hour += 1
