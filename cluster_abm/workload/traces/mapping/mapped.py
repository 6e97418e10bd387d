"""A foreign table as a trace, as a map of columns says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.bounded_files import Limit, shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.scenario.columns.map import INSTANTS
from cluster_abm.workload.traces.layouts.blocks import Block, Source, Table
from cluster_abm.workload.traces.layouts.opening import opened_table
from cluster_abm.workload.traces.mapping.cells import Numbers, as_texts
from cluster_abm.workload.traces.mapping.events import ENDED, OTHER, STARTED, SUBMITTED, EventRows
from cluster_abm.workload.traces.mapping.fields import Fields, columns_of, first_group
from cluster_abm.workload.traces.mapping.finishing import finished_jobs
from cluster_abm.workload.traces.mapping.gathered import Gathered
from cluster_abm.workload.traces.mapping.instants import Instants
from cluster_abm.workload.traces.mapping.rows import Rows, derived
from cluster_abm.workload.traces.mapping.sampling import kept_numbers, kept_texts
from cluster_abm.workload.traces.mapping.spreading import intervals, spread_out
from cluster_abm.workload.traces.parts.log_reading import LogReading
from cluster_abm.workload.traces.table import Trace

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLED, FILTERED = "not in the sample", "left out by the filter"
SHOWN_CELL = 40


class Mapping:
    """How a table is read: the map, and what is chosen beside it.

    Args:
        found: the map.
        reading: how fields are read where the map leaves a choice.
        sample: share of the jobs that are kept.
        limit: what the jobs may take.
    """

    def __init__(self, found: ColumnMap, reading: LogReading, sample: float, limit: Limit) -> None:
        self.map, self.reading, self.sample, self.limit = found, reading, sample, limit
        # Whole workflows without ids of their own are known when all is read.
        self.samples_later = sample < 1 and found.parents is not None and found.workflow is None
        self.words = tuple(name for name in ("job", "parents", "user", "group", "partition", "name") if name in found.fields)
        self.numbers = tuple(name for name in found.fields if name not in self.words and name != "workflow")


def mapped_trace(sources: Iterator[Source], name: str, how: Mapping, where: str) -> Trace:
    """The trace in one or several files of the same kind, one after the other.

    Raises InputError: a column that is not there, a file that is no table, fields that are wrong in so many rows that
    the map must be wrong, or no job.

    Args:
        sources: the files.
        name: of the map, as `Trace.format` has it.
        where: what the files are called together.
    """
    _check_patterns(how.map)
    gathered = Gathered(how.map, how.words, where, how.limit)
    events = None if how.map.events is None else EventRows(how.numbers, tuple(set(how.words) - {"job"}))
    instants, count = Instants(), 0
    for block in _blocks(sources, how.map):
        gathered.skipped.update(block.wrong)
        fields = Fields(how.map, block, instants)
        numbers = count + sum(block.wrong.values()) + np.arange(1, fields.rows + 1, dtype=float)
        count += block.rows
        numbers = _chosen(fields, numbers, how, gathered)
        if not fields.rows:
            continue
        if events is not None:
            rows = _rows(fields, how, numbers)
            kinds, times = _events(fields, how.map)
            gathered.noted.update({"time of an event not read": int(times.unread.sum())})
            events.add(rows, kinds, times.values, np.ones(rows.count, bool))
        elif how.map.spread is not None:
            invocations = 0
            for rows in _spread(fields, how, numbers, gathered):
                invocations += rows.count
                gathered.add(rows, derived(how.map, rows, how.reading))
            count += invocations - fields.rows
        else:
            rows = _rows(fields, how, numbers)
            gathered.add(rows, derived(how.map, rows, how.reading))
    if not count:
        raise InputError(f"{shown(where)}: no job in it")
    if events is not None:
        rows, merged = events.jobs()
        gathered.skipped.update(merged)
        if rows.count:
            gathered.add(rows, derived(how.map, rows, how.reading))
    return finished_jobs(gathered, how, name, where, count)


def _blocks(sources: Iterator[Source], found: ColumnMap) -> Iterator[Block]:
    needed = columns_of(found) + (intervals(found.spread) if found.spread is not None else ())
    for source in sources:
        table: Table = opened_table(source, found.file, tuple(dict.fromkeys(needed)))
        yield from table.blocks


def _chosen(fields: Fields, numbers: Floats, how: Mapping, gathered: Gathered) -> Floats:
    """Leave only the rows of the sample that the filter lets pass; return their numbers in the file."""
    if how.sample < 1 and not how.samples_later and how.map.spread is None:
        kept = _sampled(fields, numbers, how)
        gathered.skipped.update({SAMPLED: int((~kept).sum())})
        fields.take(kept)
        numbers = numbers[kept]
    if how.map.filter is not None and fields.rows:
        holds = fields.holds(how.map.filter)
        gathered.skipped.update({FILTERED: int((~holds).sum())})
        fields.take(holds)
        numbers = numbers[holds]
    return numbers


def _sampled(fields: Fields, numbers: Floats, how: Mapping) -> Flags:
    field = how.map.workflow or how.map.job
    if field is None:
        return kept_numbers(numbers.astype(np.int64), how.sample)
    return kept_texts(fields.words(field), how.sample)


def _rows(fields: Fields, how: Mapping, numbers: Floats) -> Rows:
    read: dict[str, Numbers] = {
        name: fields.number(name, field) for name, field in how.map.fields.items() if name in how.numbers
    }

    def words(name: str, kept: Flags) -> list[str]:
        import pyarrow as pa

        field = how.map.fields[name]
        if name == "parents":
            texts: pa.Array = pa.array(fields.parents(field), pa.string())
        else:
            texts = fields.words(field)
        return list(texts.filter(pa.array(kept)).to_pylist())

    def shown_cell(name: str, row: int) -> str:
        field = how.map.fields[name]
        if field.column is not None:
            return repr(fields.texts(field.column)[row].as_py()[:SHOWN_CELL])
        return f"{read[name].values[row]:g}" + (" ms" if name in (*INSTANTS, "run") else "")

    values = {name: one.values for name, one in read.items()}
    return Rows(fields.rows, values, {name: one.unread for name, one in read.items()}, words, numbers, shown_cell)


def _events(fields: Fields, found: ColumnMap) -> tuple[Floats, Numbers]:
    """What happened in each row, and when."""
    import pyarrow as pa
    from pyarrow import compute

    events = found.events
    assert events is not None
    texts = fields.texts(events.kind)
    kinds = np.full(fields.rows, OTHER)
    for code, names in ((SUBMITTED, events.submit), (STARTED, events.start), (ENDED, events.end)):
        kinds[np.asarray(compute.is_in(texts, value_set=pa.array(names, pa.string())))] = code
    return kinds, fields.number("submit", events.time)


def _spread(fields: Fields, how: Mapping, numbers: Floats, gathered: Gathered) -> Iterator[Rows]:
    """The jobs that rows of counts are, some at a time."""
    import pandas as pd

    spread = how.map.spread
    assert spread is not None
    counts = np.column_stack([np.nan_to_num(fields.count(column)) for column in intervals(spread)])
    of_rows = _rows(fields, how, numbers)
    job = how.map.job
    ids = numbers.astype(np.uint64) if job is None else np.asarray(fields.words(job).to_pylist(), object)
    hashes = pd.util.hash_array(ids, categorize=False)
    all_rows = np.ones(fields.rows, bool)
    texts: dict[str, Any] = {}
    total = int(np.where(counts >= 1, np.floor(counts), 0.0).sum())
    kept = 0
    for row, submit in spread_out(counts, hashes, spread.each_s * 1000.0, how.sample):
        kept += len(row)

        def words(name: str, chosen: Flags, row: Any = row) -> list[str]:
            if name not in texts:
                texts[name] = np.asarray(of_rows.words(name, all_rows), object)
            found: list[str] = texts[name][row[chosen]].tolist()
            return found

        values = {name: column[row] for name, column in of_rows.values.items()} | {"submit": submit}
        unread = {name: flags[row] for name, flags in of_rows.unread.items()}
        yield Rows(len(row), values, unread, words, numbers[row], lambda name, at, row=row: of_rows.shown(name, row[at]))
    gathered.noted.update({"rows of counts": fields.rows})
    gathered.skipped.update({SAMPLED: total - kept})


def _check_patterns(found: ColumnMap) -> None:
    """Raise InputError for a pattern that is no regular expression with a group."""
    import pyarrow as pa

    for name, field in found.fields.items():
        if field.pattern is None:
            continue
        try:
            first_group(pa.array(["x"], pa.string()), field.pattern)
            if "(" not in field.pattern:
                raise ValueError("no group in parentheses")
        except (pa.ArrowException, ValueError) as problem:
            said = " ".join(str(problem).split())[:200]
            raise InputError(
                f"workload.trace.columns.{name}.pattern = {field.pattern[:60]!r}: {said}: allowed: a regular "
                "expression (RE2) with a group, as ^job-(.*)$"
            ) from None
