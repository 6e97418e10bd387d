"""Operations of a user's policy in compiled code: they give the result that Python has, or an exception.

After an exception the decision is taken again in Python, whose whole numbers have no bounds, and which says what is
wrong in its own words. Whole numbers up to 2^53 are exact as floats: what is larger is left to Python.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable
from typing import Any

import llvmlite.binding
from numba import types
from numba.extending import overload

from cluster_abm.compiling.agreeing import CAREFUL
from cluster_abm.compiling.operations import LARGEST, as_node
from cluster_abm.compiling.tables import NODE_SET, TEXT

# The power function that Python uses: of a constant exponent the compiler would make products, rounded otherwise.
llvmlite.binding.add_symbol("cluster_abm_pow", ctypes.cast(ctypes.CDLL(None).pow, ctypes.c_void_p).value)
_python_pow = types.ExternalFunction("cluster_abm_pow", types.float64(types.float64, types.float64))

# By name, what stands in compiled code for an operation, and what it does in Python.
OPERATIONS: dict[str, Callable[..., Any]] = {}
# The functions of `math` that are the same in compiled code, once their domain is checked.
MATH = frozenset(
    (
        "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "fabs", "floor", "ceil", "trunc", "sin", "cos", "tan",
        "tanh", "atan", "copysign", "isnan", "isinf", "isfinite", "pow",
    )
)  # fmt: skip


def operation(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an operation of the decorated function, which gives what is compiled for arguments of such types."""

    def register(choose: Callable[..., Any]) -> Callable[..., Any]:
        def in_python(*given: Any) -> Any:
            raise NotImplementedError(name)

        in_python.__name__ = name
        OPERATIONS[f"checked_{name}__"] = in_python
        overload(in_python, jit_options=CAREFUL, strict=False)(choose)
        return choose

    return register


def _kind(of: Any) -> str:
    """Whether a type is that of truth values, whole numbers, floats or arrays, by a letter; "": of something else."""
    of = types.unliteral(of)
    if isinstance(of, types.Boolean):
        return "b"
    if isinstance(of, types.Integer):
        return "i"
    if isinstance(of, types.Float):
        return "f"
    return "a" if isinstance(of, types.Array) else ""


def _whole(number: Any) -> int:
    """A whole number of at most 2^53; OverflowError: it is larger."""
    if number > LARGEST or number < -LARGEST:
        raise OverflowError("a whole number above 2^53")
    return int(number)


@overload(_whole, jit_options=CAREFUL, strict=False)
def _compiled_whole(number: Any) -> Any:
    def whole(number: Any) -> int:
        if number > LARGEST or number < -LARGEST:
            raise OverflowError("a whole number above 2^53")
        return int(number)

    return whole


def _arithmetic(name: str, of_whole: Callable[[Any, Any], Any], of_floats: Callable[[Any, Any], Any]) -> None:
    """An operation that has exceptions of whole numbers alone: one for these, one for floats and arrays."""

    def choose(a: Any, b: Any) -> Any:
        kinds = _kind(a) + _kind(b)
        if len(kinds) < 2:
            return None
        return of_floats if "a" in kinds or "f" in kinds else of_whole

    operation(name)(choose)


def _product(a: Any, b: Any) -> int:
    first, second = _whole(a), _whole(b)
    # In 64 bits the product itself might be any number.
    if abs(float(first) * float(second)) > LARGEST:
        raise OverflowError("a whole number above 2^53")
    return int(first * second)


def _divided(name: str, divide: Callable[..., Any]) -> None:
    """A division with a remainder, of numbers alone."""

    def on_floats(a: Any, b: Any) -> float:
        return float(divide(float(a), float(b)))

    def on_whole(a: Any, b: Any) -> int:
        return int(divide(_whole(a), _whole(b)))

    def choose(a: Any, b: Any) -> Any:
        kinds = {_kind(a), _kind(b)}
        if kinds <= {"i", "f"}:
            return on_floats if "f" in kinds else on_whole
        return on_whole if kinds <= {"i", "b"} else None

    operation(name)(choose)


