"""The weeks of a log in two halves: one is fitted, the other is held back and judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cluster_abm.clock import WEEK_S
from cluster_abm.errors import InputError
from cluster_abm.study.fitting.log import FEWEST_JOBS, JobLog, Jobs


def halves(log: JobLog) -> tuple[JobLog, JobLog]:
    """The first, third, fifth ... week of a log, and the second, fourth, sixth ...: each one after the other.

    Weekdays and hours stay as they are, for a week follows a week. Weeks count from the begin of the window; the last
    one may be shorter.

    Raises InputError: fewer than two whole weeks, or too few jobs for a fit in a half.
    """
    weeks = log.jobs.window_s / WEEK_S
    if weeks < 2:
        raise InputError(f"{log.file}: lasts {weeks:.3g} weeks: to hold half of them back it needs at least 2")
    found = [every_other_week(log.jobs, first) for first in (0, 1)]
    for name, jobs in zip(("first, third, ...", "second, fourth, ..."), found, strict=True):
        if len(jobs) < FEWEST_JOBS:
            raise InputError(f"{log.file}: {len(jobs)} jobs in its {name} week: a fit needs at least {FEWEST_JOBS}")
    fitted, held_back = (replace(log, jobs=jobs) for jobs in found)
    return fitted, replace(held_back, begin_s=log.begin_s + WEEK_S)


def every_other_week(jobs: Jobs, first: int) -> Jobs:
    """Every second week, one after the other.

    Args:
        first: the number of the first one that is taken, from 0 on.
    """
    week = np.floor(jobs.times_s / WEEK_S)
    rows = np.flatnonzero(week % 2 == first)
    before = (week[rows] - first) / 2
    times_s = jobs.times_s[rows] - (week[rows] - before) * WEEK_S
    whole, rest_s = divmod(jobs.window_s, WEEK_S)
    taken = int(whole + 1 - first) // 2
    is_last_taken = whole % 2 == first
    return jobs.at(rows, times_s, taken * WEEK_S + (rest_s if is_last_taken else 0.0))
