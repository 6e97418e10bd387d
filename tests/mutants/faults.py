"""The faults that a source text can be given: one small change of one line each."""

from __future__ import annotations

import ast
import random
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What a comparison becomes: its border moved, and turned round.
COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">"), ast.LtE: ("<", ">="), ast.Gt: (">=", "<"), ast.GtE: (">", "<="), ast.Eq: ("!=",),
    ast.NotEq: ("==",), ast.Is: ("is not",), ast.IsNot: ("is",), ast.In: ("not in",), ast.NotIn: ("in",),
}  # fmt: skip
OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+", ast.Pow: "*",
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Statements of these kinds have no fault in them: names, and what only the type checker reads.
LEFT_ALONE = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)


@dataclass(frozen=True)
class Fault:
    """One change of a file.

    Args:
        path: of the file, from the root of the checkout.
        line: the number of the line in which it begins.
        start, end: the piece of the text, in characters, that is replaced.
        kind: `comparison`, `operation`, `sign`, `factor`, `guard`, `constant`, `call` or `forgotten line`.
        new: what stands in its place.
    """

    path: str
    line: int
    start: int
    end: int
    kind: str
    new: str

    def applied(self, text: str) -> str:
        """The text with this fault in it."""
        return text[: self.start] + self.new + text[self.end :]

    def shown(self, text: str) -> tuple[str, str]:
        """The lines that it changes, before and after, without their indentation."""
        first, last = text.rfind("\n", 0, self.start) + 1, text.find("\n", self.end)
        last = len(text) if last < 0 else last
        after = text[first : self.start] + self.new + text[self.end : last]
        return " ".join(text[first:last].split()), " ".join(after.split())


def faults_of(path: str, text: str, line: int | None = None) -> list[Fault]:
    """All faults that this text, or one line of it, can be given, each of which is another program."""
    return [fault for fault in _Finder(path, text).found() if line in (None, fault.line) and _is_another(fault, text)]


def _is_another(fault: Fault, text: str) -> bool:
    try:
        return ast.dump(ast.parse(fault.applied(text))) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


def drawn(root: Path, folders: list[str], count: int, seed: int) -> list[Fault]:
    """Faults of different lines of the checkout at `root`, drawn without looking at what the lines do.

    Each line that can be wrong is as likely as any other one; then one of its faults is drawn.
    """
    sites: list[tuple[str, int]] = []
    texts = {}
    for path in sorted(path for folder in folders for path in _sources(root / folder)):
        name = path.relative_to(root).as_posix()
        texts[name] = path.read_text(encoding="utf-8")
        lines = {fault.line for fault in _Finder(name, texts[name]).found()}
        sites += [(name, line) for line in sorted(lines)]
    generator = random.Random(seed)
    faults: list[Fault] = []
    for name, line in generator.sample(sites, len(sites)):
        if len(faults) == count:
            break
        if choices := faults_of(name, texts[name], line):
            faults.append(generator.choice(choices))
    return faults


def _sources(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


class _Finder:
    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        self.lines = text.splitlines(keepends=True)
        self.begins = [0]
        for line in self.lines:
            self.begins.append(self.begins[-1] + len(line))

    def found(self) -> Iterator[Fault]:
        yield from self._in(ast.parse(self.text))

    def _in(self, node: ast.AST) -> Iterator[Fault]:
        if isinstance(node, LEFT_ALONE) or _is_of_types(node):
            return
        yield from self._of_statement(node)
        yield from self._of_expression(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
                continue
            for child in value if isinstance(value, list) else [value]:
                # Text of messages and descriptions is no behaviour; nor are the formats of their numbers.
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield from self._in(child)

    def _of_statement(self, node: ast.AST) -> Iterator[Fault]:
        if isinstance(node, ast.If | ast.While):
            yield self._replaced(node.test, "guard", f"not ({self._of(node.test)})")
            if isinstance(node, ast.If) and not node.orelse:
                yield self._replaced(node.test, "guard", "False")
        calls = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        stores = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript)
        if calls or stores or isinstance(node, ast.AugAssign | ast.Continue | ast.Break):
            yield self._replaced(node, "forgotten line", "pass")
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
            before, after = ("+=", "-=") if isinstance(node.op, ast.Add) else ("-=", "+=")
            yield from self._between(node.target, node.value, "sign", before, after)

    def _of_expression(self, node: ast.AST) -> Iterator[Fault]:
        if isinstance(node, ast.Compare):
            left = node.left
            for operator, right in zip(node.ops, node.comparators, strict=True):
                for new in COMPARISONS[type(operator)]:
                    yield from self._between(left, right, "comparison", _sign_of(operator), new)
                left = right
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS and not _has_text(node):
            yield from self._between(node.left, node.right, "operation", _sign_of(node.op), OPERATIONS[type(node.op)])
            if isinstance(node.op, ast.Mult | ast.Div):
                yield self._replaced(node, "factor", self._of(node.left))
        elif isinstance(node, ast.BoolOp):
            before, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from self._between(node.values[0], node.values[1], "comparison", before, after)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            yield self._replaced(node, "sign", self._of(node.operand))
        elif isinstance(node, ast.IfExp):
            yield self._replaced(node.test, "guard", f"not ({self._of(node.test)})")
        elif isinstance(node, ast.comprehension):
            for test in node.ifs:
                yield self._replaced(test, "guard", "True")
        elif isinstance(node, ast.Constant):
            yield from self._of_constant(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield self._replaced(node.func, "call", CALLS[node.func.id])

    def _of_constant(self, node: ast.Constant) -> Iterator[Fault]:
        if isinstance(node.value, bool):
            yield self._replaced(node, "constant", str(not node.value))
        elif isinstance(node.value, int):
            yield self._replaced(node, "constant", str(node.value + 1))
        elif isinstance(node.value, float):
            yield self._replaced(node, "constant", repr(node.value * 10 if node.value else 1.0))

    def _between(self, left: ast.AST, right: ast.AST, kind: str, before: str, after: str) -> Iterator[Fault]:
        """The sign that stands between two expressions, replaced; brackets and comments may stand there too."""
        start, end = self._span(left)[1], self._span(right)[0]
        pattern = r"(?<![\w<>=!*/])" + r"\s+".join(map(re.escape, before.split())) + r"(?![\w<>=*/])"
        if match := re.search(pattern, self.text[start:end]):
            at = start + match.start()
            yield self._fault(at, at + len(match.group()), kind, after)

    def _replaced(self, node: ast.AST, kind: str, new: str) -> Fault:
        return self._fault(*self._span(node), kind, new)

    def _fault(self, start: int, end: int, kind: str, new: str) -> Fault:
        return Fault(self.path, bisect_right(self.begins, start), start, end, kind, new)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        place: Any = node
        return self._at(place.lineno, place.col_offset), self._at(place.end_lineno, place.end_col_offset)

    def _at(self, line: int, column: int) -> int:
        # `ast` counts columns in bytes.
        text = self.lines[line - 1]
        return self.begins[line - 1] + len(text.encode()[:column].decode())

    def _of(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self.text[start:end]


def _is_of_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def _has_text(node: ast.BinOp) -> bool:
    def is_text(side: ast.AST) -> bool:
        return isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))

    return is_text(node.left) or is_text(node.right)


_SIGNS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
}  # fmt: skip


def _sign_of(operator: ast.AST) -> str:
    return _SIGNS[type(operator)]
