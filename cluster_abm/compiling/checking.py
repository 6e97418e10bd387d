"""Checked operations (compiling.checked) in the place of those that a user's function is written with."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Mapping
from typing import Any

from cluster_abm.compiling.careful import BINARY, BUILTINS, OF_COLUMNS, UNARY, masks_of
from cluster_abm.compiling.checked import MATH, OPERATIONS
from cluster_abm.compiling.plain_values import function_of, is_question_of_type, special_float


def put_checks(definition: ast.FunctionDef, outside: Mapping[str, Any], local: frozenset[str]) -> None:
    """Put operations that are checked in the place of a function's own.

    Args:
        definition: the function, which `check` has found to be right.
        outside: what its names stand for outside it.
        local: its own names.
    """
    checked = _Checked(outside, local, masks_of(definition))
    definition.body = [checked.visit(statement) for statement in definition.body]


class _Checked(ast.NodeTransformer):
    """Puts operations that are checked in the place of Python's own.

    Args:
        outside: what names stand for outside the function.
        local: names of the function's own.
        masks: those of its own arrays (careful.masks_of).
    """

    def __init__(self, outside: Mapping[str, Any], local: frozenset[str], masks: frozenset[str]) -> None:
        self._outside, self._local, self._masks = outside, local, masks

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return _checked(BINARY[type(node.op)], self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(ast.Not(), self._truth(node.operand))
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return node
        return _checked(UNARY[type(node.op)], self.visit(node.operand))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        node.targets = [self.visit(target) for target in node.targets]
        node.value = self.visit(node.value)
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            node.value = _checked("entry", ast.Name(target.value.id, ast.Load()), node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        held: Any = ast.parse(ast.unparse(node.target), mode="eval").body
        # An array would be changed in its place: `+ 0` of a number alone has a form.
        left = self.visit(held) if isinstance(held, ast.Subscript) else _checked("number", held)
        name = BINARY[type(node.op)]
        if isinstance(held, ast.Name) and held.id in self._masks and name in ("and", "or", "xor"):
            left, name = held, f"mask_{name}"
        made = _checked(name, left, self.visit(node.value))
        target = self.visit(node.target)
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            made = _checked("entry", ast.Name(target.value.id, ast.Load()), made)
        return ast.Assign([target], made)

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self._truth(node.test)
        node.body = [self.visit(one) for one in node.body]
        node.orelse = [self.visit(one) for one in node.orelse]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return ast.IfExp(self._truth(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        failed = ast.Raise(ast.Call(ast.Name("AssertionError", ast.Load()), [], []), None)
        return ast.If(ast.UnaryOp(ast.Not(), self._truth(node.test)), [failed], [])

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise(ast.Call(ast.Name("ValueError", ast.Load()), [], []), None)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = _checked("count", self.visit(node.value))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        is_given = isinstance(node.slice, ast.Slice | ast.Constant)
        if isinstance(node.slice, ast.Tuple):
            elements = [
                self.visit(one) if isinstance(one, ast.Slice | ast.Constant) else _checked("place", self.visit(one))
                for one in node.slice.elts
            ]
            node.slice = ast.Tuple(elements, ast.Load())
        elif not is_given:
            node.slice = _checked("place", self.visit(node.slice))
        else:
            node.slice = self.visit(node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if is_question_of_type(node):
            return node
        name = self._operation_of(node.func)
        if name == "float" and (special := special_float(node.args[0])) is not None:
            return ast.Constant(special)
        arguments = [self.visit(one) for one in node.args]
        if name in ("min", "max"):
            found = arguments[0]
            for other in arguments[1:]:
                found = _checked(name, found, other)
            return found
        if name:
            return _checked(name, *arguments)
        if isinstance(node.func, ast.Name) and node.func.id == "range" and "range" not in self._local:
            arguments = [_checked("count", one) for one in arguments]
        if isinstance(node.func, ast.Attribute) and node.func.attr in OF_COLUMNS:
            arguments[0] = _checked("column", arguments[0], node.func.value)
        node.func = self.visit(node.func)
        node.args = arguments
        node.keywords = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        return node

    def _operation_of(self, function: ast.expr) -> str:
        """The operation that stands in the place of a function; "": the function itself."""
        if isinstance(function, ast.Name) and function.id not in self._local:
            if function.id not in self._outside:
                return BUILTINS.get(function.id, "") if hasattr(builtins, function.id) else ""
            return self._of_math(function_of(self._outside[function.id], math))
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            is_math = function.value.id not in self._local and self._outside.get(function.value.id) is math
            return self._of_math(function.attr) if is_math else ""
        return ""

    @staticmethod
    def _of_math(name: str) -> str:
        return "math_pow" if name == "pow" else name if name in MATH else ""

    def _truth(self, node: ast.expr) -> ast.expr:
        """A condition; what `and` and `or` join is one each."""
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self._truth(one) for one in node.values])
        made: Any = self.visit(node)
        is_one = isinstance(node, ast.Compare) and len(node.ops) == 1
        is_tested = is_one and isinstance(node, ast.Compare) and _tests_what_is_there(node)
        return made if is_tested or isinstance(made, ast.Constant) else _checked("truth", made)


def _tests_what_is_there(node: ast.Compare) -> bool:
    """Whether a comparison is one that is settled before: `view.capacities is None`."""
    return isinstance(node.ops[0], ast.Is | ast.IsNot)


def _checked(name: str, *arguments: Any) -> ast.Call:
    name = f"checked_{name}__"
    assert name in OPERATIONS, name
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
