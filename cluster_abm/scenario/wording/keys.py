"""Every key a scenario may hold, from the schema itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from cluster_abm.scenario.distributions import Distribution
from cluster_abm.scenario.schema import Scenario
from cluster_abm.scenario.wording.other_names import key_called


def scenario_keys() -> list[dict[str, Any]]:
    """Every key in the order of the schema: dotted `key`, `default` (None: not set), `meaning`, `allowed` values.

    Sections inside the workload (distributions, arrivals ...) are taken apart too: their keys are what `--set` takes.
    """
    return list(_keys_below(Scenario()))


def keys_with(text: str) -> list[dict[str, Any]]:
    """The entries of `scenario_keys` with a text in their key or meaning, in any case, or that the field calls so."""
    words = text.strip().lower()
    called = key_called(words)
    return [
        entry
        for entry in scenario_keys()
        if words in f"{entry['key']} {entry['meaning']}".lower() or entry["key"] == called
    ]


def distributions() -> dict[str, Distribution]:
    """The keys that are distributions, dotted, each with its default."""
    return {key: value for key, _, value in _sections_below(Scenario()) if isinstance(value, Distribution)}


def section_meanings() -> dict[str, str]:
    """What the sections inside of sections are for, by dotted key; "" where the schema does not say."""
    return {key: meaning for key, meaning, _ in _sections_below(Scenario())}


def allowed_values(field: FieldInfo) -> list[Any]:
    """The values of a field that takes one of a few; empty for any other."""
    options = [field.annotation, *get_args(field.annotation)]
    return [value for option in options if get_origin(option) is Literal for value in get_args(option)]


def _keys_below(section: BaseModel, path: str = "") -> Iterator[dict[str, Any]]:
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            meaning = f"{path}{name}: {field.description}" if field.description else ""
            for inner in _keys_below(value, f"{path}{name}."):
                yield inner | ({"meaning": f"{inner['meaning']} ({meaning})"} if meaning else {})
        else:
            yield {
                "key": path + name,
                "default": list(value) if isinstance(value, tuple) else value,
                "meaning": field.description or "",
                "allowed": allowed_values(field),
            }


def _sections_below(section: BaseModel, path: str = "") -> Iterator[tuple[str, str, BaseModel]]:
    """Sections inside of a section: dotted key, meaning, default."""
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            yield path + name, field.description or "", value
            yield from _sections_below(value, f"{path}{name}.")
