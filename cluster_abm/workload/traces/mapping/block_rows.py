"""The rows of a block with their fields: as they stand, as events, or spread out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.scenario.columns.map import INSTANTS
from cluster_abm.workload.traces.mapping.cells import Numbers
from cluster_abm.workload.traces.mapping.events import ENDED, OTHER, STARTED, SUBMITTED
from cluster_abm.workload.traces.mapping.fields import Fields
from cluster_abm.workload.traces.mapping.gathered import Gathered
from cluster_abm.workload.traces.mapping.rows import FieldRows, is_number
from cluster_abm.workload.traces.mapping.sampling import SAMPLED
from cluster_abm.workload.traces.mapping.spreading import intervals, spread_out

SHOWN_CELL = 40


def rows_of(fields: Fields, found: ColumnMap, numbers: Floats) -> FieldRows:
    """The rows of a block.

    Args:
        numbers: of the rows in the file, shape (rows,).
    """
    read: dict[str, Numbers] = {
        name: fields.number(name, field) for name, field in found.fields.items() if is_number(name)
    }

    def words(name: str, kept: Flags) -> list[str]:
        import pyarrow as pa

        field = found.fields[name]
        texts = pa.array(fields.parents(field), pa.string()) if name == "parents" else fields.words(field)
        return list(texts.filter(pa.array(kept)).to_pylist())

    def shown_cell(name: str, row: int) -> str:
        field = found.fields[name]
        if field.column is not None:
            return repr(fields.texts(field.column)[row].as_py()[:SHOWN_CELL])
        return f"{read[name].amounts[row]:g}" + (" ms" if name in (*INSTANTS, "run") else "")

    values = {name: one.amounts for name, one in read.items()}
    return FieldRows(fields.rows, values, {name: one.unread for name, one in read.items()}, words, numbers, shown_cell)


def event_times(fields: Fields, found: ColumnMap) -> tuple[Floats, Numbers]:
    """What happened in each row (SUBMITTED, ...), and when [ms]."""
    import pyarrow as pa
    from pyarrow import compute

    events = found.events
    assert events is not None
    texts = fields.texts(events.kind)
    kinds = np.full(fields.rows, OTHER)
    for code, names in ((SUBMITTED, events.submit), (STARTED, events.start), (ENDED, events.end)):
        kinds[np.asarray(compute.is_in(texts, value_set=pa.array(names, pa.string())))] = code
    return kinds, fields.number("submit", events.time)


def spread_rows(
    fields: Fields, found: ColumnMap, numbers: Floats, sample: float, gathered: Gathered
) -> Iterator[FieldRows]:
    """The jobs that rows of counts are, some at a time; those that the sample leaves out are counted."""
    import pandas as pd

    spread = found.spread
    assert spread is not None
    counts = np.column_stack([fields.count(column) for column in intervals(spread)])
    of_rows = rows_of(fields, found, numbers)
    job = found.job
    ids: Any = numbers.astype(np.uint64) if job is None else np.asarray(fields.words(job).to_pylist(), object)
    hashes = pd.util.hash_array(ids, categorize=False).view(np.int64)
    every = np.ones(fields.rows, bool)
    texts: dict[str, Any] = {}

    def texts_of(name: str) -> Any:
        if name not in texts:
            texts[name] = np.asarray(of_rows.words(name, every), object)
        return texts[name]

    gathered.noted.update({"rows of counts": fields.rows})
    for piece in spread_out(counts, hashes, spread.each_s * 1000.0, sample):
        gathered.skipped.update({SAMPLED: piece.left_out})
        row = piece.row
        yield FieldRows(
            len(row),
            {name: column[row] for name, column in of_rows.amounts.items()} | {"submit": piece.submit_ms},
            {name: flags[row] for name, flags in of_rows.unread.items()},
            lambda name, kept, row=row: texts_of(name)[row[kept]].tolist(),  # type: ignore[misc]
            numbers[row],
            lambda name, at, row=row: of_rows.shown(name, int(row[at])),  # type: ignore[misc]
        )
