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
from cluster_abm.compiling.operations import as_node, as_truth, floats_at, integers_at
from cluster_abm.compiling.policy_types import (
    arrays_of,
    definition_of,
    is_shipped,
    kinds_of,
    kinds_of_arrays,
    numbers_of,
    parameter_values,
    policy_type,
)
from cluster_abm.compiling.reading import reads_loads
from cluster_abm.compiling.remembering import remembers
from cluster_abm.compiling.stamps import stamp_of_policy
from cluster_abm.compiling.tables import NO, NO_DECISION, YES, offer_of, queue_of, task_of, unlike_view_of, view_of
from cluster_abm.compiling.texts import number_of
from cluster_abm.compiling.translating import NotCompilable, patterns_in
from cluster_abm.compiling.values import JIT_OPTIONS
from cluster_abm.jit import callback
from cluster_abm.policy.base import Policy
from cluster_abm.policy.kinds import Holding, is_asked_about_heads, migrates_on_arrival

SIGNATURE = types.int64(types.int64, types.int64, types.int64, types.int64)


class CompiledPolicy(NamedTuple):
    """Addresses of a policy's compiled functions."""

    place: int  # place(task, view, numbers, decision) fills the decision in, and gives 1; 0 at a fault
    # accept(task, view, numbers, decision) gives -1 - the number of the reason of a refusal; -1: it accepts; 0: at a
    # fault
    accept: int
    # as `place`, or returns NO_DECISION: no task is to migrate; 0 of a policy that does not migrate tasks on arrival
    migration: int
    # as `migration`, without a task: what it does periodically (`relieve`); 0: nothing, or it does so in Python
    relieve: int
    holds: int  # holds(task, view, numbers, tasks) gives YES or NO; 0: at a fault. 0 of a policy that holds no jobs
    takes_back: int  # takes_back(task, view, numbers, decision), likewise; the decision is not read
    next_job: int  # next_job(queue, view, numbers, 0) gives the place in the queue + 2; 0: at a fault, or not compiled
    # cores_for(task, view, numbers, given) fills in the nodes of a job's cores, and gives how many they are; 0: at a
    # fault, or none is compiled
    cores_for: int
    reads_loads: bool  # whether the text of these reads loads of nodes
    numbers: npt.NDArray[np.float64]  # its parameters, and where its arrays lie
    notes: int  # how many notes it may keep; 0: what is compiled of it keeps none
    arrays: tuple[Any, ...] = ()  # its arrays, kept as long as the numbers say where they lie


class PolicyToken:
    """Stands in an entry's code for a policy: the same for all of a class with parameters of the same kinds."""

    def __init__(self, policy: Policy, absent: frozenset[str]) -> None:
        self.policy, self.absent = policy, absent
        kinds = {name: type(value).__name__ for name, value in parameter_values(policy).items()}
        of = type(policy)
        self.stamp = stamp_of_policy(of)
        self.key = f"{of.__module__}.{of.__qualname__} {sorted(absent)} {kinds} {kinds_of_arrays(policy)} {self.stamp}"


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


def _next_job(token: PolicyToken) -> Callable[..., int]:
    def next_job(queue: int, view: int, numbers: int, decision: int) -> int:
        place = policy_of(token, floats_at(numbers, 1)).next_job(queue_of(queue), seen(token, view))
        return as_node(place) + 2

    return next_job


def _cores_for(token: PolicyToken) -> Callable[..., int]:
    def cores_for(task: int, view: int, numbers: int, given: int) -> int:
        tasks, room = integers_at(given, 2)[0], integers_at(given, 2)[1]
        nodes = policy_of(token, floats_at(numbers, 1)).cores_for(task_of(task), tasks, seen(token, view))
        if len(nodes) > room:
            raise IndexError("more cores than there are")
        found = integers_at(given, room)
        for place in range(len(nodes)):
            found[place] = as_node(nodes[place])
        return len(nodes)

    return cores_for


def _relieve(token: PolicyToken) -> Callable[..., int]:
    def relieve(task: int, view: int, numbers: int, decision: int) -> int:
        found = policy_of(token, floats_at(numbers, 1)).relieve(seen(token, view))
        if found is None:
            return NO_DECISION
        put_decision(decisions_at(decision, 1)[0], found)
        return 1

    return relieve


