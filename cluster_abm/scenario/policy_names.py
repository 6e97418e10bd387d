"""Names of policies: NAME, or NAME[PARAMETER=VALUE,...] where one of a list has parameters of its own.

Data names no file, for the policy in a file is code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import tomli_w
from pydantic import (
    AfterValidator,
    ConfigDict,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.old_names import current
from cluster_abm.scenario.base import Section
from cluster_abm.scenario.filling.values import value_of

# Takes FILE.py:CLASS, and gives the name by which the policy is known from then on (policies.name_of).
PolicyFiles = Callable[[str], str]
HOW = "name it on the command line (--policy, --policies) or in Python (policy=...)"
_REFERENCE = re.compile(r"(.+\.py)(?::([^:/\\]*))?", re.DOTALL)


class NamedPolicy(NamedTuple):
    """A policy as a list names it."""

    name: str  # the policy's name, or FILE.py:CLASS
    parameters: dict[str, object]  # those given with it


def labelled(name: str, parameters: dict[str, object]) -> str:
    """NAME[PARAMETER=VALUE,...]; without parameters the name alone."""
    if not parameters:
        return name
    return f"{name}[{','.join(f'{key}={_as_text(value)}' for key, value in parameters.items())}]"


def named_policy(text: str) -> NamedPolicy:
    """Take NAME[PARAMETER=VALUE,...] apart; values are as TOML writes them, and what is none is a text.

    Raises InputError: something in the brackets is no PARAMETER=VALUE, or a parameter is given twice.
    """
    at = _opening_bracket(text)
    if at < 0:
        return NamedPolicy(text, {})
    found: dict[str, object] = {}
    for part in in_parts(text[at + 1 : -1]):
        key, equals, value = (one.strip() for one in part.partition("="))
        if not equals or not key.isidentifier() or not value or key == "name":
            raise InputError(
                f"policy {shortened(text)}: {shortened(part)} is no PARAMETER=VALUE; allowed: NAME, or "
                "NAME[PARAMETER=VALUE,...], as power-of-d[d=3,information=fresh]"
            )
        if key in found:
            raise InputError(f"policy {shortened(text)}: parameter {key!r} is given twice")
        found[key] = value_of(value)
    if not found:
        raise InputError(f"policy {shortened(text)}: nothing in the brackets; allowed: NAME[PARAMETER=VALUE,...]")
    return NamedPolicy(text[:at].strip(), found)


def in_parts(text: str) -> list[str]:
    """The parts of a comma-separated text, without those that are empty; commas in brackets or quotes divide none."""
    parts = [""]
    for letter, depth, is_quoted in _followed(text, quotes_outside=True):
        if letter == "," and depth == 0 and not is_quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def plain_name(label: str) -> str:
    """The policy's own name, of one that a list names with parameters."""
    at = _opening_bracket(label)
    return label if at < 0 else label[:at]


def current_name(text: str) -> str:
    """The name that a policy has now, and the parameters given with it; a line on stderr says so of an old name, once.

    Raises InputError: as `named_policy`.
    """
    given = named_policy(text)
    return labelled(current("policy", given.name), given.parameters)


def checked_name(text: str) -> str:
    """`current_name`, for pydantic. Raises ValueError."""
    try:
        return current_name(text)
    except InputError as problem:
        raise ValueError(str(problem)) from None


def _opening_bracket(text: str) -> int:
    """Where the bracket opens that the last letter closes; -1: the text ends with none."""
    opening, last = -1, 0
    for at, (_, depth, _) in enumerate(_followed(text, quotes_outside=False)):
        if depth > 0 and last == 0:
            opening = at
        last = depth
    return opening if last == 0 and opening >= 0 and text.endswith("]") else -1


def _followed(text: str, quotes_outside: bool) -> Iterator[tuple[str, int, bool]]:
    """The letters of a text, each with how many brackets are open after it, and whether it stands in quotes.

    Args:
        text: brackets in quotes do not count, nor does what a backslash in double quotes stands before.
        quotes_outside: whether quotes outside brackets are quotes; else they are letters, as in a file's name.
    """
    depth, quote, is_escaped = 0, "", False
    for letter in text:
        was_quoted = bool(quote)
        if is_escaped:
            is_escaped = False
        elif quote:
            is_escaped = letter == "\\" and quote == '"'
            quote = "" if letter == quote else quote
        elif letter in "\"'" and (depth > 0 or quotes_outside):
            quote = letter
        else:
            depth = max(0, depth + (letter in "[{") - (letter in "]}"))
        yield letter, depth, was_quoted


def _as_text(value: object) -> str:
    """A value as it may be given: a text without quotes where that reads as the same text."""
    if isinstance(value, str) and re.fullmatch(r"[^\[\]{},'\"=\s]+", value) and value_of(value) == value:
        return value
    return tomli_w.dumps({"value": value}).partition("=")[2].strip()


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


# A policy by its name of today.
PolicyName = Annotated[str, AfterValidator(checked_name)]


class PolicyChoice(Section):
    """The policy's name; its parameters are further keys, checked by the policy itself.

    The name NAME[PARAMETER=VALUE,...] gives parameters that only this policy has, and is what results call it.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    name: PolicyName = "none"
    """the policy (cluster-abm policies), or NAME[PARAMETER=VALUE,...]; further keys are its parameters"""
    _label: str = PrivateAttr("")
    _own: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys beside `name`, and those given with it."""
        return dict(self.__pydantic_extra__ or {})

    @property
    def label(self) -> str:
        """What results call the policy: its name, with the parameters that are given with it."""
        return self._label or self.name

    @property
    def own_parameters(self) -> dict[str, Any]:
        """The parameters that are given with the name."""
        return dict(self._own)

    @property
    def shared_parameters(self) -> dict[str, Any]:
        """The keys beside `name`, which other policies may know, too."""
        return {key: value for key, value in self.parameters.items() if key not in self._own}

    @model_validator(mode="wrap")
    @classmethod
    def _take_apart(cls, data: Any, handler: ModelWrapValidatorHandler[PolicyChoice]) -> PolicyChoice:
        text = data.get("name") if isinstance(data, dict) else None
        if not isinstance(text, str):
            return handler(data)
        label = checked_name(text)
        name, own = named_policy(label)
        for key in own.keys() & data.keys():
            if data[key] != own[key]:
                raise ValueError(f"name {label!r}: policy.{key} is {data[key]!r}: give one of them")
        made = handler({**data, **own, "name": name})
        if own:
            made._label, made._own = label, own
        return made

    @model_serializer(mode="wrap")
    def _write(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        for key in self._own:
            written.pop(key, None)
        if self._own:
            written["name"] = self._label
        return written
