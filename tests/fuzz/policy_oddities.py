"""What a user may write and compiled code may understand otherwise, not at all, or without looking: one entry each.

Most stand in the folder `oddities`: `place.txt` has lines of `place`, of which `; ` parts several, by which they are
named; `blocks.txt` the same of several lines; `returns.txt` what `place` returns; `accept.txt` and `migration.txt`
bodies of these methods. What concerns a class stands in odd_classes.py.

The lines of `place` stand after a, b (whole), x, y (numbers), t (text), c (truth) and n (a node) have been given
values (policy_bodies.FIRST), and before a Decision is made of them (LAST).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from odd_classes import CLASSES, Oddity

FOLDER = Path(__file__).resolve().parent / "oddities"
# What stands beside the class where blocks call it.
BESIDE = tuple((FOLDER / "beside.txt").read_text(encoding="utf-8").splitlines())
CALLED = (
    "spoil",
    "bump",
    "with_",
    "recursive",
    "endless",
    "even(",
    "nothing(",
    "perhaps",
    "kinds(",
    "named(",
    "pair(",
    "LIST",
    "TABLE",
    "ARRAY",
    "count_up",
    "KINDS",
    "SET",
    "TEXTS",
    "LARGE",
    "FLAG",
    "NOTHING",
    "DOUBLE",
    "PARTIAL",
    "Colour",
    "Point",
    "Pair",
    "decorated",
    "cached(",
    "jitted",
)


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()


def _blocks() -> Iterator[tuple[str, str]]:
    for text in (FOLDER / "blocks.txt").read_text(encoding="utf-8").split("\n\n"):
        title, _, block = text.strip("\n").partition("\n")
        yield title.removeprefix("# "), block


def _of_block(block: str) -> Oddity:
    return Oddity(tuple(block.split("\n")), module=BESIDE if any(word in block for word in CALLED) else ())


ODDITIES: dict[str, Oddity] = {line: Oddity(tuple(line.split("; "))) for line in _lines("place.txt")}
ODDITIES |= {title: _of_block(block) for title, block in _blocks()}
ODDITIES |= {
    text: Oddity(("if task.task % 7 == 3:", f"    return {text}"), last=f"return {text}")
    for text in _lines("returns.txt")
}
ODDITIES |= {
    f"accept: {line}": Oddity(accept=tuple(line.split("; ")), place=("b = task.task % 5 + 1",))
    for line in _lines("accept.txt")
}
ODDITIES |= {f"migration: {line}": Oddity(migration=tuple(line.split("; "))) for line in _lines("migration.txt")}
ODDITIES |= CLASSES
