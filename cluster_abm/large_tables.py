"""Tables of many rows: a large one stands in a temporary file, and only the rows just in use are in memory.

The file has no name: whatever ends the process, its space on the disk is given back. All of that space is taken when
the table is made, so a disk that is too full says so before the work begins and not in the middle of it.
"""

from __future__ import annotations

import mmap
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Array
from cluster_abm.errors import InputError, reason_of

Table = npt.NDArray[np.void]

# A table of more bytes stands in a file.
MOST_IN_MEMORY = 50_000_000
# Rows that are read or written at once where a table is passed over from its first row to its last.
ROWS_AT_ONCE = 1 << 17


def zeros(rows: int, dtype: np.dtype[np.void], what: str, in_memory: bool | None = None) -> Table:
    """A table of zeros, shape (rows,): in memory, or if it takes more than MOST_IN_MEMORY in a temporary file.

    Raises InputError: the folder of temporary files has no room for it, or cannot be written to.

    Args:
        dtype: of a row.
        what: what the rows are, as a message names them, e.g. "jobs".
        in_memory: where it stands; None: by its size.
    """
    size = rows * dtype.itemsize
    if in_memory is None:
        in_memory = size <= MOST_IN_MEMORY
    if in_memory or rows == 0:
        return np.zeros(rows, dtype)
    folder = "?"
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile(prefix="cluster-abm-") as file:
            _reserve(file, size, folder)
            # The mapping keeps the file once it is closed here.
            mapping = mmap.mmap(file.fileno(), size)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"{what}: {rows:,} rows take {size / 1e9:.3g} GB in the folder of temporary files {folder} "
            f"({reason_of(problem)}); TMPDIR names another folder"
        ) from None
    return np.frombuffer(mapping, dtype, rows)


class Passing(mmap.mmap):
    """Memory of a table whose rows are forgotten once they have been read: only pages in use take room."""


# No room is set aside for such a table, of which most is never in use at once.
_NOT_RESERVED = getattr(mmap, "MAP_NORESERVE", 0x4000) if sys.platform == "linux" else 0


def passing_zeros(rows: int, dtype: np.dtype[np.void], what: str) -> Table:
    """A table of zeros, shape (rows,), of which rows take memory from when they are written until `forget_rows`.

    Where the system has no such memory it is as `zeros`, whose errors it has, and nothing is forgotten.
    """
    flags = getattr(mmap, "MAP_ANONYMOUS", 0)
    if rows == 0 or not flags or not hasattr(mmap, "MADV_DONTNEED"):
        return zeros(rows, dtype, what)
    try:
        mapping = Passing(-1, rows * dtype.itemsize, flags=mmap.MAP_PRIVATE | flags | _NOT_RESERVED)
    except (OSError, ValueError, OverflowError):
        return zeros(rows, dtype, what)
    return np.frombuffer(mapping, dtype, rows)


def forget_rows(table: Table, first: int, last: int) -> None:
    """Rows of a `passing_zeros` table, from the `first`-th to the one before the `last`-th, take no memory any more.

    They read as zeros, but for those that share a page of memory with a row that stays.
    """
    mapping = _mapped(table)
    if isinstance(mapping, Passing):
        begin = -(-first * table.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
        end = last * table.itemsize // mmap.PAGESIZE * mmap.PAGESIZE
        if begin < end:
            mapping.madvise(mmap.MADV_DONTNEED, begin, end - begin)


def _reserve(file: IO[bytes], size: int, folder: str) -> None:
    """Give a file its whole size, for which there has to be room on the disk. Raises OSError if there is none."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    free = shutil.disk_usage(folder).free
    if free < size:
        raise OSError(f"{free / 1e9:.3g} GB are free")
    file.truncate(size)


def mapping_of(table: Array) -> mmap.mmap | None:
    """The mapped file that a table, or a part of one, stands in; None: it is in memory."""
    mapping = _mapped(table)
    return None if isinstance(mapping, Passing) else mapping


def _mapped(table: Array) -> mmap.mmap | None:
    """The mapping that a table, or a part of one, stands in; None: there is none."""
    base: Any = table
    while isinstance(base, np.ndarray):
        base = base.base
    owner = base.obj if isinstance(base, memoryview) else base
    return owner if isinstance(owner, mmap.mmap) else None


def forget_pages(*tables: Array) -> None:
    """Rows of tables that stand in a file need no memory until they are next read or written; nothing is lost."""
    for table in tables:
        mapping = mapping_of(table)
        if mapping is not None and hasattr(mapping, "madvise"):
            mapping.madvise(mmap.MADV_DONTNEED)


def blocks(rows: int) -> Iterator[slice]:
    """Blocks of at most ROWS_AT_ONCE rows each, one after another."""
    for first in range(0, rows, ROWS_AT_ONCE):
        yield slice(first, min(rows, first + ROWS_AT_ONCE))


def column(table: Table, name: str) -> Array:
    """A field of all rows as an array of its own, shape (rows,): as little of the table as need be is in memory."""
    return columns(table, name)[0]


def columns(table: Table, *names: str) -> list[Array]:
    """Some fields of all rows, read at once, as `column`."""
    if mapping_of(table) is None:
        return [np.ascontiguousarray(table[name]) for name in names]
    arrays = [np.empty(len(table), table.dtype[name]) for name in names]
    for rows in blocks(len(table)):
        for name, values in zip(names, arrays, strict=True):
            values[rows] = table[name][rows]
        forget_pages(table)
    return arrays
