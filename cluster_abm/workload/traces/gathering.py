"""Columns that grow block by block, and what is only seen from one row to the next."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from cluster_abm.workload.text.problems import Problems
from cluster_abm.workload.traces.table import Floats, Words

# Up to this many different words are kept once each: a file in which all differ would only pay for the lookups.
MOST_KEPT_ONCE = 100_000


class NumberColumn:
    """A column of numbers; it grows in place, and is not copied to be used."""

    def __init__(self) -> None:
        self._values = array("d")

    def extend(self, values: Floats) -> None:
        """Put these behind."""
        self._values.frombytes(np.ascontiguousarray(values, np.float64).data.cast("B"))

    def column(self) -> Floats:
        """All of them, shape (rows,). Nothing can be put behind any more."""
        return np.frombuffer(self._values, np.float64)


class WordColumn:
    """A column of words, equal ones kept once."""

    def __init__(self) -> None:
        self._kept: dict[str, str] = {}
        self._parts: list[Words] = []

    def extend(self, words: Iterable[str]) -> None:
        """Put these behind."""
        texts = self._kept
        once = [
            texts.setdefault(word, word) if len(texts) < MOST_KEPT_ONCE else texts.get(word, word) for word in words
        ]
        self._parts.append(np.array(once, object))

    def column(self) -> Words:
        """All of them, shape (rows,)."""
        return np.concatenate(self._parts) if self._parts else np.empty(0, object)


class Order:
    """Whether a column goes back from one row to a later one; rows without a value are passed over."""

    def __init__(self, name: str) -> None:
        self._name, self._last, self._count = name, -np.inf, 0
        self._first: tuple[int, float, float] | None = None

    def see(self, values: Floats, lines: Sequence[int]) -> None:
        """Look at further rows, and the lines that they begin on."""
        there = np.flatnonzero(~np.isnan(values))
        if not len(there):
            return
        chain = np.concatenate([[self._last], values[there]])
        back = np.flatnonzero(chain[1:] < chain[:-1])
        self._count += len(back)
        if len(back) and self._first is None:
            at = int(back[0])
            self._first = lines[int(there[at])], float(chain[at + 1]), float(chain[at])
        self._last = float(chain[-1])

    def note(self, problems: Problems) -> None:
        """Note the first row that lies before the one above it, and how many there are."""
        if self._first is not None:
            line, value, above = self._first
            goes = f"{self._name} = {value!s} goes back ({above!s} before it, {self._count:,} such rows)"
            problems.add([(line, f"{goes}: allowed: rows sorted by arrival")])
