"""Groups of sessions that are alike."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.study.fitting.users.seen import SeenSessions

# As many groups as there are fifties of sessions, and no more than these; none with fewer sessions.
SESSIONS_A_GROUP, MOST_GROUPS, FEWEST_SESSIONS = 50, 64, 8
# What the spread of run times within a session counts, and the mean gap between its submissions, next to the
# logarithms of the other features.
WEIGHT_OF_SPREAD, WEIGHT_OF_GAP = 1.0, 0.3


def groups_of(sessions: SeenSessions) -> Integers:
    """The group of each session, shape (sessions,).

    Sessions are points: logarithms of their jobs, mean run time, mean tasks, work and mean gap, and the spread of run
    times. The group of the largest variance is cut at its mean along the axis on which it varies most, until there are
    enough. A third of the weights counts sessions, a third jobs, and a third work: few sessions have most of it, and it
    is what queues.
    """
    log_run = np.log(sessions.jobs.cpu_s)
    mean_run = sessions.mean(log_run)
    spread = np.sqrt(np.maximum(sessions.mean(log_run**2) - mean_run**2, 0.0))
    points = np.column_stack(
        [
            np.log(sessions.count), mean_run, sessions.mean(np.log(sessions.jobs.tasks)), np.log(sessions.work_s),
            WEIGHT_OF_SPREAD * spread, WEIGHT_OF_GAP * np.log1p(np.nan_to_num(sessions.mean_gap_s)),
        ]
    )  # fmt: skip
    weights = sum(values / values.sum() for values in (np.ones(len(sessions)), sessions.count, sessions.work_s))
    return cut(points, weights, max(1, min(MOST_GROUPS, len(sessions) // SESSIONS_A_GROUP)), FEWEST_SESSIONS)


def cut(points: Floats, weights: Floats, most: int, fewest: int) -> Integers:
    """Cut points into groups of small variance, shape (points,).

    Args:
        points: shape (points, axes).
        weights: of the points, above 0, shape (points,).
        most: groups.
        fewest: points in one.
    """
    parts = [np.arange(len(points))]
    cuts = [_best_cut(points, weights, parts[0], fewest)]
    while len(parts) < most:
        number = int(np.argmax([gain for gain, _ in cuts]))
        gain, is_left = cuts[number]
        if gain <= 0.0:
            break
        part = parts[number]
        parts[number] = part[is_left]
        parts.append(part[~is_left])
        cuts[number] = _best_cut(points, weights, parts[number], fewest)
        cuts.append(_best_cut(points, weights, parts[-1], fewest))
    found = np.empty(len(points), np.int64)
    for number, part in enumerate(parts):
        found[part] = number
    return found


def _best_cut(points: Floats, weights: Floats, part: Integers, fewest: int) -> tuple[float, Flags]:
    """The weighted variance on the axis on which points vary most, and which are below its mean; 0: there is no cut."""
    own, weight = points[part], weights[part]
    away = own - (weight @ own) / weight.sum()
    variances = weight @ away**2
    for axis in np.argsort(-variances):
        is_left = away[:, axis] <= 0.0
        if variances[axis] > 1e-12 and min(is_left.sum(), (~is_left).sum()) >= fewest:
            return float(variances[axis]), is_left
    return 0.0, np.ones(len(part), bool)
