"""Our CSV: a header line that names the columns, a job a line. What is wrong in it is an error, never skipped."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

import numpy as np

from cluster_abm.arrays import Floats, Words
from cluster_abm.errors import InputError
from cluster_abm.scenario.data import BETWEEN_NAMES, names_of_files
from cluster_abm.workload.text.csv_cells import CsvCells, Rows
from cluster_abm.workload.text.problems import Problems
from cluster_abm.workload.traces.dependence import parents_of
from cluster_abm.workload.traces.format import TraceFormat
from cluster_abm.workload.traces.gathering import NumberColumn, Order, WordColumn
from cluster_abm.workload.traces.parts.resources import resources_in, resources_text
from cluster_abm.workload.traces.table import (
    AFTER,
    COLUMNS,
    FILES,
    JOB,
    NAME,
    REQUIRED,
    RESOURCES,
    THINK,
    WORD_COLUMNS,
    NumberBounds,
    Trace,
    job_frame,
    numbers,
    tally,
)
from cluster_abm.workload.traces.unknown import unknown_columns

# Of the columns that hold lists: a cell as it is kept; ValueError says what is allowed.
CELLS: dict[str, Callable[[str], str]] = {
    FILES: lambda cell: BETWEEN_NAMES.join(names_of_files(cell)),
    RESOURCES: lambda cell: resources_text(resources_in(cell)),
}
OURS = (*COLUMNS, *WORD_COLUMNS)
TELLING = frozenset(COLUMNS) - {"home", "tasks"}  # names with units, which hardly any other table has
THINKS_ALONE = "think_ms: allowed only where after names a job: it counts from that job's end"
BOTH = "io_per_ms and disk_mb: allowed: one of both, they say the same twice"


def checked_column(rows: Rows, name: str, rule: NumberBounds, required: bool, problems: Problems) -> Floats:
    """A column as numbers, shape (rows,), NaN where blank; wrong cells join the problems."""
    cells = rows.cells[name]
    values, wrong = numbers(cells, rule, required)
    problems.add_rows(wrong, rows.lines, lambda row: f"{name} = {cells[row][:40]!r}: allowed: {rule.allowed}")
    return values


def check_names(names: Sequence[str], where: str, known: tuple[str, ...], required: tuple[str, ...]) -> None:
    """Raise InputError for columns that are unknown (with the nearest known one), given twice, or missing."""
    problems = [
        f"{where}: column named more than once: {name[:60]!r}"
        for name in dict.fromkeys(names)
        if names.count(name) > 1 and name in known
    ]
    for name in dict.fromkeys(names):
        if name in known:
            continue
        near = _near(name, known)
        hint = f" (did you mean {near!r}?)" if near else ""
        problems.append(f"{where}: unknown column {name[:60]!r}{hint}; allowed: {', '.join(known)}")
    problems += [
        f"{where}: column {name!r} is missing; found: {', '.join(names)[:200]}"
        for name in required
        if name not in names
    ]
    if problems:
        raise InputError(problems)


def looks_like_ours(names: Sequence[str]) -> bool:
    """Whether a header is ours, perhaps with a name misspelt: words as `user` and `job` stand in many tables.

    At least half of its names are ours, and two of them only we use; or all are ours, and one of them only we use; or
    one is a column that we need, and another one is nearly the other.
    """
    known = {name for name in names if name in OURS}
    if len(known) == len(names) > 1 and any(name in TELLING for name in known):
        return True
    needed = [name for name in REQUIRED if name in known]
    if len(needed) == len(REQUIRED):
        return True
    nearly = [name for name in names if name not in known and _near(name, REQUIRED)] if needed else []
    is_one_off = bool(nearly) and _near(nearly[0], REQUIRED) not in needed
    enough = is_one_off or sum(name in TELLING for name in known) >= 2
    return enough and 2 * (len(known) + is_one_off) >= len(names)


def check_ours(kind: str, names: Sequence[str], where: str) -> None:
    """Raise InputError, in one line, for a table without any of our columns of numbers.

    Args:
        kind: what the table is, for the message.
    """
    if not TELLING.intersection(names):
        raise unknown_columns(kind, names, where)


def _near(name: str, known: Sequence[str]) -> str:
    """The known name that is nearest to one; "" if none is near."""
    return next(iter(get_close_matches(name[:60], known, 1)), "")


class OurColumns:
    """Our columns of a file as they are read, block by block; problems of its rows join the others.

    Raises InputError as `check_names`.
    """

    def __init__(self, names: Sequence[str], where: str, problems: Problems) -> None:
        required = (*REQUIRED, JOB) if AFTER in names else (*REQUIRED, JOB, AFTER) if THINK in names else REQUIRED
        check_names(names, where, OURS, required)
        self.numbers = {name: NumberColumn() for name in COLUMNS if name in names}
        self.words = {name: WordColumn() for name in WORD_COLUMNS if name in names}
        self._lines, self._order = array("q"), Order("arrival_ms")
        self._where, self._problems, self._rows = where, problems, 0

    def add(self, numbers: Mapping[str, Floats], words: Mapping[str, Iterable[str]], lines: Sequence[int]) -> None:
        """Put a block behind: the cells of each column, and the line (or row) of the file that each row begins on."""
        for name, column in self.numbers.items():
            column.extend(numbers[name])
        self._rows += len(lines)
        self._order.see(numbers["arrival_ms"], lines)
        if "io_per_ms" in numbers and "disk_mb" in numbers:
            both = np.flatnonzero(~np.isnan(numbers["io_per_ms"]) & ~np.isnan(numbers["disk_mb"]))
            self._problems.add_rows(both.tolist(), lines, lambda _: BOTH)
        if THINK in numbers and AFTER in words:
            words = dict(words)
            words[AFTER] = list(words[AFTER])
            alone = np.array([not cell for cell in words[AFTER]], bool) & ~np.isnan(numbers[THINK])
            self._problems.add_rows(np.flatnonzero(alone).tolist(), lines, lambda _: THINKS_ALONE)
        for name, word_column in self.words.items():
            rule = CELLS.get(name)
            word_column.extend(self._checked(name, rule, words[name], lines) if rule is not None else words[name])
        if JOB in self.words:
            self._lines.extend(lines)

    def _checked(
        self, name: str, rule: Callable[[str], str], cells: Iterable[str], lines: Sequence[int]
    ) -> Iterator[str]:
        """The cells of a column of lists without blanks around the entries."""
        for row, cell in enumerate(cells):
            try:
                yield rule(cell)
            except ValueError as problem:
                self._problems.add([(lines[row], f"{name} = {cell[:40]!r}: {problem}")])
                yield ""

    def trace(self, format: str, unit: str, noted: dict[str, int]) -> Trace:
        """The trace of all rows; `unit` is what lines count. Raises InputError if there are problems."""
        self._order.note(self._problems)
        self._problems.refuse()
        columns: dict[str, Floats | Words] = {name: column.column() for name, column in self.numbers.items()}
        texts = {name: column.column() for name, column in self.words.items()}
        columns |= texts
        table = job_frame(columns)
        # Rows are sorted by arrival, or refused: the table has them in the file's order.
        parents = parents_of(texts[JOB], texts.get(AFTER), self._where, self._lines, unit) if JOB in texts else None
        return Trace(self._where, format, self._rows, table, noted=noted, parents=parents)


def csv_trace(cells: CsvCells) -> Trace:
    """The trace that a CSV of ours holds.

    Raises InputError: every wrong cell, width, order or column name (the first ten of them).
    """
    check_ours("a table", cells.names, cells.where)
    ours = OurColumns(cells.names, cells.where, cells.problems)
    for rows in cells:
        words = {name: rows.cells[name] if name == NAME else map(str.strip, rows.cells[name]) for name in ours.words}
        rules = {name: (COLUMNS[name], name in REQUIRED) for name in ours.numbers}
        numbers = {name: checked_column(rows, name, *rule, cells.problems) for name, rule in rules.items()}
        ours.add(numbers, words, rows.lines)
    return ours.trace("csv", "line", tally({"blank lines": cells.blank_lines}))


FORMAT = TraceFormat(
    title="our CSV",
    row="a job",
    begins="a header line of our CSV (arrival_ms,cpu_ms,...)",
    rank=9,
    looks_like=lambda head: looks_like_ours(head.names),
    trace=lambda file: csv_trace(file.cells()),
    names=(*COLUMNS, *WORD_COLUMNS),
    reads=("cpu_time",),
)
