"""A part of a run: an object that is wired to the parts that it uses by their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(kw_only_default=True, eq_default=False)
def part(cls: type[Class]) -> type[Class]:
    """Make a class a part: its fields are keywords of its constructor, and each object equals only itself."""
    return dataclass(kw_only=True, eq=False, repr=False)(cls)


def wire(kind: type[Class], parts: Mapping[str, object], **own: object) -> Class:
    """Make a part: its `own` values are given, and its other fields are the parts of those names."""
    given: dict[str, Any] = {name: parts[name] for name in _names_of(kind) if name in parts} | own  # type: ignore[arg-type]
    return kind(**given)


@cache
def _names_of(kind: Any) -> tuple[str, ...]:
    """The keywords of a part's constructor."""
    return tuple(field.name for field in fields(kind) if field.init)
