"""A log of the same length from a log's users and their weeks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.clock import WEEK_S
from cluster_abm.workload.resampling.sessions import Sessions

WEEK_MS = WEEK_S * 1000.0
# Users who come for less than this are temporary; in a short log, for less than half of it.
LONG_WEEKS = 12


class DrawnJobs(NamedTuple):
    """The jobs of a log that is made from another one."""

    rows: Integers  # which job of the other log each one is, shape (drawn,)
    arrival_ms: Floats  # when it is submitted, ascending, shape (drawn,) [ms]


def in_order(rows: Integers, arrival_ms: Floats) -> DrawnJobs:
    """The jobs by arrival; of equal ones those first that come first in the other log."""
    order = np.lexsort((rows, arrival_ms))
    return DrawnJobs(rows[order], arrival_ms[order])


def weeks_drawn(arrival_ms: Floats, sessions: Sessions, weeks: int, random: np.random.Generator) -> DrawnJobs:
    """Draw users and weeks: a log of as many weeks.

    Zakay and Feitelson (2014) tell two kinds of users apart. Weeks of the long-term users are drawn with replacement,
    the same weeks for all of them: whose jobs met in a week, and who held back in it, stays as it was. As many
    temporary users as the log has are drawn with replacement; each comes from a week that is drawn, too, and goes on
    for as long as in the log, from the last week to the first where that is beyond the end. Everything moves by whole
    weeks. A session belongs to the week in which it begins, and stays whole: the last jobs of a draw may come a little
    after its last week.

    Args:
        arrival_ms: of the log's jobs, from the begin of its first week, ascending, shape (jobs,) [ms].
        sessions: of these jobs.
        weeks: whole ones of the log, at least 2. What begins later is left out.
        random: draws.
    """
    week = (sessions.first_ms // WEEK_MS).astype(np.int64)
    inside = week < weeks
    of_jobs, temporary = sessions.of_jobs, _are_temporary(sessions.user, week, inside, weeks)
    drawn_weeks = random.integers(weeks, size=weeks)
    long_term = np.flatnonzero((inside & ~temporary)[of_jobs])
    rows, copies = _gathered(long_term, week[of_jobs[long_term]], drawn_weeks, weeks)
    moved = copies - week[of_jobs[rows]]
    users = np.unique(sessions.user[inside & temporary])
    if len(users):
        drawn = random.integers(len(users), size=len(users))
        begins = random.integers(weeks, size=len(users))
        short = np.flatnonzero((inside & temporary)[of_jobs])
        own = np.searchsorted(users, sessions.user[of_jobs[short]])
        more, copies = _gathered(short, own, drawn, len(users))
        first = np.full(len(users), weeks)
        np.minimum.at(first, own, week[of_jobs[short]])
        since = week[of_jobs[more]] - first[drawn[copies]]
        moved = np.concatenate([moved, (begins[copies] + since) % weeks - week[of_jobs[more]]])
        rows = np.concatenate([rows, more])
    return in_order(rows, arrival_ms[rows] + moved * WEEK_MS)


def _are_temporary(user: Integers, week: Integers, inside: Flags, weeks: int) -> Flags:
    """Whether each session, shape (sessions,), is one of a temporary user's."""
    firsts = np.flatnonzero(np.r_[True, user[1:] != user[:-1]])
    # Of each user by time: those inside come first.
    begin = week[firsts]
    end = np.maximum.reduceat(np.where(inside, week, -1), firsts)
    span = end - begin + 1
    return np.repeat(span < min(LONG_WEEKS, weeks // 2), np.diff(np.append(firsts, len(user))))


def _gathered(rows: Integers, groups: Integers, drawn: Integers, count: int) -> tuple[Integers, Integers]:
    """The rows of the groups that are drawn, and for each of them the place in `drawn`.

    Args:
        rows: shape (rows,).
        groups: of each row its group, shape (rows,).
        drawn: numbers of groups, shape (draws,).
        count: how many groups there are.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups, minlength=count)
    begins = np.cumsum(sizes) - sizes
    taken = sizes[drawn]
    places = np.repeat(np.arange(len(drawn)), taken)
    within = np.arange(len(places)) - np.repeat(np.cumsum(taken) - taken, taken)
    return rows[order[begins[drawn[places]] + within]], places
