"""What `workload.trace.resample` makes of the chosen part of a log."""

from __future__ import annotations

from typing import TypeGuard

from cluster_abm.arrays import Floats
from cluster_abm.clock import DAY_S
from cluster_abm.errors import InputError
from cluster_abm.scenario.trace import TraceChoice
from cluster_abm.workload.generators import generator
from cluster_abm.workload.resampling.sessions import sessions_of
from cluster_abm.workload.resampling.shaking import shaken
from cluster_abm.workload.resampling.weeks import WEEK_MS, DrawnJobs, weeks_drawn
from cluster_abm.workload.traces.members import Members

FEWEST_WEEKS = 2


def resampled(arrival_ms: Floats, users: Members | None, choice: TraceChoice, seed: int, where: str) -> DrawnJobs:
    """The jobs that a seed draws from those of a log.

    Raises InputError: no job has a user, the window has too few whole weeks, or a draw has no job.

    Args:
        arrival_ms: of the log's jobs from the window's begin, ascending, shape (jobs,) [ms].
        users: of these jobs; None: the log says none.
        choice: what to do; not "none".
        seed: of the run.
        where: names the log in messages.
    """
    said = f'{where}: workload.trace.resample = "{choice.resample}"'
    if not _has_users(users):
        raise InputError(
            f'{said}: draws by user, and no job has one: allowed "none"; users are field 12 of an SWF log, User of '
            "sacct, and the column `user` of a table or a map of columns"
        )
    random, sessions = generator(seed, "resample"), sessions_of(arrival_ms, users)
    last_ms = float(arrival_ms[-1])
    if choice.resample == "shake":
        window_ms = last_ms if choice.duration_s is None else choice.duration_s * 1000.0
        return shaken(arrival_ms, sessions, choice.shake_s * 1000.0, window_ms, random)
    weeks = _whole_weeks(last_ms, choice)
    if weeks < FEWEST_WEEKS:
        days = last_ms / 1000.0 / DAY_S
        raise InputError(
            f"{said}: draws whole weeks, and the window has {weeks}: its jobs come in {days:.4g} days "
            "(workload.trace.start_s, duration_s; without duration_s the last job ends the window): needed are "
            f"{FEWEST_WEEKS} weeks"
        )
    drawn = weeks_drawn(arrival_ms, sessions, weeks, random)
    if not len(drawn.rows):
        raise InputError(
            f"{said}: seed {seed} draws none of the weeks in which jobs come: choose a fuller part of the log"
        )
    return drawn


def can_draw_weeks(arrival_ms: Floats, users: Members | None, choice: TraceChoice) -> bool:
    """Whether `resample` "users" may be set for these jobs (arguments of `resampled`)."""
    return _has_users(users) and _whole_weeks(float(arrival_ms[-1]), choice) >= FEWEST_WEEKS


def _has_users(users: Members | None) -> TypeGuard[Members]:
    return users is not None and bool((users.numbers >= 0).any())


def _whole_weeks(last_ms: float, choice: TraceChoice) -> int:
    """How many whole weeks a window has; behind the last job's week it counts none."""
    if choice.duration_s is None:
        return int(last_ms // WEEK_MS)
    return int(min(choice.duration_s * 1000.0 // WEEK_MS, last_ms // WEEK_MS + 1))
