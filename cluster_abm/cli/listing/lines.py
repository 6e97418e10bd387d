"""Lists on a terminal: a name, and words that are wrapped beside it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable

from cluster_abm.cli.output import echo

# Lines are not longer than this, on whatever terminal [columns].
LONGEST = 100
SHORTEST = 60


def columns() -> int:
    """The width of lines [columns]: the terminal's, within bounds; 100 where there is none."""
    return max(SHORTEST, min(LONGEST, shutil.get_terminal_size((LONGEST, 24)).columns))


def echo_entries(entries: Iterable[tuple[str, str]], indent: int = 2) -> None:
    """Print names, each with words beside it that go on below themselves."""
    found = list(entries)
    width = max((len(name) for name, _ in found), default=0)
    for name, words in found:
        lead = f"{'':<{indent}}{name:<{width}}  "
        echo(textwrap.fill(words, columns(), initial_indent=lead, subsequent_indent=" " * len(lead)) or lead.rstrip())


def echo_text(text: str, indent: int = 0) -> None:
    """Print paragraphs, wrapped; those that are indented stay as they are."""
    space = " " * indent
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        if any(line.startswith(" ") for line in lines):
            echo("\n".join(space + line for line in lines))
        else:
            echo(textwrap.fill(" ".join(lines), columns(), initial_indent=space, subsequent_indent=space))
