"""Markdown as MyST reads it: anchors, tables, code, and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any


def anchor(kind: str, name: str) -> str:
    """The anchor of a thing: `key-cluster-nodes` of the key cluster.nodes."""
    return f"{kind}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}"


def target(kind: str, name: str, text: str | None = None) -> str:
    """A name in code type that links can lead to."""
    return f"[{code(name if text is None else text)}]{{#{anchor(kind, name)}}}"


def code(text: Any) -> str:
    """A text in code type."""
    fence = "``" if "`" in str(text) else "`"
    return f"{fence}{text}{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; what would end a cell is escaped."""
    lines = [_row(head), _row(["---"] * len(head)), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(re.sub(r"(?<!\\)\|", r"\|", " ".join(cell.split())) for cell in cells) + " |"


def sentence(text: str) -> str:
    """A text that begins with a capital and ends with a stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", ":")) else ".") if text else ""


def dropdown(title: str, body: str) -> str:
    """A part that is folded away until it is asked for."""
    return f"::::{{dropdown}} {title}\n{body.strip()}\n::::\n"


def docstring(of: Any) -> str:
    """The docstring of a class as Markdown, without its list of attributes."""
    found = inspect.cleandoc(of.__doc__ or "")
    return "\n\n".join(_block(block) for block in found.split("\n\n") if not block.startswith("Attributes:"))


def _block(block: str) -> str:
    """A paragraph as it is; `kind:` with indented entries `name  meaning` below it as a table of them."""
    head, *rest = block.splitlines()
    if all(line.startswith("    ") for line in (head, *rest)):
        return block
    if not (rest and head.endswith(":") and all(line.startswith("  ") for line in rest)):
        return escaped(block)
    entries: list[list[str]] = []
    for line in rest:
        found = re.fullmatch(r" {2,6}(\S+)\s{2,}(.*)", line)
        if found:
            entries.append([found[1], found[2]])
        elif entries:
            entries[-1][1] += " " + line.strip()
        else:
            return f"```text\n{block}\n```"
    return table([code(head.rstrip(":")), "meaning"], [[code(name), escaped(words)] for name, words in entries])


def escaped(text: str) -> str:
    """Plain words as Markdown: what stands in them for itself, and not for emphasis, HTML or a link, is escaped."""
    # A star that begins a line of a list is one.
    parts = re.split(r"(``[^`]*``|`[^`]*`|^ *\* )", text, flags=re.MULTILINE)
    return "".join(part if place % 2 else re.sub(r"([*_<>\[\]{}$])", r"\\\1", part) for place, part in enumerate(parts))
