"""Open a trace file, whatever its format and compression."""

from __future__ import annotations

import gzip
import lzma
import zlib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from cluster_abm.errors import InputError
from cluster_abm.workload.traces.csv_trace import csv_trace, split_cells
from cluster_abm.workload.traces.hbd import hbd_trace, looks_like_hbd
from cluster_abm.workload.traces.swf import swf_trace
from cluster_abm.workload.traces.table import Trace

FORMATS = ("csv", "swf", "hbd")
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"  # first bytes of such files


def read_trace(path: Path, *, run: int | None = None, format: str | None = None) -> Trace:
    """The trace in a file, plain or compressed by gzip or xz.

    Args:
        path: the file.
        run: which run of a file that holds several (Harchol-Balter and Downey's).
        format: one of FORMATS; without it, by the name (.swf, .csv, before .gz or .xz) and, for .csv, by the header.

    Raises:
        InputError: no such file, not text, cut off, unknown format, or wrong content; several problems at once.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"{path}: format = {format!r}: allowed {', '.join(FORMATS)}")
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return _parsed(raw, str(path), run, format)


@lru_cache(maxsize=2)  # a study reads the same file for every seed and policy; known by its bytes, never stale
def _parsed(raw: bytes, where: str, run: int | None, format: str | None) -> Trace:
    name = where.lower()
    packed = name.endswith((".gz", ".xz"))
    data = _unpacked(raw, where, packed)
    kind = format or {".swf": "swf", ".csv": "csv"}.get(Path(name[:-3] if packed else name).suffix)
    if kind is None:
        raise InputError(
            f"{where}: format not told by the name: allowed .csv or .swf, with .gz or .xz behind it, "
            f"or a format given (--format, workload.trace.format: {', '.join(FORMATS)})"
        )
    text = _text(data, where, kind)
    if kind == "swf":
        _refuse_run(run, kind, where)
        trace = swf_trace(text, where)
    else:
        cells = split_cells(text, where)
        if kind == "hbd" or (format is None and looks_like_hbd(list(cells.columns))):
            trace = hbd_trace(cells, run)
        else:
            _refuse_run(run, kind, where)
            trace = csv_trace(cells)
    if text.endswith(("\n", "\r")):
        return trace
    # Nothing tells a number cut short from a whole one, so say where it could have happened.
    return replace(trace, noted=trace.noted | {"last line without a line end (cut off?)": 1})


def _refuse_run(run: int | None, kind: str, where: str) -> None:
    if run is not None:
        raise InputError(
            f"{where}: run = {run} (--run, workload.trace.run): a {kind} trace holds one run; leave it out"
        )


def _unpacked(raw: bytes, where: str, packed: bool) -> bytes:
    """The bytes that were compressed, judged by how they begin; plain ones as they are."""
    try:
        if raw.startswith(GZIP):
            return gzip.decompress(raw)
        if raw.startswith(XZ):
            return lzma.decompress(raw)
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise InputError(f"{where}: compressed file damaged or cut off: {error}") from error
    if packed:
        raise InputError(f"{where}: not compressed by gzip or xz, as its name says" + ("" if raw else " (empty file)"))
    return raw


def _text(data: bytes, where: str, kind: str) -> str:
    """The bytes as text with line ends as found; a byte-order mark goes."""
    if not data.strip():
        raise InputError(f"{where}: empty")
    try:
        if b"\0" in data:  # valid in UTF-8, but in no text
            raise UnicodeDecodeError("utf-8", data, data.index(b"\0"), data.index(b"\0") + 1, "zero byte")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if kind == "swf" and b"\0" not in data:
            return data.decode("latin-1")  # old logs name people in their header; the rest is numbers
        raise InputError(
            f"{where}: not a text file (byte {error.start:,}): allowed UTF-8 text, plain or compressed by gzip or xz"
        ) from error
