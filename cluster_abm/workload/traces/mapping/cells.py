"""Cells of one column as numbers or texts, whole columns at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.workload.traces.parts.units import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$"


class Numbers(NamedTuple):
    """A column as numbers."""

    amounts: Floats  # NaN where nothing is known or nothing can be read, shape (rows,)
    unread: Flags  # rows with something that cannot be read, shape (rows,)


def stripped(cells: pa.Array, missing: Sequence[str] = ()) -> pa.Array:
    """Texts without blanks around them; null where a text says that nothing is known. Other cells stay."""
    import pyarrow as pa
    from pyarrow import compute

    if not is_text(cells):
        return cells
    trimmed = compute.utf8_trim_whitespace(cells)
    unknown = compute.is_in(compute.utf8_lower(trimmed), value_set=_missing_texts(tuple(missing)))
    return compute.if_else(unknown, pa.scalar(None, trimmed.type), trimmed)


def is_text(cells: pa.Array) -> bool:
    """Whether cells are texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type))


def as_numbers(cells: pa.Array) -> Numbers:
    """Plain numbers. Texts are `stripped` ones."""
    import pyarrow as pa
    from pyarrow import compute

    nothing = np.zeros(len(cells), bool)
    if pa.types.is_null(cells.type):
        return Numbers(np.full(len(cells), math.nan), nothing)
    if not is_text(cells):
        if pa.types.is_duration(cells.type):
            # In seconds, the unit of numbers that say none.
            counts = cells.cast(pa.duration("us"), safe=False).cast(pa.int64())
            return Numbers(_floats(counts.cast(pa.float64())) / 1e6, nothing)
        kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
        if not any(is_kind(cells.type) for is_kind in kinds):
            return Numbers(np.full(len(cells), math.nan), np.asarray(compute.is_valid(cells)))
        return Numbers(_floats(cells.cast(pa.float64(), safe=False)), nothing)
    try:
        values = cells.cast(pa.float64())
        unread = nothing
    except pa.ArrowInvalid:
        fits = compute.match_substring_regex(cells, NUMBER)
        readable = compute.if_else(fits, cells, pa.scalar(None, cells.type))
        values = compute.utf8_ltrim(readable, "+").cast(pa.float64())
        unread = np.asarray(compute.invert(compute.fill_null(fits, True)))
    numbers = _floats(values)
    infinite = np.isinf(numbers)
    return Numbers(np.where(infinite, math.nan, numbers), unread | infinite)


def by_spelling(cells: pa.Array, read: Callable[[str], float]) -> Numbers:
    """Numbers that a function reads out of texts, each spelling once; it raises ValueError for what it cannot read."""
    import pyarrow as pa

    spelled = cells.cast(pa.string()).dictionary_encode()
    values, wrong = [math.nan], [False]
    for text in spelled.dictionary.to_pylist():
        try:
            value, bad = read(text), False
        except (ValueError, OverflowError):
            value, bad = math.nan, True
        values.append(value)
        wrong.append(bad)
    positions = np.asarray(spelled.indices.fill_null(-1)) + 1
    return Numbers(np.array(values)[positions], np.array(wrong)[positions])


def as_texts(cells: pa.Array) -> pa.Array:
    """Cells as texts, "" where there is nothing."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_null(cells.type):
        return pa.array([""] * len(cells), pa.string())
    return compute.fill_null(cells.cast(pa.string()), "")


def _floats(values: pa.Array) -> Floats:
    return np.array(values.to_numpy(zero_copy_only=False), np.float64)


@cache
def _missing_texts(more: tuple[str, ...]) -> pa.Array:
    import pyarrow as pa

    return pa.array(sorted({*MISSING, *(text.lower() for text in more)}), pa.string())
