"""A policy as three compiled functions, which the compiled negotiation calls by their addresses.

Each is compiled once, and kept beside the kernels under all that it can come from (stamps).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core.errors import NumbaError
from numba.core.imputils import lower_constant
from numba.extending import models, overload, register_model, typeof_impl

from cluster_abm.compiling.decisions import decisions_at, put_decision
from cluster_abm.compiling.operations import floats_at
from cluster_abm.compiling.policy_types import (
    definition_of,
    is_shipped,
    kinds_of,
    numbers_of,
    parameter_values,
    policy_type,
)
from cluster_abm.compiling.stamps import stamp_of_policy
from cluster_abm.compiling.tables import NO_DECISION, offer_of, task_of, unlike_view_of, view_of
from cluster_abm.compiling.texts import number_of
from cluster_abm.compiling.translating import NotCompilable, patterns_in
from cluster_abm.compiling.values import JIT_OPTIONS
from cluster_abm.jit import callback
from cluster_abm.policy.base import Policy

SIGNATURE = types.int64(types.int64, types.int64, types.int64, types.int64)


class CompiledPolicy(NamedTuple):
    """Addresses of a policy's compiled functions."""

    place: int  # place(task, view, numbers, decision) fills the decision in, and gives 1; 0 at a fault
    # accept(task, view, numbers, decision) gives -1 - the number of the reason of a refusal; -1: it accepts; 0: at a
    # fault
    accept: int
    # as `place`, or returns NO_DECISION: no task is to migrate; 0 of a policy that does not migrate tasks
    migration: int
    numbers: npt.NDArray[np.float64]  # its parameters
    notes: int  # how many names of notes there are in its text


class PolicyToken:
    """Stands in an entry's code for a policy: the same for all of a class with parameters of the same kinds."""

    def __init__(self, policy: Policy, absent: frozenset[str]) -> None:
        self.policy, self.absent = policy, absent
        kinds = {name: type(value).__name__ for name, value in parameter_values(policy).items()}
        of = type(policy)
        self.stamp = stamp_of_policy(of)
        self.key = f"{of.__module__}.{of.__qualname__} {sorted(absent)} {kinds} {self.stamp}"


class _TokenType(types.Dummy):
    def __init__(self, token: PolicyToken) -> None:
        self.token = token
        super().__init__(f"PolicyToken({token.key})")


register_model(_TokenType)(models.OpaqueModel)


@typeof_impl.register(PolicyToken)
def _typeof_token(token: PolicyToken, context: Any) -> types.Type:
    return _TokenType(token)


@lower_constant(_TokenType)
def _constant_token(context: Any, builder: Any, kind: Any, token: Any) -> Any:
    return context.get_dummy_value()


def policy_of(token: Any, numbers: Any) -> Any:
    """The policy of a token, with these parameters; in compiled code only."""


@overload(policy_of, jit_options=JIT_OPTIONS, strict=False)
def _policy_of(token: Any, numbers: Any) -> Any:
    make = policy_type(token.token.policy, token.token.absent)[1]
    return lambda token, numbers: make(numbers)


def seen(token: Any, view: Any) -> Any:
    """The view of an address, as policies of a token see it; in compiled code only."""


@overload(seen, jit_options=JIT_OPTIONS, strict=False)
def _seen(token: Any, view: Any) -> Any:
    if "capacities" in token.token.absent:
        return lambda token, view: view_of(view)
    return lambda token, view: unlike_view_of(view)


def _place(token: PolicyToken) -> Callable[..., int]:
    def place(task: int, view: int, numbers: int, decision: int) -> int:
        made = policy_of(token, floats_at(numbers, 1)).place(task_of(task), seen(token, view))
        put_decision(decisions_at(decision, 1)[0], made)
        return 1

    return place


def _accept(token: PolicyToken) -> Callable[..., int]:
    def accept(task: int, view: int, numbers: int, decision: int) -> int:
        answer = policy_of(token, floats_at(numbers, 1)).accept(task_of(task), offer_of(decision), seen(token, view))
        return -1 - answer.number

    return accept


def _migration(token: PolicyToken) -> Callable[..., int]:
    def migration(task: int, view: int, numbers: int, decision: int) -> int:
        found = policy_of(token, floats_at(numbers, 1)).migration(task_of(task), seen(token, view))
        if found is None:
            return NO_DECISION
        put_decision(decisions_at(decision, 1)[0], found)
        return 1

    return migration


