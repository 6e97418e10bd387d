"""Parquet with any columns, a group of rows at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column, Source, Table
from cluster_abm.workload.traces.layouts.table import place_of

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

ROWS = 200_000  # read at once


def read(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table in a Parquet file. Raises InputError: damaged, or a needed column that is not there."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(
            source.path if source.path is not None else io.BytesIO(b"".join(source.blocks)),
            memory_map=source.path is not None,
        )
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise _damaged(source.where, problem) from None
    names = tuple(file.schema_arrow.names)
    places = {column: place_of(column, names, len(names), source.where) for column in needed}
    return Table(names, _blocks(file, {column: names[place] for column, place in places.items()}, source.where))


def names_of(data: bytes) -> tuple[str, ...]:
    """The columns of a Parquet file; none of one that is damaged."""
    import pyarrow as pa
    from pyarrow.parquet import read_schema

    try:
        return tuple(read_schema(io.BytesIO(data)).names)
    except (pa.ArrowException, OSError, ValueError):
        return ()


def _blocks(file: ParquetFile, names: dict[Column, str], where: str) -> Iterator[CellBlock]:
    import pyarrow as pa

    try:
        for batch in file.iter_batches(ROWS, columns=list(dict.fromkeys(names.values()))):
            columns = {}
            for column, name in names.items():
                cells = batch.column(name)
                columns[column] = cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells
            yield CellBlock(columns, batch.num_rows)
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise _damaged(where, problem) from None


def _damaged(where: str, problem: Exception) -> InputError:
    said = " ".join(str(problem).split())[:200]
    return InputError(f"{shown(where)}: Parquet file damaged or cut off: {said}")
