"""All policies by name: of modules of cluster_abm.policies, of entry points of that name, and those that were given."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.old_names import note_once
from cluster_abm.policy.base import Policy
from cluster_abm.policy.bounds import check_no_bound
from cluster_abm.policy.calling import as_shown, policy_at_work
from cluster_abm.policy.finding.files import file_of, load_policy
from cluster_abm.policy.finding.naming import AnyPolicy, check_class, free_name, give_name
from cluster_abm.policy.finding.other_names import policy_hint
from cluster_abm.policy.finding.sources import PolicySource, policy_from, source_of
from cluster_abm.scenario import nearest
from cluster_abm.scenario.policy_names import current_name, labelled, named_policy, plain_name, split_reference
from cluster_abm.scenario.schema import PolicyChoice

# The package in which each module is searched for policies. It is imported when they are: it lies above this one.
SHIPPED = "cluster_abm.policies"
# The policies that were given as a file or a class, by name: other processes have to be told where they are.
_given: dict[str, type[Policy]] = {}


@cache
def available() -> dict[str, type[Policy]]:
    """Every policy there is, by name, sorted."""
    found: dict[str, type[Policy]] = {}
    for module in pkgutil.iter_modules(importlib.import_module(SHIPPED).__path__, f"{SHIPPED}."):
        with _imported(f"policy module {module.name}"):
            values = vars(importlib.import_module(module.name)).values()
        for value in values:
            if isinstance(value, type) and issubclass(value, Policy) and value.name:
                check_class(value, value.__module__)
                found[value.name] = value
    for entry in entry_points(group="cluster_abm.policies"):
        where = f"entry point {entry.name!r} of cluster_abm.policies"
        with _imported(f"{where}: {entry.value}"):
            policy = entry.load()
        if not (isinstance(policy, type) and issubclass(policy, Policy) and policy.name):
            raise InputError(f"{where}: {entry.value} is not a named Policy")
        check_class(policy, where)
        found[policy.name] = policy
    return dict(sorted({**found, **_given}.items()))


def register(policy: type[Policy]) -> type[Policy]:
    """Have a policy found by its name from now on, in this process and in those that carry out runs for it.

    Example:
        >>> import cluster_abm as ca
        >>> @ca.register
        ... class StayHome(ca.Policy):
        ...     def place(self, task, view):
        ...         return ca.Decision(view.me, rule="stay home")
        >>> ca.ClusterModel("quickstart", policy="stay-home").policy_name
        'stay-home'

    Args:
        policy: the class.

    Returns:
        The class, so that this can decorate it.

    Raises:
        InputError: it is no class of policies, or another policy has its name.
    """
    if not (isinstance(policy, type) and issubclass(policy, Policy)):
        raise InputError(
            f"register({shortened(policy)}): a class that inherits from cluster_abm.policies.Policy is needed"
        )
    _enter(free_name(policy, available(), only_its_own=True), policy)
    return policy


def name_of(policy: AnyPolicy) -> str:
    """The name by which a policy is found from now on: of NAME itself, of FILE.py:CLASS that of the class in the file.

    With parameters given in brackets they stay behind the name (policy_names.named_policy). It imports the file: it is
    for what a command line or a caller in Python gives, not for names in data.

    Args:
        policy: a name, FILE.py:CLASS (the class may be left out where there is only one), a class, or an object.

    Raises:
        InputError: a file without such a policy, or something else than a policy.
    """
    if isinstance(policy, str):
        given = named_policy(policy)
        if split_reference(given.name) is None:
            return current_name(policy)
        return labelled(name_of(load_policy(given.name)), given.parameters)
    of = policy if isinstance(policy, type) else type(policy)
    if not issubclass(of, Policy) or of is Policy:
        raise InputError(
            f"policy = {shortened(policy)}: a name, FILE.py:CLASS, a class of policies or an object is needed"
        )
    name = free_name(of, available())
    _enter(name, of)
    return name


def choice_of(policy: AnyPolicy, parameters: Mapping[str, Any]) -> PolicyChoice:
    """A policy as a scenario has it: its name, and parameters; those of an object are the object's own."""
    name, own = name_of(policy), {}
    if isinstance(policy, Policy):
        check_parameters(policy, name)
        own = policy.parameters.model_dump(exclude_none=True)
    given = named_policy(name).parameters
    return PolicyChoice(**{key: value for key, value in {**parameters, **own}.items() if key not in given}, name=name)


