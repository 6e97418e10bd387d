"""Oddities that concern a policy's class, and names of its module."""

from __future__ import annotations

from dataclasses import dataclass

Lines = tuple[str, ...]


@dataclass(frozen=True)
class Oddity:
    """Lines of a policy's file.

    Attributes:
        place: in `place`.
        last: the line that ends `place` where nothing else is in it; "": the usual one.
        module: beside the class.
        inside: in the class.
        accept, migration: these methods.
    """

    place: Lines = ()
    last: str = ""
    module: Lines = ()
    inside: Lines = ()
    accept: Lines = ()
    migration: Lines = ()


CLASSES: dict[str, Oddity] = {
    "property": Oddity(inside=("@property", "def width(self):", "    return 3"), place=("a = self.width",)),
    "property that is a text": Oddity(
        inside=("@property", "def width(self):", "    return 'a'"), place=("t = self.width",)
    ),
    "property of parameters": Oddity(
        inside=("@property", "def width(self):", "    return self.parameters.k / 2"), place=("x = self.width",)
    ),
    "cached property": Oddity(
        inside=("from functools import cached_property", "@cached_property", "def width(self):", "    return 3"),
        place=("a = self.width",),
    ),
    "property name": Oddity(
        inside=("@property", "def index(self):", "    return 'cpu_ms'"), place=("return super().place(task, view)",)
    ),
    "property with a setter": Oddity(
        inside=("@property", "def w(self):", "    return 3", "@w.setter", "def w(self, value):", "    pass"),
        place=("self.w = 5", "a = self.w"),
    ),
    "static method": Oddity(
        inside=("@staticmethod", "def twice(a):", "    return 2 * a"), place=("a = self.twice(b)",)
    ),
    "class method": Oddity(
        inside=("@classmethod", "def twice(cls, a):", "    return 2 * a"), place=("a = self.twice(b)",)
    ),
    "method": Oddity(
        inside=("def _twice(self, a):", "    return 2 * a"), place=("a = self._twice(b)", "x = self._twice(x)")
    ),
    "method with default": Oddity(
        inside=("def _add(self, a, b=2):", "    return a + b"), place=("a = self._add(b)", "a += self._add(b=1, a=a)")
    ),
    "method of the class": Oddity(
        inside=("def _twice(self, a):", "    return 2 * a"), place=("a = Mine._twice(self, b)",)
    ),
    "recursive method": Oddity(
        inside=("def _down(self, a):", "    return 0 if a <= 0 else 1 + self._down(a - 1)"),
        place=("a = self._down(b)",),
    ),
    "equality": Oddity(inside=("def __eq__(self, other):", "    return True"), place=("c = self == 3", "a = int(c)")),
    "equality, unused": Oddity(inside=("def __eq__(self, other):", "    return True")),
    "equality of nothing": Oddity(inside=("def __eq__(self, other):", "    return NotImplemented")),
    "length": Oddity(inside=("def __len__(self):", "    return 3"), place=("a = len(self)",)),
    "length zero": Oddity(inside=("def __len__(self):", "    return 0"), place=("c = bool(self)", "a = int(c)")),
    "hash": Oddity(inside=("def __hash__(self):", "    return 3"), place=("a = hash(self)",)),
    "call": Oddity(inside=("def __call__(self, a):", "    return a"), place=("a = self(b)",)),
    "getattr": Oddity(inside=("def __getattr__(self, name):", "    return 3"), place=("a = self.anything",)),
    "repr that fails": Oddity(inside=("def __repr__(self):", "    raise ValueError('no')"), last="return None"),
    "constants": Oddity(
        inside=("width = 3", "share = 0.5", "flag = True", "word = 'a'"),
        place=("a = self.width", "x = self.share * x", "t = self.word"),
    ),
    "constant, large": Oddity(inside=("width = 2**63",), place=("a = self.width",)),
    "constant, larger": Oddity(inside=("width = 10**30",), place=("a = self.width // 10**20",)),
    "constant, list": Oddity(inside=("width = [1, 2]",), place=("a = self.width[1]",)),
    "constant, tuple": Oddity(inside=("width = (1, 2)",), place=("a = self.width[1]",)),
    "constant, dictionary": Oddity(inside=("width = {'own': 2}",), place=("a = self.width[t]",)),
    "constant, array": Oddity(inside=("width = np.ones(3)",), place=("x = self.width[1]",)),
    "constant, None": Oddity(inside=("width = None",), place=("a = 1 if self.width is None else 2",)),
    "constant, written": Oddity(inside=("width = 3",), place=("Mine.width += 1", "a = Mine.width")),
    "constant of the class": Oddity(inside=("width = 3",), place=("a = Mine.width",)),
    "kept in itself": Oddity(place=("self.seen = b", "a = self.seen")),
    "kept by its constructor": Oddity(
        inside=("def __init__(self, **given):", "    super().__init__(**given)", "    self.seen = 3"),
        place=("a = self.seen",),
    ),
    "slots": Oddity(inside=("__slots__ = ('seen',)",)),
    "parameters replaced": Oddity(place=("self.parameters = None",)),
    "load_name": Oddity(
        inside=("def load_name(self, view):", "    return 'io_ms'"), place=("t = self.load_name(view)",)
    ),
    "is_overloaded gives a number": Oddity(
        inside=("def is_overloaded(self, task, view):", "    return task.task % 3"),
        place=("return super().place(task, view)",),
    ),
    "is_overloaded gives a text": Oddity(
        inside=("def is_overloaded(self, task, view):", "    return ''"), place=("return super().place(task, view)",)
    ),
    "is_overloaded gives nothing": Oddity(
        inside=("def is_overloaded(self, task, view):", "    pass"), place=("return super().place(task, view)",)
    ),
    "location gives a number": Oddity(
        inside=("def location(self, task, view):", "    return 1.0"), place=("return super().place(task, view)",)
    ),
    "location beyond": Oddity(
        inside=("def location(self, task, view):", "    return view.nodes"), place=("return super().place(task, view)",)
    ),
    "response_ms gives nothing": Oddity(
        inside=("def response_ms(self, task, view, node):", "    return None"),
        place=(
            "return Decision(n, t, index='cpu_ms', load_here=1e9, task_load=0.5, response_here_ms=4.0, cost_ms=1.0)",
        ),
    ),
    "response_ms gives nan": Oddity(
        inside=("def response_ms(self, task, view, node):", "    return math.nan"),
        place=(
            "return Decision(n, t, index='cpu_ms', load_here=1e9, task_load=0.5, response_here_ms=4.0, cost_ms=1.0)",
        ),
    ),
    "response_ms beyond": Oddity(
        inside=("def response_ms(self, task, view, node):", "    return view.load('cpu_ms', view.nodes)"),
        place=(
            "return Decision(n, t, index='cpu_ms', load_here=1e9, task_load=0.5, response_here_ms=4.0, cost_ms=1.0)",
        ),
    ),
    "task_load gives a text": Oddity(
        inside=("def task_load(self, task, view, index, node):", "    return 'a'"),
        place=("return self.send_to_least(task, view, 'cpu_ms', 'own')",),
    ),
    "a decorator": Oddity(
        module=("def same(function):", "    return function", ""),
        inside=("@same", "def _twice(self, a):", "    return 2 * a"),
        place=("a = self._twice(b)",),
    ),
    "a decorator that wraps": Oddity(
        module=(
            "def plus(function):",
            "    def wrapped(*given):",
            "        return function(*given) + 1",
            "    return wrapped",
            "",
        ),
        inside=("@plus", "def _twice(self, a):", "    return 2 * a"),
        place=("a = self._twice(b)",),
    ),
    "keyword only": Oddity(inside=("def _twice(self, *, a):", "    return 2 * a"), place=("a = self._twice(a=b)",)),
    "name mangled": Oddity(inside=("def __twice(self, a):", "    return 2 * a"), place=("a = self.__twice(b)",)),
    "name mangled constant": Oddity(inside=("__width = 4",), place=("a = self.__width",)),
    "two bases": Oddity(
        module=("class Extra:", "    width = 5", "    def wide(self):", "        return 6", ""),
        place=("a = Extra.width",),
    ),
    "annotations": Oddity(
        inside=("def _twice(self, a: float) -> int:", "    return 2 * a"), place=("a = self._twice(b)",)
    ),
    "docstring": Oddity(
        inside=("def _twice(self, a):", "    '''Twice.'''", "    return 2 * a"), place=("a = self._twice(b)",)
    ),
    "only a docstring": Oddity(
        inside=("def _twice(self, a):", "    '''Twice.'''"), place=("a = 1 if self._twice(b) is None else 2",)
    ),
    "shadowed": Oddity(place=("max = min", "a = max(b, 3)")),
    "shadowed by the module": Oddity(module=("def abs(value):", "    return 7", ""), place=("a = abs(b)",)),
    "shadowed math": Oddity(module=("def sqrt(value):", "    return 7.0", ""), place=("x = sqrt(x)",)),
    "shadowed round": Oddity(module=("def round(value, digits=0):", "    return 7.0", ""), place=("x = round(x, 2)",)),
    "shadowed argument": Oddity(place=("view_ = view", "x = view_.load('cpu_ms', 0)")),
    "other names of arguments": Oddity(
        inside=("def _look(self, seen, at):", "    return seen.load('cpu_ms', at)"), place=("x = self._look(view, n)",)
    ),
    "Decision under another name": Oddity(
        module=("from cluster_abm.policies import Decision as Choice", ""), place=("return Choice(n, t, load_here=x)",)
    ),
    "Decision made by a function": Oddity(
        module=("def made(n, t):", "    return Decision(n, t)", ""), place=("return made(n, t)",)
    ),
    "constants of another module": Oddity(
        module=("from math import inf, pi, sqrt", ""), place=("x = sqrt(pi) * x", "y = inf")
    ),
    "numpy under its name": Oddity(module=("import numpy", ""), place=("x = numpy.sqrt(x)",)),
    "statistics": Oddity(module=("import statistics", ""), place=("x = statistics.mean([x, y])",)),
    "time": Oddity(module=("import time", ""), place=("c = time.time() > 0.0",)),
    "decimal": Oddity(module=("from decimal import Decimal", ""), place=("x = float(Decimal('0.1') + b)",)),
    "fraction": Oddity(module=("from fractions import Fraction", ""), place=("x = float(Fraction(1, 3) + b)",)),
}
