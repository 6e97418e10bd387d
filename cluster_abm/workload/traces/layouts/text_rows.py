"""What the layouts of text share: lines some at a time, which column stands where, and cells as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column, Source

if TYPE_CHECKING:
    import pyarrow as pa

IN_VAIN = 1_000_000  # rows without one that can be read, after which a file is given up


def lines_of(source: Source, remark: str = "") -> Iterator[list[str]]:
    """All lines without their ends, some at a time; lines that begin with a remark's mark are left out.

    Bytes that are not UTF-8 become a question mark: commands of users are in any encoding, and are not read.

    Raises InputError: empty, no text, a line that is too long.
    """
    for block in Lines(source.blocks, source.where):
        text = block.decode(errors="replace")
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.removesuffix("\n").split("\n")
        yield [line for line in lines if not line.lstrip().startswith(remark)] if remark else lines


def named(
    source: Source, layout: TableLayout, cells_of: Callable[[str], list[str]]
) -> tuple[tuple[str, ...], int, Iterator[list[str]]]:
    """The columns' names by the header or the layout, how many cells the first line has, and the lines of rows.

    Raises InputError: no line but remarks.

    Args:
        cells_of: the cells of a line.
    """
    blocks = filter(None, ([line for line in lines if line.strip()] for lines in lines_of(source, layout.remark)))
    first = next(blocks, None)
    if first is None:
        raise InputError(f"{shown(source.where)}: only remarks: allowed: rows behind them")
    if layout.header and not layout.names:
        names = tuple(cells_of(first[0]))
        return names, len(names), chain([first[1:]], blocks)
    return layout.names, len(cells_of(first[0])), chain([first], blocks)


def text_column(cells: Sequence[str | None]) -> pa.Array:
    """A column of texts."""
    import pyarrow as pa

    return pa.array(cells, pa.string())


def block_of(rows: Sequence[Sequence[str | None]], needed: Sequence[Column], wrong: Counter[str]) -> CellBlock:
    """A block of rows that hold the cells of the needed columns; `wrong` counts those that are not among them."""
    columns = zip(*rows, strict=True) if rows else [()] * len(needed)
    made = {column: text_column(cells) for column, cells in zip(needed, columns, strict=False)}
    return CellBlock(made, len(rows) + sum(wrong.values()), dict(wrong))


def checked(blocks: Iterator[CellBlock], where: str) -> Iterator[CellBlock]:
    """The same blocks. Raises InputError: no row can be read, of the whole file or of its first IN_VAIN ones."""
    wrong: Counter[str] = Counter()
    rows = 0
    for block in blocks:
        rows += block.rows
        wrong.update(block.wrong)
        yield block
        if rows == sum(wrong.values()) > IN_VAIN:
            break
    if rows == sum(wrong.values()):
        said = "; ".join(f"{reason} ({count:,})" for reason, count in wrong.most_common(3))
        raise InputError(f"{shown(where)}: no row can be read: {said or 'there is none'}")


def refuse_positions(needed: Sequence[Column], where: str) -> None:
    """Raise InputError for a column asked for by its position, where each row names its own."""
    for column in needed:
        if isinstance(column, int):
            raise InputError(f"{shown(where)}: column {column}: each row names its columns: allowed: names")
