"""Activity profiles of programs from a CSV of the user, an interval a row."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cluster_abm.bounded_files import Limit, opened, unpacked
from cluster_abm.errors import InputError
from cluster_abm.scenario import nearest
from cluster_abm.workload.text.csv_cells import CsvCells, Rows
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.gathering import NumberColumn, WordColumn
from cluster_abm.workload.traces.table import NumberBounds, numbers

REQUIRED = ("program", "cpu_ms", "memory_mb", "accesses")
OPTIONAL = ("turnover_mb_per_s", "pause_ms")
# Bounds that keep nanoseconds and kilobytes inside 64 bits.
COLUMNS = {
    "cpu_ms": NumberBounds("ms", high=1e9, above=True),
    "memory_mb": NumberBounds("MB", high=1e9),
    "accesses": NumberBounds("1", high=1e6, whole=True),
    "turnover_mb_per_s": NumberBounds("MB/s", high=1e6),
    "pause_ms": NumberBounds("ms", high=1e9),
}
MOST_PROGRAMS = 1000


def read_profiles(path: str, max_mb: int) -> pd.DataFrame:
    """The intervals in a file, plain or packed by gzip or xz, in its order: REQUIRED and OPTIONAL as columns.

    Lines that begin with # are left out; optional columns that the file does not have are 0.

    Raises InputError: no such file, too large, not CSV, columns missing or unknown, values that are not allowed, a
    program with rows that do not stand together, or too many programs.
    """
    with opened(path) as file:
        cells = CsvCells(Lines(unpacked(file, path, Limit(max_mb, "workload.programs.max_mb")), path), "row", True)
        _check_names(cells)
        profiles = _Profiles(cells)
        for rows in cells:
            profiles.add(rows)
    cells.problems.refuse()
    if profiles.problems:
        raise InputError(list(profiles.problems.values()))
    columns = {name: column.column() for name, column in profiles.columns.items()}
    missing = {name: np.zeros(cells.rows) for name in OPTIONAL if name not in columns}
    return pd.DataFrame({"program": profiles.programs.column()} | columns | missing, copy=False)


def _check_names(cells: CsvCells) -> None:
    missing = [name for name in REQUIRED if name not in cells.names]
    if missing:
        raise InputError(f"{cells.where}: no column {', '.join(missing)}; needed are {', '.join(REQUIRED)}")
    unknown = [name for name in cells.names if name not in (*REQUIRED, *OPTIONAL)]
    if unknown:
        hint = nearest(unknown[0][:60], [*REQUIRED, *OPTIONAL])
        raise InputError(f"{cells.where}: unknown column {unknown[0][:60]!r}; {hint}")


class _Profiles:
    """The columns so far, and the first problem of each."""

    def __init__(self, cells: CsvCells) -> None:
        self.columns = {name: NumberColumn() for name in COLUMNS if name in cells.names}
        self.programs = WordColumn()
        self.problems: dict[str, str] = {}
        self._where, self._rows = cells.where, 0
        self._seen: set[str] = set()
        self._last = ""

    def add(self, rows: Rows) -> None:
        """Put these behind."""
        for name, column in self.columns.items():
            rule, given = COLUMNS[name], rows.cells[name]
            values, wrong = numbers(given, rule, True)
            column.extend(values)
            if wrong:
                allowed = f"above 0 and up to {rule.high:g}" if rule.above else f"0..{rule.high:g}"
                whole = ", a whole number" if rule.whole else ""
                self._note(name, wrong[0], f"{name} = {given[wrong[0]][:40]}: allowed is {allowed}{whole}")
        names = [name.strip() for name in rows.cells["program"]]
        self.programs.extend(names)
        for row, name in enumerate(names):
            if name != self._last or not name:
                self._begin(name, row)
        self._rows += len(names)

    def _begin(self, name: str, row: int) -> None:
        if not name:
            self._note("program", row, "program: a name is needed")
        elif name in self._seen:
            self._note("program", row, f"program {name[:60]!r}: its rows must stand together")
        elif len(self._seen) >= MOST_PROGRAMS:
            raise InputError(f"{self._where}: more than {MOST_PROGRAMS:,} programs: allowed up to {MOST_PROGRAMS:,}")
        self._seen.add(name)
        self._last = name

    def _note(self, column: str, row: int, words: str) -> None:
        self.problems.setdefault(column, f"{self._where}: row {self._rows + row + 1}: {words}")