def class_of(label: str) -> type[Policy] | None:
    """The class of a policy that a list names; None: there is none of that name."""
    return available().get(plain_name(label))


def is_pooled(label: str) -> bool:
    """Whether a list names the pooled reference, which is no policy."""
    of = class_of(label)
    return of is not None and of.pooled


def reference_of(label: str) -> str:
    """A policy as a command line names it: FILE.py:CLASS of one that was loaded from a file, else its name."""
    name, parameters = named_policy(label)
    file = files_of([name]).get(name)
    return label if file is None else labelled(f"{as_shown(file)}:{_given[name].__name__}", parameters)


def files_of(labels: Iterable[str]) -> dict[str, str]:
    """The files from which some of these policies were loaded, by name."""
    found = {name: file_of(_given[name]) for name in map(plain_name, labels) if name in _given}
    return {name: str(file.path) for name, file in found.items() if file is not None}


def sources_of(names: Iterable[str]) -> tuple[PolicySource, ...]:
    """Where other processes find the policies among these that were given as a file or a class.

    Raises:
        InputError: only this process has one of them.
    """
    return tuple(source_of(name, _given[name]) for name in dict.fromkeys(names) if name in _given)


def admit(sources: Iterable[PolicySource]) -> None:
    """Enter the policies of work that another process has sent. Raises InputError: one is not there."""
    for source in sources:
        known = _given.get(source.name)
        if known is None or source_of(source.name, known) != source:
            policy = policy_from(source)
            give_name(policy)
            _enter(source.name, policy)


def _enter(name: str, policy: type[Policy]) -> None:
    known = available()
    if known.get(name) is not policy:
        known[name] = _given[name] = policy
        for words in policy.written_as_before:
            note_once(f"policy {name!r}: {words}")


@contextmanager
def _imported(what: str) -> Iterator[None]:
    """Attribute what importing a policy's module raises, SystemExit too, to that module. Raises PolicyFault."""
    try:
        yield
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as problem:
        raise PolicyFault(f"{what} cannot be imported: {type(problem).__name__}: {problem}") from problem


def create(choice: PolicyChoice) -> Policy:
    """The policy a scenario names, with its parameters.

    A scenario may hold parameters of several policies, so that they can be compared: each takes its own, and the
    others' must be right for one of those that know them.

    Raises:
        InputError: an unknown policy, a parameter that no policy knows, a wrong value.
    """
    policies = available()
    check_no_bound(choice.name, "policy.name")
    if choice.name not in policies:
        raise InputError(f"policy.name = {choice.name!r}: no such policy; {policy_hint(choice.name, policies)}")
    policy = policies[choice.name]
    check_own_parameters(policy, choice.label, choice.own_parameters)
    mine: dict[str, Any] = {}
    for key, value in choice.parameters.items():
        others = [other for other in policies.values() if key in other.Parameters.model_fields]
        if key in policy.Parameters.model_fields or not others:
            mine[key] = value
        else:
            _check_foreign(others, key, value)
    with policy_at_work(policy, "__init__"):
        made = policy(**mine)
    check_parameters(made, choice.name)
    return made


def check_own_parameters(policy: type[Policy], label: str, own: Iterable[str]) -> None:
    """Raise InputError if a policy does not know a parameter that is given with its name."""
    known = policy.Parameters.model_fields
    unknown = [key for key in own if key not in known]
    if unknown:
        raise InputError(
            [f"policy {label!r}: it has no parameter {key!r}; {nearest(key, sorted(known))}" for key in unknown]
        )


def check_parameters(made: Policy, name: str) -> None:
    """Raise PolicyFault for a policy that has not been made as Policy makes them."""
    if not isinstance(getattr(made, "parameters", None), Policy.Parameters):
        raise PolicyFault(
            f"policy {name!r}: its `parameters` are none of Policy.Parameters: "
            "Parameters has to inherit from Policy.Parameters, and __init__ to call super().__init__(**parameters)"
        )


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


def describe(names: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Name, source, summary and parameters of policies, as plain data; by default of all of them.

    Raises:
        InputError: there is no policy of a name.
    """
    policies = available()
    for name in names or ():
        check_no_bound(name, "policy")
        if name not in policies:
            raise InputError(f"policy {name!r:.120}: no such policy; {policy_hint(name, policies)}")
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
        for name, policy in policies.items()
        if names is None or name in names
    ]
