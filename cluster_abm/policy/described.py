"""Fields of a dataclass that say what they mean: rows of numbers, columns of tables and docstrings follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from typing import Any, NamedTuple, TypeVar

import numpy as np

Class = TypeVar("Class", bound=type)


class Described(NamedTuple):
    """A field: its name, the type of its values as it is written, their unit ("1": none), and its meaning."""

    name: str
    kind: str
    unit: str
    meaning: str


def said(unit: str, meaning: str) -> Mapping[str, str]:
    """What a field's metadata say of it."""
    return {"unit": unit, "meaning": meaning}


def by_default(default: Any, unit: str, meaning: str, **how: bool) -> Any:
    """A field that may be left out."""
    return field(default=default, metadata=said(unit, meaning), **how)  # type: ignore[call-overload]


def fields_of(of: Any) -> tuple[Described, ...]:
    """The fields of a dataclass, in the order in which they stand there."""
    return tuple(Described(one.name, str(one.type), **one.metadata) for one in fields(of))


# What stands behind a meaning in brackets; other units are said by the meaning itself.
UNITS = frozenset(["ms", "1/ms", "MB", "KB"])
# Texts are kept as their numbers (compiling.texts), numbers of nodes in half the room.
DTYPES = {"int": "i8", "float": "f8", "bool": "?", "str": "i8"}


def row_of(described: Iterable[Described]) -> np.dtype[np.void]:
    """The dtype of rows that hold these fields, numbers and texts, in an order."""
    kinds = [(one.name, "i4" if one.unit == "node" else DTYPES[one.kind]) for one in described]
    return np.dtype(kinds, align=True)


def explained(of: Class) -> Class:
    """Put what the fields of a dataclass mean into its docstring."""
    of.__doc__ = (of.__doc__ or "").rstrip() + attributes(fields_of(of))
    return of


def attributes(described: Iterable[Described]) -> str:
    """The part of a docstring about attributes."""
    lines = [f"        {one.name}: {one.meaning}{f' [{one.unit}]' if one.unit in UNITS else ''}." for one in described]
    return "\n".join(["\n\n    Attributes:", *lines, "    "])
