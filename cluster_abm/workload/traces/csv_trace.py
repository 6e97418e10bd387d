"""Our CSV: a header line that names the columns, a job a line. What is wrong in it is an error, never skipped."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.workload.traces.table import (
    COLUMNS,
    NAME,
    REQUIRED,
    Column,
    Floats,
    Trace,
    job_frame,
    numbers,
    refuse,
    tally,
)


@dataclass
class Cells:
    """A CSV as text: its columns, the line of the file each row begins on, and what is wrong so far."""

    where: str
    columns: dict[str, list[str]]
    lines: list[int]
    blank_lines: int
    problems: list[tuple[int, str]] = field(default_factory=list)

    def column(self, name: str, rule: Column, required: bool) -> Floats:
        """The column as numbers, shape (rows,), NaN where blank; wrong cells join the problems."""
        cells = self.columns[name]
        values, wrong = numbers(cells, rule, required)
        for row in wrong:
            self.problems.append((self.lines[row], f"{name} = {cells[row][:40]!r}: allowed: {rule.allowed}"))
        return values

    def check_sorted(self, name: str, values: Floats) -> None:
        """Note the first row that lies before the one above it; rows without a value are passed over."""
        there = np.flatnonzero(~np.isnan(values))
        back = np.flatnonzero(np.diff(values[there]) < 0)
        if len(back):
            above, row = there[back[0]], there[back[0] + 1]
            self.problems.append(
                (
                    self.lines[row],
                    f"{name} = {values[row]!s} goes back ({values[above]!s} before it, {len(back):,} such rows): "
                    "allowed: rows sorted by arrival",
                )
            )


def split_cells(text: str, where: str) -> Cells:
    """The cells of a CSV with a header line, rows of a wrong width noted as problems.

    Raises:
        InputError: empty file, broken quotes, a column named twice or not at all.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    blank, line = 0, 1
    names: list[str] = []
    problems: list[tuple[int, str]] = []
    try:
        for row in reader:
            if not row:
                blank += 1
            elif not names:
                names = [name.strip() for name in row]
            elif len(row) != len(names):
                problems.append((line, f"{len(row)} values where the header names {len(names)} columns (cut off?)"))
            else:
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{where}, line {line}: not CSV: {error} (a quote that is never closed?)") from error
    if not names:
        raise InputError(f"{where}: empty; allowed: a header line naming the columns, then a job a line")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{where}, line 1: column named more than once: {', '.join(map(repr, twice))}")
    if not rows and not problems:
        raise InputError(f"{where}: no job, only a header line")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {n: [] for n in names}
    return Cells(where, columns, lines, blank, problems)


def check_names(cells: Cells, known: tuple[str, ...], required: tuple[str, ...]) -> None:
    """Raise InputError for columns that are unknown (with the nearest known one) or missing."""
    problems = []
    for name in cells.columns:
        if name in known:
            continue
        near = get_close_matches(name, known, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        problems.append(f"{cells.where}: unknown column {name[:60]!r}{hint}; allowed: {', '.join(known)}")
    problems += [
        f"{cells.where}: column {name!r} is missing; found: {', '.join(cells.columns)[:200]}"
        for name in required
        if name not in cells.columns
    ]
    if problems:
        raise InputError(problems)


def csv_trace(cells: Cells) -> Trace:
    """The trace that a CSV of ours holds.

    Raises:
        InputError: every wrong cell, width, order or column name (the first ten of them).
    """
    check_names(cells, (*COLUMNS, NAME), REQUIRED)
    columns: dict[str, Floats | list[str]] = {
        name: cells.column(name, rule, name in REQUIRED) for name, rule in COLUMNS.items() if name in cells.columns
    }
    cells.check_sorted("arrival_ms", np.asarray(columns["arrival_ms"], float))
    refuse(cells.where, cells.problems)
    if NAME in cells.columns:
        columns[NAME] = cells.columns[NAME]
    noted = tally({"blank lines": cells.blank_lines})
    return Trace(cells.where, "csv", len(cells.lines), job_frame(columns), noted=noted)


def write_csv(trace: Trace, path: Path) -> None:
    """Write the jobs as our CSV, compressed if the name ends in .gz or .xz; reading it gives them back to the digit.

    Raises:
        InputError: the file cannot be written, or the trace holds several runs and none is chosen.
    """
    if not str(path).lower().endswith((".csv", ".csv.gz", ".csv.xz")):
        raise InputError(f"{path}: what is written is CSV: the name must end in .csv, .csv.gz or .csv.xz")
    jobs = trace.jobs
    columns = []
    for name in jobs.columns:
        if name == NAME:
            columns.append([_quoted(word) for word in jobs[name].tolist()])
        else:
            columns.append([_spelled(value, COLUMNS[name].whole) for value in jobs[name].tolist()])
    lines = [",".join(jobs.columns), *map(",".join, zip(*columns, strict=True))]
    data = ("\n".join(lines) + "\n").encode()
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        data = gzip.compress(data, mtime=0)  # no time inside: equal jobs give equal bytes
    elif suffix == ".xz":
        data = lzma.compress(data)
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from error


def _spelled(value: float, whole: bool) -> str:
    """Shortest text that reads back as the same number; blank for NaN."""
    if np.isnan(value):
        return ""
    return str(int(value)) if whole else repr(value)


def _quoted(word: str) -> str:
    """The word as a cell. Python's own writer leaves a lone carriage return bare and then cannot read it back."""
    if any(mark in word for mark in ',"\r\n'):
        return '"' + word.replace('"', '""') + '"'
    return word
