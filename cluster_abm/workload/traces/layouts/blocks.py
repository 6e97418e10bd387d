"""What every layout gives: the columns of a foreign table, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass
class Source:
    """A file that is open, unpacked."""

    blocks: Iterator[bytes]  # all its bytes, once
    where: str  # its name, for messages


@dataclass(frozen=True)
class Block:
    """Some rows of a table."""

    # Column -> its cells, shape (rows - all wrong,): text where the file is text, numbers where it says so (Parquet,
    # JSON), null where a row has none. A list of JSON is its entries as one text with blanks between.
    columns: Mapping[str, pa.Array]
    rows: int  # of the file, wrong ones too
    wrong: Mapping[str, int] = field(default_factory=dict)  # reason -> rows that are in no column: "3 cells of 5"


@dataclass(frozen=True)
class Table:
    """A table as it is read."""

    names: tuple[str, ...] | None  # all its columns in their order; None: each row names its own
    blocks: Iterator[Block]
