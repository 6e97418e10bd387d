"""The type of a policy in compiled code: its parameters, its constants, and the methods of its class and bases."""

from __future__ import annotations

import sys
from collections import namedtuple
from collections.abc import Callable, Hashable
from functools import cache, partial
from inspect import signature
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload_attribute, register_jitable

# These give views, tasks and queues their methods.
import cluster_abm.compiling.views.methods
import cluster_abm.compiling.views.noted
import cluster_abm.compiling.views.queues  # noqa: F401
from cluster_abm.compiling.agreeing import CAREFUL, STRICT
from cluster_abm.compiling.decisions import make_decision
from cluster_abm.compiling.operations import LARGEST, completed
from cluster_abm.compiling.plain_values import is_plain
from cluster_abm.compiling.tables import TEXT, text_at
from cluster_abm.compiling.texts import number_of
from cluster_abm.compiling.translating import NotCompilable, inherited_name, is_of_package, translated
from cluster_abm.compiling.values import JIT_OPTIONS, ValueType, give_method, value_type
from cluster_abm.native_arrays import array_of
from cluster_abm.policy.base import Policy
from cluster_abm.policy.talking import Talking

Numbers = npt.NDArray[np.float64]

# What names of policies' modules stand for in compiled code.
STAND_INS: dict[str, Any] = {"Decision": make_decision, "completed": register_jitable(**JIT_OPTIONS)(completed)}
# The numbers of arrays that a policy may keep in itself.
ARRAYS: dict[Any, types.Type] = {
    np.dtype(np.float64): types.float64, np.dtype(np.int64): types.int64, np.dtype(np.bool_): types.boolean,
}  # fmt: skip
# Parameters that only the model reads: they do not make another type of a policy.
NOT_READ = frozenset(["information"])
# In a policy's class these concern Python alone.
NOT_COMPILED = frozenset(["Parameters", "Notes", "name", "source", "summary", "parameters", "_explain"])


def is_shipped(of: type[Policy]) -> bool:
    """Whether a policy is one of this package's."""
    return is_of_package(of)


def parameter_values(policy: Policy) -> dict[str, Any]:
    """A policy's parameters that compiled code can hold, by name: numbers of up to 2^53, truth values and texts.

    What reads another one does not compile.
    """
    return {
        name: value
        for name, value in policy.parameters.model_dump().items()
        if name not in NOT_READ
        and (isinstance(value, str | bool | float) or (isinstance(value, int) and abs(value) <= LARGEST))
    }


def arrays_of(policy: Policy) -> dict[str, Any]:
    """The arrays of numbers that a policy keeps in itself, by name: compiled code reads them where they are.

    Raises NotCompilable: it keeps something else.
    """
    found: dict[str, Any] = {}
    for name, value in sorted(vars(policy).items()):
        if name != "parameters":
            is_array = isinstance(value, np.ndarray) and value.dtype in ARRAYS and 1 <= value.ndim <= 2
            if not (is_array and value.flags.c_contiguous and value.flags.aligned):
                raise NotCompilable(
                    f"the policy keeps {name!r} in itself: compiled are its parameters, constants and arrays of numbers"
                )
            found[name] = value
    return found


def numbers_of(policy: Policy) -> Numbers:
    """A policy's parameters, and where its arrays lie, as the numbers from which compiled code makes the policy.

    The arrays have to be kept as long as the numbers are used.
    """
    values = [
        float(number_of(value) if isinstance(value, str) else value) for value in parameter_values(policy).values()
    ]
    for array in arrays_of(policy).values():
        # An address is less than 2^53: as a float it is exact.
        values += [float(number) for number in (array.ctypes.data, *array.shape)]
    return np.array(values or [0.0])


@cache
def _numba_kind(kind: type) -> types.Type:
    return {bool: types.boolean, int: types.int64, float: types.float64, str: TEXT}[kind]


def policy_type(policy: Policy, absent: frozenset[str]) -> tuple[ValueType, Callable[..., Any]]:
    """The type of policies of a class, and the function by which compiled code makes one of its numbers.

    Args:
        policy: one of them.
        absent: attributes of views that are None in this run.

    Raises NotCompilable.
    """
    of: Any = type(policy)
    return _made(of, absent, kinds_of(policy), kinds_of_arrays(policy), definition_of(of))


def kinds_of(policy: Policy) -> tuple[tuple[str, type], ...]:
    """The names and types of a policy's parameters that compiled code can hold."""
    return tuple((name, type(value)) for name, value in parameter_values(policy).items())


def kinds_of_arrays(policy: Policy) -> tuple[tuple[str, str, int], ...]:
    """The names, types and numbers of axes of a policy's arrays. Raises NotCompilable."""
    return tuple((name, array.dtype.name, array.ndim) for name, array in arrays_of(policy).items())


