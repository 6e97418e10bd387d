"""Columns that say when something happened, as milliseconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.scenario.columns import MapField
from cluster_abm.scenario.columns.units import DATE, EPOCH, ISO, TIMES_MS
from cluster_abm.workload.traces.mapping.cells import Numbers, as_numbers, by_spelling, is_text
from cluster_abm.workload.traces.parts.stamps import Stamps
from cluster_abm.workload.traces.parts.units import DAY

if TYPE_CHECKING:
    import pyarrow as pa


NOT_OF_C = ("%f", "%z")  # parts of a date's form that C's strptime does not read everywhere


class Instants:
    """Reads the instants of a table; its columns share one.

    Texts with a zone are compared as instants, texts without as they stand, or in the field's `zone`. A table must not
    mix both, unless `zone` says what the texts without are.
    """

    def __init__(self) -> None:
        self._zoned: bool | None = None
        self._stamps = Stamps()

    def read(self, cells: pa.Array, field: MapField) -> Numbers:
        """Instants [ms], of texts since 1970; of numbers since whatever they count from.

        Args:
            cells: `stripped` ones.
            field: says unit, zone, format.
        """
        import pyarrow as pa

        if pa.types.is_timestamp(cells.type) or pa.types.is_date(cells.type):
            return self._typed(cells, field)
        if field.unit == DATE:
            return self._dated(cells, field)
        if field.unit == ISO:
            return self._stamped(cells, field)
        numbers = as_numbers(cells)
        if field.unit is None and is_text(cells) and numbers.unread.any():
            stamped = self._stamped(cells, field)
            plain = ~numbers.unread & ~np.isnan(numbers.amounts)
            return Numbers(np.where(plain, numbers.amounts * TIMES_MS["s"], stamped.amounts), stamped.unread & ~plain)
        return Numbers(in_ms(numbers.amounts, field), numbers.unread)

    def _typed(self, cells: pa.Array, field: MapField) -> Numbers:
        """Timestamps of Parquet, which have a zone or have none, as texts do."""
        import pyarrow as pa
        from pyarrow import compute

        zoned = _has_zone(cells)
        if field.zone is None and self._zoned not in (None, zoned):
            return Numbers(np.full(len(cells), math.nan), np.asarray(compute.is_valid(cells)))
        if field.zone is None and len(cells) > cells.null_count:
            self._see(zoned)
        # What is finer than a microsecond goes.
        read = cells.cast(pa.timestamp("us", cells.type.tz if zoned else None), safe=False)
        values = _milliseconds(read if zoned else _localised(read, field.zone))
        return Numbers(np.where(np.abs(values) < DAY, math.nan, values), np.zeros(len(cells), bool))

    def _see(self, zoned: bool) -> None:
        self._zoned = zoned
        self._stamps.see_zone(zoned)

    def _dated(self, cells: pa.Array, field: MapField) -> Numbers:
        from pyarrow import compute

        if not is_text(cells):
            return Numbers(np.full(len(cells), math.nan), np.asarray(compute.is_valid(cells)))
        if any(part in str(field.format) for part in NOT_OF_C):
            return self._dated_by_pandas(cells, field)
        read = compute.strptime(cells, format=str(field.format), unit="us", error_is_null=True)
        unread = np.asarray(compute.is_null(read)) & np.asarray(compute.is_valid(cells))
        return Numbers(_milliseconds(_localised(read, field.zone)), unread)

    def _dated_by_pandas(self, cells: pa.Array, field: MapField) -> Numbers:
        """Texts in a form with fractions of a second, or with a zone."""
        import pandas as pd
        import pyarrow as pa

        zoned = "%z" in str(field.format)
        texts = pd.Series(cells.to_pylist(), dtype=object)
        read = pd.to_datetime(texts, format=field.format, errors="coerce", utc=zoned)
        typed = pa.array(read, pa.timestamp("us", "UTC" if zoned else None), from_pandas=True, safe=False)
        unread = read.isna().to_numpy() & np.asarray(cells.is_valid())
        return Numbers(_milliseconds(typed if zoned else _localised(typed, field.zone)), unread)

    def _stamped(self, cells: pa.Array, field: MapField) -> Numbers:
        """Texts as 2023-05-01T10:00:00; all at once if all have a zone, or none has."""
        import pyarrow as pa

        if is_text(cells):
            for zoned in (False, True):
                if self._zoned not in (None, zoned) and field.zone is None:
                    continue
                try:
                    read = cells.cast(pa.timestamp("us", "UTC" if zoned else None))
                except pa.ArrowInvalid:
                    continue
                if len(read) > read.null_count and field.zone is None:
                    self._see(zoned)
                values = _milliseconds(read if zoned else _localised(read, field.zone))
                return Numbers(np.where(np.abs(values) < DAY, math.nan, values), np.zeros(len(cells), bool))
        if field.zone is None:
            return by_spelling(cells, self._stamps.read)
        return self._mixed(cells, field.zone)

    def _mixed(self, cells: pa.Array, zone: str) -> Numbers:
        """Texts of which some have a zone; `zone` is that of the others."""
        import pyarrow as pa

        texts = cells.cast(pa.string())
        with_zone, without = by_spelling(texts, Stamps(zoned=True).read), by_spelling(texts, Stamps(zoned=False).read)
        local = pa.array(without.amounts * 1000.0, from_pandas=True).cast(pa.int64(), safe=False)
        there = _milliseconds(_localised(local.cast(pa.timestamp("us")), zone))
        return Numbers(np.where(without.unread, with_zone.amounts, there), with_zone.unread & without.unread)


def in_ms(instants: Floats, field: MapField) -> Floats:
    """Instants that are numbers, in ms, by the field's unit; of `epoch`, seconds reach to the year 5138."""
    if field.unit != EPOCH:
        return instants * TIMES_MS[field.unit or "s"]
    size = np.abs(instants)
    units = [TIMES_MS["s"], TIMES_MS["ms"], TIMES_MS["us"]]
    return instants * np.select([size < 1e11, size < 1e14, size < 1e17], units, TIMES_MS["ns"])


def _localised(read: pa.Array, zone: str | None) -> pa.Array:
    """Local times as instants. An hour that a clock shows twice is the first; one that it skips moves on."""
    from pyarrow import compute

    if zone is None:
        return read
    return compute.assume_timezone(read, zone, ambiguous="earliest", nonexistent="latest")


def _has_zone(cells: pa.Array) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_timestamp(cells.type) and cells.type.tz)


def _milliseconds(read: pa.Array) -> Floats:
    """Instants as milliseconds since 1970, NaN for null."""
    import pyarrow as pa
    from pyarrow import compute

    known: Flags = np.asarray(compute.is_valid(read))
    counts = np.asarray(compute.fill_null(read.cast(pa.int64()), 0), np.float64)
    return np.where(known, counts / 1000.0, math.nan)
