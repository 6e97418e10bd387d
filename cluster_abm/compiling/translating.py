"""A policy's method as it is compiled: the same source, with numbers in the place of texts.

What changes: a text is its number (texts.py), and so is a text with a number in it (an f-string);
`super().place(...)` is a call of the method that Python would find; `Decision(...)`, or `ca.Decision(...)` after
`import cluster_abm as ca`, makes a decision that compiled code can hold; whether `view.capacities` and `view.data` are
None is settled, for it is known beforehand.
"""

from __future__ import annotations

import ast
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numba.extending import register_jitable

from cluster_abm.compiling.text_use import misused_text
from cluster_abm.compiling.texts import INDICES, number_of
from cluster_abm.jit import is_inlinable
from cluster_abm.policies import load

Function = Callable[..., Any]
# What a name of the package is called in compiled code, after this.
OF_PACKAGE = "of_package_"


class NotCompilable(Exception):
    """A policy, or a part of one, that has no compiled form; its message says why."""


def inherited_name(owner: type, method: str) -> str:
    """The name under which a method that `super()` finds from a class on is compiled."""
    return f"super_of_{owner.__name__}_{method}"


def translated(function: Any, owner: type | None, absent: frozenset[str], given: Mapping[str, Any]) -> Function:
    """The function that is compiled in the place of a method, or of a function that methods call.

    Args:
        function: as it is written.
        owner: the class in whose body it stands; None: in none.
        absent: attributes of views that are None in this run.
        given: what names stand for there, beside the globals of the function.

    Raises:
        NotCompilable: its source cannot be read, or has a form that has no counterpart.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.increment_lineno(ast.parse(textwrap.dedent("".join(lines))), first - 1)
    except (OSError, SyntaxError, TypeError) as problem:
        raise NotCompilable(f"the source of {function.__qualname__} cannot be read") from problem
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef) or (function.__closure__ not in (None, ()) and owner is None):
        raise NotCompilable(f"{function.__qualname__} is no plain function")
    outer = [name for name in function.__code__.co_freevars if name != "__class__"]
    if outer:
        raise NotCompilable(f"{function.__qualname__} reads {outer[0]!r} of the function around it")
    used = _names_in(function.__code__)
    outside = {name: function.__globals__.get(name) for name in used - {*function.__code__.co_varnames}}
    of_package = _NamesOfPackage({name: value for name, value in outside.items() if _is_package(value)})
    with _naming_the_file(function):
        of_package.visit(definition)
        loads = {name for name, value in (outside | of_package.found).items() if value is load}
        _NamesOfIndices(loads).visit(definition)
    texts = frozenset(name for name in used if _is_text(function.__globals__.get(name)))
    misused = misused_text(definition, texts, owner)
    if misused is not None:
        raise NotCompilable(f"{_file_of(function)}line {misused}: it makes a text of others, or puts texts in order")
    # In its own namespace its name may be that of a formula that it calls.
    definition.name = f"compiled_{function.__name__}"
    definition.decorator_list = []
    definition.returns = None
    for argument in ast.walk(definition.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if isinstance(definition.body[0], ast.Expr) and isinstance(definition.body[0].value, ast.Constant):
        definition.body = definition.body[1:] or [ast.Pass()]
    with _naming_the_file(function):
        _Translation(owner, absent).visit(definition)
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
            space[name] = register_jitable(error_model="numpy")(translated(value, None, absent, given))
        else:
            space[name] = _as_numbers(value)
    for name, value in of_package.found.items():
        space[name] = given.get(name.removeprefix(OF_PACKAGE), value)
    space["completed"] = given.get("completed")
    exec(code, space)
    made: FunctionType = space[definition.name]
    made.__module__ = function.__module__
    return made


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


def _as_numbers(value: Any) -> Any:
    """A text, or a tuple of texts, in numbers; anything else as it is."""
    if not _is_text(value):
        return value
    return number_of(value) if isinstance(value, str) else tuple(map(_as_numbers, value))


def _is_package(value: Any) -> bool:
    """Whether this is a package from which policies take `Decision` and `load`."""
    return isinstance(value, ModuleType) and value.__name__ in ("cluster_abm", "cluster_abm.policies")


class _NamesOfPackage(ast.NodeTransformer):
    """`ca.Decision`, of `import cluster_abm as ca`, is one name.

    Args:
        packages: what packages are called, and they.

    Attributes:
        found: such names, and what they stand for.
    """

    def __init__(self, packages: Mapping[str, ModuleType]) -> None:
        self._packages = packages
        self.found: dict[str, Any] = {}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not (isinstance(node.value, ast.Name) and node.value.id in self._packages):
            return self.generic_visit(node)
        package = self._packages[node.value.id]
        if not hasattr(package, node.attr):
            raise NotCompilable(f"line {node.lineno}: {package.__name__} has no {node.attr!r}")
        self.found[OF_PACKAGE + node.attr] = getattr(package, node.attr)
        return ast.copy_location(ast.Name(OF_PACKAGE + node.attr, ast.Load()), node)


class _NamesOfIndices(ast.NodeTransformer):
    """`load.tasks` is the text "tasks".

    Args:
        modules: what the module of load indices is called.
    """

    def __init__(self, modules: set[str]) -> None:
        self._modules = modules

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if not (isinstance(node.value, ast.Name) and node.value.id in self._modules):
            return self.generic_visit(node)
        if node.attr not in INDICES:
            raise NotCompilable(f"line {node.lineno}: {load.unknown_index(node.attr)}")
        return ast.copy_location(ast.Constant(node.attr), node)


class _Translation(ast.NodeTransformer):
    def __init__(self, owner: type | None, absent: frozenset[str]) -> None:
        self._owner, self._absent = owner, absent

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(number_of(node.value)) if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        inserted = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        if len(inserted) != 1 or inserted[0].conversion != -1 or inserted[0].format_spec is not None:
            raise NotCompilable(f"line {node.lineno}: an f-string with more in it than one whole number")
        name = ast.Name("completed", ast.Load())
        return ast.Call(name, [ast.Constant(number_of(_pattern(node))), self.visit(inserted[0].value)], [])

    def visit_While(self, node: ast.While) -> ast.AST:
        raise NotCompilable(f"line {node.lineno}: a `while` loop, which could not be interrupted")

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        # For the reader and the checker of types: what is asserted holds.
        return ast.Pass()

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "candidates" and isinstance(node.value, ast.Name) and node.value.id == "view":
            raise NotCompilable(
                f"line {node.lineno}: view.candidates are objects; view.candidate_rows, a table, compiles"
            )
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
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
