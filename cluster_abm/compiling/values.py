"""Values with named members and methods, as compiled code holds them: a view, a task, a load row, a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic, make_attribute_wrapper, overload_attribute, overload_method, register_model

from cluster_abm.jit.parts import PartCompiler

# As numba compiles the methods and attributes of values: like the kernels.
JIT_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
    "_nrt": True,
    "pipeline_class": PartCompiler,
}

# With an IndexError where a number is no place in an array.
BOUNDED: dict[str, Any] = JIT_OPTIONS | {"boundscheck": True}


# The types of values by name; None: several have it, and kept code that names it is not used.
_BY_NAME: dict[str, ValueType | None] = {}


def _type_named(name: str) -> ValueType:
    """The type of values of a name. Raises LookupError: there is none in this process, or not one alone."""
    named = _BY_NAME[name]
    if named is None:
        raise LookupError(name)
    return named


class ValueType(types.Type):
    """The type of values with these members; each kind of value is a subclass of its own.

    Args:
        name: what it is called, one name a type.
        members: the members' types by name.
    """

    # Whether values have a length, and are true if it is not 0.
    has_length = False

    def __init__(self, name: str, members: Mapping[str, types.Type]) -> None:
        super().__init__(name=name)
        self.members = dict(members)
        _BY_NAME[name] = None if name in _BY_NAME else self

    def __reduce__(self) -> tuple[Callable[[str], ValueType], tuple[str]]:
        # Kept code names the type: its class is made anew in each process, and would not be the same.
        return _type_named, (self.name,)


class _Model(models.StructModel):
    def __init__(self, manager: Any, value: ValueType) -> None:
        super().__init__(manager, value, list(value.members.items()))


def value_type(name: str, members: Mapping[str, types.Type]) -> tuple[ValueType, Callable[..., Any]]:
    """Make a type of values, and the function by which compiled code makes one of all its members, in their order."""
    kind = type(name, (ValueType,), {})
    register_model(kind)(_Model)
    found: ValueType = kind(name, members)
    for member in members:
        make_attribute_wrapper(kind, member, member)

    def make(typing_context: Any, *given: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            value = cgutils.create_struct_proxy(found)(context, builder)
            for (member, kind), argument in zip(found.members.items(), arguments, strict=True):
                if context.enable_nrt:
                    context.nrt.incref(builder, kind, argument)
                setattr(value, member, argument)
            return value._getvalue()

        return found(*found.members.values()), build

    # Numba wants as many parameters as there are members.
    names = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("typing_context", *found.members)]
    make.__signature__ = Signature(names)  # type: ignore[attr-defined]
    return found, intrinsic(make)


def give_method(
    value: ValueType, name: str, form: Signature, function: Callable[[], Callable[..., Any]],
    options: dict[str, Any] = JIT_OPTIONS,
) -> None:  # fmt: skip
    """Compile what `function` returns, of the signature `form`, as a method, for arguments of whatever types."""

    def overload(*given: Any, **named: Any) -> Callable[..., Any]:
        return function()

    # By it numba assigns arguments to names, and finds defaults.
    overload.__signature__ = form  # type: ignore[attr-defined]
    overload_method(type(value), name, jit_options=options, strict=False)(overload)


def give_typed_method(value: ValueType, name: str, choose: Callable[..., Callable[..., Any]]) -> None:
    """Compile, as a method, what `choose` returns for arguments of such types."""
    overload_method(type(value), name, jit_options=JIT_OPTIONS, strict=False)(choose)


def method(
    value: ValueType, name: str, options: dict[str, Any] = JIT_OPTIONS
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile the decorated function as a method of these values, for arguments of whatever types."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        give_method(value, name, signature(function), lambda: function, options)
        return function

    return register


def attribute(value: ValueType, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile the decorated function as a property of these values."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        overload_attribute(type(value), name, jit_options=JIT_OPTIONS, strict=False)(lambda value: function)
        return function

    return register
