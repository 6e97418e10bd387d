"""What a policy from elsewhere may be written with so that it is compiled: only what means the same there.

Everything else decides in Python. What is right is then compiled with operations that give the same result as
Python's own, or an exception (compiling.checking); types that do not agree are found by the compiler
(compiling.agreeing).
"""

from __future__ import annotations

import ast
import dataclasses
import math
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from cluster_abm.compiling.checked import MATH
from cluster_abm.compiling.plain_values import (
    function_of,
    is_formula,
    is_number,
    is_plain,
    is_question_of_type,
    is_record,
    is_storable,
    special_float,
)
from cluster_abm.policy.base import Decision
from cluster_abm.policy.capacities import Capacities
from cluster_abm.policy.data import DataMap
from cluster_abm.policy.memory import Remembered
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.tasks import ArrivingTask, Candidate, Hardware, Paths
from cluster_abm.policy.view import View

STATEMENTS = (
    ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.For, ast.Expr, ast.Pass, ast.Break, ast.Continue,
    ast.Assert, ast.Raise,
)  # fmt: skip
EXPRESSIONS = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp,
    ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.JoinedStr, ast.FormattedValue,
)  # fmt: skip
BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
# Functions of Python's own: what stands in their place, or nothing where they are as they are.
BUILTINS = {
    "len": "", "range": "", "enumerate": "", "zip": "", "super": "", "abs": "abs", "int": "int", "float": "float",
    "bool": "truth", "round": "round", "min": "min", "max": "max",
}  # fmt: skip
DTYPES = frozenset(["bool", "int", "float"])
# Functions of numpy whose results have the same bits in compiled code, and share no memory with what they are given.
NUMPY = frozenset(
    (
        "zeros", "ones", "empty", "full", "arange", "array", "zeros_like", "ones_like", "empty_like", "full_like",
        "where", "minimum", "maximum", "abs", "absolute", "floor", "ceil", "sqrt", "isnan", "isinf", "isfinite",
        "flatnonzero", "argmin", "argmax", "any", "all", "cumsum", "searchsorted", "count_nonzero",
    )
)  # fmt: skip
NUMPY_VALUES = frozenset(["inf", "nan", "pi", "int64", "float64", "bool_"])
MATH_VALUES = frozenset(["inf", "nan", "pi", "e", "tau"])
OF_ARRAYS = frozenset(["shape", "size", "copy", "argmin", "argmax", "min", "max", "any", "all"])
# Methods of a view that take a column: its length, and that each entry is a number, is checked.
OF_COLUMNS = frozenset(["least_of", "is_largest_of", "of_those_up", "mean_of_those_up", "open_entries"])
# As objects of Python they have no counterpart in compiled code, or another one.
NOT_THERE = frozenset(["candidates", "live_jobs", "columns"])


class Misfit(Exception):
    """A part of a function that has no compiled form, or another meaning there; its message says where and why."""


def _public(of: type) -> set[str]:
    fields = {field.name for field in dataclasses.fields(of)} if dataclasses.is_dataclass(of) else set()
    named = set(getattr(of, "_fields", ()))
    own = {name for owner in of.__mro__ if owner not in (object, tuple) for name in vars(owner)}
    return {name for name in fields | named | own if not name.startswith("_")}


GIVEN = (View, ArrivingTask, Candidate, Hardware, Paths, Decision, Capacities, DataMap, Remembered)
KNOWN = set().union(*map(_public, GIVEN)) - NOT_THERE | OF_ARRAYS | {"get"}
# Of a policy that talks: posts, messages, ends of tasks, and what queues of notes can do.
OF_TALK = set().union(*map(_public, (Post, Message, Ended))) | {
    "append", "appendleft", "popleft", "remove", "count", "clear",
}  # fmt: skip


def masks_of(definition: ast.FunctionDef) -> frozenset[str]:
    """Names of a function's own arrays that no other name stands for: `&=` may make a new one in their place."""
    found = _Check(definition, {}, frozenset(), frozenset())
    aliased = {
        node.value.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Name)
    }
    return frozenset(found.fresh - aliased)


