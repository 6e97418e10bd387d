"""Open a trace file, whatever its format and compression."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from cluster_abm.bounded_files import MEGABYTE, MOST_MB, TRACE_MB, Limit, digest, opened, shown, unpacked
from cluster_abm.errors import InputError
from cluster_abm.found_modules import TRACE_FORMATS, TRACE_MAPS
from cluster_abm.scenario.columns import ColumnMap, shipped_maps
from cluster_abm.workload.traces.format import OpenTrace
from cluster_abm.workload.traces.formats.gwa import machine_files
from cluster_abm.workload.traces.formats.nextflow import TaskRuns, table_of, task_runs
from cluster_abm.workload.traces.layouts import parquet
from cluster_abm.workload.traces.layouts.blocks import Source
from cluster_abm.workload.traces.mapping.folders import parts_of
from cluster_abm.workload.traces.mapping.mapped import mapped_trace
from cluster_abm.workload.traces.mapping.maps import map_known_by, map_with_names, with_fields
from cluster_abm.workload.traces.mapping.sampling import sampled
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.recognition import beginning, format_of, formats
from cluster_abm.workload.traces.slurm.reading import slurm_trace
from cluster_abm.workload.traces.table import JOB, Trace

RAISED_BY = "--max-mb of `trace`, workload.trace.max_mb"
# What a map of columns reads may be of any size: what is kept of it is bounded.
ANY_SIZE = Limit(MOST_MB, "the largest file that is read")
OWN = ("csv", "parquet")  # whose jobs keep their ids
MAPPED = "map"  # the format of a trace that a map of the user's reads
# The fields of LogReading that a map of columns leaves open.
READ_BY_MAPS = ("cpu_time", "disk_read_share", "disk_write_share")


def read_trace(
    path: Path,
    *,
    run: int | None = None,
    format: str | None = None,
    max_mb: int = TRACE_MB,
    pipes: bool = False,
    reading: LogReading = PLAIN_READING,
    columns: ColumnMap | None = None,
    fields: str | None = None,
    sample: float = 1.0,
    progress: Callable[[float], None] | None = None,
) -> Trace:
    """The trace in a file, plain or packed by gzip or xz, or in a folder of virtual machines, or of parts of a table.

    Raises InputError: no such file, too large, cut off, unknown format, or wrong content; several problems at once.

    Args:
        run: which run of a file that holds several (Harchol-Balter and Downey's).
        format: one of TRACE_FORMATS or TRACE_MAPS; without it, by what the file begins with, else by its name.
        max_mb: how much the file may hold, unpacked; what a map reads may be larger, its jobs may take as much [MB of
            2^20 bytes].
        pipes: whether it may be a pipe, which can be read only once.
        reading: how fields are read where a format leaves a choice.
        columns: a map of columns, or the fields that differ from the map `format`.
        fields: the columns of sacct's lines without a header, as given to `sacct -o`.
        sample: share of the jobs that are kept, by a hash of their ids.
        progress: called now and then with the share of the file that is read, 0..1, where a map reads it. What is read
            is then not kept for the next call, which saves to read the file twice.
    """
    if format is not None and format not in (*TRACE_FORMATS, *TRACE_MAPS):
        raise InputError(f"{path}: format = {format!r}: allowed {', '.join((*TRACE_FORMATS, *TRACE_MAPS))}")
    choices = _Choices(run, format, max_mb, reading, _as_json(columns), fields, sample)
    if os.path.isdir(path):
        return _folder(Path(path), choices, progress)
    with opened(path, pipes=pipes) as file:
        if progress is not None or not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return _parsed.__wrapped__(_Source(file, progress=progress), str(path), choices)
        known_by = digest(file, path, limit_of(file, Path(path), format, columns is not None, max_mb))
        file.seek(0)
        return _parsed(_Source(file, known_by), str(path), choices)


def read_task_runs(path: Path, max_mb: int = TRACE_MB) -> TaskRuns:
    """The runs of tasks in a file of Nextflow's or Lotaru's, plain or compressed, row by row.

    Raises InputError: no such file, too large, cut off, or not of that kind.
    """
    with opened(path) as file:
        limit = Limit(max_mb, RAISED_BY)
        return task_runs(table_of(OpenTrace(*beginning(unpacked(file, path, limit)), str(path), limit)))


@dataclass(frozen=True)
class _Choices:
    """How a file is to be read."""

    run: int | None
    format: str | None
    max_mb: int
    reading: LogReading
    columns: str  # a ColumnMap as JSON, "" for none
    fields: str | None
    sample: float

    @property
    def limit(self) -> Limit:
        """What the file may hold, or the jobs that a map finds in it."""
        return Limit(self.max_mb, RAISED_BY)

    @property
    def kind(self) -> str | None:
        """The chosen format or map; None: the content decides."""
        return self.format or (MAPPED if self.columns else None)

    def map_of(self, kind: str) -> ColumnMap | None:
        """The map that reads a file of this kind; None: a format does. Raises InputError: columns for a format."""
        own = ColumnMap.model_validate_json(self.columns) if self.columns else None
        if kind in TRACE_FORMATS:
            if own is not None:
                raise InputError(f"workload.trace.columns: a {kind} trace has no map of columns: leave one of both out")
            return None
        return with_fields(shipped_maps()[kind], own) if kind != MAPPED else own


@dataclass(frozen=True)
class _Source:
    """An open file, known by what is in it and not by itself."""

    file: io.BufferedReader = field(compare=False)
    digest: str = ""
    progress: Callable[[float], None] | None = field(default=None, compare=False)


@lru_cache(maxsize=2)  # a study reads the same file for every seed and policy; known by its bytes, never stale
def _parsed(source: _Source, where: str, choices: _Choices) -> Trace:
    limit = choices.limit
    chosen = choices.kind
    is_mapped = chosen is not None and chosen not in TRACE_FORMATS
    head, blocks = beginning(unpacked(source.file, where, ANY_SIZE if is_mapped or chosen is None else limit))
    kind = chosen or map_known_by(head) or format_of(head, where)
    if chosen is None and kind == "parquet":
        # Its names stand at its end.
        whole = b"".join(limit.counted(blocks, where))
        kind, blocks = map_with_names(parquet.names_of(whole)) or kind, iter([whole])
    _refuse(choices, kind, where)
    found = choices.map_of(kind)
    if found is not None and found.reader is None:
        followed = _with_progress(blocks, source.file, source.progress)
        sources = iter([Source(followed, where, _plain_file(source.file, where))])
        return replace(mapped_trace(sources, found, where, limit, choices.reading, choices.sample), format=kind)
    file = OpenTrace(
        head, limit.counted(blocks, where), where, limit, choices.run, choices.reading, needs_ids=choices.sample < 1
    )
    if found is not None:
        fields = () if choices.fields is None else (choices.fields,)
        trace = replace(slurm_trace(file, fields, found.file.orders or None), format=kind)
    else:
        trace = formats()[kind].trace(file)
    if file.lacks_line_end:
        # A number that was cut short cannot be distinguished from a whole one, so note that it may have happened.
        trace = replace(trace, noted=trace.noted | {"last line without a line end (cut off?)": 1})
    trace = sampled(trace, choices.sample)
    ids_are_for_sampling = choices.sample < 1 and trace.parents is None and trace.format not in OWN
    return replace(trace, table=trace.table.drop(columns=JOB, errors="ignore")) if ids_are_for_sampling else trace


def _with_progress(
    blocks: Iterator[bytes],
    file: io.BufferedReader,
    progress: Callable[[float], None] | None,
    before: int = 0,
    whole: int = 0,
) -> Iterator[bytes]:
    """Yield the blocks of a file; report the share of it that has been read.

    Args:
        before: bytes of the files before this one.
        whole: bytes of all files; 0: there is this one.
    """
    size = whole or os.fstat(file.fileno()).st_size
    for block in blocks:
        yield block
        if progress is not None and size:
            progress(min((before + file.tell()) / size, 1.0))


def limit_of(file: io.BufferedReader, path: Path, format: str | None, has_columns: bool, max_mb: int) -> Limit:
    """How much an open file may hold: any size where a map reads it, for what is kept of it is bounded then.

    Raises InputError: a damaged archive. The file is back at its begin then.

    Args:
        format, has_columns: what is chosen; without both, the content decides.
        max_mb: how much a file may hold that is read whole.
    """
    of_whole = Limit(max_mb, RAISED_BY)
    if format is not None or has_columns:
        return of_whole if format in TRACE_FORMATS else ANY_SIZE
    if os.fstat(file.fileno()).st_size > ANY_SIZE.mb * MEGABYTE:
        return of_whole
    head, _ = beginning(unpacked(file, path, ANY_SIZE))
    file.seek(0)
    return ANY_SIZE if map_known_by(head) is not None else of_whole


def _folder(path: Path, choices: _Choices, progress: Callable[[float], None] | None) -> Trace:
    """The trace in a folder: virtual machines, or the parts of a table that a map reads."""
    kind = choices.kind
    files, others = machine_files(path) if kind is None else parts_of(path)
    if kind is None:
        with opened(files[0]) as file:
            kind = map_known_by(beginning(unpacked(file, files[0], ANY_SIZE))[0])
    if kind is None or kind in TRACE_FORMATS:
        for name, one in formats().items():
            if one.folder is not None and kind in (None, name):
                _refuse(choices, name, str(path))
                return sampled(one.folder(path, choices.limit), choices.sample)
        raise InputError(f"{shown(path)}: cannot be read: a folder; a {kind} trace is one file")
    _refuse(choices, kind, str(path))
    found = choices.map_of(kind)
    if found is None or found.reader is not None:
        raise InputError(f"{shown(path)}: cannot be read: a folder; a {kind} trace is one file")
    trace = mapped_trace(
        _opened_one_by_one(files, progress), found, str(path), choices.limit, choices.reading, choices.sample
    )
    noted = trace.noted | ({"other files of the folder, not read": others} if others else {})
    return replace(trace, format=kind, noted=noted)


def _opened_one_by_one(files: list[Path], progress: Callable[[float], None] | None) -> Iterator[Source]:
    sizes = [name.stat().st_size for name in files]
    for number, name in enumerate(files):
        with opened(name) as file:
            blocks = _with_progress(unpacked(file, name, ANY_SIZE), file, progress, sum(sizes[:number]), sum(sizes))
            yield Source(blocks, str(name), _plain_file(file, str(name)))


def _plain_file(file: io.BufferedReader, where: str) -> Path | None:
    """The path of a file that may be read at any place, because it is a plain one; None for packed ones and pipes."""
    path = Path(where)
    return path if path.is_file() and not path.name.lower().endswith((".gz", ".xz")) else None


def _as_json(columns: ColumnMap | None) -> str:
    return "" if columns is None else columns.model_dump_json(exclude_unset=True)


def _refuse(choices: _Choices, kind: str, where: str) -> None:
    """Raise InputError for a choice that a format does not leave."""
    one = formats().get(kind)
    if choices.run is not None and (one is None or not one.has_runs):
        raise InputError(
            f"{where}: run = {choices.run} (--run, workload.trace.run): a {kind} trace holds one run; leave it out"
        )
    if choices.fields is not None and (kind not in TRACE_MAPS or shipped_maps()[kind].reader is None):
        raise InputError(
            f"{where}: fields = {choices.fields[:60]!r} (--fields, workload.trace.fields): a {kind} trace says its "
            "columns itself; allowed with --map sacct-n alone"
        )
    for key, plain in vars(PLAIN_READING).items():
        value, readers = getattr(choices.reading, key), [name for name in TRACE_FORMATS if key in formats()[name].reads]
        if value == plain or kind in readers or not readers or (one is None and key in READ_BY_MAPS):
            continue
        spelled = f'"{value}"' if isinstance(value, str) else str(value).lower()
        if isinstance(plain, str):
            says = f'; a {kind} trace says what its tasks used: "{plain}"'
        else:
            says = f"; this is a {kind} trace"
        more = ", and maps of columns" if key in READ_BY_MAPS else ""
        allowed = f"allowed for these formats alone: {', '.join(readers)}{more}"
        raise InputError(f"{where}: workload.trace.{key} = {spelled}: {allowed}{says}")
