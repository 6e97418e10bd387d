"""Policies, one a file, found by name: modules of this package and entry points of group `cluster_abm.policies`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.policies.base import Decision, Policy
from cluster_abm.policies.view import Hardware, Newcomer, View
from cluster_abm.scenario import nearest
from cluster_abm.scenario.schema import PolicyChoice

__all__ = ["Decision", "Hardware", "Newcomer", "Policy", "View", "available", "create", "describe"]


@cache
def available() -> dict[str, type[Policy]]:
    """Every policy there is, by name, sorted."""
    found: dict[str, type[Policy]] = {}
    for module in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Policy) and value.name:
                found[value.name] = value
    for entry in entry_points(group="cluster_abm.policies"):
        policy = entry.load()
        if not (isinstance(policy, type) and issubclass(policy, Policy) and policy.name):
            raise InputError(f"entry point {entry.name!r} of cluster_abm.policies: {entry.value} is not a named Policy")
        found[policy.name] = policy
    return dict(sorted(found.items()))


def create(choice: PolicyChoice) -> Policy:
    """The policy a scenario names, with its parameters.

    A scenario may hold parameters of several policies, so that they can be compared: each takes its own.

    Raises:
        InputError: an unknown policy, a parameter that no policy knows, a wrong value.
    """
    policies = available()
    if choice.name not in policies:
        raise InputError(f"policy.name = {choice.name!r}: no such policy; {nearest(choice.name, list(policies))}")
    policy = policies[choice.name]
    own = set(policy.Parameters.model_fields)
    of_others = {key for other in policies.values() for key in other.Parameters.model_fields} - own
    return policy(**{key: value for key, value in choice.parameters.items() if key not in of_others})


def describe() -> list[dict[str, Any]]:
    """Name, source, summary and parameters of every policy, as plain data."""
    return [
        {
            "name": name,
            "source": policy.source,
            "summary": policy.summary,
            "parameters": [
                {"name": key, "default": field.default, "meaning": field.description or ""}
                for key, field in policy.Parameters.model_fields.items()
            ],
        }
        for name, policy in available().items()
    ]
