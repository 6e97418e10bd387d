"""Mistakes in a policy's class that no run would report: the run would end normally with wrong results."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from cluster_abm.policy.base import Policy
from cluster_abm.policy.finding.chance import source_of_chance
from cluster_abm.policy.kinds import Holding, Migrating

# How similar a name and its misspelling are. `placed` and `place` are: a method of one's own begins with `_`.
ALIKE = 0.85


def mistakes_in(policy: type[Policy]) -> Iterator[str]:
    """Say what is wrong with the classes that a policy is made of, as far as they come from outside the package."""
    own = [base for base in policy.__mro__ if issubclass(base, Policy) and not _is_shipped(base)]
    # A method of a kind that the class is not of may be misspelt, too.
    shipped = [Holding, Migrating, *(base for base in reversed(policy.__mro__) if _is_shipped(base))]
    known = {name: value for base in shipped for name, value in vars(base).items() if not name.startswith("_")}
    written = {name for base in own for name in vars(base)}
    for base in own:
        for name, value in vars(base).items():
            alike = [one for one in known if _are_alike_in_kind(known[one], value)]
            meant = [] if name in known or name.startswith("_") else difflib.get_close_matches(name, alike, 1, ALIKE)
            if meant and meant[0] not in written:
                yield (
                    f"{base.__name__}.{name} would never be {'asked' if callable(value) else 'read'}: is {meant[0]!r} "
                    f"meant? (a {'method' if callable(value) else 'name'} of its own begins with an underscore: "
                    f"_{name})"
                )
            if isinstance(value, str) and not name.startswith("__") and not _is_utf8(value):
                yield f"{base.__name__}.{name} = {value!a:.60}: a text that can be written as UTF-8 is needed"
            function = value.fget if isinstance(value, property) else value
            drawn = source_of_chance(function) if isinstance(function, FunctionType) else ""
            if drawn:
                yield (
                    f"{base.__name__}.{name} draws from {drawn}: the same seed would not give the same run; take "
                    "view.uniform(task.task, draw), a number in (0, 1) of the policy's own stream"
                )
        rules = vars(base).get("rules", ())
        if not _are_rules(rules):
            yield f"{base.__name__}.rules = {rules!r:.60}: a tuple of (rule, words) or (rule, words, lines) is needed"


def _is_shipped(base: type) -> bool:
    return base.__module__ == "cluster_abm" or base.__module__.startswith("cluster_abm.")


def _are_rules(rules: Any) -> bool:
    return isinstance(rules, tuple | list) and all(
        isinstance(rule, tuple) and len(rule) in (2, 3) and all(isinstance(part, str) for part in rule)
        for rule in rules
    )


def _are_alike_in_kind(known: Any, value: Any) -> bool:
    """Whether a value could be meant for an attribute of the package's classes, such as a method for a method."""
    if isinstance(known, FunctionType | classmethod | staticmethod):
        return isinstance(value, FunctionType)
    if isinstance(known, property):
        return isinstance(value, property | int | float | FunctionType)
    if isinstance(known, tuple):
        return isinstance(value, tuple | list)
    return isinstance(value, type(known)) or (known is None and isinstance(value, int | float))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
