"""Policies by kind, each with its source, its rule in words, its parameters, its parts, and its code."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path

from cluster_abm.policies import Policy, available
from cluster_abm.policies.backfilling import Backfilling
from cluster_abm.policies.space_sharing import SpaceSharing
from cluster_abm.policies.talking import TalkingPolicy

from .keys import allowed_of, as_toml
from .markdown import anchor, code, docstring, dropdown, escaped, sentence, table, target

# The pages, in the order of the overview, each with what its policies have in common.
FAMILIES: Mapping[str, str] = {
    "yardsticks": "Yardsticks and bounds",
    "wal-pm": "WAL-PM",
    "iocm": "IOCM",
    "iolb": "IOLB",
    "mcls": "MCLS",
    "lmip": "LMIP",
    "batch": "Batch systems",
    "talking": "Policies that talk",
    "others": "Schedulers of today, and learnt ones",
}
YARDSTICKS = ("none", "random", "round-robin", "jsq", "power-of-d", "hbd", "ideal")
PAPERS = ("wal-pm", "iocm", "iolb", "mcls", "lmip")


def family_of(name: str, policy: type[Policy]) -> str:
    """The page of a policy."""
    paper = policy.source.partition(",")[0].partition(" ")[0].lower()
    if name in YARDSTICKS:
        return "yardsticks"
    if issubclass(policy, SpaceSharing | Backfilling):
        return "batch"
    if paper in PAPERS:
        return paper
    return "talking" if issubclass(policy, TalkingPolicy) else "others"


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
    """The policies of a page, as Markdown."""
    found = [(name, one) for name, one in shipped().items() if family_of(name, one) == family]
    return "\n".join(_section(name, one) for name, one in found)


def _section(name: str, policy: type[Policy]) -> str:
    lines = [
        f"({anchor('policy', name)})=", f"## {name}", "",
        sentence(escaped(policy.summary)), "", f"*Source:* {escaped(policy.source)}.", "",
        docstring(policy), "",
    ]  # fmt: skip
    built_on = [base for base in policy.__mro__[1:] if base.__module__.startswith("cluster_abm.policies.") and base is not Policy]
    if built_on:
        named = "; ".join(f"{code(base.__name__)}: {_first_sentence(base)}" for base in built_on)
        lines += [f"*Built on* {named}.", ""]
    lines += [f"*How it acts:* {'; '.join(traits(policy))}.", "", _parameters(name, policy), ""]
    return "\n".join([*lines, _code(policy)])


def _first_sentence(of: type) -> str:
    found = inspect.cleandoc(of.__doc__ or "").split("\n\n")[0]
    return escaped(" ".join(found.split()).rstrip("."))


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
    words += [f"jobs have to say `{need}`" for need in policy.needs]
    return words


def _parameters(name: str, policy: type[Policy]) -> str:
    lines = []
    for key, field in policy.Parameters.model_fields.items():
        default = as_toml(field.get_default(call_default_factory=True))
        shown = f" = {code(default)}" if default else " (not set)"
        allowed = f" *Allowed:* {found}." if (found := allowed_of(field)) else ""
        words = sentence(escaped(" ".join((field.description or "").split())))
        lines.append(f"[{code(f'policy.{key}')}]{{#{anchor('parameter', f'{name}-{key}')}}}{shown}\n: {words}{allowed}\n")
    return "\n".join(lines)


def _code(policy: type[Policy]) -> str:
    # Seen from a page of docs/reference/policies.
    path = Path("../../..", *policy.__module__.split(".")).with_suffix(".py")
    listing = f":::{{literalinclude}} {path.as_posix()}\n:language: python\n:::"
    return dropdown(f"The rule as code: {policy.__module__.replace('.', '/')}.py", listing)


__all__ = ["FAMILIES", "family_of", "of_family", "overview", "shipped", "target"]
