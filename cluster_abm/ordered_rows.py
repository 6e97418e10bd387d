"""Rows of a table in an order of their own, read field by field: no sorted copy of the table is made in memory."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Mapping
from typing import overload

import numpy as np

from cluster_abm.arrays import Array, Floats, Integers
from cluster_abm.large_tables import Table, blocks, forget_pages, mapping_of


class OrderedRows:
    """Rows in an order of their own: `rows["job"]` is a field of all of them, `rows[where]` are some of them.

    Args:
        fields: by name a field of all rows of a table, or the table itself.
        dtype: of a row.
        order: which of its rows, in which order.

    Attributes:
        order: that order.
    """

    def __init__(self, fields: Table | Mapping[str, Array], dtype: np.dtype[np.void], order: Integers | slice) -> None:
        self._fields, self._dtype = fields, dtype
        self.order = order

    def __len__(self) -> int:
        return self.order.stop - self.order.start if isinstance(self.order, slice) else len(self.order)

    @overload
    def __getitem__(self, key: str) -> Array: ...

    @overload
    def __getitem__(self, key: slice | Array) -> OrderedRows: ...

    def __getitem__(self, key: str | slice | Array) -> Array | OrderedRows:
        if not isinstance(key, str):
            return OrderedRows(self._fields, self._dtype, self._chosen(key))
        values: Array = self._fields[key]
        if mapping_of(values) is None:
            return np.asarray(values[self.order])
        ordered = np.empty(len(self), values.dtype)
        for part in blocks(len(self)):
            ordered[part] = values[self._chosen(part)]
            forget_pages(values)
        return ordered

    def _chosen(self, key: slice | Array) -> Integers | slice:
        if not isinstance(self.order, slice):
            return np.asarray(self.order[key])
        first, last = self.order.start, self.order.stop
        if isinstance(key, slice):
            start, stop, _ = key.indices(last - first)
            return slice(first + start, first + max(start, stop))
        return np.arange(first, last)[key]

    def table(self) -> Table:
        """All of them as a table of its own."""
        table = np.zeros(len(self), self._dtype)
        for name in self._dtype.names or ():
            table[name] = self[name]
        return table


Rows = Table | OrderedRows


def in_order(table: Table, order: Integers) -> OrderedRows:
    """Rows of a table in this order.

    Of a table that stands in a file the fields are written one after the other into a second one, in this order: then
    to read a field is to read that field, and not all of the table. Where the disk has no room for it that is not done.
    """
    if mapping_of(table) is None:
        return OrderedRows(table, table.dtype, order)
    try:
        return OrderedRows(_fields_in_order(table, order), table.dtype, slice(0, len(order)))
    except OSError:
        return OrderedRows(table, table.dtype, order)


def _fields_in_order(table: Table, order: Integers) -> dict[str, Array]:
    """Each field of the table in this order, shape (rows,), in a temporary file. Raises OSError if it has no room."""
    names = table.dtype.names or ()
    sizes = [table.dtype[name].itemsize for name in names]
    starts = dict(zip(names, (np.cumsum([0, *sizes[:-1]]) * len(order)).tolist(), strict=True))
    with tempfile.TemporaryFile(prefix="cluster-abm-") as file:
        file.truncate(max(1, sum(sizes) * len(order)))
        for part in blocks(len(order)):
            rows = table[order[part]]
            forget_pages(table)
            for name in names:
                values = np.ascontiguousarray(rows[name])
                # What is not written reads as zeros, and takes no room.
                if values.any():
                    file.seek(starts[name] + part.start * values.itemsize)
                    file.write(values.data)
        file.flush()
        mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return {name: np.frombuffer(mapping, table.dtype[name], len(order), starts[name]) for name in names}


def of_each(rows: Rows, measure: Callable[[Rows], Floats]) -> Floats:
    """A number of each row, shape (rows,), computed from some of them at a time.

    Args:
        rows: of any number.
        measure: gives the numbers of some rows; each is of its own row alone.
    """
    numbers = np.empty(len(rows))
    for part in blocks(len(rows)):
        numbers[part] = measure(rows[part])
    return numbers
