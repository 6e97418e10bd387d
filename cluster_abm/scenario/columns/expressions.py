"""Expressions over the columns of a table: their grammar, and the trees that they are read as. Nothing is carried out.

either     = both { "or" both }
both       = negation { "and" negation }
negation   = [ "not" ] comparison
comparison = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum | [ "not" ] "in" list ]
sum        = product { ( "+" | "-" ) product }
product    = sign { ( "*" | "/" ) sign }
sign       = [ "-" ] value
value      = NUMBER | TEXT | NAME | "`" any name "`" | "$" POSITION | "(" either ")"
list       = "[" ( NUMBER | TEXT ) { "," ( NUMBER | TEXT ) } "]"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

LONGEST, DEEPEST, MOST_PARTS = 2000, 50, 150  # characters; parentheses within each other; + - * / and parts of them
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<text>\"[^\"]*\"|'[^']*')|`(?P<quoted>[^`]+)`"
    r"|\$(?P<position>\d{1,6})|(?P<name>[A-Za-z_%][\w.%\[\]]*)|(?P<mark>==|!=|<=|>=|[-+*/()\[\],<>]))",
    re.ASCII,
)
WORDS = ("and", "or", "not", "in")


@dataclass(frozen=True)
class Constant:
    """A number or a text."""

    value: float | str


@dataclass(frozen=True)
class Name:
    """A column by its name, or by its position from 1."""

    column: str | int


@dataclass(frozen=True)
class Arithmetic:
    """+, -, * or / of two numbers."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Relation:
    """One of COMPARISONS between two values."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Membership:
    """Whether a value is one of some."""

    value: Node
    among: tuple[float | str, ...]


@dataclass(frozen=True)
class Logic:
    """and, or of two truths; not of one."""

    word: str
    parts: tuple[Node, ...]


Node = Constant | Name | Arithmetic | Relation | Membership | Logic


@lru_cache(maxsize=1000)
def parsed(text: str) -> Node:
    """The tree of an expression. Raises ValueError: it cannot be read; says where."""
    return _ExpressionReader(text).all()


def check_expression(text: str, truth: bool) -> None:
    """Raise ValueError if an expression cannot be read, or gives numbers for a truth, or a truth for numbers.

    Args:
        truth: whether it must be one: a comparison, or several with and, or, not.
    """
    node = parsed(text)
    if is_truth(node) is not truth:
        allowed = 'a comparison, as state == "COMPLETED"' if truth else "a number, as end - start"
        raise ValueError(f"{text[:80]!r}: gives {'a number' if truth else 'a truth'}: allowed: {allowed}")
    if isinstance(node, Constant) and isinstance(node.value, str):
        raise ValueError(f"{text[:80]!r}: a text: allowed: a number, as end - start")
    _check_kinds(node, text)


def is_truth(node: Node) -> bool:
    """Whether an expression holds or does not, rather than being a number or a text."""
    return isinstance(node, Logic | Relation | Membership)


def _check_kinds(node: Node, text: str) -> None:
    """Raise ValueError where a part is of the wrong kind: a truth in a sum, a text in a product, a number after and."""
    if isinstance(node, Constant | Name):
        return
    if isinstance(node, Membership):
        parts: tuple[Node, ...] = (node.value,)
    else:
        parts = node.parts if isinstance(node, Logic) else (node.left, node.right)
    for part in parts:
        if is_truth(part) is not isinstance(node, Logic):
            raise ValueError(f"{text[:80]!r}: {'a number' if isinstance(node, Logic) else 'a truth'} where none may be")
        if isinstance(node, Arithmetic) and isinstance(part, Constant) and isinstance(part.value, str):
            raise ValueError(f"{text[:80]!r}: calculates with the text {part.value[:40]!r}: allowed: numbers")
        _check_kinds(part, text)


def names_in(node: Node) -> list[str | int]:
    """The columns that an expression reads, in its order, each once."""
    if isinstance(node, Name):
        return [node.column]
    if isinstance(node, Constant):
        return []
    if isinstance(node, Membership):
        return names_in(node.value)
    parts = node.parts if isinstance(node, Logic) else (node.left, node.right)
    return list(dict.fromkeys(name for part in parts for name in names_in(part)))


class _ExpressionReader:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise ValueError(f"an expression of {len(text):,} characters: allowed up to {LONGEST:,}")
        self._text, self._depth = text, 0
        self._tokens = list(self._tokenised())
        operators = sum(kind == "mark" and value in "+-*/" for kind, value, _ in self._tokens)
        if operators > MOST_PARTS:
            raise ValueError(f"{text[:80]!r}: {operators} of + - * /: allowed up to {MOST_PARTS}")
        self._at = 0

    def all(self) -> Node:
        """The whole expression."""
        node = self._either()
        if self._at < len(self._tokens):
            self._fail("an operator, or the end")
        return node

    def _tokenised(self) -> list[tuple[str, str, int]]:
        found, at = [], 0
        text = self._text.rstrip()
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                rest = text[at:].lstrip()
                raise ValueError(
                    f"{self._text[:80]!r}: not read from {rest[:20]!r} on: allowed: names, numbers, texts in quotes, "
                    "+ - * /, comparisons, in [...], and, or, not, parentheses"
                )
            kind = str(match.lastgroup)
            value = match[kind]
            if kind == "name" and value in WORDS:
                kind = "mark"
            elif kind == "name" and value.count("[") != value.count("]"):
                # The bracket belongs to a list behind the name.
                value = value.partition("[")[0]
                found.append((kind, value, match.start(kind)))
                at = match.start(kind) + len(value)
                continue
            found.append((kind, value, match.start(kind)))
            at = match.end()
        return found

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at][:2] if self._at < len(self._tokens) else ("end", "")

    def _take(self, *marks: str) -> str:
        """The next mark if it is one of these, "" if not."""
        kind, value = self._peek()
        if kind == "mark" and value in marks:
            self._at += 1
            return value
        return ""

    def _fail(self, allowed: str) -> NoReturn:
        is_end = self._at == len(self._tokens)
        place = "its end" if is_end else repr(self._text[self._tokens[self._at][2] :][:20])
        raise ValueError(f"{self._text[:80]!r}: not read at {place}: allowed here: {allowed}")

    def _either(self) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError(f"{self._text[:80]!r}: parentheses {DEEPEST} deep: allowed fewer")
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else Logic("or", tuple(parts))

    def _both(self) -> Node:
        parts = [self._negation()]
        while self._take("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else Logic("and", tuple(parts))

    def _negation(self) -> Node:
        negated = False
        while self._take("not"):
            negated = not negated
        node = self._comparison()
        return Logic("not", (node,)) if negated else node

    def _comparison(self) -> Node:
        left = self._sum()
        sign = self._take(*COMPARISONS)
        if sign:
            return Relation(sign, left, self._sum())
        if self._take("in"):
            return Membership(left, self._list())
        if self._take("not"):
            if not self._take("in"):
                self._fail("in")
            return Logic("not", (Membership(left, self._list()),))
        return left

    def _sum(self) -> Node:
        node = self._product()
        while sign := self._take("+", "-"):
            node = Arithmetic(sign, node, self._product())
        return node

    def _product(self) -> Node:
        node = self._sign()
        while sign := self._take("*", "/"):
            node = Arithmetic(sign, node, self._sign())
        return node

    def _sign(self) -> Node:
        negative = False
        while self._take("-"):
            negative = not negative
        node = self._value()
        return Arithmetic("-", Constant(0.0), node) if negative else node

    def _value(self) -> Node:
        kind, value = self._peek()
        if kind in ("name", "quoted", "position", "number", "text"):
            self._at += 1
            if kind == "position":
                if int(value) == 0:
                    raise ValueError(f"{self._text[:80]!r}: $0: positions count from 1")
                return Name(int(value))
            return Name(value) if kind in ("name", "quoted") else Constant(_constant(kind, value))
        if self._take("("):
            node = self._either()
            if not self._take(")"):
                self._fail(")")
            return node
        self._fail("a name, a number, a text in quotes, or (")

    def _list(self) -> tuple[float | str, ...]:
        if not self._take("["):
            self._fail('a list, as ["A", "B"]')
        found: list[float | str] = []
        while True:
            negative = bool(self._take("-"))
            kind, value = self._peek()
            if kind not in ("number", "text") or (negative and kind == "text"):
                self._fail("a number, or a text in quotes")
            self._at += 1
            constant = _constant(kind, value)
            found.append(-constant if negative and isinstance(constant, float) else constant)
            if self._take("]"):
                return tuple(found)
            if not self._take(","):
                self._fail(", or ]")


def _constant(kind: str, value: str) -> float | str:
    return float(value) if kind == "number" else value[1:-1]
