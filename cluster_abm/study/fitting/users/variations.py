"""How work varies with time, and how users hold back: what a choice of sessions is judged by, not by waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.clock import DAY_S, HOUR_S, WEEK_S

# The amount of work up to each of some instants [s], shape as these.
Amount = Callable[[Floats], Floats]

# Lengths of time in which work is summed up, those of which the window has enough [s].
PIECES_S = (6 * HOUR_S, DAY_S, 3 * DAY_S, WEEK_S, 2 * WEEK_S, 4 * WEEK_S)
FEWEST_PIECES = 8
# What is taken for 0, of which there is no logarithm.
LEAST = 1e-3
# From how many instants on windows are laid.
BEGINS = 4


class WorkInTime(NamedTuple):
    """Jobs as work that comes at instants, and keeps processors busy from then on."""

    times_s: Floats  # of submissions, shape (jobs,) [s]
    run_s: Floats  # CPU time of a task, shape (jobs,) [s]
    tasks: Floats  # shape (jobs,)
    window_s: float  # in which they come [s]


class WorkCourse(NamedTuple):
    """What is compared of a log and of draws; each above 0."""

    # standard deviation over mean of the work that is submitted in pieces of time, by their length, shape (pieces,)
    submitted: Floats
    # the same of the processors that it would keep busy if each job ran from its submission on
    served: Floats
    # The work that is submitted within a day from an hour on, over its mean: the mean over hours, weighted by the
    # backlog of a reference machine. 1: users do not look at it; less: they hold back.
    in_spite_of_backlog: float

    def error(self, other: WorkCourse) -> float:
        """How far another course is from this one: the root mean square of the logarithms of what it has over what this
        one has, where the three parts count the same."""
        parts = [
            float(np.mean(np.log(np.divide(one, mine)) ** 2))
            for one, mine in (
                (other.submitted, self.submitted), (other.served, self.served),
                (other.in_spite_of_backlog, self.in_spite_of_backlog),
            )
            if np.size(mine)
        ]  # fmt: skip
        return float(np.sqrt(np.mean(parts)))


def course_of(work: WorkInTime, reference_load: float) -> WorkCourse:
    """What is compared."""
    pieces = [piece for piece in PIECES_S if work.window_s / piece >= FEWEST_PIECES]
    order = np.argsort(work.times_s, kind="stable")
    times_s, each = work.times_s[order], (work.run_s * work.tasks)[order]
    summed = np.concatenate([[0.0], np.cumsum(each)])

    def submitted(instants_s: Floats) -> Floats:
        return summed[np.searchsorted(times_s, instants_s)]

    changes_s, done = _served(work)

    def served(instants_s: Floats) -> Floats:
        return np.interp(instants_s, changes_s, done)

    return WorkCourse(
        np.array([_variation(submitted, work.window_s, piece) for piece in pieces]),
        np.array([_variation(served, work.window_s, piece) for piece in pieces]),
        _in_spite_of_backlog(submitted, served, work.window_s, reference_load),
    )


def _in_spite_of_backlog(submitted: Amount, served: Amount, window_s: float, load: float) -> float:
    hours = np.arange(0.0, window_s, HOUR_S)
    come = submitted(np.minimum(hours + DAY_S, window_s)) - submitted(hours)
    busy = np.diff(served(np.append(hours, window_s)))
    # What the reference machine can do in an hour: a fluid that waits where more comes.
    surplus = busy - busy.mean() / load
    total = np.concatenate([[0.0], np.cumsum(surplus)])
    backlog = (total - np.minimum.accumulate(total))[:-1]
    whole = hours <= window_s - DAY_S
    come, backlog = come[whole], backlog[whole]
    if not (backlog.any() and come.any()):
        return 1.0
    return max(float((come @ backlog) / backlog.sum() / come.mean()), LEAST)


def _served(work: WorkInTime) -> tuple[Floats, Floats]:
    """The work done up to each instant at which a job begins or ends, if each ran from its submission on."""
    instants = np.concatenate([work.times_s, work.times_s + work.run_s])
    changes = np.concatenate([work.tasks, -work.tasks])
    order = np.argsort(instants, kind="stable")
    instants = instants[order]
    busy = np.cumsum(changes[order])[:-1]
    return instants, np.concatenate([[0.0], np.cumsum(busy * np.diff(instants))])


def _variation(by: Amount, window_s: float, piece_s: float) -> float:
    found = []
    for begin in range(BEGINS):
        at = begin / BEGINS * piece_s
        edges = np.arange(at, window_s + 1e-9, piece_s)
        amounts = np.diff(by(edges))
        found.append(float(amounts.std() / amounts.mean()) if amounts.sum() > 0 else 0.0)
    return max(float(np.mean(found)), LEAST)