def _relieves(policy: Policy) -> bool:
    """Whether a policy does anything periodically."""
    return type(policy).relieve is not Policy.relieve and policy.acts_every_ms is not None


def _holds(token: PolicyToken) -> Callable[..., int]:
    def holds(task: int, view: int, numbers: int, tasks: int) -> int:
        answer = policy_of(token, floats_at(numbers, 1)).holds(task_of(task), tasks, seen(token, view))
        return YES if as_truth(answer) else NO

    return holds


def _takes_back(token: PolicyToken) -> Callable[..., int]:
    def takes_back(task: int, view: int, numbers: int, decision: int) -> int:
        answer = policy_of(token, floats_at(numbers, 1)).takes_back(task_of(task), seen(token, view))
        return YES if as_truth(answer) else NO

    return takes_back


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
    kinds = kinds_of(policy), kinds_of_arrays(policy)
    key = type(policy), absent, *kinds, definition_of(type(policy)), _relieves(policy)
    if key not in _COMPILED:
        try:
            _COMPILED[key] = _compiled(policy, absent)
        except NotCompilable as problem:
            _COMPILED[key] = str(problem)
    found = _COMPILED[key]
    if isinstance(found, str):
        raise NotCompilable(found)
    return found._replace(numbers=numbers_of(policy), arrays=tuple(arrays_of(policy).values()))


def _compiled(policy: Policy, absent: frozenset[str]) -> CompiledPolicy:
    token = PolicyToken(policy, absent)
    texts = keep_texts(type(policy))
    makers = _makers(policy)
    entries = [kept_entry(make, token) for make in makers.values()]
    addresses = {name: entry.address for name, entry in zip(makers, entries, strict=True)}
    relieve = _relief_of(policy, token)
    methods = [*makers, *(["relieve"] if relieve else [])]
    return CompiledPolicy(
        **dict.fromkeys(METHODS, 0) | addresses,
        relieve=relieve,
        reads_loads=reads_loads(type(policy), methods, absent),
        numbers=numbers_of(policy),
        notes=len(texts) if remembers(type(policy), methods) else 0,
    )


METHODS = ("place", "accept", "migration", "holds", "takes_back", "next_job", "cores_for")


def _makers(policy: Policy) -> dict[str, Callable[[PolicyToken], Callable[..., int]]]:
    """What is compiled of a policy, by its method."""
    migration = {"migration": _migration} if migrates_on_arrival(policy) else {}
    if not policy.holds_jobs:
        return {"place": _place, "accept": _accept, **migration}
    if is_asked_about_heads(policy):
        return {"place": _place, "accept": _accept, **migration, "holds": _holds, "takes_back": _takes_back}
    of = getattr(type(policy), "cores_for", Holding.cores_for)
    own = {} if of is Holding.cores_for else {"cores_for": _cores_for}
    return {"place": _place, "next_job": _next_job, **own}


def _relief_of(policy: Policy, token: PolicyToken) -> int:
    """The address of what a policy does periodically; 0: nothing, or what has no compiled form."""
    if not _relieves(policy):
        return 0
    try:
        return int(kept_entry(_relieve, token).address)
    except NotCompilable:
        # It is asked in Python then; what else is compiled of the policy is of use without it.
        return 0


def kept_entry(make: Callable[[PolicyToken], Callable[..., int]], token: PolicyToken) -> Any:
    """A policy's function compiled, and kept as long as its address may be used. Raises NotCompilable."""
    try:
        entry = _entry(make, token)
    except NumbaError as problem:
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        raise NotCompilable(_told(lines)) from problem
    except NotCompilable:
        raise
    except Exception as problem:
        # Whatever the compiler stumbles over is no fault of a policy that is right in Python.
        raise NotCompilable(f"the compiler failed ({type(problem).__name__}: {problem})"[:200]) from problem
    _ALIVE.append(entry)
    return entry


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
    if of_parameter := re.match(r"Unknown attribute '(\w+)' of type ParametersOf", reason):
        reason = f"parameter {of_parameter[1]} is no number of up to 2^53, text or truth value"
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


def keep_texts(of: type[Policy]) -> list[str]:
    """Give all texts of a policy their numbers; which they are, sorted."""
    texts = _texts(of)
    for text in texts:
        number_of(text)
    return texts


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
