"""A part of a run: an object that is wired to the parts that it uses by their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(kw_only_default=True, eq_default=False)
def part(cls: type[Class]) -> type[Class]:
    """Make a class a part: its fields are keywords of its constructor, and each object equals only itself."""
    return dataclass(kw_only=True, eq=False, repr=False)(cls)
