"""Examples in docstrings are code: what stands under `Example:` without `>>>` is shown as it is written."""

from __future__ import annotations

import re
from typing import Any

HEAD = re.compile(r"^(\s*)Example:\s*$")


def as_code(lines: list[str]) -> list[str]:
    """The lines of a docstring, with each example that is no session made a literal block."""
    found: list[str] = []
    place = 0
    while place < len(lines):
        head = HEAD.match(lines[place])
        found.append(lines[place])
        place += 1
        if not head:
            continue
        end = place
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith(head[1] + " ")):
            end += 1
        block = lines[place:end]
        first = next((line for line in block if line.strip()), "")
        if first and not first.lstrip().startswith((">>>", "::")):
            indent = first[: len(first) - len(first.lstrip())]
            found += [f"{indent}::", "", *(f"    {line}" if line.strip() else "" for line in block), ""]
        else:
            found += block
        place = end
    return found


def setup(app: Any) -> dict[str, bool]:
    """Have docstrings pass `as_code` before Napoleon reads their sections."""

    def change(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
        lines[:] = as_code(lines)

    app.connect("autodoc-process-docstring", change, priority=400)
    return {"parallel_read_safe": True}
