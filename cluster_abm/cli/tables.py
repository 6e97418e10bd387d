"""Tables of text, with heads of several lines, so that they fit the screens of most readers."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

# A head is not made narrower than this [columns].
NARROWEST = 14
# What textwrap does not break at.
HARD_SPACE = "\xa0"


def table_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as a table whose columns are as wide as what is in them; longer heads take several lines.

    Args:
        rows: values by head; all rows have the heads of the first. "[95 %]" in a head stays in one line.

    >>> print(table_text([{"policy": "none", "mean response [s]": 12.5, "remote starts a run": 0}]))
           mean response remote starts
    policy           [s]         a run
      none          12.5             0
    """
    import pandas as pd

    table = pd.DataFrame(list(rows))
    heads = []
    for head in table.columns:
        kept = head.replace(" %", f"{HARD_SPACE}%")
        words = [*kept.split(" "), *map(str, table[head])]
        width = max(NARROWEST, *map(len, words))
        lines = textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)
        heads.append([line.replace(HARD_SPACE, " ") for line in lines])
    most = max(map(len, heads), default=0)
    if most > 1:
        levels = [[""] * (most - len(lines)) + lines for lines in heads]
        table.columns = pd.MultiIndex.from_tuples(list(map(tuple, levels)))
    lines = table.to_string(index=False, sparsify=False).splitlines()
    return "\n".join(line.rstrip() for line in lines)
