"""Expressions of policy bodies, by their type in Python: whole numbers, numbers, truth values, texts, nodes, columns.

At an edge of what 64 bits hold, or of a function's domain, they stand with a share that differs from case to case.
"""

from __future__ import annotations

from random import Random

INDICES = ("tasks", "cpu_ms", "io_ms", "page_ms", "memory_mb", "queue", "disk_queue", "cpu_utilisation")
SMALL = ("0", "1", "2", "3", "7", "-1", "-2", "-3")
LARGE = ("2**31", "2**53 + 1", "2**62", "2**63 - 1", "-2**63", "10**18", "-10**18 + 1", "3037000500", "2**63", "-2**64")
FRACTIONS = ("0.0", "-0.0", "0.1", "0.5", "1.5", "2.5", "-2.5", "100.0", "1e-3", "2.675", "0.15")
EXTREME = (
    "1e308",
    "-1e308",
    "5e-324",
    "1e16",
    "9007199254740993.0",
    "math.inf",
    "-math.inf",
    "math.nan",
    "1e19",
    "-1e19",
)
# Nodes that there are not, the last ones far from all that belongs to the process.
BEYOND = ("view.nodes", "-1", "-view.nodes", "-view.nodes - 1", "view.nodes + 7", "10**6", "-10**6", "2**40", "2**62")
TEXTS = ('"own"', '"a"', '"b"', '""', '"tasks"', '"cpu_ms"', "NAMES[0]", "NAMES[b % 2]", "self.kind", "LABEL")
TEXTS += ("self.parameters.mode", '(t if c else "other")', 'f"turn {b % 5}"')
OF_INTEGERS = ("+", "-", "*", "//", "%", "+", "-", "*", "&", "|", "^")
OF_NUMBERS = ("+", "-", "*", "/", "+", "-", "*", "/", "//", "%")
MATHS = (
    "sqrt",
    "exp",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sin",
    "tan",
    "atan",
    "asin",
    "cosh",
    "atanh",
    "gamma",
    "fabs",
)
OF_NUMPY = ("sqrt", "exp", "log", "log2", "expm1", "floor", "sin", "abs", "sign", "ceil", "square")
OF_COLUMNS = (
    ".sum()",
    ".min()",
    ".max()",
    ".mean()",
    ".std()",
    ".argmin()",
    ".argmax()",
    "[-1]",
    "[::-1][0]",
    ".prod()",
)


