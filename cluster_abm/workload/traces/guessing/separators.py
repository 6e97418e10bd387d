"""What stands between the cells of a table of text."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence

SEPARATORS = ("\t", ",", ";", "|")
WEAK = (" ", ":")  # what also stands within cells: in times, in texts
STEADY = 0.9  # share of the lines that have the usual number of cells


def separation(lines: Sequence[str]) -> str | None:
    """The separator of a table, " " for any number of blanks; None: no character parts all lines alike.

    Args:
        lines: the first lines, none of them empty.
    """
    for group in (SEPARATORS, WEAK):
        counts = {one: _steady_count(cells_of(lines, one)) for one in group}
        best = max(group, key=lambda one: counts[one])
        if counts[best] >= 2:
            return best
    return None


def cells_of(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The cells of lines."""
    if separator == " ":
        return [line.split() for line in lines]
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error:
        return [line.split(separator) for line in lines]


def _steady_count(rows: Sequence[Sequence[str]]) -> int:
    """How many cells nearly all rows have; 0 if they differ."""
    counts = Counter(len(row) for row in rows)
    width, often = counts.most_common(1)[0] if counts else (0, 0)
    return width if often >= STEADY * len(rows) else 0
