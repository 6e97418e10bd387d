"""Statements of policy bodies, as lines."""

from __future__ import annotations

from random import Random

from policy_words import Words

Lines = list[str]


def indented(lines: Lines, by: int = 4) -> Lines:
    """The lines, further to the right."""
    return [f"{' ' * by}{line}" for line in lines]


class Statements:
    """Draws statements over the names a, b (whole), x, y (numbers), t (text), c (truth), n (a node)."""

    def __init__(self, random: Random, words: Words) -> None:
        self.random, self.words = random, words

    def some(self, least: int, most: int, depth: int = 2) -> Lines:
        """Several of them."""
        return [line for _ in range(self.random.randint(least, most)) for line in self.one(depth)]

    def one(self, depth: int = 2) -> Lines:
        """One, with what stands in it."""
        words, random = self.words, self.random
        simple = [
            (8, lambda: [f"a = {words.whole()}"]),
            (4, lambda: [f"b = {words.whole(1)}"]),
            (10, lambda: [f"x = {words.number()}"]),
            (4, lambda: [f"y = {words.number(1)}"]),
            (3, lambda: [f"t = {words.text()}"]),
            (2, lambda: [f"c = {words.truth()}"]),
            (3, lambda: [f"n = {words.node()}"]),
            (2, lambda: [f"a {random.choice(['+=', '-=', '*=', '//=', '%='])} {words.whole(1)}"]),
            (2, lambda: [f"x {random.choice(['+=', '-=', '*=', '/=', '//='])} {words.number(1)}"]),
            (1, lambda: [f"a, x = {words.whole(1)}, {words.number(1)}"]),
            (1, lambda: ["a, b = b, a"]),
            (2, lambda: [f'view.notes["count"] = {words.whole(1)}']),
            (2, lambda: [f'view.notes["sum"] = {words.number(1)}']),
            (1, lambda: [f"assert {words.truth()}"]),
            (1, lambda: [f"a = {words.number(1)}"]),
            (1, lambda: [f"if {words.truth()}:", f"    return Decision({words.node()}, {words.text()}, load_here=x)"]),
        ]
        nested = [(4, lambda: self._branch(depth)), (4, lambda: self._loop(depth)), (1, lambda: self._search())]
        choices = simple + (nested if depth > 0 else [])
        return random.choices([make for _, make in choices], [share for share, _ in choices])[0]()

    def _branch(self, depth: int) -> Lines:
        lines = [f"if {self.words.truth()}:", *indented(self.some(1, 2, depth - 1))]
        if self.random.random() < 0.3:
            lines += [f"elif {self.words.truth()}:", *indented(self.some(1, 1, depth - 1))]
        if self.random.random() < 0.5:
            lines += ["else:", *indented(self.some(1, 2, depth - 1))]
        return lines

    def _loop(self, depth: int) -> Lines:
        """A loop over few things, whatever the numbers are."""
        name, over = self.random.choice(
            [
                ("node", "range(view.nodes)"),
                ("i", "range(3)"),
                ("i", "range(5, 0, -2)"),
                ("i", "(1, 2, 7)"),
                ("x", "(0.5, 1.5)"),
                ("t", "NAMES"),
                ("i, y", 'enumerate(view.column("cpu_ms"))'),
                ("i", f"range(min(abs({self.words.whole(1)}), 4))"),
                ("y", 'view.column("io_ms")'),
                ("i, x", "zip((1, 2), (0.5, 2.5))"),
            ]
        )
        lines = [f"for {name} in {over}:", *indented(self.some(1, 2, depth - 1))]
        if self.random.random() < 0.4:
            lines += [f"    if {self.words.truth()}:", f"        {self.random.choice(['break', 'continue', 'break'])}"]
            lines += indented(self.some(1, 1, 0))
        if self.random.random() < 0.15:
            lines += ["else:", *indented(self.some(1, 1, 0))]
        return lines

    def _search(self) -> Lines:
        return [
            "best = view.me",
            "for node in range(view.nodes):",
            f"    if node not in view.refused and view.measured({self.words.index()}, node) < y:",
            "        best = node",
            "n = best",
        ]
