"""At which hours the sessions of each group begin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.scenario.arrivals import Arrivals
from cluster_abm.study.fitting.courses import HOURS, Course
from cluster_abm.workload.drawing.rates import weights_of_pieces

# The sessions of a group are those of so many more, which come at the hours of all: few sessions say little of hours.
MORE_SESSIONS = 48
# How often hours and groups are scaled in turn, until the sums of both are the log's.
PASSES = 50


class GroupHours(NamedTuple):
    """Sessions over days, group by group, as [[workload.sessions.group]] has them."""

    shares: Floats  # sessions in as long a time as the window that is whole weeks, shape (groups,)
    daily: Floats  # relative rates of the hours, of mean 1 in each group, shape (groups, 24)


def hours_of_groups(hours: Integers, groups: Integers, course: Course, window_s: float) -> GroupHours:
    """The shares and courses of groups, with which as many sessions of each come in the log's window as in the log, and
    as many of all groups together in each hour of the day.

    Args:
        hours: hour of the day at which each session begins, shape (sessions,).
        groups: the group of each session, shape (sessions,).
        course: of the begins of all sessions; without `daily` the sum over groups is the same at all hours.
        window_s: of the log [s].
    """
    seen = np.zeros((int(groups.max()) + 1, HOURS))
    np.add.at(seen, (groups, hours), 1.0)
    of_group = seen.sum(axis=1)
    time_s = weights_of_pieces(Arrivals(weekly=course.weekly, starts_h=course.starts_h), window_s, HOURS)
    of_hour = seen.sum(axis=0) if course.daily else len(hours) * time_s / time_s.sum()
    sessions = seen + MORE_SESSIONS / len(hours) * of_hour
    for _ in range(PASSES):
        sessions *= (of_group / sessions.sum(axis=1))[:, None]
        # No session has begun in some hours.
        sessions *= np.divide(of_hour, sessions.sum(axis=0), out=np.zeros(HOURS), where=of_hour > 0.0)
    rates = np.divide(sessions, time_s, out=np.zeros_like(sessions), where=time_s > 0.0)
    means = rates.mean(axis=1)
    return GroupHours(means * time_s.sum(), rates / means[:, None])
