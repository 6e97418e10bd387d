"""The fields of a map in each row of a block: numbers in their base unit, and words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.scenario.columns import ColumnMap, MapField, parsed
from cluster_abm.scenario.columns.expressions import names_in
from cluster_abm.scenario.columns.map import DURATIONS, INSTANTS, SIZES
from cluster_abm.scenario.columns.units import CLOCK, COUNTS, SHARE, SIZE, SIZES_B, TIMES_MS
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column
from cluster_abm.workload.traces.mapping.cells import Numbers, as_numbers, as_texts, by_spelling, is_text, stripped
from cluster_abm.workload.traces.mapping.evaluating import numbers_of, truths_of
from cluster_abm.workload.traces.mapping.forms import AS_COUNT, clock_or_seconds_ms
from cluster_abm.workload.traces.mapping.instants import Instants, in_ms
from cluster_abm.workload.traces.parts.units import size_bytes

if TYPE_CHECKING:
    import pyarrow as pa

MB = 1e6
# Alibaba's names of tasks: R3_1_2 is number 3 and comes after 1 and 2.
TASK_NUMBER = r"^[A-Za-z]+(?P<number>\d+)(?:_\d+)*$"
TASK_PARENTS = r"^[A-Za-z]+\d+_(?P<parents>\d+(?:_\d+)*)$"
BETWEEN = "/"  # the parts of an id


def columns_of(found: ColumnMap) -> tuple[Column, ...]:
    """The columns that a map reads, each once."""
    columns: list[Column] = []
    fields = [*found.fields.values(), *([found.events.time] if found.events else [])]
    for field in (source for one in fields for source in one.sources):
        columns += [field.column] if field.column is not None else field.columns
        columns += names_in(parsed(field.expr)) if field.expr is not None else ()
    if found.filter is not None:
        columns += names_in(parsed(found.filter))
    if found.events is not None:
        columns.append(found.events.kind)
    return tuple(dict.fromkeys(columns))


class Fields:
    """The fields of a block as they are asked for; each column is made ready once.

    Args:
        found: the map.
        block: a block of the table.
        instants: of the whole table.
    """

    def __init__(self, found: ColumnMap, block: CellBlock, instants: Instants) -> None:
        self._map, self._instants = found, instants
        self.rows = block.rows - sum(block.wrong.values())
        self._raw: Mapping[Column, pa.Array] = block.columns
        self._ready: dict[tuple[Column, tuple[str, ...]], pa.Array] = {}

    def take(self, kept: Flags) -> None:
        """Go on with these rows alone."""
        import pyarrow as pa

        mask = pa.array(kept)
        self._raw = {name: cells.filter(mask) for name, cells in self._raw.items()}
        self._ready = {key: cells.filter(mask) for key, cells in self._ready.items()}
        self.rows = int(kept.sum())

    def holds(self, expression: str) -> Flags:
        """Where an expression holds, shape (rows,)."""
        node = parsed(expression)
        return truths_of(node, self._cells(names_in(node)), self.rows)

    def number(self, name: str, field: MapField) -> Numbers:
        """A field as numbers: times in ms, bytes in B, cores and counts in 1; as the file says, whose they are."""
        read = self._number(name, field)
        if field.otherwise is None:
            return read
        other, lacks = self.number(name, field.otherwise), np.isnan(read.amounts)
        unread = np.where(lacks, (read.unread & np.isnan(other.amounts)) | other.unread, read.unread)
        return Numbers(np.where(lacks, other.amounts, read.amounts), unread)

    def count(self, column: Column) -> Floats:
        """A column of counts; NaN where there is none, shape (rows,)."""
        return as_numbers(self._cell(column)).amounts

    def words(self, field: MapField, is_id: bool = False) -> pa.Array:
        """A field as texts, "" where there is nothing, shape (rows,).

        Args:
            is_id: of several columns each must have something; "" where one has nothing.
        """
        import pyarrow as pa
        from pyarrow import compute

        if field.otherwise is not None:
            texts = self.words(field.model_copy(update={"otherwise": None}), is_id)
            return compute.if_else(compute.equal(texts, ""), self.words(field.otherwise, is_id), texts)
        if field.value is not None:
            return pa.array([str(field.value)] * self.rows, pa.string())
        columns = field.columns or ((field.column,) if field.column is not None else ())
        parts = [as_texts(self._cell(column, field.missing)) for column in columns]
        if field.form == "task-name":
            parts[-1] = _extracted(parts[-1], TASK_NUMBER, "number", keep=True)
        if is_id:
            # What is joined with a null is null.
            parts = [compute.if_else(compute.equal(part, ""), pa.scalar(None, part.type), part) for part in parts]
        texts = parts[0] if len(parts) == 1 else compute.binary_join_element_wise(*parts, BETWEEN)
        texts = compute.fill_null(texts, "") if is_id else texts
        if field.pattern is not None:
            return first_group(texts, field.pattern)
        return texts

    def parents(self, field: MapField) -> list[str]:
        """For each row the ids of its parents, with blanks between."""
        if field.form != "task-name":
            texts = self.words(field).to_pylist()
            return [" ".join(text.replace(",", " ").replace(";", " ").split()) for text in texts]
        columns = field.columns or ((field.column,) if field.column is not None else ())
        *first, last = [as_texts(self._cell(column, field.missing)) for column in columns]
        names = _extracted(last, TASK_PARENTS, "parents", keep=False).to_pylist()
        before = [texts.to_pylist() for texts in first]
        heads = [BETWEEN.join((*parts, "")) for parts in zip(*before, strict=True)] if before else [""] * self.rows
        return [
            " ".join(head + number for number in text.split("_")) if text else ""
            for head, text in zip(heads, names, strict=True)
        ]

    def texts(self, column: Column) -> pa.Array:
        """A column as texts."""
        return as_texts(self._cell(column))

    def _number(self, name: str, field: MapField) -> Numbers:
        """A field as numbers by its first source."""
        if field.value is not None:
            try:
                read = Numbers(np.full(self.rows, float(field.value)), np.zeros(self.rows, bool))
            except ValueError:
                read = Numbers(np.full(self.rows, math.nan), np.ones(self.rows, bool))
        elif field.expr is not None:
            node = parsed(field.expr)
            read = numbers_of(node, self._cells(names_in(node), field.missing), self.rows)
        else:
            assert field.column is not None
            cells = self._cell(field.column, field.missing)
            if field.pattern is not None:
                cells = stripped(first_group(as_texts(cells), field.pattern), self._map.missing + field.missing)
            if name in INSTANTS:
                return self._instants.read(cells, field)
            if name in DURATIONS and _is_clock(cells, field):
                return by_spelling(cells, clock_or_seconds_ms)
            if field.unit == SIZE:
                return by_spelling(cells, size_bytes)
            read = by_spelling(cells, AS_COUNT[field.form]) if field.form in AS_COUNT else as_numbers(cells)
        # What is beyond all numbers in base units is infinite, and counts as too large.
        with np.errstate(over="ignore"):
            return Numbers(self._scaled(read.amounts, name, field), read.unread)

    def _cell(self, column: Column, missing: tuple[str, ...] = ()) -> pa.Array:
        """A column made ready; `missing` is what else stands for "not known" in it."""
        key = (column, missing)
        if key not in self._ready:
            self._ready[key] = stripped(self._raw[column], self._map.missing + missing)
        return self._ready[key]

    def _cells(self, columns: Iterable[Column], missing: tuple[str, ...] = ()) -> dict[Column, pa.Array]:
        return {column: self._cell(column, missing) for column in columns}

    def _scaled(self, amounts: Floats, name: str, field: MapField) -> Floats:
        """Numbers of the unit of a field as base units."""
        machine = self._map.machine
        if name in INSTANTS:
            return in_ms(amounts, field)
        if name in SIZES:
            return amounts * (float(machine.memory_mb or 0.0) * MB if field.unit == SHARE else SIZES_B[str(field.unit)])
        if name in DURATIONS:
            return amounts * TIMES_MS[field.unit or "s"]
        return amounts * (float(machine.cores or 0.0) if field.unit == SHARE else COUNTS[field.unit or "1"])


def _is_clock(cells: pa.Array, field: MapField) -> bool:
    """Whether durations are texts as 1-02:03:04: as the unit says, or the first one where it says nothing."""
    if field.unit is not None:
        return field.unit == CLOCK
    from pyarrow import compute

    return is_text(cells) and bool(compute.any(compute.match_substring(cells, ":")).as_py())


def first_group(texts: pa.Array, pattern: str) -> pa.Array:
    """What the first group of a pattern is in each text, "" where the text does not match.

    Raises ValueError (of pyarrow): no regular expression of RE2, or one without a group.
    """
    from pyarrow import compute

    matches = compute.match_substring_regex(texts, pattern)
    return compute.if_else(matches, compute.replace_substring_regex(texts, f"(?s)^.*?(?:{pattern}).*$", r"\1"), "")


def _extracted(texts: pa.Array, pattern: str, group: str, keep: bool) -> pa.Array:
    """A group of a pattern in each text; the text itself where it does not match, or ""."""
    from pyarrow import compute

    found = compute.extract_regex(texts, pattern)
    parts = compute.struct_field(found, group)
    return compute.if_else(compute.is_valid(found), parts, texts) if keep else compute.fill_null(parts, "")
