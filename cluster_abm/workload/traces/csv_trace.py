"""Our CSV: a header line that names the columns, a job a line. What is wrong in it is an error, never skipped."""

from __future__ import annotations

from difflib import get_close_matches

from cluster_abm.errors import InputError
from cluster_abm.workload.csv_cells import CsvCells, Rows
from cluster_abm.workload.problems import Problems
from cluster_abm.workload.traces.gathering import NumberColumn, Order, WordColumn
from cluster_abm.workload.traces.table import (
    COLUMNS,
    NAME,
    REQUIRED,
    Column,
    Floats,
    Trace,
    Words,
    job_frame,
    numbers,
    tally,
)


def checked_column(rows: Rows, name: str, rule: Column, required: bool, problems: Problems) -> Floats:
    """A column as numbers, shape (rows,), NaN where blank; wrong cells join the problems."""
    cells = rows.cells[name]
    values, wrong = numbers(cells, rule, required)
    problems.add_rows(wrong, rows.lines, lambda row: f"{name} = {cells[row][:40]!r}: allowed: {rule.allowed}")
    return values


def check_names(cells: CsvCells, known: tuple[str, ...], required: tuple[str, ...]) -> None:
    """Raise InputError for columns that are unknown (with the nearest known one) or missing."""
    problems = []
    for name in cells.names:
        if name in known:
            continue
        near = get_close_matches(name[:60], known, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        problems.append(f"{cells.where}: unknown column {name[:60]!r}{hint}; allowed: {', '.join(known)}")
    problems += [
        f"{cells.where}: column {name!r} is missing; found: {', '.join(cells.names)[:200]}"
        for name in required
        if name not in cells.names
    ]
    if problems:
        raise InputError(problems)


def csv_trace(cells: CsvCells) -> Trace:
    """The trace that a CSV of ours holds.

    Raises:
        InputError: every wrong cell, width, order or column name (the first ten of them).
    """
    check_names(cells, (*COLUMNS, NAME), REQUIRED)
    columns = {name: NumberColumn() for name in COLUMNS if name in cells.names}
    words = WordColumn()
    order = Order("arrival_ms")
    for rows in cells:
        for name, column in columns.items():
            values = checked_column(rows, name, COLUMNS[name], name in REQUIRED, cells.problems)
            column.extend(values)
            if name == "arrival_ms":
                order.see(values, rows.lines)
        if NAME in cells.names:
            words.extend(rows.cells[NAME])
    order.note(cells.problems)
    cells.problems.refuse()
    found: dict[str, Floats | Words] = {name: column.column() for name, column in columns.items()}
    if NAME in cells.names:
        found[NAME] = words.column()
    table = job_frame(found)
    return Trace(cells.where, "csv", cells.rows, table, noted=tally({"blank lines": cells.blank_lines}))
