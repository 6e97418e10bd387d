"""What is checked of a policy when a run is set up: what it needs of a scenario beside what every job announces
(`Policy.required_demands`), that all of its methods are asked, and that jobs wait in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.policies import Policy
from cluster_abm.policy.base import KINDS
from cluster_abm.scenario import Scenario
from cluster_abm.workload import RunJobs


def lacks_requested_times(setup: Scenario, work: RunJobs) -> str:
    """Say that jobs request no run time, and what gives them one; "": all do."""
    lacking = len(work.jobs) if work.requested_ms is None else int(np.isnan(work.requested_ms).sum())
    if not lacking:
        return ""
    of_trace = ""
    if setup.workload.kind == "trace":
        of_trace = "; of a trace the column `requested_ms` (CSV), field 9 (SWF) or TimelimitRaw (sacct) gives them"
    if setup.workload.kind == "sessions":
        return (
            f"requested times: {lacking:,} of {len(work.jobs):,} jobs announce none; set requested_over_longest of "
            "each [[workload.sessions.group]], e.g. requested_over_longest = { mean = 2.0 }, and requested_ms of each "
            "[[workload.initial]]"
        )
    return (
        f"requested times: {lacking:,} of {len(work.jobs):,} jobs announce none; set workload.requested_over_actual, "
        f"e.g. workload.requested_over_actual.mean = 2{of_trace}"
    )


# What is lacking, in words; "": nothing.
NEEDS: Mapping[str, Callable[[Scenario, RunJobs], str]] = {"requested_ms": lacks_requested_times}

# Methods that are asked only where an attribute of the class says so.
ASKED_IF: Mapping[str, str] = {"migration": "migrates", "holds": "holds_jobs", "next_job": "holds_jobs"}

# Methods that are asked only where `acts_every_ms` gives a period.
ASKED_PERIODICALLY = ("relieve", "in_trouble")


def check_all_asked(policies: Iterable[Policy]) -> None:
    """Check that no policy has a method that is never asked: its run would go through, and not mean what was meant.

    A class that sets the attribute itself, to False, is taken at its word.

    Raises:
        PolicyFault: one has; or an attribute of a kind was set after the class was made, in the class or in an object.
    """
    for policy in policies:
        for attribute, kind in KINDS.items():
            if getattr(policy, attribute) and not isinstance(policy, kind):
                raise PolicyFault(
                    f"policy {policy.name!r}: {attribute} is set, and its class is no {kind.__name__}: inherit from "
                    f"cluster_abm.policies.{kind.__name__}"
                )
        written = {name for base in type(policy).__mro__ if base not in Policy.__mro__ for name in vars(base)}
        never = {
            method: f"inherit from cluster_abm.policies.{KINDS[attribute].__name__}"
            for method, attribute in ASKED_IF.items()
            if attribute not in written
        }
        if "acts_every_ms" not in written:
            never |= dict.fromkeys(ASKED_PERIODICALLY, "give the class a property acts_every_ms, its period [ms]")
        for method, remedy in never.items():
            if method in written:
                raise PolicyFault(f"policy {policy.name!r}: its method {method!r} would never be asked: {remedy}")


def check_waiting(policies: Iterable[Policy]) -> None:
    """Check that jobs wait either in queues or at load managers: those of a policy that talks keep tasks themselves.

    Raises PolicyFault: a policy would do both.
    """
    for policy in policies:
        if policy.talks and policy.holds_jobs:
            raise PolicyFault(
                f"policy {policy.name!r}: it talks, so that tasks wait at its load managers: "
                "cluster_abm.policies.Holding is for policies that do not; let a manager start its tasks later"
            )


def check_needs(policies: Iterable[Policy], setup: Scenario, work: RunJobs) -> None:
    """Check that the scenario's jobs announce what the policies need.

    Raises:
        InputError: some job does not.
        PolicyFault: a policy needs what there is no check for.
    """
    problems = []
    for policy in policies:
        for need in policy.required_demands:
            if need not in NEEDS:
                raise PolicyFault(
                    f"policy {policy.name!r}: required_demands = {need!r}: allowed are {', '.join(sorted(NEEDS))}"
                )
            lacking = NEEDS[need](setup, work)
            if lacking:
                problems.append(f"policy {policy.name!r}: needs {lacking}")
    if problems:
        raise InputError(problems)
