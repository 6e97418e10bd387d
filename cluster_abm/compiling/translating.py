"""A policy's method as it is compiled: the same source, with numbers in the place of texts.

What changes: a text is its number (texts.py), and so is a text with a number in it (an f-string);
`super().place(...)` is a call of the method that Python would find; `Decision(...)`, or `ca.Decision(...)` after
`import cluster_abm as ca`, makes a decision that compiled code can hold; whether `view.capacities` and `view.data` are
None is settled, for it is known beforehand.
"""

from __future__ import annotations

import ast
import dataclasses
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, get_args

from numba.extending import register_jitable

from cluster_abm.compiling.agreeing import CAREFUL
from cluster_abm.compiling.careful import Misfit, check
from cluster_abm.compiling.checked import OPERATIONS
from cluster_abm.compiling.checking import put_checks
from cluster_abm.compiling.package_names import (
    OF_PACKAGE,
    NamesOfIndices,
    NamesOfPackage,
    NotCompilable,
    hints_of,
    is_package,
)
from cluster_abm.compiling.plain_values import is_record
from cluster_abm.compiling.tables import text_at
from cluster_abm.compiling.talking.loops import LoopsByPlaces
from cluster_abm.compiling.texts import number_of
from cluster_abm.jit import is_inlinable
from cluster_abm.jit.parts import PartCompiler
from cluster_abm.policy import load

Function = Callable[..., Any]
# What makes a text of its number there.
TEXT_AT = "text_at__"


def inherited_name(owner: type, method: str) -> str:
    """The name under which a method that `super()` finds from a class on is compiled."""
    return f"super_of_{owner.__name__}_{method}"


def translated(
    function: Any,
    owner: type | None,
    absent: frozenset[str],
    given: Mapping[str, Any],
    by_places: bool = False,
    parameters: tuple[tuple[str, type], ...] = (),
) -> Function:
    """The function that is compiled in the place of a method, or of a function that methods call.

    Args:
        function: as it is written.
        owner: the class in whose body it stands; None: in none.
        absent: attributes of views that are None in this run.
        given: what names stand for there, beside the globals of the function.
        by_places: whether loops over tasks, nodes and items of queues go by their places: compiled code has no other.
        parameters: names and types of the policy's parameters.

    Raises NotCompilable: its source cannot be read, or has a form that has no counterpart.
    """
    tree, definition = _parsed(function, owner)
    outer = [name for name in function.__code__.co_freevars if name != "__class__"]
    if outer:
        raise NotCompilable(f"{function.__qualname__} reads {outer[0]!r} of the function around it")
    used = _names_in(function.__code__)
    outside = {name: function.__globals__.get(name) for name in used - {*function.__code__.co_varnames}}
    of_package = NamesOfPackage({name: value for name, value in outside.items() if is_package(value)})
    with _naming_the_file(function):
        of_package.visit(definition)
        loads = {name for name, value in (outside | of_package.found).items() if value is load}
        NamesOfIndices(loads).visit(definition)
    texts = {name: value for name, value in outside.items() if _is_text(value) and name not in given}
    # In its own namespace its name may be that of a formula that it calls.
    definition.name = f"compiled_{function.__name__}"
    _strip(definition)
    is_from_elsewhere = not is_of_package(function)
    with _naming_the_file(function):
        if is_from_elsewhere:
            around = {name: function.__globals__[name] for name in used if name in function.__globals__}
            _make_careful(definition, function, owner, around | of_package.found, by_places)
        _Translation(owner, absent, texts, is_from_elsewhere, dict(parameters)).visit(definition)
    if by_places:
        LoopsByPlaces().visit(definition)
    ast.fix_missing_locations(tree)
    code = compile(tree, inspect.getsourcefile(function) or "<policy>", "exec")
    space: dict[str, Any] = {}
    for name, value in function.__globals__.items():
        if name not in used:
            continue
        is_plain = isinstance(value, FunctionType) and not is_inlinable(value)
        if name in given:
            space[name] = given[name]
        elif is_plain and value.__module__ == function.__module__:
            options = CAREFUL if is_from_elsewhere else {"error_model": "numpy", "pipeline_class": PartCompiler}
            space[name] = register_jitable(**options)(translated(value, None, absent, given, by_places, parameters))
        elif name not in texts:
            space[name] = value
    for name, value in of_package.found.items():
        space[name] = given.get(name.removeprefix(OF_PACKAGE), value)
    space |= OPERATIONS if is_from_elsewhere else {}
    space["completed"], space[TEXT_AT] = given.get("completed"), text_at
    exec(code, space)
    made: FunctionType = space[definition.name]
    made.__module__ = function.__module__
    return made


