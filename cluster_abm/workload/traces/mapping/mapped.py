"""A foreign table as a trace, as a map of columns says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.bounded_files import Limit, shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Source
from cluster_abm.workload.traces.layouts.opening import opened_table
from cluster_abm.workload.traces.mapping.block_rows import event_times, rows_of, spread_rows
from cluster_abm.workload.traces.mapping.events import EventRows
from cluster_abm.workload.traces.mapping.fields import Fields, columns_of, first_group
from cluster_abm.workload.traces.mapping.finishing import finished_jobs
from cluster_abm.workload.traces.mapping.gathered import Gathered
from cluster_abm.workload.traces.mapping.instants import Instants
from cluster_abm.workload.traces.mapping.rows import derived, is_number
from cluster_abm.workload.traces.mapping.sampling import SAMPLED, kept_numbers, kept_texts
from cluster_abm.workload.traces.mapping.spreading import intervals
from cluster_abm.workload.traces.parts.log_reading import LogReading
from cluster_abm.workload.traces.table import Trace

FILTERED = "left out by the filter"


def mapped_trace(
    sources: Iterator[Source], found: ColumnMap, where: str, limit: Limit, reading: LogReading, sample: float = 1.0
) -> Trace:
    """The trace in one file, or in several of the same kind one after the other.

    Raises InputError: a column that is not there, a file that is no table, fields that are wrong in more rows
    than bad rows explain, more jobs than the limit allows, or no job.

    Args:
        sources: the files.
        found: the map.
        where: what the files are called together.
        limit: what the jobs may take; the files may be of any size.
        reading: how fields are read where the map leaves a choice.
        sample: the share of the jobs that is kept.
    """
    check_patterns(found)
    gathered, instants = Gathered(found, where, limit), Instants()
    count = read = 0  # rows so far, and those of them that could be read
    events = EventRows([name for name in found.fields if is_number(name)], found) if found.events is not None else None
    for block in _blocks(sources, found):
        gathered.skipped.update(block.wrong)
        fields = Fields(found, block, instants)
        places = np.arange(fields.rows) if block.places is None else block.places
        numbers = _chosen(fields, ((count + 1 + places).astype(np.float64), read), found, gathered, sample)
        count, read = count + block.rows, read + len(places)
        if not fields.rows:
            continue
        if found.spread is not None:
            for rows in spread_rows(fields, found, numbers, sample, gathered):
                gathered.add(rows, derived(found, rows, reading))
            continue
        rows = rows_of(fields, found, numbers)
        if events is None:
            gathered.add(rows, derived(found, rows, reading))
        else:
            kinds, times = event_times(fields, found)
            gathered.noted.update({"time of an event not read": int(times.unread.sum())})
            events.add(rows, kinds, times.amounts)
    if not count:
        raise InputError(f"{shown(where)}: no job in it")
    if events is not None:
        rows, merged = events.jobs()
        gathered.skipped.update(merged)
        if rows.count:
            gathered.add(rows, derived(found, rows, reading))
    return finished_jobs(gathered, found, reading, (count, sample), where)


def _blocks(sources: Iterator[Source], found: ColumnMap) -> Iterator[CellBlock]:
    needed = columns_of(found) + (intervals(found.spread) if found.spread is not None else ())
    for source in sources:
        yield from opened_table(source, found.file, tuple(dict.fromkeys(needed))).blocks


def _chosen(fields: Fields, rows: tuple[Floats, int], found: ColumnMap, gathered: Gathered, sample: float) -> Floats:
    """Leave only the rows of the sample that the filter lets pass; return their numbers in the file.

    Args:
        rows: the numbers of all, and how many could be read before them: those without ids are sampled by that, which
            no block changes.
    """
    numbers, before = rows
    # The jobs of rows of counts are chosen one by one; whole workflows without ids are known when all is read.
    later = found.spread is not None or (found.parents is not None and found.workflow is None)
    if sample < 1 and not later:
        kept = _sampled(fields, before, found, sample)
        gathered.skipped.update({SAMPLED: int((~kept).sum())})
        fields.take(kept)
        numbers = numbers[kept]
    if found.filter is not None and fields.rows:
        holds = fields.holds(found.filter)
        gathered.skipped.update({FILTERED: int((~holds).sum())})
        fields.take(holds)
        numbers = numbers[holds]
    return numbers


def _sampled(fields: Fields, before: int, found: ColumnMap, sample: float) -> Flags:
    field = found.workflow or found.job
    if field is None:
        return kept_numbers(np.arange(before, before + fields.rows), sample)
    return kept_texts(fields.words(field), sample)


def check_patterns(
    found: ColumnMap, key: str = "workload.trace.columns", called: Mapping[str, str] | None = None
) -> None:
    """Raise InputError for a pattern that is no regular expression with a group.

    Args:
        key: where the map stands in a scenario.
        called: what fields are called there, if not by their own names.
    """
    import pyarrow as pa

    fields = found.fields if found.events is None else found.fields | {"events.time": found.events.time}
    for name, field in ((name, source) for name, one in fields.items() for source in one.sources):
        if field.pattern is None:
            continue
        try:
            if "(" not in field.pattern:
                raise ValueError("no group in parentheses")
            first_group(pa.array(["x"], pa.string()), field.pattern)
        except (pa.ArrowException, ValueError) as problem:
            said = " ".join(str(problem).split())[:200]
            raise InputError(
                f"{key}.{(called or {}).get(name, name)}.pattern = {field.pattern[:60]!r}: {said}: allowed: a regular "
                "expression (RE2) with a group, as ^job-(.*)$"
            ) from None
