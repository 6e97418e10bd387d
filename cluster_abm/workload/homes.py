"""The nodes at which jobs are submitted."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.engine.tables import Table
from cluster_abm.large_tables import blocks
from cluster_abm.scenario import Scenario
from cluster_abm.workload.from_trace import trace_of
from cluster_abm.workload.users import are_closed, nodes_of_users


def home_weights(scenario: Scenario) -> Floats:
    """Weight of each node in the drawing of a job's home (workload.home, workload.dispatchers); nodes beyond the last
    have none."""
    home, nodes = scenario.workload.home, scenario.cluster.nodes
    if scenario.workload.dispatchers is not None:
        return np.ones(scenario.workload.dispatchers)
    if home.kind == "weights":
        return np.asarray(home.weights, float)
    if home.kind == "skewed":
        return np.asarray((np.arange(nodes) + 1.0) ** -home.skew)
    return np.ones(nodes)


def count_of_homes(scenario: Scenario) -> int:
    """At how many nodes jobs are submitted: the dispatchers.

    Raises InputError: a trace that cannot be read.
    """
    workload = scenario.workload
    if are_closed(scenario):
        return len(set(nodes_of_users(scenario)))
    trace = None if workload.homes_are_drawn else trace_of(scenario)
    if trace is not None and "home" in trace.numbers:
        return len(np.unique(trace.numbers["home"]))
    return int(np.count_nonzero(home_weights(scenario)))


def homes_of(scenario: Scenario, jobs: Table) -> Flags:
    """Return which nodes are a home of jobs, shape (nodes,).

    Where homes are drawn these are the nodes of positive weight; where a log gives them, the homes that occur in it.
    """
    workload = scenario.workload
    are_homes = np.zeros(scenario.cluster.nodes, bool)
    if workload.kind != "trace" or workload.homes_are_drawn:
        are_homes[np.flatnonzero(home_weights(scenario))] = True
        return are_homes
    for rows in blocks(len(jobs)):
        are_homes[jobs["home"][rows]] = True
    return are_homes