def pruned(function: Any, owner: type | None, absent: frozenset[str]) -> ast.FunctionDef:
    """A function without what is not carried out where attributes of views are None; arguments as of `translated`."""
    definition = _parsed(function, owner)[1]
    _strip(definition)
    made: ast.FunctionDef = _Translation(owner, absent, {}, False, {}).visit(definition)
    returns = (place for place, one in enumerate(made.body) if isinstance(one, ast.Return))
    del made.body[next(returns, len(made.body)) + 1 :]
    return made


def _parsed(function: Any, owner: type | None) -> tuple[ast.Module, ast.FunctionDef]:
    """A function's text, with the numbers of its lines. Raises NotCompilable."""
    if hasattr(function, "__wrapped__"):
        raise NotCompilable(f"{function.__qualname__} stands for another function")
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.increment_lineno(ast.parse(textwrap.dedent("".join(lines))), first - 1)
    except (OSError, SyntaxError, TypeError) as problem:
        raise NotCompilable(f"the source of {function.__qualname__} cannot be read") from problem
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef) or (function.__closure__ not in (None, ()) and owner is None):
        raise NotCompilable(f"{function.__qualname__} is no plain function")
    return tree, definition


def is_of_package(function: Any) -> bool:
    """Whether a function, or a class, is of this package; else a user has written it."""
    return str(function.__module__).startswith("cluster_abm.")


def _strip(definition: ast.FunctionDef) -> None:
    """Leave out what is for readers and for the checker of types."""
    definition.decorator_list = []
    definition.returns = None
    for argument in ast.walk(definition.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if isinstance(definition.body[0], ast.Expr) and isinstance(definition.body[0].value, ast.Constant):
        definition.body = definition.body[1:] or [ast.Pass()]


def _make_careful(
    definition: ast.FunctionDef, function: Any, owner: type | None, outside: Mapping[str, Any], talks: bool
) -> None:
    """Check a function that a user has written, and put checked operations in the place of its own."""
    parameters = frozenset(getattr(getattr(owner, "Parameters", None), "model_fields", ()))
    own = frozenset(
        name
        for name, value in outside.items()
        if isinstance(value, FunctionType) and not is_inlinable(value) and value.__module__ == function.__module__
    )
    try:
        check(definition, outside, parameters | _names_of_notes(owner, outside), own, talks)
    except Misfit as problem:
        raise NotCompilable(str(problem)) from None
    put_checks(definition, outside, frozenset(function.__code__.co_varnames))


def _names_of_notes(owner: type | None, outside: Mapping[str, Any]) -> frozenset[str]:
    """Names of the fields of a policy's notes, and of records that stand in them."""
    found = {name for value in outside.values() if is_record(value) for name in value._fields}
    notes = getattr(owner, "Notes", None)
    if dataclasses.is_dataclass(notes):
        found |= {field.name for field in dataclasses.fields(notes)}
        for kind in hints_of(notes).values():
            found |= {name for of in get_args(kind) if is_record(of) for name in of._fields}
    return frozenset(found)


@contextmanager
def _naming_the_file(function: Any) -> Iterator[None]:
    """Where a line has no counterpart, the message begins with the file in which it stands."""
    try:
        yield
    except NotCompilable as problem:
        raise NotCompilable(f"{_file_of(function)}{problem}") from None


def _file_of(function: Any) -> str:
    """The name of a function's file, before the number of a line; nothing for what was typed at a prompt."""
    path = Path(inspect.getsourcefile(function) or "<policy>")
    return f"{path.name}, " if path.is_file() else ""


def patterns_in(function: FunctionType) -> set[str]:
    """The texts with a number in them that a function makes, `{}` in the place of the number."""
    if not any("FORMAT" in step.opname for step in dis.get_instructions(function)):
        return set()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return {_pattern(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)}


def _pattern(text: ast.JoinedStr) -> str:
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in text.values)


