"""At which rates the sessions of each group begin, by the time of the day."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.scenario.arrivals import Arrivals
from cluster_abm.scenario.sessions.section import MINUTES
from cluster_abm.workload.drawing.rates import weights_of_pieces

if TYPE_CHECKING:
    from cluster_abm.scenario.schema import Workload


class Begins(NamedTuple):
    """When sessions begin, group by group."""

    # Of each group in each of the pieces of equal length of a day, from midnight on: the sum over groups has a mean of
    # 1 over the day, and a group's mean is its share of all sessions over whole days. Shape (groups, pieces).
    rates: Floats
    shares: Floats  # of all sessions that begin in the window, shape (groups,)
    arrivals: Arrivals  # of all sessions: `daily` is that of all groups together


def begins_of(workload: Workload) -> Begins:
    """When sessions of a workload begin: each group at its own course over the day, or else at that of the arrivals."""
    arrivals, groups = workload.arrivals, workload.sessions.group
    courses = [group.daily or arrivals.daily or (1.0,) for group in groups]
    pieces = min(MINUTES, math.lcm(*map(len, set(courses))))
    shares = np.array([group.share for group in groups])
    shares /= shares.sum()
    rates = shares[:, None] * np.array([_in_pieces(weights, pieces) for weights in courses])
    if any(group.daily for group in groups):
        arrivals = arrivals.model_copy(update={"daily": tuple(rates.sum(axis=0).tolist())})
    expected = rates @ weights_of_pieces(arrivals, workload.duration_s, pieces)
    if not expected.any():
        # The window lies in hours without any session: all its instants are alike then, as for other arrivals.
        return Begins(np.repeat(shares[:, None], pieces, axis=1), shares, arrivals)
    return Begins(rates, expected / expected.sum(), arrivals)


def _in_pieces(weights: tuple[float, ...], pieces: int) -> Floats:
    """Evenly spaced weights over a day as those of its pieces, of mean 1, shape (pieces,): means over the pieces."""
    values = np.array(weights) / max(weights)
    if pieces % len(values) == 0:
        found = np.repeat(values, pieces // len(values))
    else:
        summed = np.concatenate([[0.0], np.cumsum(values)])
        edges = np.arange(pieces + 1) * (len(values) / pieces)
        found = np.maximum(np.diff(np.interp(edges, np.arange(len(summed)), summed)), 0.0)
    return np.asarray(found / found.mean())
