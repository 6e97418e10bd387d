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
from cluster_abm.found_modules import TRACE_FORMATS
from cluster_abm.workload.traces.format import OpenTrace
from cluster_abm.workload.traces.formats.nextflow import TaskRuns, table_of, task_runs
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.recognition import beginning, format_of, formats
from cluster_abm.workload.traces.table import Trace

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
    """The trace in a file, plain or compressed by gzip or xz, or in a folder of virtual machines (GWA-T-12).

    Raises InputError: no such file, too large, cut off, unknown format, or wrong content; several problems at once.

    Args:
        run: which run of a file that holds several (Harchol-Balter and Downey's).
        format: one of TRACE_FORMATS; without it, by what the file begins with, else by its name (.swf, .csv).
        max_mb: how much the file may hold, unpacked [MB of 2^20 bytes].
        pipes: whether it may be a pipe, which can be read only once.
        reading: how fields are read where a format leaves a choice.
    """
    if format is not None and format not in TRACE_FORMATS:
        raise InputError(f"{path}: format = {format!r}: allowed {', '.join(TRACE_FORMATS)}")
    if os.path.isdir(path):
        for kind, one in formats().items():
            if one.folder is not None and format in (None, kind):
                _refuse(run, reading, kind, str(path))
                return one.folder(Path(path), Limit(max_mb, RAISED_BY))
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
        limit = Limit(max_mb, RAISED_BY)
        return task_runs(table_of(OpenTrace(*beginning(unpacked(file, path, limit)), str(path), limit)))


@dataclass(frozen=True)
class _Source:
    """An open file, known by what is in it and not by itself."""

    file: io.BufferedReader = field(compare=False)
    digest: str = ""


@lru_cache(maxsize=2)  # a study reads the same file for every seed and policy; known by its bytes, never stale
def _parsed(
    source: _Source, where: str, run: int | None, format: str | None, max_mb: int, reading: LogReading
) -> Trace:
    limit = Limit(max_mb, RAISED_BY)
    file = OpenTrace(*beginning(unpacked(source.file, where, limit)), where, limit, run, reading)
    kind = format or format_of(file.head, where)
    _refuse(run, reading, kind, file.where)
    trace = formats()[kind].trace(file)
    if not file.lacks_line_end:
        return trace
    # A number that was cut short cannot be distinguished from a whole one, so note that it may have happened.
    return replace(trace, noted=trace.noted | {"last line without a line end (cut off?)": 1})


def _refuse(run: int | None, reading: LogReading, kind: str, where: str) -> None:
    """Raise InputError for a choice that a format does not leave."""
    if run is not None and not formats()[kind].has_runs:
        raise InputError(
            f"{where}: run = {run} (--run, workload.trace.run): a {kind} trace holds one run; leave it out"
        )
    for key, plain in vars(PLAIN_READING).items():
        value, readers = getattr(reading, key), [name for name in TRACE_FORMATS if key in formats()[name].reads]
        if value == plain or kind in readers or not readers:
            continue
        spelled = f'"{value}"' if isinstance(value, str) else value
        if isinstance(plain, str):
            says = f'; a {kind} trace says what its tasks used: "{plain}"'
        else:
            says = f"; this is a {kind} trace"
        allowed = f"allowed for these formats alone: {', '.join(readers)}"
        raise InputError(f"{where}: workload.trace.{key} = {spelled}: {allowed}{says}")
