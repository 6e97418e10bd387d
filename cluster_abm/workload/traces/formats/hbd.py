"""Harchol-Balter and Downey's traces (SIGMETRICS 1996): eight one-hour runs over six hosts, in one CSV.

Columns `run,host,submit_s,cpu_s,prog`. The runs are alternatives: a simulation takes one of them.
"""

from __future__ import annotations

import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.traces.format import TraceFormat
from cluster_abm.workload.traces.formats.csv import check_names, checked_column
from cluster_abm.workload.traces.gathering import NumberColumn, Order, WordColumn
from cluster_abm.workload.traces.table import (
    COLUMNS,
    MOST_RUNS,
    NAME,
    RUN,
    Floats,
    NumberBounds,
    Trace,
    Words,
    job_frame,
    listed_runs,
    tally,
)

LONGEST_S = COLUMNS["arrival_ms"].high / 1000.0
HBD_COLUMNS: dict[str, NumberBounds] = {
    "run": NumberBounds("1", high=2**31 - 1, whole=True),
    "host": COLUMNS["home"],
    "submit_s": NumberBounds("s", high=LONGEST_S),
    "cpu_s": NumberBounds("s", high=LONGEST_S, above=True),
}
PROGRAM = "prog"


def looks_like_hbd(names: list[str]) -> bool:
    """Whether a CSV's header is rather theirs than ours, or another one with a host in it."""
    theirs = sum(name in (*HBD_COLUMNS, PROGRAM) for name in names)
    is_telling = bool({"submit_s", "cpu_s"}.intersection(names)) and 2 * theirs >= len(names)
    return is_telling and theirs > sum(name in (*COLUMNS, NAME) for name in names)


def hbd_trace(cells: CsvCells, run: int | None) -> Trace:
    """The chosen run; without a choice all of them, the column `run` telling them apart.

    Raises InputError: wrong cells, too many runs, or a run that the file does not hold (listing those it does).
    """
    check_names(cells.names, cells.where, (*HBD_COLUMNS, PROGRAM), tuple(HBD_COLUMNS))
    read = {name: NumberColumn() for name in HBD_COLUMNS}
    words = WordColumn()
    orders: dict[float, Order] = {}
    for rows in cells:
        block = {name: checked_column(rows, name, rule, True, cells.problems) for name, rule in HBD_COLUMNS.items()}
        for name, values in block.items():
            read[name].extend(values)
        if PROGRAM in cells.names:
            words.extend(rows.cells[PROGRAM])
        for number in np.unique(block["run"][~np.isnan(block["run"])]).tolist():
            if len(orders) >= MOST_RUNS and number not in orders:
                raise InputError(f"{cells.where}: holds more than {MOST_RUNS:,} runs: allowed up to {MOST_RUNS:,}")
            order = orders.setdefault(number, Order("submit_s"))
            order.see(np.where(block["run"] == number, block["submit_s"], np.nan), rows.lines)
    for order in orders.values():
        order.note(cells.problems)
    cells.problems.refuse()
    columns: dict[str, Floats | Words] = {
        RUN: read["run"].column(),
        "arrival_ms": _milliseconds(read["submit_s"].column()),
        "home": read["host"].column(),
        "cpu_ms": _milliseconds(read["cpu_s"].column()),
    }
    if PROGRAM in cells.names:
        columns[NAME] = words.column()
    table = job_frame(columns)
    runs = table[RUN].to_numpy(float)
    if run is not None and not (runs == run).any():
        raise InputError(f"{cells.where}: run = {run} (--run, workload.trace.run): allowed {listed_runs(runs)}")
    if run is not None:
        table = table[runs == run]
    alone = table[RUN].nunique() == 1
    table = table.drop(columns=RUN).reset_index(drop=True) if alone else table.astype({RUN: int})
    skipped = tally({"belongs to another run": cells.rows - len(table)})
    return Trace(cells.where, "hbd", cells.rows, table, skipped, tally({"blank lines": cells.blank_lines}))


def _milliseconds(seconds: Floats) -> Floats:
    """Seconds in milliseconds, to the engine's nanosecond: 2.01 s is 2010 ms and no rounding error more."""
    return np.round(seconds * 1000.0, 6)


FORMAT = TraceFormat(
    title="Harchol-Balter and Downey's runs",
    row="a job",
    lacks="memory, I/O",
    begins="the header run,host,submit_s,cpu_s of Harchol-Balter and Downey's runs",
    rank=8,
    names=(*HBD_COLUMNS, PROGRAM),
    looks_like=lambda head: looks_like_hbd(head.names),
    trace=lambda file: hbd_trace(file.cells(), file.run),
    has_runs=True,
)
