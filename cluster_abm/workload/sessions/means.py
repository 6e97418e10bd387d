"""Means of sessions, by the laws of their groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.workload.drawing.draws import mean_of


class SessionMeans(NamedTuple):
    """Means over all sessions."""

    jobs: float  # of a session [1]
    tasks: float  # of a job [1]
    work_s: float  # CPU time of all tasks of a session, at speed 1, before any is cut at the longest [s]


def session_means(scenario: Scenario) -> SessionMeans:
    """The means of a scenario's sessions."""
    groups = scenario.workload.sessions.group
    shares = np.array([group.share for group in groups])
    jobs = np.array([mean_of(group.jobs) for group in groups])
    tasks = np.array([_mean_width(group.widths) for group in groups])
    work_s = np.array([mean_of(group.work_s) for group in groups])
    shares = shares / shares.sum()
    return SessionMeans(
        float(shares @ jobs), float(shares @ (jobs * tasks) / (shares @ jobs)), float(shares @ work_s)
    )


def jobs_per_second(scenario: Scenario, capacity: float) -> float:
    """Mean submission rate of jobs that come in sessions, by `jobs_per_s` or `utilisation` [1/s].

    Raises InputError: a utilisation of no work.

    Args:
        capacity: of all nodes [CPU seconds at speed 1 per second].
    """
    workload = scenario.workload
    if workload.jobs_per_s is not None:
        return workload.jobs_per_s
    assert workload.utilisation is not None  # the scenario's check
    means = session_means(scenario)
    if means.work_s <= 0:
        raise InputError("workload.utilisation: needs a mean of workload.sessions.group.work_s above 0")
    return workload.utilisation * capacity * means.jobs / means.work_s


def sessions_per_s(scenario: Scenario, jobs_per_s: float) -> float:
    """The rate of sessions at a rate of jobs [1/s]."""
    return jobs_per_s / session_means(scenario).jobs


def _mean_width(widths: dict[str, float]) -> float:
    return sum(int(width) * weight for width, weight in widths.items()) / sum(widths.values())
