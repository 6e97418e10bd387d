"""Policies as files of users: policy number K of seed S, the same whenever and wherever it is made.

Each is a class with `place`, and seldom or often `accept`, `migration`, `task_load`, parameters, constants and
functions beside it; what one of them finds is a number or a text of its decisions, where both forms show it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from policy_oddities import ODDITIES, Oddity
from policy_statements import Lines, Statements, indented
from policy_words import Words

HEAD = """import math

import numpy as np

from cluster_abm.policies import Decision, Migrating, Policy

NAMES = ("a", "own", "")
LABEL = "own"
SCALE = 2.5
STEPS = 3
"""
PARAMETERS = """
    class Parameters(Policy.Parameters):
        k: int = 3
        share: float = 0.25
        strict: bool = True
        mode: str = "fast"
"""
FIRST = ["a, b = self.parameters.k, task.task % 5", 'x, y = task.cpu_ms, view.load("cpu_ms", view.next_node)']
FIRST += ['t, c = "own", x > 60.0', "n = view.next_node if task.task % 2 else view.me"]
LAST = "return Decision(n, t, task_load=y, load_here=x, load_there=a, response_here_ms=b)"
# Kinds of runs, and how often each comes up.
SITUATIONS: dict[str, tuple[int, dict[str, Any]]] = {
    "alike": (10, {}),
    "papers": (3, {"negotiation__mode": "papers"}),
    "unlike": (
        2,
        {"cluster__group": [{"count": 2, "cpu_speed": 0.5, "memory_mb": 20.0}], "policy__heterogeneous": True},
    ),
    "many": (2, {"cluster__nodes": 11, "workload__duration_s": 0.4}),
    "one": (1, {"cluster__nodes": 1}),
    "failing": (
        2,
        {
            "failures__node__kind": "exponential",
            "failures__node__mean_up_s": 0.5,
            "failures__node__mean_down_s": 0.2,
            "failures__on_failure": "restart",
            "run__until": 4000.0,
        },
    ),
    "far": (1, {"interconnect__kind": "clusters", "interconnect__clusters": 2, "interconnect__trunk_latency_ms": 30.0}),
}


@dataclass
class Trial:
    """A policy, and the run in which it is tried.

    Attributes:
        text: its file, with a class Mine.
        settings: overrides of the run; `__` stands for the dot.
        seed: of the run.
        odd: the oddities in it, by name.
    """

    text: str
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    odd: tuple[str, ...] = ()


def make_trial(seed: int, number: int) -> Trial:
    """The policy of this number."""
    random = Random(f"policy {seed} {number}")
    words = Words(random, random.choice([0.0, 0.02, 0.05, 0.15]))
    statements = Statements(random, words)
    # The more of them, the more often one that ends the run, or does not compile, hides the others.
    odd = tuple(random.sample(sorted(ODDITIES), random.choice([0, 0, 0, 1, 1, 2])))
    place = statements.some(1, 6)
    for name in odd:
        at = random.choice([place_of for place_of in range(len(place) + 1) if _is_top(place, place_of)])
        place[at:at] = ODDITIES[name].place
    situation = random.choices(list(SITUATIONS), [share for share, _ in SITUATIONS.values()])[0]
    text = file_of(
        place,
        _last(random, words),
        [ODDITIES[name] for name in odd],
        _helpers(random),
        _accept(random, statements),
        _migration(random, statements),
        _others(random, words),
    )
    return Trial(text, dict(SITUATIONS[situation][1]), random.randrange(1000), odd)


def odd_trial(name: str) -> Trial:
    """A policy with one oddity and nothing beside it."""
    oddity = ODDITIES[name]
    return Trial(file_of(list(oddity.place), oddity.last or LAST, [oddity]), odd=(name,))


def file_of(
    place: Lines,
    last: str,
    odd: list[Oddity],
    helpers: Lines | None = None,
    accept: Lines | None = None,
    migration: Lines | None = None,
    others: Lines | None = None,
) -> str:
    """The text of a policy's file."""
    lines = [HEAD, *(helpers or HELPERS), "", *(line for one in odd for line in one.module)]
    migrations = [line for one in odd for line in one.migration] or migration
    lines += [
        "",
        f"class Mine({'Migrating' if migrations else 'Policy'}):",
        '    name, source, summary, kind = "mine", "a test", "a test", "own"',
        PARAMETERS,
    ]
    lines += indented([line for one in odd for line in one.inside])
    methods = {"place(self, task, view)": [*FIRST, *place, last]}
    accepts = [line for one in odd for line in one.accept] or accept
    if accepts:
        methods["accept(self, task, decision, view)"] = accepts
    if migrations:
        methods["migration(self, task, view)"] = migrations
    for head, body in methods.items():
        lines += ["", f"    def {head}:", *indented(body, 8)]
    lines += ["", *indented(others or [])]
    return "\n".join(lines).rstrip() + "\n"