def definition_of(of: type[Policy]) -> tuple[Hashable, ...]:
    """The methods and constants that a policy's class and its bases have now: other code may have put others there.

    Of a user's class also the constants of the file that its functions may read.
    """
    found: list[Hashable] = []
    for owner in of.__mro__:
        if not issubclass(owner, Policy):
            continue
        for name, defined in vars(owner).items():
            if isinstance(defined, FunctionType | property):
                found.append((owner, name, defined))
            elif isinstance(defined, str | bool | int | float):
                found.append((owner, name, repr(defined)))
        found += constants_of(owner)
    return tuple(found)


def constants_of(owner: type) -> list[tuple[str, str]]:
    """Name and value of each constant of the file in which a user's class stands."""
    if is_of_package(owner):
        return []
    around = vars(sys.modules[owner.__module__]) if owner.__module__ in sys.modules else {}
    return sorted((name, repr(value)) for name, value in around.items() if is_plain(value))


@cache
def _made(
    of: Any,
    absent: frozenset[str],
    parameters: tuple[tuple[str, type], ...],
    arrays: tuple[tuple[str, str, int], ...],
    definition: Hashable,
) -> tuple[ValueType, Callable[..., Any]]:
    kinds = [_numba_kind(kind) for _, kind in parameters]
    held = types.NamedTuple(kinds, namedtuple(f"ParametersOf{of.__name__}", [name for name, _ in parameters]))
    # A policy that writes to one of them has no compiled form: what was decided at a fault would be decided again.
    kept = {name: types.Array(ARRAYS[np.dtype(dtype)], axes, "C", readonly=True) for name, dtype, axes in arrays}
    name = f"{of.__module__}.{of.__qualname__}({sorted(absent)}, {parameters}, {arrays})"
    found, _ = value_type(name, {"parameters": held, **kept})
    _give_methods(found, of, absent, parameters)
    return found, _from_numbers(found, held, kept)


def _from_numbers(found: ValueType, held: types.NamedTuple, kept: dict[str, types.Array]) -> Callable[..., Any]:
    """The function that makes a policy of its numbers."""

    @intrinsic
    def make(typing_context: Any, numbers: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
            values = []

            def number_at(place: int) -> Any:
                return builder.load(builder.gep(array.data, [context.get_constant(types.intp, place)]))

            for place, kind in enumerate(held.types):
                number = number_at(place)
                if kind is TEXT:
                    text = cgutils.create_struct_proxy(TEXT)(context, builder)
                    text.number = context.cast(builder, number, types.float64, types.int64)
                    values.append(text._getvalue())
                else:
                    values.append(context.cast(builder, number, types.float64, kind))
            policy = cgutils.create_struct_proxy(found)(context, builder)
            policy.parameters = context.make_tuple(builder, held, values)
            place = len(held.types)
            for name, kind in kept.items():
                lies = [
                    context.cast(builder, number_at(place + axis), types.float64, types.int64)
                    for axis in range(1 + kind.ndim)
                ]
                setattr(policy, name, array_of(context, builder, kind, lies[0], lies[1:]))
                place += len(lies)
            return policy._getvalue()

        return found(numbers), build

    return make


def _constant(value: Any) -> Callable[..., Any]:
    """What gives a constant of a policy's class."""
    if isinstance(value, str):
        number = number_of(value)
        return lambda policy: text_at(number)
    return lambda policy: value


def _give_methods(
    value: ValueType, of: type[Policy], absent: frozenset[str], parameters: tuple[tuple[str, type], ...]
) -> None:
    """Register what the policy's class and its bases define, each translated when it is first needed."""

    @cache
    def compiled(function: FunctionType, owner: Any) -> Callable[..., Any]:
        return translated(function, owner, absent, STAND_INS, issubclass(of, Talking), parameters)

    def give_attribute(name: str, read: Callable[[], Any]) -> None:
        overload_attribute(type(value), name, jit_options=JIT_OPTIONS, strict=False)(lambda policy: read())

    lineage: list[Any] = [owner for owner in of.__mro__ if issubclass(owner, Policy)]
    given: set[str] = set()
    for place, owner in enumerate(lineage):
        # Methods of the package that a user's class inherits may be given anything.
        options = JIT_OPTIONS if is_shipped(of) else STRICT if is_shipped(owner) else CAREFUL
        for name, defined in vars(owner).items():
            if name in NOT_COMPILED or name.startswith("__"):
                continue
            if isinstance(defined, FunctionType):
                if name not in given:
                    give_method(value, name, signature(defined), partial(compiled, defined, owner), options)
                for earlier in lineage[:place]:
                    # What super() finds from an earlier class on, if no class in between defines it.
                    between = lineage[lineage.index(earlier) + 1 : place]
                    if not any(name in vars(other) for other in between):
                        give_method(
                            value, inherited_name(earlier, name), signature(defined), partial(compiled, defined, owner),
                            options,
                        )  # fmt: skip
            elif name not in given and isinstance(defined, property) and isinstance(defined.fget, FunctionType):
                give_attribute(name, lambda read=defined.fget, owner=owner: compiled(read, owner))  # type: ignore[misc]
            elif name not in given and isinstance(defined, str | bool | int | float):
                give_attribute(name, partial(_constant, defined))
            given.add(name)
