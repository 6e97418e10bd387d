"""Tables for LaTeX, in the rules of its package booktabs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

# What LaTeX takes for a command, as a text.
_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def escaped(text: object) -> str:
    """A text that LaTeX sets letter by letter.

    >>> escaped("mine_2 [50 %]")
    'mine\\\\_2 [50 \\\\%]'
    """
    return "".join(_ESCAPES.get(letter, letter) for letter in str(text))


def latex_table(rows: Sequence[Mapping[str, object]]) -> str:
    """A `tabular` with a column for each key of the first row, for a document with \\usepackage{booktabs}.

    Args:
        rows: texts as they are shown; names and texts are escaped.
    """
    names = list(rows[0]) if rows else []
    table = pd.DataFrame([{name: escaped(row.get(name, "")) for name in names} for row in rows], columns=names)
    # The first column holds names, the others numbers.
    layout = "l" + "r" * max(0, len(names) - 1)
    return table.rename(columns=escaped).style.hide(axis="index").to_latex(hrules=True, column_format=layout)


def with_interval(mean: float, low: float, high: float, digits: int = 4) -> str:
    """A number and its interval, "" where there is no number."""
    if not math.isfinite(mean):
        return ""
    text = f"{mean:.{digits}g}"
    return f"{text} [{low:.{digits}g}, {high:.{digits}g}]" if math.isfinite(low) and math.isfinite(high) else text
