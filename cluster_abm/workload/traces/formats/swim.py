"""SWIM's samples of MapReduce clusters (Chen, Ganapathi, Griffith and Katz 2011): six columns with tabs, no header.

Job, submit [s], seconds since the job before, and the bytes of its input, shuffle and output. A row says nothing of CPU
and memory. CPU time is drawn, or follows from the bytes (`LogReading.cpu_ms_per_mb`, to be swept, not believed). A job
has one task, or one for each `task_mb` MB. Its bytes are taken to pass a disk once each. Some samples have
further columns: paths, which are not read.
"""

from __future__ import annotations

import re

import numpy as np

from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.traces.format import TraceFormat
from cluster_abm.workload.traces.parts.fields import CellRule, beyond_counting, read_fields
from cluster_abm.workload.traces.parts.finishing import finished
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.parts.units import plain
from cluster_abm.workload.traces.table import Flags, Floats, Trace, number, sorted_out

NAMES = ("job", "submit_s", "gap_s", "input_bytes", "shuffle_bytes", "output_bytes")
BYTES = NAMES[3:]
JOB_NAME = re.compile(r"job_?\d+", re.ASCII)


def looks_like_swim(cells: list[str]) -> bool:
    """Whether a first line is SWIM's: a job's name and five numbers, perhaps paths behind them."""
    if len(cells) < len(NAMES) or JOB_NAME.fullmatch(cells[0].strip()) is None:
        return False
    return len(cells) == len(NAMES) or not any(np.isnan(number(cell)) for cell in cells[1 : len(NAMES)])


def swim_trace(cells: CsvCells, reading: LogReading = PLAIN_READING) -> Trace:
    """The trace in a table with the columns NAMES.

    Raises InputError: lines of a wrong width, cells that are no numbers (the first ten), or no usable row.
    """
    rule = CellRule(plain, "a number")
    fields = read_fields(cells, dict.fromkeys(NAMES[1:], rule), NAMES[:1])
    submit = fields.number("submit_s")
    sizes = [fields.number(name) for name in BYTES]
    total_mb = np.sum(sizes, axis=0) / 1e6
    reasons: dict[str, Flags] = {
        "no submit time": np.isnan(submit),
        "negative submit time": submit < 0,
        "bytes not known": np.isnan(total_mb),
        "negative bytes": np.any([values < 0 for values in sizes], axis=0),
        "bytes beyond 2^63": beyond_counting(*sizes),
    }
    if reading.cpu_ms_per_mb is not None:
        reasons["no bytes, hence no CPU time"] = total_mb * reading.cpu_ms_per_mb <= 0
    skipped, usable = sorted_out(reasons, len(submit))
    total_mb, written_mb = total_mb[usable], (sizes[1] + sizes[2])[usable] / 1e6
    tasks = np.ones(len(total_mb))
    filled = {
        "disk_mb": "input + shuffle + output, taken to pass a disk once each (copies and caches are not known)",
        "tasks": "one each (or by workload.trace.task_mb)",
    }
    if reading.task_mb is not None:
        tasks = np.maximum(np.ceil(total_mb / reading.task_mb), 1.0)
        filled["tasks"] = f"one for each {reading.task_mb:g} MB (workload.trace.task_mb)"
        if reading.max_tasks is not None:
            tasks = np.minimum(tasks, float(reading.max_tasks))
            filled["tasks"] += f", at most {reading.max_tasks:,}"
    columns: dict[str, Floats] = {
        "arrival_ms": np.round(submit[usable] * 1000.0, 6),
        "tasks": tasks,
        "disk_mb": total_mb / tasks,
        "write_share": np.divide(written_mb, total_mb, out=np.full(len(tasks), np.nan), where=total_mb > 0),
    }
    if reading.cpu_ms_per_mb is not None:
        columns["cpu_ms"] = total_mb * reading.cpu_ms_per_mb / tasks
        filled["cpu_ms"] = f"{reading.cpu_ms_per_mb:g} ms for each MB (workload.trace.cpu_ms_per_mb)"
    else:
        filled["cpu_ms"] = (
            'in no row: by workload.cpu_ms (to set it, say workload.trace.format = "swim"), or by '
            "workload.trace.cpu_ms_per_mb"
        )
    noted = {
        "blank lines": cells.blank_lines,
        f"more than {len(NAMES)} columns (paths), the rest ignored": cells.longer,
        "no bytes at all": int((total_mb == 0).sum()),
    }
    return finished(cells.where, "swim", len(submit), columns, {}, skipped, noted, filled)


FORMAT = TraceFormat(
    title="SWIM",
    row="a job",
    lacks="homes, CPU, memory",
    begins="lines of job0, two times and three numbers of bytes, with tabs (SWIM)",
    rank=6,
    looks_like=lambda head: looks_like_swim(head.line.split("\t")),
    trace=lambda file: swim_trace(file.cells(between="\t", quoted=False, names=NAMES, cut=True), file.reading),
    reads=("cpu_ms_per_mb", "task_mb"),
)