def _power_of_floats(a: Any, b: Any) -> float:
    base, exponent = float(a), float(b)
    found = _python_pow(base, exponent)
    if (math.isnan(found) or math.isinf(found)) and math.isfinite(base) and math.isfinite(exponent):
        raise ValueError("no power")
    return float(found)


@operation("pow")
def _pow(a: Any, b: Any) -> Any:
    kinds = {_kind(a), _kind(b)}
    if not (kinds <= {"i", "f"} or kinds <= {"i", "b"}):
        return None
    if "f" not in kinds:

        def whole_power(a: Any, b: Any) -> int:
            base, exponent = _whole(a), _whole(b)
            if exponent < 0:
                raise ValueError("a negative exponent")
            found = 1
            if -1 <= base <= 1:
                return found if exponent == 0 else base if exponent % 2 == 1 else base * base
            for _ in range(exponent):
                if abs(float(found) * float(base)) > LARGEST:
                    raise OverflowError("a whole number above 2^53")
                found *= base
            return found

        return whole_power

    return _power_of_floats


@operation("neg")
def _neg(a: Any) -> Any:
    kind = _kind(a)
    if kind in ("i", "b"):
        return lambda a: -_whole(a)
    return (lambda a: -a) if kind else None


@operation("pos")
def _pos(a: Any) -> Any:
    kind = _kind(a)
    return (lambda a: int(a)) if kind == "b" else (lambda a: a) if kind in ("i", "f") else None


@operation("invert")
def _invert(a: Any) -> Any:
    kind = _kind(a)
    if kind == "i":
        return lambda a: -1 - _whole(a)
    return (lambda a: ~a) if kind == "a" else None


def _bitwise(name: str, on_bits: Callable[..., Any]) -> None:
    def choose(a: Any, b: Any) -> Any:
        kinds = _kind(a) + _kind(b)
        return on_bits if kinds in ("bb", "ii", "aa") else None

    operation(name)(choose)


@operation("truth")
def _truth(a: Any) -> Any:
    if isinstance(types.unliteral(a), types.NoneType):
        return lambda a: False
    has_truth = a in (TEXT, NODE_SET) or getattr(a, "has_length", False)
    return (lambda a: bool(a)) if has_truth or _kind(a) in ("b", "i", "f") else None


@operation("int")
def _int(a: Any) -> Any:
    kind = _kind(a)
    if kind in ("i", "b"):
        return lambda a: int(a)
    if kind != "f":
        return None

    def whole_part(a: Any) -> int:
        if not abs(a) <= LARGEST:
            raise OverflowError("no whole number, or one above 2^53")
        return int(a)

    return whole_part


@operation("float")
def _float(a: Any) -> Any:
    if _kind(a) == "b":
        return lambda a: 1.0 if a else 0.0
    return (lambda a: float(a)) if _kind(a) in ("i", "f") else None


@operation("abs")
def _abs(a: Any) -> Any:
    return (lambda a: abs(a)) if _kind(a) in ("i", "f") else None


@operation("round")
def _round(a: Any) -> Any:
    if _kind(a) == "i":
        return lambda a: a
    if _kind(a) != "f":
        return None

    def nearest(a: Any) -> int:
        if not abs(a) <= LARGEST:
            raise OverflowError("no whole number, or one above 2^53")
        return int(round(a))

    return nearest


@operation("min")
def _min(a: Any, b: Any) -> Any:
    # As Python: the first one, unless the second is less, whatever is not a number.
    return (lambda a, b: b if b < a else a) if _kind(a) + _kind(b) in ("ii", "ff", "if", "fi") else None


@operation("max")
def _max(a: Any, b: Any) -> Any:
    return (lambda a, b: b if b > a else a) if _kind(a) + _kind(b) in ("ii", "ff", "if", "fi") else None


@operation("place")
def _place(a: Any) -> Any:
    """A number by which an array is indexed, or what chooses several of its entries."""
    return (lambda a: a) if _kind(a) in ("i", "a") or a is TEXT else None


def _of_masks(name: str, on_bits: Callable[..., Any]) -> None:
    """`&=` and its like, of numbers and of masks: arrays of truth values."""

    def choose(a: Any, b: Any) -> Any:
        kinds = _kind(a) + _kind(b)
        are_masks = kinds == "aa" and all(isinstance(one.dtype, types.Boolean) for one in (a, b)) and a.ndim == b.ndim
        return on_bits if are_masks or kinds in ("bb", "ii") else None

    operation(name)(choose)