def compiled_policy(policy: Policy, has_data: bool = False, has_capacities: bool = False) -> CompiledPolicy:
    """Compile a policy, or take it from what is kept.

    Args:
        policy: the policy.
        has_data: whether jobs need files, which lie somewhere.
        has_capacities: whether loads of unlike nodes are compared by what these have.

    Raises NotCompilable: it has no compiled form.
    """
    is_there = {"data": has_data, "capacities": has_capacities}
    absent = frozenset(name for name, there in is_there.items() if not there)
    # Policies of a process are made anew for each run; reading their sources takes longer than a short run.
    key = type(policy), absent, kinds_of(policy), definition_of(type(policy))
    if key not in _COMPILED:
        try:
            _COMPILED[key] = _compiled(policy, absent)
        except NotCompilable as problem:
            _COMPILED[key] = str(problem)
    found = _COMPILED[key]
    if isinstance(found, str):
        raise NotCompilable(found)
    return found._replace(numbers=numbers_of(policy))


def _compiled(policy: Policy, absent: frozenset[str]) -> CompiledPolicy:
    token = PolicyToken(policy, absent)
    texts = _texts(type(policy))
    for text in texts:
        number_of(text)
    try:
        entries = [_entry(make, token) for make in (_place, _accept, *([_migration] if policy.migrates else []))]
    except NumbaError as problem:
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        raise NotCompilable(_told(lines)) from problem
    except NotCompilable:
        raise
    except Exception as problem:
        # Whatever the compiler stumbles over is no fault of a policy that is right in Python.
        raise NotCompilable(f"the compiler failed ({type(problem).__name__}: {problem})"[:200]) from problem
    addresses = [entry.address for entry in entries]
    _ALIVE.extend(entries)
    place, accept, migration = (*addresses, 0)[:3]
    return CompiledPolicy(place, accept, migration, numbers_of(policy), len(texts) if _remembers(type(policy)) else 0)


def _remembers(of: type[Policy]) -> bool:
    """Whether a method of a policy reads or writes notes."""
    functions = (defined for owner in of.__mro__ for defined in vars(owner).values())
    return any("notes" in found.__code__.co_names for found in functions if isinstance(found, FunctionType))


# Compiled code, whose addresses are in use, by what numba makes.
_ALIVE: list[Any] = []
# What this process has compiled, or why it cannot be, by class, absent attributes, kinds of parameters and methods.
_COMPILED: dict[Hashable, CompiledPolicy | str] = {}


def _told(lines: list[str]) -> str:
    """What does not compile, and where: of numba's message the innermost reason, and the line of the source."""
    own = "cluster_abm/compiling/"
    places = [place for place, line in enumerate(lines) if line.startswith("File ") and own not in line]
    before = lines[: places[0]] if places else lines
    reasons = [line for line in before if any(mark in line for mark in _REASONS)]
    reason = reasons[-1] if reasons else lines[0]
    calls = [line for line in before if line.startswith(">>> ")]
    if reason.startswith("No implementation of function") and calls:
        what, of = calls[-1].removeprefix(">>> ").split("(", 1)
        reason = f"no compiled form of `{what}` for ({of}"
        if "Text" in of:
            reason = "it makes a text of others, puts texts in order, or takes a text for a number"
    where = f" ({lines[places[0]].removeprefix('File ').rstrip(':')})" if places else ""
    return f"{reason[:160].rstrip(':')}{where}"


_REASONS = (
    "Untyped global",
    "Unknown attribute",
    "No implementation of function",
    "nsupported",
    "Cannot unify",
    "while",
)


def _entry(make: Callable[[PolicyToken], Callable[..., int]], token: PolicyToken) -> Any:
    function = make(token)
    # Numba names code by it.
    name = re.sub(r"\W", "_", f"{function.__name__}_{token.policy.name}", flags=re.ASCII)
    of, entry = type(token.policy), function.__name__
    function.__name__ = function.__qualname__ = name
    options: dict[str, Any] = {"error_model": "numpy"}
    if not is_shipped(of):
        options = {"error_model": "python", "boundscheck": True}
    return callback(function, SIGNATURE, f"{of.__module__}.{of.__qualname__}.{entry}", token.stamp, token.key, options)


def _texts(of: type[Policy]) -> list[str]:
    """All texts in a policy's methods and in the functions that they call, sorted; compiled code has their numbers."""
    found: set[str] = set()
    for owner in of.__mro__:
        if issubclass(owner, Policy):
            for defined in vars(owner).values():
                function = getattr(defined, "fget", defined)
                if isinstance(function, FunctionType):
                    found |= set(_constants(function.__code__)) | _global_texts(function, set()) | patterns_in(function)
                elif isinstance(defined, str):
                    found.add(defined)
    return sorted(found)


def _constants(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _constants(constant)


def _global_texts(function: FunctionType, seen: set[object]) -> set[str]:
    seen.add(function)
    found: set[str] = set()
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, tuple):
            found |= {one for one in value if isinstance(one, str)}
        elif isinstance(value, FunctionType) and value not in seen and value.__module__ == function.__module__:
            found |= set(_constants(value.__code__)) | _global_texts(value, seen) | patterns_in(value)
    return found
