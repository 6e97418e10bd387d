"""The columns of a foreign table that a reader asks for, as numbers and words."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers, Words
from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.traces.gathering import NumberColumn, WordColumn

MOST_REMEMBERED = 100_000  # cells of a column, so that each spelling is read once
MOST = 1e100  # larger numbers are cut to it: what is made of them stays finite, and is out of all bounds
LARGEST_COUNT = float(2**63)  # bytes: a counter of 64 bits holds no more


class CellRule(NamedTuple):
    """How the cells of a column are read."""

    read: Callable[[str], float]  # gives NaN for what is not known; raises ValueError for what cannot be read
    allowed: str  # what can be read, for messages


class ForeignColumns(NamedTuple):
    """Columns of a table by their names in lower case."""

    numbers: dict[str, Floats]  # NaN where nothing is known, shape (rows,) each
    words: dict[str, Words]  # shape (rows,) each
    lines: Integers  # of the file, on which each row begins, shape (rows,)
    names: frozenset[str]  # which columns the file has

    def number(self, *names: str) -> Floats:
        """The first of these columns, in rows without a value the next one; NaN where none has one."""
        values = np.full(len(self.lines), math.nan)
        for name in names:
            if name in self.numbers:
                values = np.where(np.isnan(values), self.numbers[name], values)
        return values

    def word(self, *names: str) -> Words:
        """The first of these columns that the file has; blanks if it has none."""
        for name in names:
            if name in self.words:
                return self.words[name]
        return np.full(len(self.lines), "", object)


def read_fields(cells: CsvCells, numbers: Mapping[str, CellRule], words: Sequence[str]) -> ForeignColumns:
    """The columns of a table, names compared without regard to case; others are passed over.

    Raises InputError: rows of a wrong width and cells that cannot be read (the first ten), or no row.
    """
    names: dict[str, str] = {}
    for name in cells.names:
        if name.lower() in names:
            raise InputError(f"{cells.where}, line 1: column named more than once: {name[:60]!r}")
        names[name.lower()] = name
    readers = {name: _ColumnReader(rule) for name, rule in numbers.items() if name in names}
    texts = {name: WordColumn() for name in words if name in names}
    lines = array("q")
    for rows in cells:
        lines.extend(rows.lines)
        for name, reader in readers.items():
            wrong = reader.add(rows.cells[names[name]])
            given = rows.cells[names[name]]
            cells.problems.add_rows(
                list(wrong),
                rows.lines,
                lambda row, name=name, given=given, wrong=wrong: (  # type: ignore[misc]
                    f"{names[name][:60]} = {given[row].strip()[:40]!r}: allowed: {wrong[row]}"
                ),
            )
        for name, column in texts.items():
            column.extend(cell.strip() for cell in rows.cells[names[name]])
    cells.problems.refuse()
    return ForeignColumns(
        {name: reader.column.column() for name, reader in readers.items()},
        {name: column.column() for name, column in texts.items()},
        np.frombuffer(lines, np.int64),
        frozenset(names),
    )


class _ColumnReader:
    """A column as it is read; equal cells are read once."""

    def __init__(self, rule: CellRule) -> None:
        self.column = NumberColumn()
        self._rule = rule
        self._known: dict[str, float] = {}

    def add(self, cells: Sequence[str]) -> dict[int, str]:
        """Put these behind. Return of the rows that cannot be read what is allowed in them."""
        wrong: dict[int, str] = {}
        self.column.extend(np.fromiter(self._values(cells, wrong), float, len(cells)))
        return wrong

    def _values(self, cells: Sequence[str], wrong: dict[int, str]) -> Iterator[float]:
        known, read = self._known, self._rule.read
        for row, cell in enumerate(cells):
            value = known.get(cell)
            if value is None:
                try:
                    value = min(max(read(cell), -MOST), MOST)
                except (ValueError, OverflowError) as problem:
                    said = str(problem)
                    wrong[row] = said if said.startswith(self._rule.allowed) else self._rule.allowed
                    value = math.nan
                else:
                    if len(known) < MOST_REMEMBERED:
                        known[cell] = value
            yield value


def beyond_counting(*columns: Floats) -> Flags:
    """Rows in which a column is infinite, or more than a counter of 64 bits holds."""
    return np.any([np.abs(values) >= LARGEST_COUNT for values in columns], axis=0)
