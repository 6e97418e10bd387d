"""Policies by kind, each with its source, its rule in words, its parameters, its parts, and its code."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic.fields import FieldInfo

from cluster_abm.policies import Policy, available
from cluster_abm.policy.parts.space_sharing import SpaceSharing
from cluster_abm.policy.talking import Talking

from .keys import allowed_of, as_toml
from .markdown import anchor, code, docstring, dropdown, escaped, sentence, table

# The pages, in the order of the overview, each with what its policies have in common.
FAMILIES: Mapping[str, str] = {
    "yardsticks": "References",
    "wal-pm": "WAL-PM",
    "iocm": "IOCM",
    "iolb": "IOLB",
    "mcls": "MCLS",
    "lmip": "LMIP",
    "batch": "Batch systems",
    "talking": "Policies that talk",
    "others": "Schedulers of today, and learnt ones",
}
YARDSTICKS = ("none", "random", "round-robin", "jsq", "power-of-d", "hbd", "pooled")
PAPERS = ("wal-pm", "iocm", "iolb", "mcls", "lmip")


def family_of(name: str, policy: type[Policy]) -> str:
    """The page of a policy."""
    paper = policy.source.partition(",")[0].partition(" ")[0].lower()
    if name in YARDSTICKS:
        return "yardsticks"
    if issubclass(policy, SpaceSharing):
        return "batch"
    if paper in PAPERS:
        return paper
    return "talking" if issubclass(policy, Talking) else "others"


def shipped() -> dict[str, type[Policy]]:
    """The policies of the package itself, by name."""
    return {name: one for name, one in available().items() if one.__module__.startswith("cluster_abm.")}


def overview() -> str:
    """All policies by kind in a line each, as Markdown."""
    lines = []
    for family, title in FAMILIES.items():
        rows = [
            [f"[{code(name)}](#{anchor('policy', name)})", escaped(one.summary), escaped(one.source)]
            for name, one in shipped().items() if family_of(name, one) == family
        ]  # fmt: skip
        lines += [f"## [{title}]({family}.md)", "", table(["policy", "in a line", "source"], rows)]
    return "\n".join(lines)


def of_family(family: str) -> str:
    """The policies of a page, as Markdown: first the parameters that several of them have."""
    found = {name: one for name, one in shipped().items() if family_of(name, one) == family}
    shared = shared_parameters(list(found.values()))
    lines = []
    if shared:
        users = {key: [name for name, one in found.items() if key in one.Parameters.model_fields] for key in shared}
        lines = [
            f"({anchor('parameters', family)})=", "## Parameters of several", "",
            *(_parameter(family, key, field, users[key]) for key, field in shared.items()),
        ]  # fmt: skip
    return "\n".join([*lines, *(_section(name, one, family, shared) for name, one in found.items())])


def shared_parameters(policies: list[type[Policy]]) -> dict[str, FieldInfo]:
    """Parameters that three or more of these policies have, alike in default and meaning; not those of all policies."""
    having: dict[str, list[FieldInfo]] = {}
    for policy in policies:
        for key, field in own_parameters(policy).items():
            having.setdefault(key, []).append(field)
    return {
        key: fields[0] for key, fields in having.items()
        if len(fields) >= 3 and all(_words(one) == _words(fields[0]) for one in fields)
    }  # fmt: skip


def own_parameters(policy: type[Policy]) -> dict[str, FieldInfo]:
    """The parameters of a policy but those that every policy has."""
    of_all = Policy.Parameters.model_fields
    return {
        key: field for key, field in policy.Parameters.model_fields.items()
        if key not in of_all or _words(field) != _words(of_all[key])
    }  # fmt: skip


def _words(field: FieldInfo) -> tuple[str, str]:
    return as_toml(field.get_default(call_default_factory=True)), " ".join((field.description or "").split())


def rule_of(module: str, name: str) -> str:
    """What a class that several policies are built on says of their rule, as Markdown."""
    return docstring(getattr(importlib.import_module(f"cluster_abm.{module}"), name))


def _section(name: str, policy: type[Policy], family: str, shared: Mapping[str, FieldInfo]) -> str:
    own = own_parameters(policy)
    lines = [
        f"({anchor('policy', name)})=", f"## {name}", "",
        sentence(escaped(policy.summary)), "", f"*Source:* {escaped(policy.source)}.", "",
        docstring(policy), "",
        f"*How it acts:* {'; '.join(traits(policy))}.", "",
        *(_parameter(name, key, field) for key, field in own.items() if key not in shared),
    ]  # fmt: skip
    of_several = [
        f"[{code(f'policy.{key}')}](#{anchor('parameter', f'{family}-{key}')})" for key in own if key in shared
    ]
    if of_several:
        lines += [f"Parameters that others have, too: {', '.join(of_several)}.", ""]
    elif not own:
        lines += ["No parameters of its own.", ""]
    return "\n".join([*lines, _code(policy)])


def traits(policy: type[Policy]) -> list[str]:
    """What the class attributes of a policy say of it, in words."""
    words = []
    if policy.pooled:
        words.append("another form of the cluster: one station of all nodes")
    if not policy.acts_on_arrival:
        words.append("every task starts at home and no node is asked")
    if policy.central:
        words.append("decides at the head node")
    if policy.talks:
        words.append("load managers hold tasks and send messages")
    elif policy.acts_on_arrival and not policy.pooled:
        words.append("load managers report to each other" if policy.uses_reports else "no load reports are needed")
    if policy.holds_jobs:
        words.append("jobs may wait before their tasks are placed")
    if policy.migrates:
        words.append("running tasks migrate")
    if policy.averages:
        words.append("nodes are averaged over five seconds")
    if policy.compares_links:
        words.append("the load of links is read")
    words += [f"jobs have to say `{need}`" for need in policy.required_demands]
    return words


def _parameter(of: str, key: str, field: FieldInfo, users: Sequence[str] = ()) -> str:
    default, meaning = _words(field)
    shown = f" = {code(default)}" if default else " (not set)"
    words = [sentence(escaped(meaning))]
    if found := allowed_of(field):
        words.append(f"*Allowed:* {found}.")
    if users:
        words.append(f"*Of* {', '.join(map(code, users))}.")
    return f"[{code(f'policy.{key}')}]{{#{anchor('parameter', f'{of}-{key}')}}}{shown}\n: {' '.join(words)}\n"


def _code(policy: type[Policy]) -> str:
    # Seen from a page of docs/reference/policies.
    path = Path("../../..", *policy.__module__.split(".")).with_suffix(".py")
    listing = f":::{{literalinclude}} {path.as_posix()}\n:language: python\n:::"
    return dropdown(f"The rule as code: {policy.__module__.replace('.', '/')}.py", listing)
