"""Parts of a report in Markdown: tables, numbers with their intervals, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cluster_abm.results.style import plain

# Longer tables are in the CSV file alone.
MOST_LINES = 60


def with_interval(value: float, low: float, high: float) -> str:
    """A number and its interval, if it has one."""
    return f"{plain(value)} [{plain(low)}, {plain(high)}]" if np.isfinite([low, high]).all() else plain(value)


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], elsewhere: str) -> list[str]:
    """A table, cut after MOST_LINES rows with the name of the file that has the others."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    shown = rows[:MOST_LINES]
    left = len(rows) - len(shown)
    more = [f"({left:,} further rows: {elsewhere})", ""] if left else []
    return [line(head), "|" + "---|" * len(head), *map(line, shown), "", *more]


def picture_lines(pictures: Sequence[Path], stems: Sequence[str]) -> list[str]:
    """Those of the pictures that are called so, in their own order."""
    return [line for p in pictures if p.stem in stems for line in (f"![{p.stem}]({p.name})", "")]
