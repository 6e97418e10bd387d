"""Names of policies in data: a scenario or study names no file, for the policy in a file is code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from cluster_abm.arguments import shortened
from cluster_abm.old_names import current

# Takes FILE.py:CLASS, and gives the name by which the policy is known from then on (policies.name_of).
PolicyFiles = Callable[[str], str]
HOW = "name it on the command line (--policy, --policies) or in Python (policy=...)"
_REFERENCE = re.compile(r"(.+\.py)(?::([^:/\\]*))?", re.DOTALL)


def current_name(name: str) -> str:
    """The name that a policy has now; of an old one a line on stderr says so, once."""
    return current("policy", name)


def split_reference(text: str) -> tuple[str, str | None] | None:
    """The file and the class of FILE.py:CLASS, the class None where it is left out; None: it names no file."""
    match = _REFERENCE.fullmatch(text)
    return None if match is None else (match[1], match[2] or None)


def take_policy_files(tree: Any, policy_files: PolicyFiles | None, allowing: str = HOW) -> dict[str, str]:
    """Put names in the place of files that the tables of a scenario or study name as policies.

    Args:
        tree: nested tables, not checked yet.
        policy_files: what loads them; None: they are refused, and none is opened.
        allowing: how a user names them, or allows them, for the message.

    Returns:
        By dotted key, why a file is refused.
    """
    refused: dict[str, str] = {}
    for path, holder, key in _named_policies(tree):
        text = holder[key]
        if not isinstance(text, str) or split_reference(text) is None:
            continue
        if policy_files is None:
            refused[path] = (
                f"{path} = {shortened(text)}: names a file, which is code, and data names policies by NAME only: "
                f"{allowing}"
            )
        else:
            holder[key] = policy_files(text)
    return refused


def _named_policies(tree: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where policies are named: the dotted key, and the table or list with its key or place there."""
    if isinstance(tree.get("policy"), dict) and "name" in tree["policy"]:
        yield "policy.name", tree["policy"], "name"
    compare, cluster = tree.get("compare"), tree.get("cluster")
    lists = {"policies": tree.get("policies")}
    if isinstance(compare, dict):
        lists["compare.policies"] = compare.get("policies")
    for path, names in lists.items():
        if isinstance(names, list):
            yield from ((path, names, position) for position in range(len(names)))
    groups = cluster.get("group") if isinstance(cluster, dict) else None
    for position, group in enumerate(groups if isinstance(groups, list) else ()):
        if isinstance(group, dict) and "policy" in group:
            yield f"cluster.group.{position}.policy", group, "policy"
