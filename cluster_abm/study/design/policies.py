"""The policies that runs are carried out under."""

from __future__ import annotations

from collections.abc import Sequence

from cluster_abm.errors import InputError
from cluster_abm.policies import available
from cluster_abm.scenario import Scenario, nearest
from cluster_abm.scenario.mixture import check_one_policy


def check_policies(names: Sequence[str]) -> None:
    """Raise InputError for unknown or repeated policies, all at once."""
    known = list(available())
    problems = [f"policies: {name!r}: no such policy; {nearest(name, known)}" for name in names if name not in known]
    problems += [f"policies: {name!r} is named twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    if not names:
        problems.append(f"policies: none named; allowed: {', '.join(known)}")
    if problems:
        raise InputError(problems)


def with_policy(scenario: Scenario, name: str) -> Scenario:
    """The same scenario under another policy. Raises InputError if groups of its nodes have policies of their own."""
    check_one_policy(scenario, f"policy {name!r} for all nodes")
    return scenario.model_copy(update={"policy": scenario.policy.model_copy(update={"name": name})})
