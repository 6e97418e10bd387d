"""Open a trace file, whatever its format and compression."""

from __future__ import annotations

import io
import os
import stat
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from cluster_abm.bounded_files import TRACE_MB, Limit, digest, opened, unpacked
from cluster_abm.errors import InputError
from cluster_abm.workload.csv_cells import CsvCells
from cluster_abm.workload.lines import Lines
from cluster_abm.workload.traces.csv_trace import csv_trace
from cluster_abm.workload.traces.hbd import hbd_trace, looks_like_hbd
from cluster_abm.workload.traces.swf import PLAIN_READING, LogReading, swf_trace
from cluster_abm.workload.traces.table import Trace

FORMATS = ("csv", "swf", "hbd")
RAISED_BY = "--max-mb of `trace`, workload.trace.max_mb"


def read_trace(
    path: Path,
    *,
    run: int | None = None,
    format: str | None = None,
    max_mb: int = TRACE_MB,
    pipes: bool = False,
    reading: LogReading = PLAIN_READING,
) -> Trace:
    """The trace in a file, plain or compressed by gzip or xz.

    Args:
        path: the file.
        run: which run of a file that holds several (Harchol-Balter and Downey's).
        format: one of FORMATS; without it, by the name (.swf, .csv, before .gz or .xz) and, for .csv, by the header.
        max_mb: how much the file may hold, unpacked [MB of 2^20 bytes].
        pipes: whether it may be a pipe, which can be read only once.
        reading: how fields of an SWF log are read; no other format has them.

    Raises:
        InputError: no such file, too large, not text, cut off, unknown format, or wrong content; several problems at
            once.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"{path}: format = {format!r}: allowed {', '.join(FORMATS)}")
    with opened(path, pipes=pipes) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return _parsed.__wrapped__(_Source(file), str(path), run, format, max_mb, reading)
        known_by = digest(file, path, Limit(max_mb, RAISED_BY))
        file.seek(0)
        return _parsed(_Source(file, known_by), str(path), run, format, max_mb, reading)


@dataclass(frozen=True)
class _Source:
    """An open file, known by what is in it and not by itself."""

    file: io.BufferedReader = field(compare=False)
    digest: str = ""


@lru_cache(maxsize=2)  # a study reads the same file for every seed and policy; known by its bytes, never stale
def _parsed(
    source: _Source, where: str, run: int | None, format: str | None, max_mb: int, reading: LogReading
) -> Trace:
    kind = format or _kind_by_name(where)
    lines = Lines(unpacked(source.file, where, Limit(max_mb, RAISED_BY)), where)
    if kind == "swf":
        _refuse_run(run, kind, where)
        trace = swf_trace(lines, reading)
    else:
        _refuse_reading(reading, kind, where)
        cells = CsvCells(lines)
        if kind == "hbd" or (format is None and looks_like_hbd(cells.names)):
            trace = hbd_trace(cells, run)
        else:
            _refuse_run(run, kind, where)
            trace = csv_trace(cells)
    if lines.ended:
        return trace
    # A number that was cut short cannot be distinguished from a whole one, so note that it may have happened.
    return replace(trace, noted=trace.noted | {"last line without a line end (cut off?)": 1})


def _kind_by_name(where: str) -> str:
    name = where.lower()
    if name.endswith((".gz", ".xz")):
        name = name[:-3]
    kind = {".swf": "swf", ".csv": "csv"}.get(Path(name).suffix)
    if kind is None:
        raise InputError(
            f"{where}: format not told by the name: allowed .csv or .swf, with .gz or .xz behind it, "
            f"or a format given (--format, workload.trace.format: {', '.join(FORMATS)})"
        )
    return kind


def _refuse_run(run: int | None, kind: str, where: str) -> None:
    if run is not None:
        raise InputError(
            f"{where}: run = {run} (--run, workload.trace.run): a {kind} trace holds one run; leave it out"
        )


def _refuse_reading(reading: LogReading, kind: str, where: str) -> None:
    for key, value in (("cpu_time", reading.cpu_time), ("memory", reading.memory)):
        if value != getattr(PLAIN_READING, key):
            raise InputError(
                f'{where}: workload.trace.{key} = "{value}": allowed for an SWF log alone; a {kind} trace says what '
                f'its tasks used: "{getattr(PLAIN_READING, key)}"'
            )
