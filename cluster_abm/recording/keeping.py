"""Which part of a run a recording keeps: all of it, every n-th job, or what lives in a window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cluster_abm.arguments import COUNT, NUMBER, Kind, check_arguments, or_none
from cluster_abm.arrays import Array, Integers
from cluster_abm.clock import NS_PER_MS
from cluster_abm.errors import InputError

# Of more tasks a recording keeps every n-th job, unless it is told which.
MOST_TASKS = 400_000
# The largest time that may be asked for [s]: 146 years.
LONGEST_S = 4.6e9
SECONDS = Kind(
    f"a time of 0 to {LONGEST_S:.2g} s", lambda value: NUMBER.fits(value) and 0.0 <= float(str(value)) <= LONGEST_S
)


class Excerpt(NamedTuple):
    """The part of a run that is asked for."""

    every: int | None = None  # every n-th job; None: all, or fewer of a run of more than MOST_TASKS
    from_ns: int | None = None  # only what lives from then on [ns]
    to_ns: int | None = None  # and before that [ns]

    @property
    def is_window(self) -> bool:
        """Whether it is a part of the time."""
        return self.from_ns is not None or self.to_ns is not None

    def within(self, first_ns: Integers, last_ns: Integers) -> Array:
        """Which of these spans reach into the window, shape (spans,)."""
        inside = np.ones(len(first_ns), bool)
        if self.from_ns is not None:
            inside &= last_ns >= self.from_ns
        if self.to_ns is not None:
            inside &= first_ns < self.to_ns
        return inside


def excerpt_of(every: int | None, from_s: float | None, to_s: float | None) -> Excerpt:
    """The part of a run in the units of recordings. Raises InputError: it can be none."""
    check_arguments(every=(every, or_none(COUNT)), from_s=(from_s, or_none(SECONDS)), to_s=(to_s, or_none(SECONDS)))
    from_ns, to_ns = (None if value is None else span_ns(float(value)) for value in (from_s, to_s))
    if to_ns is not None and to_ns <= (from_ns or 0):
        raise InputError(f"to_s = {to_s:g}: a time after from_s = {from_s or 0:g} is needed")
    return Excerpt(every, from_ns, to_ns)


def span_ns(time_s: float) -> int:
    """A time in whole nanoseconds."""
    return round(time_s * 1000.0 * NS_PER_MS)


def every_of(excerpt: Excerpt, tasks_of_jobs: Integers) -> int:
    """Every how-manyth job is kept: as asked, or so that at most MOST_TASKS tasks are.

    Args:
        tasks_of_jobs: how many tasks of each job could be kept, by the job's number.
    """
    if excerpt.every is not None:
        return excerpt.every
    total = int(tasks_of_jobs.sum())
    every = max(1, math.ceil(total / MOST_TASKS))
    while every < len(tasks_of_jobs) and int(tasks_of_jobs[::every].sum()) > MOST_TASKS:
        every += 1
    return every


def kept_meta(excerpt: Excerpt, every: int, tasks: int) -> Mapping[str, Any]:
    """`kept` of a recording's meta: the part in numbers and in words.

    Args:
        every: every how-manyth job is kept.
        tasks: how many tasks there were of which these were taken.
    """
    words = []
    if every > 1:
        why = "" if excerpt.every is not None else f": a recording keeps at most {MOST_TASKS:,}"
        words.append(f"one job in {every:,}, of {tasks:,} tasks{why}")
    if excerpt.is_window:
        begin = "the beginning" if excerpt.from_ns is None else f"{excerpt.from_ns / 1e9:,.10g} s"
        end = "the end" if excerpt.to_ns is None else f"{excerpt.to_ns / 1e9:,.10g} s"
        words.append(f"what lives from {begin} to {end}")
    return {"every": every, "from_ns": excerpt.from_ns, "to_ns": excerpt.to_ns, "why": "; ".join(words)}
