"""Whether the load managers of a run decide in compiled code or in Python, and why."""

from __future__ import annotations

from typing import NamedTuple

from cluster_abm.compiling.entries import CompiledPolicy, compiled_policy
from cluster_abm.compiling.talking.entries import CompiledTalk, compiled_talk, of_talk
from cluster_abm.compiling.translating import NotCompilable
from cluster_abm.model.assembly import Parts
from cluster_abm.policies import Holding, Policy, Talking
from cluster_abm.policy.kinds import is_asked_about_heads, migrates_on_arrival
from cluster_abm.scenario import Scenario

# Files that jobs need, times nodes, up to which the time to fetch each is in one table (16 bytes each).
MOST_FETCHES = 30_000_000


class Compilability(NamedTuple):
    """Whether load managers decide about arriving tasks in compiled code."""

    policy: CompiledPolicy | None  # the compiled policy; None: they decide in Python
    reason: str = ""  # why in Python; "" if not
    talk: CompiledTalk | None = None  # of a policy that talks its compiled methods


NOT_WANTED = Compilability(None, "compile_decisions is False")


def compilability_of(setup: Scenario, parts: Parts, own_methods: bool) -> Compilability:
    """Find out whether the load managers of a run decide in compiled code.

    Args:
        setup: the scenario.
        parts: the run's.
        own_methods: whether the class of load managers has methods of its own for what is compiled.
    """
    policies, policy = parts.policies, parts.policies.main
    # What migrates periodically does so in Python.
    migrates = migrates_on_arrival(policy)
    reasons = {
        "load managers do not decide about arriving tasks": not policies.any_acts_on_arrival,
        "the class of load managers has its own methods": own_methods,
        "groups of nodes have policies of their own": policies.is_mixed,
        **why_not_in_queues(setup, policy),
        "the policy pools all nodes": policy.pooled,
        "tasks migrate, and so do the files that they have fetched": migrates and parts.staging is not None,
        "tasks migrate over links that transfers share": migrates and parts.transfers.is_contended,
        "bandwidths are measured: what moving costs changes while tasks run": (
            setup.negotiation.bandwidths == "measured"
        ),
        "the policy compares the load of links that transfers share": (
            policy.compares_links and parts.transfers.is_contended
        ),
        "tasks migrate over links that can fail": (migrates and setup.may_fail and parts.routes_in_use.can_fail),
    }
    if parts.staging is not None:
        files, nodes = len(parts.staging.map.size_mb), len(parts.engine.nodes)
        reasons[f"{files:,} files on {nodes:,} nodes: what fetching them takes is more than a table"] = (
            files * nodes > MOST_FETCHES
        )
    for reason, holds in reasons.items():
        if holds:
            return Compilability(None, reason)
    try:
        if isinstance(policy, Talking):
            talk = compiled_talk(policy, parts.views.capacities(0) is not None)
            return Compilability(of_talk(talk), talk=talk)
        return Compilability(_compiled(policy, parts))
    except NotCompilable as problem:
        return Compilability(None, str(problem))


def why_not_in_queues(setup: Scenario, policy: Policy) -> dict[str, bool]:
    """Reasons for which a policy that holds jobs does not start them in compiled code, and whether each holds."""
    if not isinstance(policy, Holding):
        return {}
    if not policy.central:
        return {"the policy chooses among jobs that wait at a node, or has no period": not is_asked_about_heads(policy)}
    return {
        "the policy lets jobs go by the time": policy.acts_every_ms is not None or not policy.holds_for_events,
        "the policy takes jobs back that no node takes": type(policy).takes_back is not Holding.takes_back,
        "the policy holds jobs, and tasks migrate": policy.migrates,
        "the policy holds jobs, and messages get lost": setup.interconnect.loss_share > 0.0,
    }


def _compiled(policy: Policy, parts: Parts) -> CompiledPolicy:
    has_capacities = parts.views.capacities(0) is not None
    return compiled_policy(policy, has_data=parts.staging is not None, has_capacities=has_capacities)