HELPERS = [
    "",
    "def weigh(x, view, node):",
    '    return x * SCALE + view.measured("io_ms", node)',
    "",
    "",
    "def weigh_whole(a, b):",
    "    return a * STEPS - b",
]


def _is_top(lines: Lines, at: int) -> bool:
    """Whether a statement at the top may stand there, before that line."""
    return at == len(lines) or (not lines[at].startswith((" ", "elif", "else")))


def _last(random: Random, words: Words) -> str:
    if random.random() < 0.5:
        return LAST
    given = ["load_here=x", "load_there=a", "mce=y", f"cost_ms={random.choice(['x', 'a', 'y', '0.0'])}", "task_load=b"]
    given += [f"index={words.index()}", f"reason={words.text()}"]
    return f"return Decision({words.node()}, t, {', '.join(random.sample(given, random.randint(1, 5)))})"


def _helpers(random: Random) -> Lines:
    """The two functions that expressions call."""
    whole = random.choice(
        ["a * STEPS - b", "a // b if b else a", "a * a + b * b", "(a + b) // STEPS", "a ** 2 % STEPS"]
    )
    weigh = random.choice(
        [
            'x * SCALE + view.measured("io_ms", node)',
            "x / (1 + node)",
            'max(x, view.load("cpu_ms", node))',
            "round(x / SCALE, 2)",
            "weigh_whole(node, STEPS) * x",
            "x if view.has_index(LABEL) else -x",
        ]
    )
    return [
        "",
        "def weigh(x, view, node):",
        f"    return {weigh}",
        "",
        "",
        "def weigh_whole(a, b):",
        f"    return {whole}",
    ]


def _accept(random: Random, statements: Statements) -> Lines:
    if random.random() < 0.7:
        return []
    words = statements.words
    return [
        "a, b = self.parameters.k, decision.target",
        "x, y = decision.load_here, decision.task_load",
        "t, c, n = decision.rule, task.running, view.me",
        *statements.some(0, 3),
        f'return {words.text()} if {words.truth()} else ""',
    ]


def _migration(random: Random, statements: Statements) -> Lines:
    if random.random() < 0.75:
        return []
    words = statements.words
    place = random.choice(["0", "0", "len(rows) - 1", "b % len(rows)", "-1" if words.at_edge else "0"])
    return [
        *FIRST,
        "rows = view.candidate_rows",
        "if len(rows) == 0 or view.nodes == 1:",
        "    return None",
        *statements.some(0, 3),
        # The same node again, after it has refused, would be asked for ever.
        f"if view.next_node in view.refused or {words.truth()}:",
        "    return None",
        f"one = view.candidate({place})",
        "return Decision(view.next_node, t, load_here=x, task=one, "
        f"mce={random.choice(['y', 'one.age_ms', 'a', 'one.written_mb', 'one.disk_wait_ms', 'one.cpu_wait_ms'])})",
    ]


def _others(random: Random, words: Words) -> Lines:
    """Other methods of the default rule, which `place` seldom calls and a default `accept` may."""
    if random.random() < 0.85:
        return []
    inner = Words(random, words.edge)
    return [
        "def response_ms(self, task, view, node):",
        '    x, y, a, b, c, n, t = 1.0, 2.0, 3, 4, True, node, "own"',
        f"    return {inner.number(1)}",
    ]
