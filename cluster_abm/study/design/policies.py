"""The policies that runs are carried out under."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cluster_abm.arguments import Kind
from cluster_abm.errors import InputError
from cluster_abm.policies import BOUNDS, AnyPolicy, Policy, available, choice_of, create, is_pooled, name_of
from cluster_abm.policy.finding.other_names import all_policies, policy_hint
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.mixture import check_one_policy, policies_in
from cluster_abm.scenario.policy_names import current_name, labelled, plain_name
from cluster_abm.scenario.schema import PolicyChoice

# What a call takes for several policies.
LIST_OF_POLICIES = Kind(
    "a policy, or a list of policies,", lambda value: isinstance(value, Sequence) and not isinstance(value, str | bytes)
)


def check_policies(names: Sequence[str], labels: Sequence[str] | None = None) -> None:
    """Raise InputError for unknown or repeated policies, all at once.

    Args:
        names: of the policies, each NAME or NAME[PARAMETER=VALUE,...].
        labels: what results are to call each, if not by its name.
    """
    known = list(available())
    labels = labels or names
    given = [plain_name(str(name)) for name in names]
    problems = [
        f"policies: {name!r}: a lower bound and no policy: only `compare` has it" if name in BOUNDS
        else f"policies: {name!r}: no such policy; {policy_hint(name, known)}"
        for name in given
        if name not in known
    ]  # fmt: skip
    problems += [f"policies: {name!r} is named twice" for name in dict.fromkeys(labels) if labels.count(name) > 1]
    if not names:
        problems.append(f"policies: none named; {all_policies(known)}")
    if problems:
        raise InputError(problems)


class DefaultPolicies(NamedTuple):
    """The policies that a scenario names for comparisons."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]  # pooled references and bounds, on whose nodes the scenario's script cannot act

    @property
    def note(self) -> str:
        """What is left out, and why, in a line; "": nothing is."""
        if not self.left_out:
            return ""
        return f"left out, for a script cannot act on nodes that are pooled: {', '.join(self.left_out)}"


def default_policies(scenario: Scenario) -> DefaultPolicies:
    """A scenario's `compare.policies`; of one with a script without those that pool all nodes.

    Raises InputError: all of them pool their nodes.
    """
    names = scenario.compare.policies
    if not scenario.script:
        return DefaultPolicies(names, ())
    left_out = tuple(name for name in names if name in BOUNDS or is_pooled(name))
    if names and len(left_out) == len(names):
        raise InputError(
            f"compare.policies = {', '.join(names)}: all pool their nodes, on which a script cannot act; name others"
        )
    return DefaultPolicies(tuple(name for name in names if name not in left_out), left_out)


def with_policy(scenario: Scenario, name: str) -> Scenario:
    """The same scenario under another policy. Raises InputError if groups of its nodes have policies of their own."""
    check_one_policy(scenario, f"policy {name!r} for all nodes")
    return scenario.model_copy(update={"policy": choice_of(current_name(name), scenario.policy.shared_parameters)})


def variants_of(scenario: Scenario, policies: Sequence[AnyPolicy]) -> dict[str, Scenario]:
    """The scenario under each of several policies that a caller gives, by what results call the policy.

    That is its name, with the parameters given with it; of several objects of one class with those that are not the
    defaults: power-of-d[d=3].

    Raises:
        InputError: unknown or repeated policies, one that keeps more than its parameters in itself; as `with_policy`.
    """
    names = [name_of(policy) for policy in policies]
    labels = [
        _with_parameters(name, policy) if isinstance(policy, Policy) and names.count(name) > 1 else name
        for name, policy in zip(names, policies, strict=True)
    ]
    check_policies(names, labels)
    variants = {}
    for label, name, policy in zip(labels, names, policies, strict=True):
        check_one_policy(scenario, f"policy {name!r} for all nodes")
        choice = choice_of(policy, scenario.policy.shared_parameters)
        made = create(choice)
        if isinstance(policy, Policy) and vars(policy).keys() != vars(made).keys():
            more = sorted(vars(policy).keys() ^ vars(made).keys())
            raise InputError(
                f"policy {name!r}: it keeps {', '.join(more)} in itself, and each run makes it anew from its "
                "parameters: make a parameter of it"
            )
        variants[label] = scenario.model_copy(update={"policy": choice})
    return variants


def with_own_parameters(scenario: Scenario) -> Scenario:
    """The same runs, without the parameters that a scenario has for policies other than its own.

    A process that carries a run out gets the policies of that run, and would take what only another one knows (a
    policy in a file that this process has not read) for a key that no policy knows.
    """
    parameters = scenario.policy.shared_parameters
    if not parameters:
        return scenario
    policies = available()
    own = {key for name in policies_in(scenario) if name in policies for key in policies[name].Parameters.model_fields}
    others = {key for one in policies.values() for key in one.Parameters.model_fields} - own
    if others.isdisjoint(parameters):
        return scenario
    kept = {key: value for key, value in parameters.items() if key not in others}
    return scenario.model_copy(update={"policy": PolicyChoice(**{**kept, "name": scenario.policy.label})})


def _with_parameters(name: str, policy: Policy) -> str:
    default = policy.Parameters.model_fields
    own = {key: value for key, value in policy.parameters if value != default[key].default}
    return labelled(name, own)
