"""Many finished runs in one Parquet file that is named by the hash of its bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cluster_abm.study.store.durable import Damaged, read_bytes


def table_of(records: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Records as a table: key, seed, load (JSON), and a column `metrics.NAME` for every metric that any of them has."""
    names = sorted({name for record in records for name in record["metrics"]})
    columns: dict[str, Any] = {
        "key": pa.array([record["key"] for record in records], pa.string()),
        "seed": pa.array([record["seed"] for record in records], pa.int64()),
        "load": pa.array(
            [None if record["load"] is None else json.dumps(record["load"]) for record in records], pa.large_string()
        ),
    }
    for name in names:
        columns[f"metrics.{name}"] = pa.array([record["metrics"].get(name) for record in records])
    return pa.table(columns)


def to_bytes(table: pa.Table) -> bytes:
    """A table as a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def read_segment(path: Path, columns: Sequence[str] | None = None, run: tuple[str, int] | None = None) -> pa.Table:
    """Read a segment's table. Raises Damaged if it cannot be read or its bytes are not those it is named by.

    Args:
        path: the segment.
        columns: only these, as far as it has them; default: all but the load over time.
        run: only the row of this key and seed.
    """
    data = read_bytes(path)
    if hashlib.sha256(data).hexdigest() != path.stem:
        raise Damaged("its bytes are not those it is named by")
    held = _in_arrows_memory(data)
    there = pq.read_schema(pa.BufferReader(held)).names
    only = None if run is None else [("key", "=", run[0]), ("seed", "=", run[1])]
    return pq.read_table(pa.BufferReader(held), columns=of_those(there, columns), filters=only)


def _in_arrows_memory(data: bytes) -> pa.Buffer:
    """A copy that is no Python object.

    A thread of Arrow's may hold what a table was read from for a moment after the read has returned. To let go of a
    Python object it needs the interpreter, and where that is just ending the process aborts (apache/arrow 34314).
    """
    sink = pa.BufferOutputStream()
    sink.write(data)
    return sink.getvalue()


def of_those(there: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """The wanted ones of the columns there are; default: all but the load over time."""
    return [name for name in there if (name != "load" if wanted is None else name in wanted)]


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Stack tables; a column that one of them lacks is empty there, and whole numbers become floats beside floats."""
    return pa.concat_tables(tables, promote_options="permissive")
