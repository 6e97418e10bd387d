"""What a policy's method takes from outside the run that differs from one process to the next."""

from __future__ import annotations

import ast
import datetime
import dis
import inspect
import os
import random
import secrets
import textwrap
import time
import uuid
from collections.abc import Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

MODULES = (random, secrets, uuid, np.random)
CLOCKS = {
    time: frozenset(
        ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
         "process_time_ns", "thread_time", "localtime", "gmtime", "ctime")
    ),
    os: frozenset(("urandom", "getrandom", "getpid", "times", "getloadavg")),
}  # fmt: skip
NOW = frozenset(("now", "utcnow", "today"))
# What a process numbers anew each time.
BUILTINS = frozenset(("hash", "id"))
# What takes the elements of a set in their order, which for texts is another one in each process.
IN_ORDER = frozenset(("list", "tuple", "iter", "enumerate", "zip", "map", "filter", "next", "join"))


def source_of_chance(function: FunctionType) -> str:
    """What a function draws from that no seed of a run begins; "": nothing."""
    around = function.__globals__
    names = _names_in(function.__code__)
    for name in sorted(names):
        value = around.get(name)
        found = _of_value(name, value, names)
        if not found and value is None and name in BUILTINS and name in _read_as_global(function.__code__):
            found = f"{name}()"
        if found:
            return found
    for module in _imported(function.__code__):
        if module.partition(".")[0] in ("random", "secrets", "uuid"):
            return module
    return _set_of_texts(function)


def _of_value(name: str, value: Any, names: set[str]) -> str:
    if isinstance(value, ModuleType):
        if any(value is one for one in MODULES):
            return value.__name__
        if value is np and "random" in names:
            return "numpy.random"
        read = names & CLOCKS.get(value, frozenset())
        if value is datetime and "datetime" in names:
            read |= names & NOW
        return f"{value.__name__}.{min(read)}" if read else ""
    if isinstance(value, random.Random | np.random.Generator | np.random.RandomState):
        return f"{name}, a generator of its own"
    if isinstance(getattr(value, "__self__", None), random.Random):
        return "random"
    if any(value is one for one in (datetime.datetime, datetime.date)) and names & NOW:
        return f"{name}.{min(names & NOW)}"
    for module, functions in CLOCKS.items():
        if any(getattr(module, one, None) is value for one in functions) and value is not None:
            return f"{module.__name__}.{value.__name__}"
    return ""


def _names_in(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def _read_as_global(code: CodeType) -> set[str]:
    """The names that a function, and those written in it, look up outside, attributes apart."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(_read_as_global(one) for one in code.co_consts if isinstance(one, CodeType)))


def _imported(code: CodeType) -> list[str]:
    """The modules that a function imports itself."""
    return sorted({str(step.argval) for step in dis.get_instructions(code) if step.opname == "IMPORT_NAME"})


def _set_of_texts(function: FunctionType) -> str:
    """Whether a function takes the elements of a set of texts in their order, in words; "": no."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError, ValueError):
        return ""
    sets = {name for name, value in function.__globals__.items() if _holds_texts(value)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_set(node.value, sets, function.__globals__):
            sets |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        taken: list[ast.expr] = []
        if isinstance(node, ast.For | ast.comprehension):
            taken = [node.iter]
        elif isinstance(node, ast.Call):
            called = node.func
            name = (
                called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
            )
            taken = list(node.args) if name in IN_ORDER else []
            if name == "pop" and isinstance(called, ast.Attribute) and not node.args:
                taken = [called.value]
        elif isinstance(node, ast.Starred):
            taken = [node.value]
        if any(_is_set(one, sets, function.__globals__) for one in taken):
            return "the order of a set of texts"
    return ""


def _holds_texts(value: Any) -> bool:
    return isinstance(value, set | frozenset) and any(isinstance(one, str) for one in value)


def _is_set(node: ast.expr, sets: set[str], around: Mapping[str, Any]) -> bool:
    """Whether an expression is a set with a text in it, as far as it can be seen."""
    if isinstance(node, ast.Name):
        return node.id in sets
    if isinstance(node, ast.Set):
        return any(isinstance(one, ast.Constant | ast.JoinedStr) and _is_text(one) for one in node.elts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset"):
        return any(_is_text(one) for given in node.args for one in ast.walk(given))
    if isinstance(node, ast.BinOp):
        return _is_set(node.left, sets, around) or _is_set(node.right, sets, around)
    return False


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
