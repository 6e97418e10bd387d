"""`policies`: a line on each, by what they do; or all there is to say of one."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

import click

from cluster_abm.cli.listing.lines import echo_entries, echo_text
from cluster_abm.cli.options import json_option, policy_named
from cluster_abm.cli.output import echo
from cluster_abm.cli.shell.names import policies as policy_names
from cluster_abm.json_text import json_line

if TYPE_CHECKING:
    from cluster_abm.policies import Policy
    from cluster_abm.policy.reasons import Reason

AT_HOME = "tasks run where they are submitted"
PLACED = "each task is placed when it arrives, and stays there"
MIGRATE = "running tasks migrate"
WAIT = "jobs wait before they start"
TALK = "load managers talk by messages, and may hold tasks"
REFERENCE = "a pooled reference, no policy"
BOUND = "a lower bound, no policy (`compare` alone)"
# What a task may ask of its home, and what a user looks for first.
KINDS = (AT_HOME, PLACED, MIGRATE, WAIT, TALK, REFERENCE, BOUND)


def kind_of(policy: type[Policy]) -> str:
    """What a policy does, in the words of KINDS."""
    if policy.pooled:
        return REFERENCE
    if policy.talks:
        return TALK
    if policy.migrates:
        return MIGRATE
    if policy.holds_jobs:
        return WAIT
    return PLACED if policy.acts_on_arrival else AT_HOME


@click.command("policies", short_help="List the load-balancing policies, or explain some.")
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=policy_names)
@json_option
def policies_command(names: tuple[str, ...], as_json: bool) -> None:
    """List the load-balancing policies, a line each; with NAME (or FILE.py:CLASS) explain one, or several.

    Examples:

    cluster-abm policies iolb power-of-d

    cluster-abm policies mine.py:Mine
    """
    from cluster_abm.policies import available, describe

    chosen = [policy_named(one) for one in names]
    found = describe(chosen) if chosen else describe()
    if as_json:
        from cluster_abm.json_text import to_json

        echo(to_json(found), nl=False)
    elif chosen:
        by_name = {one["name"]: one for one in found}
        for position, name in enumerate(dict.fromkeys(chosen)):
            if position:
                echo()
            _explain(by_name[name], available()[name])
    else:
        _list(available())


def _list(policies: dict[str, type[Policy]]) -> None:
    from cluster_abm.policies import BOUNDS

    width = max(map(len, policies))
    for kind in KINDS:
        of_kind = [(f"{name:<{width}}", one.summary) for name, one in policies.items() if kind_of(one) == kind]
        if kind == BOUND:
            of_kind = [(f"{name:<{width}}", summary) for name, summary in BOUNDS.items()]
        if of_kind:
            echo(f"{kind}:")
            echo_entries(of_kind)
    echo("\ncluster-abm policies NAME explains one: its rule, its parameters, its source.")


def _explain(described: dict[str, Any], policy: type[Policy]) -> None:
    facts = [("source", policy.source), ("kind", kind_of(policy)), ("knows", _knows(policy))]
    indices = _indices(policy)
    if policy.required_demands:
        facts.append(("needs", f"{', '.join(policy.required_demands)} of every job"))
    facts.append(("decides", _form(policy)))
    echo(policy.name)
    echo_text(policy.summary, 2)
    echo()
    echo_entries(facts)
    rule = _rule(policy)
    if rule:
        echo("\n  rule")
        echo_text(rule, 4)
    echo("\n  parameters (--set policy.NAME=VALUE)")
    fields = policy.Parameters.model_fields
    echo_entries(
        [
            (f"{one['name']} = {_in_toml(one['default'])}", f"{one['meaning']}{_bounds(fields[one['name']])}")
            for one in described["parameters"]
        ],
        4,
    )
    reasons = [(rule, f"{said.words} ({said.lines})" if said.lines else said.words) for rule, said in _reasons(policy)]
    if reasons:
        echo("\n  rules that its decisions name (the page tells why in these words)")
        echo_entries(reasons, 4)
    if indices:
        echo("\n  what it reads of nodes")
        echo_entries(list(indices.items()), 4)


def _rule(policy: type[Policy]) -> str:
    """What the docstrings of the module, of the class, of the parts it is built on and of its own methods say."""
    module = inspect.getmodule(policy)
    texts = ["" if module is None else inspect.getdoc(module) or "", inspect.cleandoc(policy.__doc__ or "")]
    parts = [base for base in _classes(policy)[1:] if not base.name and base.__doc__]
    texts += [f"{part.__name__}: {inspect.cleandoc(part.__doc__ or '')}" for part in parts]
    for name in ("is_overloaded", "place", "migration", "accept", "holds", "next_job", "relieve"):
        method = vars(policy).get(name)
        if method is not None and method.__doc__:
            texts.append(f"{name}: {inspect.cleandoc(method.__doc__)}")
    return "\n\n".join(text for text in texts if text)


def _classes(policy: type[Policy]) -> list[type[Policy]]:
    """The class of a policy and those that it inherits from, but for what every policy, or all of a kind, have."""
    from cluster_abm.policies import Holding, Migrating, Policy, Talking

    of_all = Policy, Holding, Migrating, Talking
    return [one for one in policy.__mro__ if issubclass(one, Policy) and one not in of_all]


def _reasons(policy: type[Policy]) -> list[tuple[str, Reason]]:
    """The rules that the class and its ancestors have words for, but for those that every policy has."""
    from cluster_abm.policies import Policy
    from cluster_abm.policy.reasons import rules_of

    common = rules_of(Policy)
    return [(rule, said) for rule, said in rules_of(policy).items() if said.words and common.get(rule) != said]


def _knows(policy: type[Policy]) -> str:
    if policy.pooled:
        return "nothing: all nodes are one"
    if policy.central:
        return "the true state of all nodes, at the head node"
    if policy.talks:
        return "what managers tell each other"
    if not policy.uses_reports:
        return "its own node alone: no load is reported"
    return "its own node as it is, the others as they last reported (cluster.exchange_period_ms)"


def _indices(policy: type[Policy]) -> dict[str, str]:
    """The fields of the load table that the code of a policy, or of its ancestors, names, each with its meaning."""
    from cluster_abm.engine.fields import LOAD_FIELDS

    code = ""
    for one in _classes(policy):
        try:
            code += inspect.getsource(one)
        except OSError:
            continue
    # Those in docstrings are no code.
    code = re.sub(r'"""[\s\S]*?"""', "", code)
    named = set(re.findall(r"[\"'](\w+)[\"']|\bload\.(\w+)", code))
    names = {one for pair in named for one in pair}
    return {name: f"{meaning} [{unit}]" for name, _, unit, meaning in LOAD_FIELDS if name in names}


def _form(policy: type[Policy]) -> str:
    if policy.pooled or not policy.acts_on_arrival:
        return "nothing about arriving tasks"
    from cluster_abm.policies import Policy

    if policy.holds_jobs and not policy.central and policy.acts_every_ms is Policy.acts_every_ms:
        return "in Python: it holds jobs in queues of nodes, and has no period"
    if policy.talks:
        return "in Python: managers hold tasks, and talk by messages"
    return "in compiled code, as far as its methods keep to what compiles (else a run says why: docs/speed.md)"


def _in_toml(value: Any) -> str:
    return "not set" if value is None else json_line(value)


def _bounds(field: Any) -> str:
    """The values that a parameter takes, as far as its type says."""
    from cluster_abm.scenario.wording.keys import allowed_values

    values = allowed_values(field)
    if values:
        return f" [{' | '.join(map(str, values))}]"
    words = {"ge": "from {}", "gt": "above {}", "le": "up to {}", "lt": "below {}"}
    found: dict[str, str] = {}
    for one in _constraints(field):
        for name, text in words.items():
            bound = getattr(one, name, None)
            if bound is not None:
                found[name] = text.format(f"{bound:g}")
    return f" [{', '.join(found.values())}]" if found else ""


def _constraints(field: Any) -> list[Any]:
    """What pydantic checks of a field, in the members of a union too."""
    from typing import get_args

    found = list(field.metadata)
    for option in get_args(field.annotation):
        for extra in getattr(option, "__metadata__", ()):
            found += extra.metadata if hasattr(extra, "metadata") else [extra]
    return found