def check(
    definition: ast.FunctionDef,
    outside: Mapping[str, Any],
    parameters: frozenset[str],
    own: frozenset[str],
    talks: bool = False,
) -> None:
    """Raise Misfit where a function has no compiled form of the same meaning.

    Args:
        definition: the function as it is written.
        outside: what its names stand for outside it.
        parameters: names of the policy's parameters.
        own: names of the functions of its file that are compiled with it.
        talks: whether it is of a policy that talks.
    """
    _Check(definition, outside, parameters, own, talks).run()


class _Check:
    def __init__(
        self,
        definition: ast.FunctionDef,
        outside: Mapping[str, Any],
        parameters: frozenset[str],
        own: frozenset[str],
        talks: bool = False,
    ) -> None:
        self._definition, self._outside, self._talks = definition, outside, talks
        self._attributes, self._own = KNOWN | parameters | (OF_TALK if talks else set()), own
        given = definition.args
        self._local = {one.arg for one in [*given.posonlyargs, *given.args, *given.kwonlyargs]}
        self._local |= {
            node.id for node in ast.walk(definition) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        self.fresh = self._names_of(_is_fresh)
        self._notes = self._names_of(lambda value: isinstance(value, ast.Attribute) and value.attr == "notes")
        self._of_jobs = self._names_of(_is_note_of_jobs)
        self._queues = self._names_of(self._is_field_of_notes) if talks else set()

    def run(self) -> None:
        """Look at the whole function."""
        for node in ast.walk(self._definition):
            if isinstance(node, ast.Attribute) and node.attr == "candidates":
                # What is read instead is of more use than what else does not compile.
                raise self._misfit(node, "view.candidates are objects; view.candidate_rows, a table, compiles")
        given = self._definition.args
        if given.vararg or given.kwarg:
            raise self._misfit(self._definition, "a function that takes any number of arguments")
        for default in [*given.defaults, *(one for one in given.kw_defaults if one is not None)]:
            if not isinstance(default, ast.Constant) or isinstance(default.value, str):
                raise self._misfit(default, "a default that is no number")
        for statement in self._definition.body:
            self._statement(statement)

    def _misfit(self, node: ast.AST, what: str) -> Misfit:
        return Misfit(f"line {getattr(node, 'lineno', self._definition.lineno)}: {what}")

    def _names_of(self, is_so: Any) -> set[str]:
        """Local names to which nothing is assigned but what fits."""
        found: set[str] = set()
        spoilt = {one.arg for one in ast.walk(self._definition.args) if isinstance(one, ast.arg)}
        for node in ast.walk(self._definition):
            if isinstance(node, ast.Assign):
                for target, value in _assigned(node):
                    is_plain = isinstance(target, ast.Name) and is_so(value)
                    (found if is_plain else spoilt).update(_stored(target))
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                (found if is_so(node.value) else spoilt).update(_stored(node.target))
            elif isinstance(node, ast.For):
                spoilt.update(_stored(node.target))
        return found - spoilt

    def _is_field_of_notes(self, value: ast.expr) -> bool:
        """Whether an expression is a field of the notes of a policy that talks, `post.notes.idle`."""
        if not (self._talks and isinstance(value, ast.Attribute)):
            return False
        of = value.value
        is_notes = isinstance(of, ast.Attribute) and of.attr == "notes"
        return is_notes or (isinstance(of, ast.Name) and of.id in self._notes)

    # ---- statements ------------------------------------------------------------------------------------------------

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.While):
            raise self._misfit(node, "a `while` loop, which could not be interrupted")
        if isinstance(node, ast.Delete) and self._talks:
            for target in node.targets:
                self._target(target)
            return
        if not isinstance(node, STATEMENTS):
            raise self._misfit(node, f"`{ast.unparse(node).splitlines()[0][:60]}` has no compiled form")
        if isinstance(node, ast.Raise):
            # Python says what is raised.
            return
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call | ast.Constant):
            raise self._misfit(node, "a value that is not used")
        for target in self._targets(node):
            self._target(target)
        for name, field in ast.iter_fields(node):
            if name in ("target", "targets", "annotation"):
                continue
            for part in field if isinstance(field, list) else [field]:
                if isinstance(part, ast.stmt):
                    self._statement(part)
                elif isinstance(part, ast.expr):
                    is_iterated = isinstance(node, ast.For) and name == "iter"
                    self._expression(part, lists=is_iterated, files=is_iterated)

    @staticmethod
    def _targets(node: ast.stmt) -> list[ast.expr]:
        if isinstance(node, ast.Assign):
            return node.targets
        return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For) else []

    def _target(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            return
        if isinstance(node, ast.Tuple) and all(
            isinstance(one, ast.Name) or self._is_field_of_notes(one) for one in node.elts
        ):
            return
        if self._is_field_of_notes(node):
            return
        if isinstance(node, ast.Subscript):
            self._expression(node.slice)
            of = node.value
            if isinstance(of, ast.Name) and of.id in self.fresh | self._of_jobs | self._queues:
                return
            if self._is_field_of_notes(of):
                return
            if _is_note_of_jobs(of):
                self._expression(of)
                return
            is_notes = isinstance(of, ast.Attribute) and of.attr == "notes"
            if is_notes or (isinstance(of, ast.Name) and of.id in self._notes):
                if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                    return
                raise self._misfit(node, "a note whose name is no text")
            raise self._misfit(node, f"`{ast.unparse(node)[:60]}` may be written to a table that is only to be read")
        raise self._misfit(node, f"`{ast.unparse(node)[:60]}` cannot be assigned to")

    # ---- expressions -----------------------------------------------------------------------------------------------

    def _expression(self, node: ast.expr, *, called: bool = False, lists: bool = False, files: bool = False) -> None:
        if not isinstance(node, EXPRESSIONS):
            raise self._misfit(node, f"`{ast.unparse(node)[:60]}` has no compiled form")
        if isinstance(node, ast.List) and not lists:
            raise self._misfit(node, "a list: an array, or a tuple, compiles")
        if isinstance(node, ast.Constant):
            self._constant(node)
        elif isinstance(node, ast.Name):
            self._name(node, called)
        elif isinstance(node, ast.Attribute):
            self._attribute(node, called, files)
        elif isinstance(node, ast.Call):
            self._call(node)
        elif isinstance(node, ast.Compare):
            self._compare(node)
        elif isinstance(node, ast.BinOp) and type(node.op) not in BINARY:
            raise self._misfit(node, f"`{ast.unparse(node)[:60]}` has no compiled form")
        elif isinstance(node, ast.Subscript):
            self._expression(node.value, files=True)
            self._expression(node.slice)
        if isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
            return
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self._expression(part)

    def _constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, str):
            if not is_storable(value) or "{}" in value:
                raise self._misfit(node, f"the text {value!a} has no compiled form")
        elif value is not None and not is_number(value):
            raise self._misfit(node, f"{value!r:.60} is no number up to 2^53, text or truth value")

    def _name(self, node: ast.Name, called: bool) -> None:
        if node.id in self._local or (called and node.id in self._own):
            return
        if node.id not in self._outside:
            is_known = node.id in BUILTINS and called
            if not is_known and node.id not in DTYPES:
                raise self._misfit(node, f"{node.id!r} has no compiled form")
            return
        value = self._outside[node.id]
        if called and self._talks and is_record(value):
            return
        if called and (value is Decision or is_formula(value)):
            return
        if called and function_of(value, math) in MATH:
            return
        if called and function_of(value, np) in NUMPY:
            return
        if not is_plain(value):
            raise self._misfit(node, f"{node.id!r} is no number up to 2^53, and no text")

    def _attribute(self, node: ast.Attribute, called: bool, files: bool) -> None:
        base = node.value
        module = self._outside.get(base.id) if isinstance(base, ast.Name) and base.id not in self._local else None
        if isinstance(module, ModuleType):
            allowed = {math: MATH if called else MATH_VALUES, np: NUMPY if called else NUMPY_VALUES}.get(module, ())
            if node.attr not in allowed:
                raise self._misfit(node, f"`{ast.unparse(node)[:60]}` has no compiled form")
            return
        if isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and base.func.id == "super":
            if base.args or not called:
                raise self._misfit(node, "super() is for a call of a method")
            return
        if isinstance(base, ast.Name) and base.id == "self":
            return
        if node.attr not in self._attributes:
            raise self._misfit(node, f"`{ast.unparse(node)[:60]}` has no compiled form")
        if node.attr == "files" and not files:
            raise self._misfit(node, "task.files is handed to a method, counted, indexed or looped over")
        self._expression(base)

    def _call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        is_builtin = name in BUILTINS and name not in self._local and name not in self._outside
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise self._misfit(node, "arguments that are unpacked")
        takes_column = isinstance(node.func, ast.Attribute) and node.func.attr in OF_COLUMNS
        is_plain_call = (
            not node.keywords and len(node.args) == 1 and isinstance(getattr(node.func, "value", None), ast.Name)
        )
        if self._talks and is_question_of_type(node):
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.keywords:
            raise self._misfit(node, "a dictionary's get takes no keywords")
        is_wrong = is_builtin and (node.keywords or not _has_right_count(name, len(node.args)))
        if is_wrong or (takes_column and not is_plain_call):
            raise self._misfit(node, f"`{ast.unparse(node)[:60]}` has no compiled form")
        if any(one.arg == "out" for one in node.keywords):
            raise self._misfit(node, "an array that is written to by a function")
        if is_builtin and name == "float" and special_float(node.args[0]) is not None:
            return
        self._expression(node.func, called=True)
        takes_lists = isinstance(node.func, ast.Attribute) and node.func.attr == "array"
        for one in [*node.args, *(keyword.value for keyword in node.keywords)]:
            self._expression(one, lists=takes_lists, files=True)

    def _compare(self, node: ast.Compare) -> None:
        for op, right in zip(node.ops, node.comparators, strict=True):
            is_none = isinstance(right, ast.Constant) and right.value is None
            if isinstance(op, ast.Is | ast.IsNot) and not is_none:
                raise self._misfit(node, "`is` compares with None alone")