@operation("entry")
def _entry(a: Any, b: Any) -> Any:
    """What an array is to hold: a number that it holds exactly, or an array of its own type; notes hold any."""
    if not isinstance(a, types.Array):
        return lambda a, b: b
    if isinstance(b, types.Array):
        return (lambda a, b: b) if a.dtype == b.dtype else None
    allowed = {"b": "b", "i": "ib", "f": "fib"}.get(_kind(a.dtype), "")
    is_wide = a.dtype in (types.boolean, types.int64, types.float64)
    return (lambda a, b: b) if is_wide and _kind(b) and _kind(b) in allowed else None


@operation("count")
def _count(a: Any) -> Any:
    """A whole number that completes a text, or a bound of a range."""
    return (lambda a: as_node(a)) if _kind(a) == "i" else None


def _function_of_math(name: str) -> None:
    """A function of `math` of one number, with an exception wherever Python has one."""
    function = getattr(math, name)
    if name in ("isnan", "isinf", "isfinite"):
        operation(name)(lambda a: (lambda a: function(float(a))) if _kind(a) in ("i", "f") else None)
    elif name in ("floor", "ceil", "trunc"):

        def whole(a: Any) -> int:
            if not abs(float(a)) <= LARGEST:
                raise OverflowError("no whole number, or one above 2^53")
            return int(function(float(a)))

        operation(name)(lambda a: whole if _kind(a) in ("i", "f") else None)
    elif name == "copysign":

        def of_two(a: Any, b: Any) -> float:
            found = function(float(a), float(b))
            if math.isnan(found) and not math.isnan(a) and not math.isnan(b):
                raise ValueError("outside the domain")
            return float(found)

        operation(name)(lambda a, b: of_two if _kind(a) in ("i", "f") and _kind(b) in ("i", "f") else None)
    elif name == "pow":
        # Unlike `**`, of whole numbers too it is a float.
        are_numbers = frozenset(("i", "f"))
        operation("math_pow")(lambda a, b: _power_of_floats if {_kind(a), _kind(b)} <= are_numbers else None)
    else:

        def of_one(a: Any) -> float:
            number = float(a)
            found = function(number)
            if (math.isnan(found) and not math.isnan(number)) or (math.isinf(found) and math.isfinite(number)):
                raise ValueError("outside the domain, or too large")
            return float(found)

        operation(name)(lambda a: of_one if _kind(a) in ("i", "f") else None)


_arithmetic("add", lambda a, b: _whole(_whole(a) + _whole(b)), lambda a, b: a + b)
_arithmetic("sub", lambda a, b: _whole(_whole(a) - _whole(b)), lambda a, b: a - b)
_arithmetic("mul", _product, lambda a, b: a * b)
_arithmetic("truediv", lambda a, b: _whole(a) / _whole(b), lambda a, b: a / b)
_divided("floordiv", operator.floordiv)
_divided("mod", operator.mod)
_bitwise("and", lambda a, b: a & b)
_bitwise("or", lambda a, b: a | b)
_bitwise("xor", lambda a, b: a ^ b)
_of_masks("mask_and", lambda a, b: a & b)
_of_masks("mask_or", lambda a, b: a | b)
_of_masks("mask_xor", lambda a, b: a ^ b)
for _name in sorted(MATH):
    _function_of_math(_name)


@operation("number")
def _number(a: Any) -> Any:
    """A number that `+=` and its like change: of an array they would change the entries."""
    return (lambda a: a) if _kind(a) in ("i", "f", "b") else None


@operation("column")
def _column(a: Any, view: Any) -> Any:
    """A column with an entry for each node, none of which is NaN: of others Python's answer is another."""
    if not (isinstance(a, types.Array) and a.ndim == 1 and isinstance(a.dtype, types.Float)):
        return None

    def column(a: Any, view: Any) -> Any:
        if len(a) != view.nodes:
            raise ValueError("a column of another length")
        for entry in a:
            if math.isnan(entry):
                raise ValueError("not a number")
        return a

    return column
