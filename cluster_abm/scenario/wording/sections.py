"""The keys that there are, by the schema alone."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel


def all_keys(section: type[BaseModel], path: str = "") -> Iterator[str]:
    """Every dotted key below a section, and the sections in it; but for keys within lists."""
    for name, field in section.model_fields.items():
        yield f"{path}{name}"
        if isinstance(field.default, BaseModel):
            yield from all_keys(type(field.default), f"{path}{name}.")