def _assigned(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets of an assignment, each with what is assigned to it: `a, b = 1, 2` are two."""
    for target in node.targets:
        are_pairs = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        if are_pairs and len(target.elts) == len(node.value.elts):  # type: ignore[attr-defined]
            yield from zip(target.elts, node.value.elts, strict=True)  # type: ignore[attr-defined]
        else:
            yield target, node.value


def _stored(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _is_note_of_jobs(value: ast.expr) -> bool:
    """Whether an expression is what is noted of waiting jobs, `queue.notes["name"]`: a policy may write it."""
    is_of_notes = isinstance(value, ast.Subscript) and isinstance(value.value, ast.Attribute)
    return is_of_notes and value.value.attr == "notes" and isinstance(value.slice, ast.Constant)  # type: ignore[attr-defined]


def _is_fresh(value: ast.expr) -> bool:
    """Whether an expression makes an array of its own, or a number."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        of_numpy = isinstance(value.func.value, ast.Name) and value.func.value.id in ("np", "numpy")
        return value.func.attr == "copy" or (of_numpy and value.func.attr in NUMPY)
    if isinstance(value, ast.Attribute):
        return value.attr == "is_open"
    return isinstance(value, ast.BinOp | ast.Compare | ast.UnaryOp)


def _has_right_count(name: str, given: int) -> bool:
    if name in ("min", "max"):
        return given >= 2
    if name in ("range", "zip"):
        return 1 <= given <= 3
    return given == 0 if name == "super" else given == 1
