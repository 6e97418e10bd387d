"""What is wrong with more rows than bad rows can explain: then the map must be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from cluster_abm.arrays import Flags
from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError

SHOWN = 3  # rows
MOST_OFTEN, MOST_ABSURD = 0.5, 0.05  # shares of the rows
ABSURD = "absurd"


class Suspects:
    """Counts rows by what is wrong with them, and keeps the first of each kind for the message."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, list[str]] = {}
        self._limits: dict[str, float] = {}
        self._seen: Counter[str] = Counter()

    def see(
        self,
        what: str,
        wrong: Flags,
        rows: int,
        number_of: Callable[[int], int],
        words: Callable[[int], str],
        most: float,
    ) -> None:
        """Look at the rows of a block.

        Args:
            what: is wrong with the rows in `wrong`, in words for the message.
            wrong: shape (rows looked at,).
            rows: how many of the block could be wrong in this way.
            number_of: a row's number in the file, from 1.
            words: what a row says.
            most: share of the rows that may be so without an error.
        """
        count = int(wrong.sum())
        self._seen[what] += max(rows, count)
        self._limits[what] = most
        if not count:
            return
        self._counts[what] += count
        examples = self._examples.setdefault(what, [])
        for row in np.flatnonzero(wrong)[: SHOWN - len(examples)].tolist():
            examples.append(f"row {number_of(row):,}: {words(row)}")

    def refuse(self, where: str) -> None:
        """Raise InputError for each kind that too many rows have."""
        problems = [
            f"{shown(where)}: {what} in {count:,} of {self._seen[what]:,} rows: {'; '.join(self._examples[what])}"
            for what, count in self._counts.items()
            if count > self._limits[what] * self._seen[what]
        ]
        if problems:
            raise InputError(problems)
