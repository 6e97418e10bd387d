"""Means of sessions, by the laws of their groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.workload.drawing.draws import mean_of, quantile
from cluster_abm.workload.sessions.hours import begins_of

# Parts into which the quantiles of a law are cut where its draws below 1 count as 1.
PARTS = 20_000


class SessionMeans(NamedTuple):
    """Means over all sessions that begin in the window."""

    jobs: float  # of a session [1]
    tasks: float  # of a job [1]
    work_s: float  # CPU time of all tasks of a session, at speed 1, before any is cut at the longest [s]


def session_means(scenario: Scenario) -> SessionMeans:
    """The means of a scenario's sessions: its groups by the sessions of each that begin in the window."""
    groups = scenario.workload.sessions.group
    shares = begins_of(scenario.workload).shares
    jobs = np.array([_mean_count(group.jobs) for group in groups])
    tasks = np.array([_mean_width(group.widths) for group in groups])
    work_s = np.array([mean_of(group.work_s) for group in groups])
    return SessionMeans(float(shares @ jobs), float(shares @ (jobs * tasks) / (shares @ jobs)), float(shares @ work_s))


def sessions_per_s(scenario: Scenario, jobs_per_s: float) -> float:
    """The rate of sessions at a rate of jobs [1/s]."""
    return jobs_per_s / session_means(scenario).jobs


def _mean_count(law: Distribution) -> float:
    """The mean of a law whose draws below 1 count as 1."""
    parts = (np.arange(PARTS) + 0.5) / PARTS
    return mean_of(law) + float(np.maximum(0.0, 1.0 - quantile(law, parts)).mean())


def _mean_width(widths: dict[str, float]) -> float:
    return sum(int(width) * weight for width, weight in widths.items()) / sum(widths.values())
