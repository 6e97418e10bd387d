"""Whether what is compiled of a policy keeps notes: to keep and restore them around each question takes time."""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Any

# What of a view is kept from one decision to a later one.
OF_NOTES = frozenset(["notes", "remember", "remembered"])


def remembers(of: type[Any], entries: Iterable[str]) -> bool:
    """Whether methods of a policy's class read or write notes: these, those that they name, and functions of the file.

    Args:
        of: the class.
        entries: names of the methods that are asked.
    """
    waiting: list[Any] = [*entries]
    seen: set[object] = set()
    while waiting:
        name = waiting.pop()
        functions = [vars(owner).get(name) for owner in of.__mro__] if isinstance(name, str) else [name]
        for defined in functions:
            function = getattr(defined, "fget", defined)
            if not isinstance(function, FunctionType) or function in seen:
                continue
            seen.add(function)
            names = _names_in(function.__code__)
            if not OF_NOTES.isdisjoint(names):
                return True
            waiting += [*names, *_beside(function, names)]
    return False


def _beside(function: FunctionType, names: Iterable[str]) -> list[Any]:
    """The functions of the same file that a function names."""
    found = [function.__globals__.get(name) for name in names]
    return [one for one in found if isinstance(one, FunctionType) and one.__module__ == function.__module__]


def _names_in(code: CodeType) -> set[str]:
    """The names that a function, and those written in it, look up."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))