class Words:
    """Draws expressions. Those of a method may use `task`, `view` and the names a, b (whole), x, y, t (text), c, n.

    Args:
        random: draws them.
        edge: share of numbers that are at an edge.
    """

    def __init__(self, random: Random, edge: float) -> None:
        self.random, self.edge = random, edge

    @property
    def at_edge(self) -> bool:
        """Whether the next one is at an edge."""
        return self.random.random() < self.edge

    def index(self) -> str:
        """The name of a load index, as an expression; seldom one that there is not."""
        if self.random.random() < self.edge / 8:
            return self.random.choice(['"no_such"', "t", '""', "self.kind"])
        return f'"{self.random.choice(INDICES)}"'

    def node(self) -> str:
        """The number of a node."""
        if self.random.random() < self.edge / 2:
            return self.random.choice(BEYOND)
        return self.random.choice(
            ["view.me", "view.next_node", "n", "n", "a % view.nodes", f"view.least({self.index()})"]
        )

    def whole(self, depth: int = 2) -> str:
        """A whole number."""
        choose = self.random.choice
        if depth == 0:
            if self.at_edge:
                return choose(LARGE)
            return choose(
                [*SMALL, "a", "b", "a", "b", "view.me", "view.nodes", "task.task", "self.parameters.k", "STEPS"]
            )
        one, other = (self.whole(depth - 1) for _ in range(2))
        number = self.number(depth - 1)
        return choose(
            [
                one,
                *[f"({one} {choose(OF_INTEGERS)} {other})"] * 6,
                f"({choose([*SMALL, *LARGE, 'a', 'b'])}) ** {choose(['0', '1', '2', '3', '-1', '-2', '20', '63'])}",
                f"(a << {choose(['1', '3', '40', '62', '63', '64', '-1'])})",
                f"({one} >> {choose(['1', '63', '64', '70', '-1'])})",
                f"int({number})",
                f"int({number})",
                f"round({number})",
                f"math.floor({number})",
                f"math.ceil({number})",
                f"abs({one})",
                f"-{one}",
                f"~({one})",
                f"min({one}, {other})",
                f"max({one}, {other}, 2)",
                f"int({self.truth(depth - 1)})",
                f"divmod({one}, {other})[{choose('01')}]",
                f"weigh_whole({one}, {other})",
                "len(view.refused)",
                f'view.notes.get("count", {choose(["0", "1", "-5"])})',
                self.node(),
                self.node(),
                f"round({one}, {choose(['0', '-1', '1'])})",
                f"({one} if {self.truth(depth - 1)} else {other})",
                f"sum([{one}, {other}])",
                "len(NAMES)",
                f"math.gcd({one}, {other})",
                f"pow({one}, 2)",
            ]
        )

    def number(self, depth: int = 2) -> str:
        """A number, whole or not."""
        choose = self.random.choice
        if depth == 0:
            if self.at_edge:
                return choose(EXTREME)
            return choose(
                [*FRACTIONS, *("x", "y") * 4, "task.cpu_ms", "view.now_ms", "task.io_per_ms", "SCALE", "a", "b"]
            )
        one, other, whole = self.number(depth - 1), self.number(depth - 1), self.whole(depth - 1)
        return choose(
            [
                one,
                whole,
                *[f"({one} {choose(OF_NUMBERS)} {other})"] * 6,
                f"({one} {choose(OF_NUMBERS)} {whole})",
                f"({choose([*FRACTIONS, 'x', 'y', 'a'])}) ** ({choose(['0', '2', '-1', '0.5', '-0.5', 'x', '1e3'])})",
                f"math.{choose(MATHS)}({one})",
                f"math.{choose(MATHS)}({one})",
                f"np.{choose(OF_NUMPY)}({one})",
                f"math.{choose(['pow', 'fmod', 'hypot', 'atan2', 'copysign', 'remainder'])}({one}, {other})",
                f"round({one}, {choose(['0', '1', '2', '3', '-1', '20'])})",
                f"float({whole})",
                f"abs({one})",
                f"-({one})",
                f"min({one}, {other})",
                f"max({one}, {other})",
                f"max({one}, {whole})",
                f"({one} if {self.truth(depth - 1)} else {other})",
                f"({one} if c else {whole})",
                *[self.of_view() for _ in range(6)],
                f"weigh({one}, view, {self.node()})",
                f'view.notes.get("sum", {choose(["0.0", "-1.5", "0"])})',
                f"float({self.column(1)}{choose(OF_COLUMNS)})",
                f"self.parameters.share * {one}",
            ]
        )

    def of_view(self) -> str:
        """What a view says of a node."""
        choose, node, index = self.random.choice, self.node(), self.index()
        return choose(
            [
                f"view.load({index}, {node})",
                f"view.load({index}, {node}, task)",
                f"view.measured({index}, {node})",
                f"view.cost_ms(task, {node})",
                f"view.hardware[{node}].speed",
                f"view.hardware[{node}].user_memory_mb",
                f"view.uniform(task.task, {choose(['0', '1', '7', 'b'])})",
                f"view.mb_per_s({node})",
                f"view.column({index})[{node}]",
                f"float(view.loads[{index}][{node}])",
                f"view.loads[{node}][{index}]",
                f"view.paths.latency_ms[{node}]",
                f"task.cpu_on(view.hardware[{node}])",
                f"view.page_ms(task, {node})",
                f"task.io_on(view.hardware[{node}])",
                f"view.faults_per_ms(task, {node})",
                f"view.fixed_ms({node})[1]",
            ]
        )

    def column(self, depth: int = 1) -> str:
        """A column of loads, shape (nodes,)."""
        choose, index = self.random.choice, self.index()
        if depth == 0:
            return choose([f"view.column({index})", f"view.loads[{index}]", f"view.column({index}, task)"])
        one, other = self.column(depth - 1), self.column(depth - 1)
        return choose(
            [
                one,
                f"({one} + {self.number(0)})",
                f"({one} * {other})",
                f"({one} / {other})",
                f"({one} // 2.0)",
                f"np.sqrt({one})",
                f"np.maximum({one}, {other})",
                f"np.sort({one})",
                f"({one} ** 2)",
                f"np.cumsum({one})",
                f"np.where({one} > x, {one}, {other})",
                f"np.minimum({one}, {self.number(0)})",
                f"np.log({one})",
            ]
        )

    def truth(self, depth: int = 1) -> str:
        """A truth value."""
        choose = self.random.choice
        if depth == 0:
            return choose(
                ["c", "x > y", "a % 2 == 0", "self.parameters.strict", "t == LABEL", "view.me in view.refused", "a < b"]
            )
        one, other = self.number(depth - 1), self.number(depth - 1)
        compare = ("<", "<=", ">", ">=", "==", "!=")
        return choose(
            [
                f"{one} {choose(compare)} {other}",
                f"{one} {choose(compare)} {other} {choose(compare)} a",
                f"({self.truth(depth - 1)} and {self.truth(depth - 1)})",
                f"({self.truth(depth - 1)} or {self.truth(depth - 1)})",
                f"not {self.truth(depth - 1)}",
                f"{self.text()} == {self.text()}",
                f"{self.text()} in NAMES",
                f"t != {self.text()}",
                f"{self.node()} in view.refused",
                f"math.isnan({one})",
                f"math.isinf({one})",
                f"view.is_largest({self.index()})",
                f"bool({self.whole(depth - 1)})",
                "task.running",
                f"view.has_index({self.index()})",
                f"math.isclose({one}, {other})",
            ]
        )

    def text(self) -> str:
        """A text."""
        return self.random.choice(TEXTS)
