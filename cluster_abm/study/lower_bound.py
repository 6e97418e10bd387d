"""The lower bound `srpt-pool` of a scenario's runs: no policy has a smaller mean response on the same jobs."""

from __future__ import annotations

from typing import NamedTuple

from cluster_abm.engine.pooled.srpt import srpt_pool_mean_ns
from cluster_abm.engine.tables import NEVER, NS_PER_MS
from cluster_abm.model.setup import node_table
from cluster_abm.scenario import Scenario
from cluster_abm.workload import are_closed, key, work_of


class LowerBound(NamedTuple):
    """A bound on the mean response over all of a run's jobs.

    Attributes:
        mean_response_ms: the bound [ms].
        jobs: how many jobs it is a mean over. It says nothing of a run in which others finished.
    """

    mean_response_ms: float
    jobs: int


def lower_bound(scenario: Scenario, seed: int) -> LowerBound | None:
    """The bound for the jobs that a scenario has from a seed; its policy does not matter.

    None where a job comes only when others have ended (closed users, dependences in a log): then each policy has other
    arrivals. Also without jobs. Raises InputError: as `work_of`.
    """
    if are_closed(scenario):
        return None
    work = work_of(scenario, seed)
    if not len(work.jobs) or work.parents is not None or (work.jobs["arrival_ns"] == NEVER).any():
        return None
    nodes = node_table(scenario.cluster)
    has_buffers = bool(
        (nodes["buffer_kb"] > 0.0).any()
        or (nodes["by_oversize"] != 0).any()
        or scenario.cluster.buffer_control.kind != "fixed"
    )
    mean_ns = srpt_pool_mean_ns(work.jobs, nodes, key(seed, "service"), has_buffers)
    return LowerBound(mean_ns / NS_PER_MS, len(work.jobs))
