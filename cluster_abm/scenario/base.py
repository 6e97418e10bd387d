"""What every section of a scenario has in common, and which of its keys differ from their defaults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

# Said elsewhere, or by no run.
LEFT_OUT = ("name", "summary")
# A whole graph may be the value of a key.
LONGEST_TEXT = 300


class Section(BaseModel):
    """A frozen part of a scenario; unknown keys are errors. The string below a field is the field's meaning, and
    what `cluster-abm scenarios --keys` prints."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, use_attribute_docstrings=True)


class ChangedKey(NamedTuple):
    """One key: dotted, its value, and its default, as texts; "" is a default that there is not."""

    key: str
    value: str
    default: str


def not_default(scenario: BaseModel) -> list[ChangedKey]:
    """The keys of a scenario that differ from the defaults, in the order of the schema."""
    return [changed for changed in _differing(scenario, type(scenario)(), "") if changed.key not in LEFT_OUT]


def _differing(section: BaseModel, default: Any, path: str) -> Iterator[ChangedKey]:
    """The differences of a section to one of the same kind, or to something else."""
    values = {name: getattr(section, name) for name in type(section).model_fields} | (section.model_extra or {})
    for name, value in values.items():
        other = getattr(default, name, None)
        if value == other:
            continue
        if isinstance(value, BaseModel):
            yield from _differing(value, other if type(other) is type(value) else None, f"{path}{name}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            for position, entry in enumerate(value):
                yield ChangedKey(f"{path}{name}.{position}", _text(entry.model_dump(exclude_unset=True)), "")
        else:
            yield ChangedKey(f"{path}{name}", _text(value), "" if other is None else _text(other))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_text(entry)}" for name, entry in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(_text, value))
    if value is None:
        return "not set"
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return f"{value[:LONGEST_TEXT]}..."
    return f"{value:g}" if isinstance(value, float) else str(value)
