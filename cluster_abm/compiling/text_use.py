"""What a policy's method may do with texts, which are numbers in compiled code: hand them on, and tell them apart."""

from __future__ import annotations

import ast
from typing import Any

# Attributes of decisions that are texts.
OF_DECISIONS = frozenset(["rule", "index", "reason"])
# Of numbers these make something else than of texts, and nothing would say so.
COUNTS = frozenset(["max", "min", "sum", "abs", "int", "float", "range", "round"])
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def misused_text(definition: ast.FunctionDef, names: frozenset[str], owner: type | None) -> int | None:
    """The line of a function that makes a text of texts, or puts texts in order; None if there is none.

    Args:
        definition: the function as it is written.
        names: names of texts, and of tuples of texts, outside it.
        owner: the class in whose body it stands; None: in none.
    """
    found = _Texts(names, OF_DECISIONS | _text_attributes(owner))
    before = -1
    # A name can be given a text of another name below it.
    while len(found.names) != before:
        before = len(found.names)
        for node in ast.walk(definition):
            found.learn(node)
    misused = (
        node.lineno for node in ast.walk(definition) if isinstance(node, ast.expr | ast.stmt) and found.bad(node)
    )
    return min(misused, default=None)


def _text_attributes(owner: type | None) -> frozenset[str]:
    """The attributes and parameters of a policy's class that are texts."""
    found: set[str] = set()
    for one in owner.__mro__ if owner is not None else ():
        found |= {name for name, value in vars(one).items() if isinstance(value, str) and not name.startswith("__")}
        fields: dict[str, Any] = getattr(vars(one).get("Parameters"), "model_fields", {})
        found |= {name for name, field in fields.items() if isinstance(field.default, str)}
    return frozenset(found)


class _Texts:
    def __init__(self, names: frozenset[str], attributes: frozenset[str]) -> None:
        self.names, self._attributes = set(names), attributes

    def learn(self, node: ast.AST) -> None:
        """Names that a statement gives a text."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._give(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._give(node.target, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            elements = node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List) else [node.iter]
            for element in elements:
                self._give(node.target, element)

    def _give(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, given in zip(target.elts, value.elts, strict=False):
                self._give(one, given)
        elif isinstance(target, ast.Name) and self._is_text(value):
            self.names.add(target.id)

    def _is_text(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str)
        if isinstance(node, ast.Name):
            return node.id in self.names
        if isinstance(node, ast.Subscript):
            return self._is_text(node.value)
        if isinstance(node, ast.Attribute):
            return node.attr in self._attributes
        if isinstance(node, ast.IfExp):
            return self._is_text(node.body) or self._is_text(node.orelse)
        if isinstance(node, ast.BoolOp):
            return any(map(self._is_text, node.values))
        return isinstance(node, ast.JoinedStr)

    def bad(self, node: ast.AST) -> bool:
        """Whether compiled code would calculate with the number of a text."""
        if isinstance(node, ast.BinOp):
            return self._is_text(node.left) or self._is_text(node.right)
        if isinstance(node, ast.UnaryOp):
            return not isinstance(node.op, ast.Not) and self._is_text(node.operand)
        if isinstance(node, ast.AugAssign):
            return self._is_text(node.target) or self._is_text(node.value)
        if isinstance(node, ast.Compare):
            return any(isinstance(op, ORDER) for op in node.ops) and any(
                map(self._is_text, [node.left, *node.comparators])
            )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in COUNTS:
            return any(map(self._is_text, node.args))
        return False
