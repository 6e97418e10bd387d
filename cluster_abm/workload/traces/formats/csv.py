"""Our CSV: a header line that names the columns, a job a line. What is wrong in it is an error, never skipped."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells, Rows
from cluster_abm.workload.text.problems import Problems
from cluster_abm.workload.traces.dependence import parents_of
from cluster_abm.workload.traces.format import TraceFormat
from cluster_abm.workload.traces.gathering import NumberColumn, Order, WordColumn
from cluster_abm.workload.traces.table import (
    AFTER,
    COLUMNS,
    JOB,
    NAME,
    REQUIRED,
    WORD_COLUMNS,
    Column,
    Floats,
    Trace,
    Words,
    job_frame,
    numbers,
    tally,
)

BOTH = "io_per_ms and disk_mb: allowed: one of both, they say the same twice"


def checked_column(rows: Rows, name: str, rule: Column, required: bool, problems: Problems) -> Floats:
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
        near = get_close_matches(name[:60], known, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        problems.append(f"{where}: unknown column {name[:60]!r}{hint}; allowed: {', '.join(known)}")
    problems += [
        f"{where}: column {name!r} is missing; found: {', '.join(names)[:200]}"
        for name in required
        if name not in names
    ]
    if problems:
        raise InputError(problems)


def csv_trace(cells: CsvCells) -> Trace:
    """The trace that a CSV of ours holds.

    Raises:
        InputError: every wrong cell, width, order or column name (the first ten of them).
    """
    required = (*REQUIRED, JOB) if AFTER in cells.names else REQUIRED
    check_names(cells.names, cells.where, (*COLUMNS, *WORD_COLUMNS), required)
    columns = {name: NumberColumn() for name in COLUMNS if name in cells.names}
    words = {name: WordColumn() for name in WORD_COLUMNS if name in cells.names}
    lines = array("q")
    order = Order("arrival_ms")
    for rows in cells:
        block = {name: checked_column(rows, name, COLUMNS[name], name in REQUIRED, cells.problems) for name in columns}
        for name, column in columns.items():
            column.extend(block[name])
        order.see(block["arrival_ms"], rows.lines)
        if "io_per_ms" in block and "disk_mb" in block:
            both = np.flatnonzero(~np.isnan(block["io_per_ms"]) & ~np.isnan(block["disk_mb"]))
            cells.problems.add_rows(both.tolist(), rows.lines, lambda _: BOTH)
        for name, word_column in words.items():
            word_column.extend(rows.cells[name] if name == NAME else map(str.strip, rows.cells[name]))
        if JOB in words:
            lines.extend(rows.lines)
    order.note(cells.problems)
    cells.problems.refuse()
    found: dict[str, Floats | Words] = {name: column.column() for name, column in columns.items()}
    texts = {name: column.column() for name, column in words.items()}
    found |= texts
    table = job_frame(found)
    noted = tally({"blank lines": cells.blank_lines})
    # Rows are sorted by arrival, or refused: the table has them in the file's order.
    parents = parents_of(texts[JOB], texts.get(AFTER), cells.where, lines) if JOB in texts else None
    return Trace(cells.where, "csv", cells.rows, table, noted=noted, parents=parents)


FORMAT = TraceFormat(
    title="our CSV",
    row="a job",
    begins="a header line of our CSV (arrival_ms,cpu_ms,...)",
    rank=9,
    looks_like=lambda head: sum(name in (*COLUMNS, *WORD_COLUMNS) for name in head.names) >= 2,
    trace=lambda file: csv_trace(file.cells()),
    endings=(".csv",),
)