def _names_in(code: CodeType) -> set[str]:
    """The names that a function, and those written in it, look up."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def _is_text(value: Any) -> bool:
    """Whether this is a text, or a tuple of texts."""
    return isinstance(value, str) or (isinstance(value, tuple) and bool(value) and all(map(_is_text, value)))


def _as_numbers(value: Any) -> ast.expr:
    """A text, or a tuple of texts, as compiled code makes it."""
    if isinstance(value, str):
        return ast.Call(ast.Name(TEXT_AT, ast.Load()), [ast.Constant(number_of(value))], [])
    return ast.Tuple([_as_numbers(one) for one in value], ast.Load())


class _Translation(ast.NodeTransformer):
    """What stands in compiled code for a function's own words.

    Args:
        owner, absent: as in `translated`.
        texts: texts, and tuples of texts, outside the function, by name.
        is_careful: whether a user has written it.
        parameters: types of the policy's parameters, by name.
    """

    def __init__(
        self,
        owner: type | None,
        absent: frozenset[str],
        texts: Mapping[str, Any],
        is_careful: bool,
        parameters: Mapping[str, type],
    ) -> None:
        self._owner, self._absent, self._texts, self._is_careful = owner, absent, texts, is_careful
        self._parameters = parameters

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _as_numbers(node.value) if isinstance(node.value, str) else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_text = node.id in self._texts and isinstance(node.ctx, ast.Load)
        return _as_numbers(self._texts[node.id]) if is_text else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        inserted = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        is_plain = len(inserted) == 1 and inserted[0].conversion == -1 and inserted[0].format_spec is None
        if not is_plain or _pattern(node).count("{}") != 1:
            raise NotCompilable(f"line {node.lineno}: an f-string with more in it than one whole number")
        name = ast.Name("completed", ast.Load())
        return ast.Call(name, [_as_numbers(_pattern(node)), self.visit(inserted[0].value)], [])

    def visit_Match(self, node: ast.Match) -> Any:
        """As comparisons: a text in a pattern has no compiled form."""
        if not isinstance(node.subject, ast.Name):
            raise NotCompilable(f"line {node.lineno}: `match` of something else than a name")
        found: list[ast.stmt] = []
        for case in reversed(node.cases):
            test = None if case.guard else self._as_test(node.subject, case.pattern)
            if test is None:
                raise NotCompilable(f"line {node.lineno}: a pattern that is no constant, or has a condition")
            body = self._all(case.body)
            is_any = isinstance(test, ast.Constant)
            found = body if is_any else [ast.If(test, body, found)]
        return found

    def _as_test(self, subject: ast.Name, pattern: ast.pattern) -> ast.expr | None:
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None:
            return ast.Constant(True)
        parts = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        if not all(isinstance(part, ast.MatchValue) for part in parts):
            return None
        tests = [
            ast.Compare(ast.Name(subject.id, ast.Load()), [ast.Eq()], [self.visit(part.value)])
            for part in parts
            if isinstance(part, ast.MatchValue)
        ]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), list(tests))

    def visit_While(self, node: ast.While) -> ast.AST:
        raise NotCompilable(f"line {node.lineno}: a `while` loop, which could not be interrupted")

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        # For the reader and the checker of types: what is asserted holds.
        return ast.Pass()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "data" and "data" in self._absent and self._is_careful:
            raise NotCompilable(f"line {node.lineno}: view.data is None where no job needs a file")
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Name) and called.id == "isinstance":
            of, kind = map(ast.unparse, node.args)
            name = of.removeprefix("self.parameters.")
            if name not in self._parameters or kind not in ("str", "int", "float", "bool"):
                raise NotCompilable(f"line {node.lineno}: `isinstance` of something else than a parameter")
            return ast.Constant(self._parameters[name].__name__ == kind)
        if (
            isinstance(called, ast.Attribute)
            and isinstance(called.value, ast.Call)
            and isinstance(called.value.func, ast.Name)
            and called.value.func.id == "super"
            and not called.value.args
            and self._owner is not None
        ):
            node.func = ast.Attribute(
                ast.Name("self", ast.Load()), inherited_name(self._owner, called.attr), ast.Load()
            )
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        is_test_of_none = (
            isinstance(node.left, ast.Attribute)
            and node.left.attr in ("capacities", "data")
            and len(node.ops) == 1
            and isinstance(node.ops[0], ast.Is | ast.IsNot)
        )
        if is_test_of_none:
            assert isinstance(node.left, ast.Attribute)
            return ast.Constant((node.left.attr in self._absent) == isinstance(node.ops[0], ast.Is))
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        first = node.values[0]
        # What is settled before all others may settle the whole.
        if isinstance(first, ast.Constant) and first.value is isinstance(node.op, ast.Or):
            return first
        return node

    def visit_If(self, node: ast.If) -> Any:
        node.test = self.visit(node.test)
        if isinstance(node.test, ast.Constant):
            return self._all(node.body if node.test.value else node.orelse) or ast.Pass()
        node.body, node.orelse = self._all(node.body) or [ast.Pass()], self._all(node.orelse)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        # A column of a table, or a note, by its own name.
        node.value = self.visit(node.value)
        if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)):
            node.slice = self.visit(node.slice)
        return node

    def _all(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [made]
        return found

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self.visit(node.test)
        if isinstance(node.test, ast.Constant):
            return self.visit(node.body if node.test.value else node.orelse)
        return self.generic_visit(node)
