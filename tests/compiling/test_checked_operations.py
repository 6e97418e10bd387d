"""Operations of a user's policy, compiled: the result that Python has, or an exception, after which Python decides."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import pytest

from cluster_abm.compiling.agreeing import CAREFUL
from cluster_abm.compiling.checked import OPERATIONS

LARGEST = 2**53
VALUES: dict[str, list[Any]] = {
    "i": [0, 1, -1, 2, 3, -7, 40, LARGEST, -LARGEST, LARGEST + 1, -(2**62)],
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 7.25, -0.75, 1e16, 1e-300, 1e300, math.inf, -math.inf, math.nan],
    "b": [True, False],
}
# By operation what Python does, and of which kinds of numbers it has a compiled form.
OF_ONE: dict[str, tuple[Callable[[Any], Any], str]] = {
    "neg": (operator.neg, "ifb"), "pos": (operator.pos, "ifb"), "invert": (operator.invert, "i"),
    "truth": (bool, "ifb"), "int": (int, "ifb"), "float": (float, "ifb"), "abs": (abs, "if"), "round": (round, "if"),
    "place": (lambda a: a, "i"), "count": (lambda a: a, "i"), "number": (lambda a: a, "ifb"),
    **{
        name: (getattr(math, name), "if")
        for name in (
            "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "fabs", "floor", "ceil", "trunc", "sin", "cos",
            "tan", "tanh", "atan", "isnan", "isinf", "isfinite",
        )
    },
}  # fmt: skip


def power(a: Any, b: Any) -> Any:
    """As Python's, but of whole numbers that would fill the memory."""
    if not isinstance(a, float) and not isinstance(b, float) and abs(a) > 1 and int(a).bit_length() * b > MOST_BITS:
        raise OverflowError("a whole number of too many bits")
    return a**b


# Kinds of two numbers: MIXED is all pairs but a truth value beside a float, BITS what has bits.
FLOATS, MIXED, BITS = ("ii", "if", "fi", "ff"), ("ii", "if", "fi", "ff", "bi", "bb"), ("ii", "bb")
NUMBERS = (*MIXED, "bf")
OF_TWO: dict[str, tuple[Callable[[Any, Any], Any], tuple[str, ...]]] = {
    "add": (operator.add, NUMBERS), "sub": (operator.sub, NUMBERS), "mul": (operator.mul, NUMBERS),
    "truediv": (operator.truediv, NUMBERS), "floordiv": (operator.floordiv, MIXED), "mod": (operator.mod, MIXED),
    "pow": (power, MIXED), "and": (operator.and_, BITS), "or": (operator.or_, BITS),
    "xor": (operator.xor, BITS), "mask_and": (operator.and_, BITS), "mask_or": (operator.or_, BITS),
    "mask_xor": (operator.xor, BITS), "min": (min, FLOATS), "max": (max, FLOATS),
    "copysign": (math.copysign, FLOATS), "math_pow": (math.pow, FLOATS),
}  # fmt: skip
MOST_BITS = 200  # of a whole number that Python is to work out here
OTHERS = {"entry", "column"}  # of arrays: tests of whole policies


def test_every_operation_is_in_one_of_the_tables():
    assert {name.removeprefix("checked_").removesuffix("__") for name in OPERATIONS} == {*OF_ONE, *OF_TWO} | OTHERS


@cache
def compiled(kinds: str) -> tuple[Callable[..., float], list[str]]:
    """One function of all operations that have a form for such numbers; its first argument chooses one."""
    if len(kinds) == 1:
        names = [name for name, (_, allowed) in OF_ONE.items() if kinds in allowed]
    else:
        names = [name for name, (_, allowed) in OF_TWO.items() if kinds in allowed]
    given = "a" if len(kinds) == 1 else "a, b"
    lines = [f"def chosen(operation, {given}):"]
    for number, name in enumerate(names):
        lines += [f"    if operation == {number}:", f"        return 1.0 * checked_{name}__({given})"]
    space: dict[str, Any] = dict(OPERATIONS)
    exec("\n".join([*lines, "    return 0.0"]), space)
    return numba.njit(**{key: value for key, value in CAREFUL.items() if key in ("error_model", "boundscheck")})(
        space["chosen"]
    ), names


def agree(function: Callable[..., Any], found: Callable[[], float], values: tuple[Any, ...]) -> None:
    try:
        expected = function(*values)
    except (ArithmeticError, ValueError):
        expected = None
    try:
        result = found()
    except (ArithmeticError, ValueError):
        # Then Python decides. What is small and right has to be compiled.
        if expected is not None and not isinstance(expected, complex) and math.isfinite(expected):
            assert max(map(abs, (*values, expected))) >= LARGEST
        return
    assert expected is not None
    assert not isinstance(expected, complex)
    expected = float(expected)
    assert (result == expected and math.copysign(1, result) == math.copysign(1, expected)) or (
        math.isnan(result) and math.isnan(expected)
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["i", "f", "b"])
def test_operations_of_one_number(kind):
    chosen, names = compiled(kind)
    for number, name in enumerate(names):
        for value in VALUES[kind]:
            agree(OF_ONE[name][0], lambda number=number, value=value: chosen(number, value), (value,))


@pytest.mark.slow
@pytest.mark.parametrize("kinds", NUMBERS)
def test_operations_of_two_numbers(kinds):
    chosen, names = compiled(kinds)
    for number, name in enumerate(names):
        for a in VALUES[kinds[0]]:
            for b in VALUES[kinds[1]]:
                if name == "pow" and "f" not in kinds and b < 0:
                    # In Python a float, and of other exponents a whole number.
                    with pytest.raises((ValueError, OverflowError)):
                        chosen(number, a, b)
                else:
                    agree(OF_TWO[name][0], lambda number=number, a=a, b=b: chosen(number, a, b), (a, b))
