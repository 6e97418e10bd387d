"""Mistakes in a class of policies that no run would tell of: it would go through, and not mean what was meant."""

from __future__ import annotations

import difflib
import random
import secrets
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from cluster_abm.policies.base import Policy

# So alike are a name and a misspelling of it; `placed` and `place` are: a method of one's own begins with `_`.
ALIKE = 0.85


def mistakes_in(policy: type[Policy]) -> Iterator[str]:
    """Say what is wrong with the classes that a policy is made of, as far as they come from outside the package."""
    own = [base for base in policy.__mro__ if issubclass(base, Policy) and not _is_shipped(base)]
    known = {name for base in policy.__mro__ if _is_shipped(base) for name in vars(base) if not name.startswith("_")}
    written = {name for base in own for name in vars(base)}
    for base in own:
        for name, value in vars(base).items():
            if not isinstance(value, FunctionType):
                continue
            meant = [] if name in known or name.startswith("_") else difflib.get_close_matches(name, known, 1, ALIKE)
            if meant and meant[0] not in written:
                yield (
                    f"{base.__name__}.{name} would never be asked: is {meant[0]!r} meant? (a method of its own begins "
                    f"with an underscore: _{name})"
                )
            drawn = _source_of_chance(value)
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


def _source_of_chance(function: FunctionType) -> str:
    """What a function draws from that no seed of a run begins; "": nothing."""
    names = _names_in(function.__code__)
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            if value in (random, secrets, np.random):
                return value.__name__
            if value is np and "random" in names:
                return "numpy.random"
        elif isinstance(value, random.Random | np.random.Generator | np.random.RandomState):
            return f"{name}, a generator of its own"
        elif isinstance(getattr(value, "__self__", None), random.Random):
            return "random"
    return ""


def _names_in(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))
