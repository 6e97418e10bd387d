"""Records in an order of their own, of which no sorted copy is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.tables import Table
from cluster_abm.large_tables import blocks, forget_pages, mapping_of

Integers = npt.NDArray[np.int64]


class OrderedRecords:
    """Rows of a table in an order of their own, read field by field: `records["job"]`, `records[where]`, `len`.

    Args:
        rows: the table, in whatever order it was written.
        order: which rows, in which order, shape (records,).
    """

    def __init__(self, rows: Table, order: Integers) -> None:
        self._rows, self._order = rows, order
        self._is_on_disk = mapping_of(rows) is not None

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, key: str) -> npt.NDArray[Any]: ...

    @overload
    def __getitem__(self, key: slice | npt.NDArray[Any]) -> OrderedRecords: ...

    def __getitem__(self, key: str | slice | npt.NDArray[Any]) -> npt.NDArray[Any] | OrderedRecords:
        if not isinstance(key, str):
            return OrderedRecords(self._rows, self._order[key])
        if not self._is_on_disk:
            return np.asarray(self._rows[key][self._order])
        found = np.empty(len(self), self._rows.dtype[key])
        for part in blocks(len(self)):
            found[part] = self._rows[key][self._order[part]]
            forget_pages(self._rows)
        return found

    def table(self) -> Table:
        """All of them as a table of its own."""
        return np.asarray(self._rows[self._order])


Records = Table | OrderedRecords


def of_each(records: Records, measure: Callable[[Records], npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """A number of each record, shape (records,), computed from some of them at a time.

    Args:
        records: of any number.
        measure: gives the numbers of some records; each is of its own record alone.
    """
    found = np.empty(len(records))
    for part in blocks(len(records)):
        found[part] = measure(records[part])
    return found
