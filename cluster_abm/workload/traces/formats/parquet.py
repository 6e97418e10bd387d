"""Parquet with the columns of our CSV: the same jobs, smaller and faster to read."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cluster_abm.bounded_files import MEGABYTE, Limit, shown
from cluster_abm.errors import InputError
from cluster_abm.workload.text.problems import Problems
from cluster_abm.workload.traces.format import TraceFormat
from cluster_abm.workload.traces.formats.csv import OurColumns, check_ours
from cluster_abm.workload.traces.table import COLUMNS, REQUIRED, Floats, Trace

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

MAGIC = b"PAR1"
BYTES_A_CELL = 8
ROWS = 100_000  # read at once


def parquet_trace(data: bytes, where: str, limit: Limit) -> Trace:
    """The trace that a Parquet file of our columns holds.

    Raises InputError: damaged or cut off, unknown or missing columns, columns of another kind, values that are not
    allowed (the first ten, by row).

    Args:
        limit: what its cells may take, 8 bytes each: a few bytes of Parquet can stand for many equal cells.
    """
    try:
        file = _opened(data)
        _check_size(file, where, limit)
        return _trace(file, where)
    except InputError:
        raise
    except Exception as problem:  # of a damaged file pyarrow raises one thing or another, and names no base of all
        said = str(problem).splitlines()[0][:200] if str(problem) else type(problem).__name__
        said = said if said.isprintable() else repr(said)
        raise InputError(f"{shown(where)}: Parquet file damaged or cut off: {said}") from None


def _opened(data: bytes) -> ParquetFile:
    from pyarrow.parquet import ParquetFile

    return ParquetFile(io.BytesIO(data), page_checksum_verification=True)


def _check_size(file: ParquetFile, where: str, limit: Limit) -> None:
    cells = file.metadata.num_rows * max(file.metadata.num_columns, 1)
    if cells * BYTES_A_CELL > limit.mb * MEGABYTE:
        raise InputError(
            f"{shown(where)}: {cells:,} cells take more than {limit.mb:,} MB: allowed up to {limit.mb:,} MB "
            f"({limit.raised_by})"
        )


def _trace(file: ParquetFile, where: str) -> Trace:
    problems, rows = Problems(where, "row"), 0
    check_ours("a Parquet file", file.schema_arrow.names, where)
    ours = OurColumns(file.schema_arrow.names, where, problems)
    for batch in file.iter_batches(ROWS):
        lines = range(rows + 1, rows + 1 + len(batch))
        rows += len(batch)
        numbers = {name: _numbers(batch.column(name), name, where, lines, problems) for name in ours.numbers}
        ours.add(numbers, {name: _texts(batch.column(name), name, where) for name in ours.words}, lines)
    if not rows:
        raise InputError(f"{shown(where)}: no job, only columns")
    return ours.trace("parquet", "row", {})


def _numbers(cells: pa.Array, name: str, where: str, lines: Sequence[int], problems: Problems) -> Floats:
    """A column as numbers, NaN for null; wrong ones join the problems."""
    import pyarrow as pa

    if not (pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type) or pa.types.is_null(cells.type)):
        raise InputError(f"{shown(where)}: column {name!r} is of type {cells.type}: allowed: numbers")
    given = cells.cast(pa.float64(), safe=False)
    values: Floats = given.to_numpy(zero_copy_only=False).astype(np.float64)
    blank = np.asarray(given.is_null()) | np.isnan(values)
    rule = COLUMNS[name]
    wrong = ~rule.holds(values) & ((name in REQUIRED) | ~blank)
    rows = np.flatnonzero(wrong).tolist()
    problems.add_rows(rows, lines, lambda row: f"{name} = {_shown(cells[row])}: allowed: {rule.allowed}")
    return np.where(wrong, np.nan, values)


def _texts(cells: pa.Array, name: str, where: str) -> Iterator[str]:
    """A column of words, blank for null."""
    import pyarrow as pa

    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type) or pa.types.is_null(cells.type)):
        raise InputError(f"{shown(where)}: column {name!r} is of type {cells.type}: allowed: text")
    return (word or "" for word in cells.to_pylist())


def _shown(cell: Any) -> str:
    return "none" if cell.as_py() is None else repr(str(cell.as_py())[:40])


FORMAT = TraceFormat(
    title="Parquet with our columns",
    row="a job",
    begins="the bytes PAR1 of a Parquet file (of our CSV's columns)",
    rank=1,
    looks_like=lambda head: head.data.startswith(MAGIC),
    trace=lambda file: parquet_trace(file.data, file.where, file.limit),
    reads=("cpu_time",),
)
