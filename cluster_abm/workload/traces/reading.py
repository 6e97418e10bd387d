"""Open a trace file, whatever its format and compression."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from cluster_abm.bounded_files import TRACE_MB, Limit, digest, opened, shown, unpacked
from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.csv_trace import csv_trace
from cluster_abm.workload.traces.folder import read_folder, vm_in
from cluster_abm.workload.traces.gwa import gwa_trace
from cluster_abm.workload.traces.hbd import hbd_trace
from cluster_abm.workload.traces.nextflow import TaskRuns, nextflow_trace, task_runs
from cluster_abm.workload.traces.parquet_trace import parquet_trace
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.recognition import FORMATS, beginning, format_of, separator_of
from cluster_abm.workload.traces.sacct import sacct_trace
from cluster_abm.workload.traces.swf import swf_trace
from cluster_abm.workload.traces.swim import NAMES, swim_trace
from cluster_abm.workload.traces.table import Trace
from cluster_abm.workload.traces.wfformat import wfformat_trace

RAISED_BY = "--max-mb of `trace`, workload.trace.max_mb"
CALLS = ("Nextflow's, WfFormat's and sacct's traces", ("nextflow", "wfformat", "sacct"))
# Which formats read what of LogReading.
READ_BY = {
    "cpu_time": ("an SWF or sacct log", ("swf", "sacct")),
    "memory": ("an SWF log", ("swf",)),
    "cpu_ms_per_mb": ("a SWIM trace", ("swim",)),
    "task_mb": ("a SWIM trace", ("swim",)),
    "disk_read_share": CALLS,
    "disk_write_share": CALLS,
}


def read_trace(
    path: Path,
    *,
    run: int | None = None,
    format: str | None = None,
    max_mb: int = TRACE_MB,
    pipes: bool = False,
    reading: LogReading = PLAIN_READING,
) -> Trace:
    """The trace in a file, plain or compressed by gzip or xz, or in a folder of virtual machines (GWA-T-12).

    Raises InputError: no such file, too large, cut off, unknown format, or wrong content; several problems at once.

    Args:
        run: which run of a file that holds several (Harchol-Balter and Downey's).
        format: one of FORMATS; without it, by what the file begins with, else by its name (.swf, .csv).
        max_mb: how much the file may hold, unpacked [MB of 2^20 bytes].
        pipes: whether it may be a pipe, which can be read only once.
        reading: how fields are read where a format leaves a choice.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"{path}: format = {format!r}: allowed {', '.join(FORMATS)}")
    if format in (None, "gwa") and os.path.isdir(path):
        _refuse_run(run, "gwa", str(path))
        _refuse_reading(reading, "gwa", str(path))
        return read_folder(Path(path), Limit(max_mb, RAISED_BY))
    with opened(path, pipes=pipes) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return _parsed.__wrapped__(_Source(file), str(path), run, format, max_mb, reading)
        known_by = digest(file, path, Limit(max_mb, RAISED_BY))
        file.seek(0)
        return _parsed(_Source(file, known_by), str(path), run, format, max_mb, reading)


def read_task_runs(path: Path, max_mb: int = TRACE_MB) -> TaskRuns:
    """The runs of tasks in a file of Nextflow's or Lotaru's, plain or compressed, row by row.

    Raises InputError: no such file, too large, cut off, or not of that kind.
    """
    with opened(path) as file:
        head, blocks = beginning(unpacked(file, path, Limit(max_mb, RAISED_BY)))
        return task_runs(_table(head, Lines(blocks, str(path))))


@dataclass(frozen=True)
class _Source:
    """An open file, known by what is in it and not by itself."""

    file: io.BufferedReader = field(compare=False)
    digest: str = ""


@lru_cache(maxsize=2)  # a study reads the same file for every seed and policy; known by its bytes, never stale
def _parsed(
    source: _Source, where: str, run: int | None, format: str | None, max_mb: int, reading: LogReading
) -> Trace:
    head, blocks = beginning(unpacked(source.file, where, Limit(max_mb, RAISED_BY)))
    kind = format or format_of(head, where)
    named = shown(where)
    if kind != "hbd":
        _refuse_run(run, kind, named)
    _refuse_reading(reading, kind, named)
    if kind == "parquet":
        return parquet_trace(b"".join(blocks), named, Limit(max_mb, RAISED_BY))
    if kind == "wfformat":
        return wfformat_trace(b"".join(blocks), named, reading)
    lines = Lines(blocks, named)
    trace = gwa_trace([vm_in(lines, where)], named) if kind == "gwa" else _trace_of(kind, head, lines, run, reading)
    if lines.ended:
        return trace
    # A number that was cut short cannot be distinguished from a whole one, so note that it may have happened.
    return replace(trace, noted=trace.noted | {"last line without a line end (cut off?)": 1})


def _trace_of(kind: str, head: bytes, lines: Lines, run: int | None, reading: LogReading) -> Trace:
    """The trace in the lines of a file of text."""
    match kind:
        case "swf":
            return swf_trace(lines, reading)
        case "nextflow":
            return nextflow_trace(_table(head, lines), reading)
        case "sacct":
            return sacct_trace(CsvCells(lines, between="|", quoted=False), reading)
        case "swim":
            return swim_trace(CsvCells(lines, between="\t", quoted=False, names=NAMES, cut=True), reading)
        case "hbd":
            return hbd_trace(CsvCells(lines), run)
        case _:
            return csv_trace(CsvCells(lines))


def _table(head: bytes, lines: Lines) -> CsvCells:
    """A table with tabs or commas, as its header has them; with tabs quotes are like any other character."""
    between = separator_of(head)
    return CsvCells(lines, "task", between=between, quoted=between == ",")


def _refuse_run(run: int | None, kind: str, where: str) -> None:
    if run is not None:
        raise InputError(
            f"{where}: run = {run} (--run, workload.trace.run): a {kind} trace holds one run; leave it out"
        )


def _refuse_reading(reading: LogReading, kind: str, where: str) -> None:
    for key, (whose, formats) in READ_BY.items():
        value, plain = getattr(reading, key), getattr(PLAIN_READING, key)
        if value == plain or kind in formats:
            continue
        spelled = f'"{value}"' if isinstance(value, str) else value
        if isinstance(plain, str):
            says = f'; a {kind} trace says what its tasks used: "{plain}"'
        else:
            says = f"; this is a {kind} trace"
        raise InputError(f"{where}: workload.trace.{key} = {spelled}: allowed for {whose} alone{says}")
