"""What every layout gives: the columns of a foreign table, some rows at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cluster_abm.arrays import Integers

if TYPE_CHECKING:
    import pyarrow as pa

Column = str | int  # a name, a path of JSON, or a position from 1


@dataclass
class Source:
    """A file that is open, unpacked."""

    blocks: Iterator[bytes]  # all its bytes, once
    where: str  # its name, for messages
    path: Path | None = None  # the file itself, if it lies there unpacked and may be read at any place


@dataclass(frozen=True)
class CellBlock:
    """Some rows of a table."""

    # Column -> its cells, shape (rows - all wrong,): text where the file is text, numbers where it says so (Parquet,
    # JSON), null where a row has none. A list of JSON is its entries as one text with blanks between.
    columns: Mapping[Column, pa.Array]
    rows: int  # of the file, wrong ones too
    wrong: Mapping[str, int] = field(default_factory=dict)  # reason -> rows that are in no column: "3 cells of 5"
    # The places of the rows in the columns among all of the block, from 0, shape as the columns'; None: wrong ones are
    # behind them all.
    places: Integers | None = None


@dataclass(frozen=True)
class Table:
    """A table as it is read."""

    names: tuple[str, ...] | None  # all its columns in their order; None: each row names its own
    blocks: Iterator[CellBlock]


class BlockFile(io.RawIOBase):
    """Blocks of bytes as a file that can be read once, from its begin to its end."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as the block goes that is being read."""
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
