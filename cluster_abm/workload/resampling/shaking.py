"""A log whose sessions come a little earlier or later."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.workload.resampling.sessions import Sessions
from cluster_abm.workload.resampling.weeks import DrawnJobs, in_order


def shaken(
    arrival_ms: Floats, sessions: Sessions, by_ms: float, end_ms: float, random: np.random.Generator
) -> DrawnJobs:
    """Move each session uniformly within +-`by_ms` (Tsafrir, Ouaknine and Feitelson 2007).

    A session that would leave the window, [0, end_ms], is moved as far the other way; one that would leave it either
    way stays. So no job is lost, and none comes twice.

    Args:
        arrival_ms: of the log's jobs, ascending, shape (jobs,) [ms].
        sessions: of these jobs.
        by_ms: the largest move [ms].
        end_ms: of the window, not before the last job [ms].
        random: draws.
    """
    moves = random.uniform(-by_ms, by_ms, len(sessions.user))

    def leaves(by: Floats) -> Flags:
        return (sessions.first_ms + by < 0.0) | (sessions.last_ms + by > end_ms)

    moves = np.where(leaves(moves), -moves, moves)
    moves[leaves(moves)] = 0.0
    return in_order(np.arange(len(arrival_ms)), arrival_ms + moves[sessions.of_jobs])
