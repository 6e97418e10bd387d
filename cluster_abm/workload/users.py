"""Closed users: a fixed number at each node; each user submits job after job, and thinks in between."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.engine.tables import NEVER, NS_PER_MS, Table
from cluster_abm.errors import InputError
from cluster_abm.limits import BYTES_A_USERS_JOB, check_jobs
from cluster_abm.scenario import Scenario
from cluster_abm.workload.drawing.draws import draw
from cluster_abm.workload.generators import generator
from cluster_abm.workload.times import whole_ns
from cluster_abm.workload.traces.members import Members

MAX_JOBS = 50_000_000


def are_closed(scenario: Scenario) -> bool:
    """Return whether jobs are submitted by users that wait for their previous job to end."""
    return scenario.workload.kind == "synthetic" and scenario.workload.arrivals.kind == "closed"


def users_columns(scenario: Scenario) -> tuple[Floats, dict[str, Floats]]:
    """When jobs are submitted at the earliest [ms], and at which node, shape (jobs,) each: user after user, each one's
    jobs in their order. User k is at the k-th node that has users, cyclically. Raises InputError for too many jobs."""
    arrivals = scenario.workload.arrivals
    nodes = np.array(nodes_of_users(scenario))
    users = len(nodes) * arrivals.users_per_node
    if users * arrivals.jobs_per_user > MAX_JOBS:
        raise InputError(
            f"workload.arrivals: {users:,} users with jobs_per_user = {arrivals.jobs_per_user:,} submit "
            f"{users * arrivals.jobs_per_user:,} jobs: allowed are {MAX_JOBS:,}"
        )
    what = f"workload.arrivals.jobs_per_user = {arrivals.jobs_per_user:,} of {users:,} users"
    check_jobs(what, users * arrivals.jobs_per_user, scenario.workload.tasks.mean, BYTES_A_USERS_JOB)
    user = np.arange(users).repeat(arrivals.jobs_per_user)
    first_ms: Floats = user.astype(float) * arrivals.first_gap_s * 1000.0
    return first_ms, {"home": nodes[user % len(nodes)].astype(float)}


def nodes_of_users(scenario: Scenario) -> Sequence[int]:
    """The nodes that have users, in the order in which these are at them."""
    workload = scenario.workload
    return workload.arrivals.user_nodes or range(workload.dispatchers or scenario.cluster.nodes)


def users_of_jobs(scenario: Scenario, jobs: int) -> Members:
    """The user of each of that many jobs, in the order of `users_columns`; users are numbered from 0."""
    numbers = np.arange(jobs) // scenario.workload.arrivals.jobs_per_user
    return Members(numbers, tuple(map(str, range(int(numbers.max(initial=-1)) + 1))))


def plan_thinking(jobs: Table, scenario: Scenario, seed: int) -> float:
    """Draw the think times before each job but a user's first, the only one with a submission known beforehand.

    Returns the largest total think time of a user [ms]. Raises InputError for more than 64 bits hold.
    """
    arrivals = scenario.workload.arrivals
    thinks_s = draw(arrivals.think_s, generator(seed, "think"), len(jobs))
    jobs["think_ns"] = whole_ns(thinks_s * 1000.0, "workload.arrivals.think_s: the longest thought")
    is_first = np.arange(len(jobs)) % arrivals.jobs_per_user == 0
    jobs["think_ns"][is_first] = 0
    jobs["arrival_ns"][~is_first] = NEVER
    of_users_ms = (jobs["think_ns"] / NS_PER_MS).reshape(-1, arrivals.jobs_per_user).sum(axis=1)
    return float(of_users_ms.max(initial=0.0))
