"""Policies, one a file, found by name: modules of this package and entry points of group `cluster_abm.policies`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.policies.base import Decision, Policy
from cluster_abm.policies.calling import policy_at_work
from cluster_abm.policies.data import DataMap
from cluster_abm.policies.view import ArrivingTask, Candidate, Hardware, Paths, View
from cluster_abm.policies.waiting import WaitingJobs
from cluster_abm.scenario import nearest
from cluster_abm.scenario.schema import PolicyChoice

__all__ = [
    "ArrivingTask",
    "Candidate",
    "DataMap",
    "Decision",
    "Hardware",
    "Newcomer",
    "Paths",
    "Policy",
    "View",
    "WaitingJobs",
    "available",
    "create",
    "describe",
]

# The name of ArrivingTask before version 0.2, for policies that import it.
Newcomer = ArrivingTask


@cache
def available() -> dict[str, type[Policy]]:
    """Every policy there is, by name, sorted."""
    found: dict[str, type[Policy]] = {}
    for module in pkgutil.iter_modules(__path__):
        with _imported(f"policy module {__name__}.{module.name}"):
            values = vars(importlib.import_module(f"{__name__}.{module.name}")).values()
        for value in values:
            if isinstance(value, type) and issubclass(value, Policy) and value.name:
                _check_class(value, value.__module__)
                found[value.name] = value
    for entry in entry_points(group="cluster_abm.policies"):
        where = f"entry point {entry.name!r} of cluster_abm.policies"
        with _imported(f"{where}: {entry.value}"):
            policy = entry.load()
        if not (isinstance(policy, type) and issubclass(policy, Policy) and policy.name):
            raise InputError(f"{where}: {entry.value} is not a named Policy")
        _check_class(policy, where)
        found[policy.name] = policy
    return dict(sorted(found.items()))


@contextmanager
def _imported(what: str) -> Iterator[None]:
    """Attribute what importing a policy's module raises, SystemExit too, to that module. Raises PolicyFault."""
    try:
        yield
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as problem:
        raise PolicyFault(f"{what} cannot be imported: {type(problem).__name__}: {problem}") from problem


def _check_class(policy: type[Policy], where: str) -> None:
    """Raise PolicyFault for a name, source or summary that is no text, and for parameters of another kind."""
    for attribute in ("name", "source", "summary"):
        value = getattr(policy, attribute)
        if not isinstance(value, str):
            raise PolicyFault(f"{where}: {policy.__name__}.{attribute} = {value!r:.60}: a text is needed")
    if not (isinstance(policy.needs, tuple) and all(isinstance(name, str) for name in policy.needs)):
        raise PolicyFault(f"{where}: {policy.__name__}.needs = {policy.needs!r:.60}: a tuple of texts is needed")
    if not (isinstance(policy.Parameters, type) and issubclass(policy.Parameters, Policy.Parameters)):
        raise PolicyFault(f"{where}: {policy.__name__}.Parameters has to inherit from Policy.Parameters")


def create(choice: PolicyChoice) -> Policy:
    """The policy a scenario names, with its parameters.

    A scenario may hold parameters of several policies, so that they can be compared: each takes its own, and the
    others' must be right for one of those that know them.

    Raises:
        InputError: an unknown policy, a parameter that no policy knows, a wrong value.
    """
    policies = available()
    if choice.name not in policies:
        raise InputError(f"policy.name = {choice.name!r}: no such policy; {nearest(choice.name, list(policies))}")
    policy = policies[choice.name]
    mine: dict[str, Any] = {}
    for key, value in choice.parameters.items():
        others = [other for other in policies.values() if key in other.Parameters.model_fields]
        if key in policy.Parameters.model_fields or not others:
            mine[key] = value
        else:
            _check_foreign(others, key, value)
    with policy_at_work(policy, "__init__"):
        made = policy(**mine)
    if not isinstance(getattr(made, "parameters", None), Policy.Parameters):
        raise PolicyFault(
            f"policy {choice.name!r}: its `parameters` are none of Policy.Parameters: "
            "Parameters has to inherit from Policy.Parameters, and __init__ to call super().__init__(**parameters)"
        )
    return made


def _check_foreign(policies: list[type[Policy]], key: str, value: Any) -> None:
    problem = InputError([])
    for policy in policies:
        try:
            with policy_at_work(policy, "__init__"):
                policy(**{key: value})
        except InputError as found:
            problem = found
        else:
            return
    raise problem


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
