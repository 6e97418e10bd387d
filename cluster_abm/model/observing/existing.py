"""Which metrics a run of a scenario has: known before it is run, so that a misspelt one costs no run."""

from __future__ import annotations

from collections.abc import Mapping

from cluster_abm.policies import available
from cluster_abm.results.metrics import When, names_when
from cluster_abm.results.summary import PROGRAM_METRICS
from cluster_abm.scenario import Scenario
from cluster_abm.workload import are_closed, have_users, program_names


def existing(scenario: Scenario, pooled: bool, can_fail: bool = False, has_users: bool = False) -> frozenset[When]:
    """Which kinds of metrics a run has.

    Args:
        scenario: what is run.
        pooled: whether the policy has all nodes be one station, where nothing is fetched.
        has_users: whether jobs have users, and rows of tasks are kept.
        can_fail: whether something has failed, by an agent's doing say, though the scenario does not name it.
    """
    holds: Mapping[When, bool] = {
        "always": True,
        "closed": are_closed(scenario),
        "failures": can_fail or scenario.may_fail,
        "data": (scenario.data.files > 0 or scenario.jobs_may_name_files) and not pooled,
        "channels": scenario.cluster.has_channels,
        "power": scenario.cluster.has_power,
        "initial": bool(scenario.workload.initial),
        "users": has_users,
        "warmup": scenario.measure.from_s > 0.0 or scenario.measure.warmup != "none",
        "mser": scenario.measure.warmup == "mser",
    }
    return frozenset(when for when, is_so in holds.items() if is_so)


def metrics_of(scenario: Scenario) -> frozenset[str]:
    """Names of the numbers that a run of this scenario, with its policy, gives."""
    has_users = scenario.measure.records == "all" and have_users(scenario)
    exists = existing(scenario, available()[scenario.policy.name].pooled, has_users=has_users)
    of_programs = {f"programs.{program}.{name}" for program in program_names(scenario) for name in PROGRAM_METRICS}
    return names_when(exists) | of_programs | set(scenario.measure.metrics)
