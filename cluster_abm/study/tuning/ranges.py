"""What is searched: keys with their ranges, checked against the scenario's and the policy's own schema."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import tomli_w
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.policies import available, create
from cluster_abm.scenario import Scenario, nearest, scenario_from
from cluster_abm.scenario.load import tables_of
from cluster_abm.scenario.unused import keys_without_effect, reason_without_effect
from cluster_abm.study.asking import Value

Kind = Literal["number", "whole", "choice", "other"]

# Keys, and sections, that no search makes sense of, each with the reason.
NOT_SEARCHED = {
    "policy.name": "policies are compared by `compare`; a search has one policy (--policy)",
    "run.seed": "a seed is no parameter: every candidate runs from the same seeds",
    "compare": "only `compare` reads it",
    "measure": "no result of a run depends on it",
    "name": "no result depends on it",
    "summary": "no result depends on it",
}


@dataclass(frozen=True)
class Over:
    """A key that is searched, between two bounds or among some values."""

    key: str  # dotted, as `--set` takes it
    # low, high: the bounds, both included, in the key's unit; NaN where there are choices
    low: float = math.nan
    high: float = math.nan
    log: bool = False  # whether the range is searched by orders of magnitude
    choices: tuple[Value, ...] = ()  # the values that are tried; empty where there are bounds

    @property
    def ends(self) -> tuple[Value, ...]:
        """The choices, or the bounds; whole numbers as such."""
        return self.choices or tuple(int(end) if float(end).is_integer() else end for end in (self.low, self.high))

    def __str__(self) -> str:
        if self.choices:
            return f"{self.key}={'|'.join(map(in_toml, self.choices))}"
        return f"{self.key}={self.low:.12g}:{self.high:.12g}{':log' if self.log else ''}"


@dataclass(frozen=True)
class Searched:
    """A range that has been checked."""

    over: Over  # what was asked for
    whole: bool = False  # whether only whole numbers are allowed

    def holds(self, value: object) -> bool:
        """Whether a value is one of those that are searched."""
        if self.over.choices:
            return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in self.over.choices)
        return (
            isinstance(value, int | float) and not isinstance(value, bool) and self.over.low <= value <= self.over.high
        )


def in_toml(value: Value) -> str:
    """A value as `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def in_sections(settings: Mapping[str, Value], tree: dict[str, Any] | None = None) -> str:
    """Dotted keys as TOML, laid over a tree of sections."""
    tree = {} if tree is None else tree
    for key, value in settings.items():
        *path, last = key.split(".")
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        at[last] = value
    return tomli_w.dumps(tree)


def with_settings(scenario: Scenario, settings: Mapping[str, Value]) -> Scenario:
    """The scenario with dotted keys laid over it, its policy's parameters checked too.

    Raises InputError: what the scenario or the policy refuses, all of it.
    """
    varied = scenario_from(tables_of(scenario), scenario.name, settings)
    create(varied.policy)
    return varied


def checked(scenario: Scenario, overs: Sequence[Over]) -> tuple[Searched, ...]:
    """The ranges, if the scenario and its policy allow them.

    Args:
        scenario: checked; its policy is the one that is searched for.
        overs: the keys with their ranges.

    Raises:
        InputError: no key at all, an unknown key, one that is given twice or has no effect, a range that is none or
            that the key does not allow; all problems at once.
    """
    problems = [] if overs else ["--over: no key is named; allowed is KEY=LOW:HIGH, e.g. policy.cpu_weight=0:1"]
    found = []
    keys = [over.key for over in overs]
    for position, over in enumerate(overs):
        if over.key in keys[:position]:
            problems.append(f"--over {over.key}: is given twice")
            continue
        kind = _kind_of(scenario, over.key)
        wrong = _problems_of(scenario, over, kind)
        problems += [f"--over {over}: {line}" for line in wrong]
        found.append(Searched(over, whole=kind == "whole"))
    if problems:
        raise InputError(problems)
    return tuple(found)


def _problems_of(scenario: Scenario, over: Over, kind: Kind) -> list[str]:
    """What is wrong with one range."""
    reason = reason_without_effect(over.key, NOT_SEARCHED)
    if reason is not None:
        return [f"cannot be searched: {reason}"]
    problems = _problems_of_form(over, kind)
    if problems:
        return problems
    section, _, parameter = over.key.partition(".")
    known = list(available()[scenario.policy.name].Parameters.model_fields)
    if section == "policy" and parameter not in known:
        return [f"{scenario.policy.name} has no parameter {shortened(parameter)}; {nearest(parameter, known)}"]
    field = _field_of(scenario, over.key)
    without_effect: list[str | None] = []
    together: list[str] = []
    for value in over.ends:
        try:
            varied = with_settings(scenario, {over.key: value})
        except InputError as problem:
            # What does not fit the scenario's other values may fit others: it is refused candidate by candidate.
            of_the_key = field is None or not _takes(field, value)
            (problems if of_the_key else together).extend(line.removeprefix("override: ") for line in problem.problems)
        else:
            without_effect.append(reason_without_effect(over.key, keys_without_effect(varied)))
    if not without_effect:
        problems += together
    elif not problems and all(without_effect):
        problems.append(f"has no effect: {without_effect[0]}")
    # A key that does not exist is wrong at both ends alike.
    return list(dict.fromkeys(problems))


def _takes(field: FieldInfo, value: Value) -> bool:
    """Whether a field by itself allows a value."""
    try:
        TypeAdapter(field.rebuild_annotation()).validate_python(value)
    except ValidationError:
        return False
    return True


def _problems_of_form(over: Over, kind: Kind) -> list[str]:
    """What is wrong with a range whatever the scenario allows."""
    if kind == "other":
        return ["is no single number, flag or word; only these are searched"]
    if over.choices:
        repeated = len(set(map(in_toml, over.choices))) < len(over.choices)
        if len(over.choices) < 2 or repeated:
            return ["several different values are needed, e.g. KEY=a|b"]
        return []
    if kind == "choice":
        return ["is no number: name the values that are to be tried, e.g. KEY=a|b"]
    if not (math.isfinite(over.low) and math.isfinite(over.high)):
        return ["LOW and HIGH have to be finite numbers"]
    problems = [] if over.low < over.high else ["LOW has to be below HIGH"]
    if over.log and over.low <= 0:
        problems.append("a range that is searched by orders of magnitude (:log) has to begin above 0")
    if kind == "whole" and not (float(over.low).is_integer() and float(over.high).is_integer()):
        problems.append("the key takes whole numbers only")
    return problems


def _kind_of(scenario: Scenario, key: str) -> Kind:
    """What a key takes, by the schema; of an unknown key "number", since that it is unknown is said elsewhere."""
    field = _field_of(scenario, key)
    if field is None:
        return "number" if _is_below_a_section(scenario, key) else "other"
    types = set(_types(TypeAdapter(field.rebuild_annotation()).json_schema()))
    if "integer" in types and "number" not in types:
        return "whole"
    if "number" in types:
        return "number"
    return "choice" if types & {"boolean", "string"} else "other"


def _field_of(scenario: Scenario, key: str) -> FieldInfo | None:
    """The field of a key; None: there is none."""
    section, _, parameter = key.partition(".")
    if section == "policy":
        return available()[scenario.policy.name].Parameters.model_fields.get(parameter)
    *path, last = key.split(".")
    at: Any = scenario
    for part in path:
        at = getattr(at, part, None) if isinstance(at, BaseModel) and part in type(at).model_fields else None
    return type(at).model_fields.get(last) if isinstance(at, BaseModel) else None


def _is_below_a_section(scenario: Scenario, key: str) -> bool:
    """Whether a key without a field is a misspelt one; else it reaches into a list or a value."""
    at: Any = scenario
    for part in key.split("."):
        if not isinstance(at, BaseModel):
            return False
        if part not in type(at).model_fields:
            return True
        at = getattr(at, part)
    return True


def _types(schema: Mapping[str, Any]) -> list[str]:
    """The JSON types that a schema of a field allows."""
    found = [schema["type"]] if isinstance(schema.get("type"), str) else []
    for one in schema.get("anyOf", ()):
        found += _types(one)
    return found
