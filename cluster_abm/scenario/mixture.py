"""Scenarios in which groups of nodes have policies of their own."""

from __future__ import annotations

from collections import Counter

from cluster_abm.errors import InputError
from cluster_abm.scenario.schema import Scenario


def policies_in(scenario: Scenario) -> list[str]:
    """The names of all policies that a scenario gives to its nodes, each once."""
    groups = (group.policy for group in scenario.cluster.group if group.policy is not None)
    return list(dict.fromkeys([scenario.policy.name, *groups]))


def policy_names(scenario: Scenario) -> list[str]:
    """The name of each node's policy, shape (nodes,)."""
    names = [group.policy or scenario.policy.name for group in scenario.cluster.group for _ in range(group.count)]
    return names + [scenario.policy.name] * (scenario.cluster.nodes - len(names))


def policy_label(scenario: Scenario) -> str:
    """What a run's policy is called: its name, or of several `mixed(NAME:NODES,...)` in the order of the nodes."""
    counts = Counter(policy_names(scenario))
    if len(counts) == 1:
        name = next(iter(counts))
        return scenario.policy.label if name == scenario.policy.name else name
    return f"mixed({','.join(f'{name}:{count}' for name, count in counts.items())})"


def check_one_policy(scenario: Scenario, asked_by: str) -> None:
    """Raise InputError if a policy is asked for from outside, and groups of nodes have policies of their own.

    Args:
        asked_by: what asks for it, as --policy 'jsq'.
    """
    for index, group in enumerate(scenario.cluster.group):
        if group.policy is not None:
            raise InputError(
                f"{asked_by}: cluster.group.{index}.policy = {group.policy!r} says the policy of its nodes; leave the "
                "group's policy out, or set policy.name in the scenario, which is the policy of all other nodes"
            )
