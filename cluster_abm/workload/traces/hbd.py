"""Harchol-Balter and Downey's traces (SIGMETRICS 1996): eight one-hour runs over six hosts, in one CSV.

Columns `run,host,submit_s,cpu_s,prog`. The runs are alternatives: a simulation takes one of them.
"""

from __future__ import annotations

import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.workload.traces.csv_trace import Cells, check_names
from cluster_abm.workload.traces.table import (
    COLUMNS,
    NAME,
    RUN,
    Column,
    Floats,
    Trace,
    job_frame,
    listed_runs,
    refuse,
    tally,
)

LONGEST_S = COLUMNS["arrival_ms"].high / 1000.0
HBD_COLUMNS: dict[str, Column] = {
    "run": Column("1", high=2**31 - 1, whole=True),
    "host": COLUMNS["home"],
    "submit_s": Column("s", high=LONGEST_S),
    "cpu_s": Column("s", high=LONGEST_S, above=True),
}
PROGRAM = "prog"


def looks_like_hbd(names: list[str]) -> bool:
    """Whether a CSV's header is rather theirs than ours."""
    theirs = sum(name in (*HBD_COLUMNS, PROGRAM) for name in names)
    return theirs > sum(name in (*COLUMNS, NAME) for name in names)


def hbd_trace(cells: Cells, run: int | None) -> Trace:
    """The chosen run; without a choice all of them, the column `run` telling them apart.

    Raises:
        InputError: wrong cells, or a run that the file does not hold (listing those it does).
    """
    check_names(cells, (*HBD_COLUMNS, PROGRAM), tuple(HBD_COLUMNS))
    read = {name: cells.column(name, rule, True) for name, rule in HBD_COLUMNS.items()}
    for number in np.unique(read["run"][~np.isnan(read["run"])]):
        cells.check_sorted("submit_s", np.where(read["run"] == number, read["submit_s"], np.nan))
    refuse(cells.where, cells.problems)
    columns: dict[str, Floats | list[str]] = {
        RUN: read["run"],
        "arrival_ms": _milliseconds(read["submit_s"]),
        "home": read["host"],
        "cpu_ms": _milliseconds(read["cpu_s"]),
    }
    if PROGRAM in cells.columns:
        columns[NAME] = cells.columns[PROGRAM]
    table = job_frame(columns)
    runs = table[RUN].to_numpy(float)
    if run is not None and not (runs == run).any():
        raise InputError(f"{cells.where}: run = {run} (--run, workload.trace.run): allowed {listed_runs(runs)}")
    if run is not None:
        table = table[runs == run]
    alone = table[RUN].nunique() == 1
    table = table.drop(columns=RUN).reset_index(drop=True) if alone else table.astype({RUN: int})
    rows = len(cells.lines)
    skipped = tally({"belongs to another run": rows - len(table)})
    return Trace(cells.where, "hbd", rows, table, skipped, tally({"blank lines": cells.blank_lines}))


def _milliseconds(seconds: Floats) -> Floats:
    """Seconds in milliseconds, to the engine's nanosecond: 2.01 s is 2010 ms and no rounding error more."""
    return np.round(seconds * 1000.0, 6)
