"""The lower bound `srpt-pool` of a scenario's runs: no policy has a smaller mean response on the same jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from cluster_abm.engine.pooled.srpt import srpt_pool_mean_ns
from cluster_abm.engine.tables import NEVER, NS_PER_MS
from cluster_abm.model.setup import node_table
from cluster_abm.scenario import Scenario
from cluster_abm.workload import are_closed, key, work_of


class LowerBound(NamedTuple):
    """A bound on the mean response over all of a run's jobs."""

    mean_response_ms: float  # the bound [ms]
    jobs: int  # how many jobs it is a mean over. It says nothing of a run in which others finished.


def lower_bound(scenario: Scenario, seed: int) -> LowerBound | None:
    """The bound for the jobs that a scenario has from a seed; its policy does not matter.

    None where a job comes only when others have ended (closed users, dependences in a log): then each policy has other
    arrivals. Also without jobs, and where no rows are kept (`measure.records`): the bound needs all jobs at once.
    Raises InputError: as `work_of`.
    """
    if are_closed(scenario) or scenario.measure.records != "all":
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
    jobs, demands = work.jobs, work.demands
    if work.initial:
        # What is left of them at 0.
        if demands is not None:
            demands = demands.copy()
            for job in jobs[: work.initial]:
                demands["cpu_ms"][job["first_task"] : job["first_task"] + job["tasks"]] -= job["received_ms"]
        jobs = jobs.copy()
        jobs["cpu_ms"] -= jobs["received_ms"]
        jobs["received_ms"] = 0.0
    mean_ns = srpt_pool_mean_ns(jobs, nodes, key(seed, "service"), has_buffers, demands)
    return LowerBound(mean_ns / NS_PER_MS, len(work.jobs))


def bounds_of_seeds(scenario: Scenario, runs: pd.DataFrame, seeds: Iterable[int]) -> dict[int, float]:
    """The bound on mean response beside the runs of each seed [ms], by seed.

    NaN where there is none, or where some run of the seed did not finish all jobs: killed, lost, left over at the end.
    The bound is over all jobs: NaN, too, where means are over those from `from_s` on.

    Args:
        scenario, runs: of a comparison.
        seeds: those that every policy finished.
    """
    found = dict.fromkeys(seeds, math.nan)
    if "from_s" in runs and (runs["from_s"] > 0.0).any():
        return found
    for seed in found:
        counts = runs.loc[runs["seed"] == seed, ["jobs.submitted", "jobs.finished"]].to_numpy()
        if (counts == counts[0, 0]).all():
            bound = lower_bound(scenario, seed)
            if bound is not None and bound.jobs == counts[0, 0]:
                found[seed] = bound.mean_response_ms
    return found
