"""Values outside a policy's functions, and words in them, of which compiled code has a form."""

from __future__ import annotations

import ast
from types import FunctionType, ModuleType
from typing import Any

from numba.core.dispatcher import Dispatcher

from cluster_abm.compiling.operations import LARGEST
from cluster_abm.jit import is_inlinable


def is_record(value: Any) -> bool:
    """Whether a value is a class of named tuples, of which items of queues may be."""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def is_question_of_type(node: ast.Call) -> bool:
    """Whether an expression asks of what type a parameter is: `isinstance(self.parameters.victims, str)`."""
    return ast.unparse(node).startswith("isinstance(self.parameters.")


def special_float(node: ast.expr) -> float | None:
    """The number of `float("nan")`, `float("inf")` and `float("-inf")`; None of anything else."""
    if isinstance(node, ast.Constant) and node.value in ("nan", "inf", "-inf"):
        return float(node.value)
    return None


def is_storable(text: str) -> bool:
    """Whether a text can be written to a file."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_plain(value: Any) -> bool:
    """Whether a value outside a function is one that compiled code has in it: a number, a text, or a tuple of such."""
    if isinstance(value, tuple):
        return bool(value) and all(map(is_plain, value))
    return (type(value) is str and is_storable(value) and "{}" not in value) or is_number(value)


def is_number(value: Any) -> bool:
    """Whether a value is a number that compiled code has in it."""
    return type(value) in (bool, float) or (type(value) is int and abs(value) <= LARGEST)


def is_formula(value: Any) -> bool:
    """Whether a value is a function of the package that compiled code may call."""
    is_compiled = is_inlinable(value) if isinstance(value, FunctionType) else isinstance(value, Dispatcher)
    return is_compiled and str(value.__module__).startswith("cluster_abm.")


def function_of(value: Any, module: ModuleType) -> str:
    """The name of a function of a module; "": it is none."""
    name = getattr(value, "__name__", "")
    return name if isinstance(name, str) and name and getattr(module, name, None) is value else ""
