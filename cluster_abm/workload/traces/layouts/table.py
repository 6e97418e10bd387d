"""Cells with a separator between them, a row a line: CSV, TSV and the like, read by pyarrow."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.text.lines import BYTE_ORDER_MARK
from cluster_abm.workload.traces.layouts.blocks import BlockFile, CellBlock, Column, Source, Table

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 2**23  # bytes that become one block of rows
LONGEST_HEAD = 2**20  # bytes in which the first two lines must end
MOST_COLUMNS = 100_000


def read(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table in a file of text; rows with another number of cells than the first are counted as wrong.

    Raises InputError: empty, no text, a needed column that is not there, broken quotes.
    """
    separator = layout.separator or ","
    blocks = _without_remarks(source.blocks, layout.remark.encode()) if layout.remark else source.blocks
    names, width, body = _names(blocks, layout, source.where)
    places = {column: place_of(column, names, width, source.where) for column in needed}
    return Table(names, _blocks(body, places, width, separator, layout.quoted, source.where))


def place_of(column: Column, names: tuple[str, ...], width: int, where: str) -> int:
    """The position from 0 of a column. Raises InputError: the table has none such."""
    if isinstance(column, int):
        if column > width:
            raise InputError(f"{shown(where)}: column {column} is not there: allowed 1 to {width}")
        return column - 1
    places = _places(column, names)
    if len(places) == 1:
        if places[0] >= width:
            raise InputError(
                f"{shown(where)}: column {column[:60]!r} is number {places[0] + 1}: the first row has {width} cells"
            )
        return places[0]
    listed = ", ".join(names)
    raise InputError(
        f"{shown(where)}: column {column[:60]!r} is not there; there are: {listed[:300] or f'{width} without names'}"
    )


def _places(column: str, names: Sequence[str]) -> list[int]:
    """Which columns have a name: the first that has it to the letter, else those that have it but for their case, else
    those that have it before something in parentheses: "Down Time" is "Down Time (min)"."""
    if column in names:
        return [names.index(column)]
    wanted, there = column.lower(), [name.lower() for name in names]
    alike = [place for place, name in enumerate(there) if name == wanted]
    return alike or [place for place, name in enumerate(there) if name.startswith(f"{wanted} (")]


def names_all(line: str, layout: TableLayout, needed: Sequence[Column]) -> bool:
    """Whether a line names each column that is needed by its name; False as well if none is.

    Args:
        layout: says what stands between the cells.
    """
    try:
        names = line.split() if layout.kind == "blanks" else _cells(line, layout)
    except csv.Error:
        return False
    names = [name.strip() for name in names]
    wanted = [column for column in needed if isinstance(column, str)]
    return bool(wanted) and all(len(_places(column, names)) == 1 for column in wanted)


def _cells(line: str, layout: TableLayout) -> list[str]:
    """The cells of one line. Raises csv.Error: its quotes are broken."""
    quoting: Any = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    return next(csv.reader([line], delimiter=layout.separator or ",", quoting=quoting), [])


def _names(blocks: Iterator[bytes], layout: TableLayout, where: str) -> tuple[tuple[str, ...], int, Iterator[bytes]]:
    """The names of the columns, how many cells a row has, and the bytes of the rows."""
    head = b""
    for block in blocks:
        head += block
        if head.count(b"\n") > 2 or len(head) > LONGEST_HEAD:
            break
    head = head.removeprefix(BYTE_ORDER_MARK)
    if not head.strip():
        raise InputError(f"{shown(where)}: empty")
    head = head.lstrip(b"\r\n")
    first, second, body = _two_lines(head, layout, where)
    if layout.header:
        names, widest = tuple(name.strip() for name in first), max(len(first), len(second))
    else:
        names, widest, body = layout.names, len(first), head
    return names, widest, chain([body], blocks)


def _two_lines(head: bytes, layout: TableLayout, where: str) -> tuple[list[str], list[str], bytes]:
    """The cells of the first two lines, and what stands behind the first."""
    if b"\n" not in head:
        head = head.replace(b"\r", b"\n")
    line, _, rest = head.partition(b"\n")
    second = rest.lstrip(b"\r\n").partition(b"\n")[0]
    try:
        texts = [one.rstrip(b"\r").decode() for one in (line, second)]
    except UnicodeDecodeError as problem:
        raise InputError(f"{shown(where)}: no text in UTF-8 at byte {problem.start}") from None
    try:
        cells = [_cells(text, layout) for text in texts]
    except csv.Error as problem:
        raise InputError(f"{shown(where)}: not a table: {problem}") from None
    if len(cells[0]) > MOST_COLUMNS:
        raise InputError(f"{shown(where)}: {len(cells[0]):,} columns: allowed up to {MOST_COLUMNS:,}")
    return cells[0], cells[1], rest


def _blocks(
    body: Iterator[bytes], places: dict[Column, int], width: int, separator: str, quoted: bool, where: str
) -> Iterator[CellBlock]:
    import pyarrow as pa
    from pyarrow import csv as reader

    wrong: list[tuple[int, str]] = []  # rows of another width that no block has counted yet

    def note(row: Any) -> str:
        wrong.append((row.number, f"{row.actual_columns} cells where {row.expected_columns} are expected"))
        return "skip"

    labels = [str(place) for place in range(width)]
    wanted = [labels[place] for place in dict.fromkeys(places.values())] or labels[:1]
    file = _nonempty(_checked(body, where))
    if file is None:
        raise InputError(f"{shown(where)}: no row, only a header line")
    try:
        batches = reader.open_csv(
            file,
            # Without threads pyarrow says which rows are of another width.
            reader.ReadOptions(block_size=BLOCK, column_names=labels, use_threads=False),
            reader.ParseOptions(
                delimiter=separator,
                quote_char='"' if quoted else False,
                newlines_in_values=quoted,
                invalid_row_handler=note,
            ),
            reader.ConvertOptions(
                include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()), strings_can_be_null=False
            ),
        )
        before = 0
        while True:
            try:
                batch = batches.read_next_batch()
            except StopIteration:
                break
            block = _block(batch, places, wrong, before)
            before += block.rows
            yield block
        if wrong:
            yield CellBlock({}, len(wrong), dict(Counter(reason for _, reason in wrong)))
    except pa.ArrowInvalid as problem:
        raise InputError(f"{shown(where)}: cannot be read as a table: {_said(problem)}") from None


def _block(batch: pa.RecordBatch, places: dict[Column, int], wrong: list[tuple[int, str]], before: int) -> CellBlock:
    """The rows of a batch, and those of another width between them, which go out of the list.

    Args:
        wrong: rows by their numbers from 1; those behind the batch, which pyarrow has read ahead, stay.
        before: rows of the table in earlier blocks.
    """
    here, numbers = 0, []
    for number, _ in wrong:
        # Between `before` and the row stand the rows of the batch up to it, and the wrong ones found so far.
        if number - before - 1 - here >= batch.num_rows:
            break
        numbers.append(number - before - 1)
        here += 1
    between = np.array(numbers, np.int64)
    reasons = Counter(reason for _, reason in wrong[:here])
    del wrong[:here]
    rows = batch.num_rows + here
    return CellBlock(
        {column: batch.column(str(place)) for column, place in places.items()},
        rows,
        dict(reasons),
        np.delete(np.arange(rows), between) if here else None,
    )


def _nonempty(body: Iterator[bytes]) -> BlockFile | None:
    """The rows as a file; None if there is none."""
    for block in body:
        if block.strip():
            return BlockFile(chain([block], body))
    return None


def _checked(body: Iterator[bytes], where: str) -> Iterator[bytes]:
    """The blocks. Raises InputError where they are no UTF-8: pyarrow says it of whole columns, and of no row."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = 0
    for block in body:
        # Most blocks are ASCII, and that test is faster than decoding them.
        if decoder.getstate()[0] or not block.isascii():
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                raise InputError(
                    f"{shown(where)}: no text in UTF-8 between bytes {read:,} and {read + len(block):,}"
                ) from None
        read += len(block)
        yield block


def _without_remarks(blocks: Iterator[bytes], mark: bytes) -> Iterator[bytes]:
    """The blocks without the lines that begin with a mark."""
    rest = b""
    for block in blocks:
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        yield b"".join(line + b"\n" for line in lines if not line.lstrip().startswith(mark))
    if rest and not rest.lstrip().startswith(mark):
        yield rest


def _said(problem: Exception) -> str:
    """What pyarrow says, on one line, and what is the usual reason."""
    text = " ".join(str(problem).split())[:200]
    return f"{text} (a quote that is never closed?)" if "straddl" in text or "out of sync" in text else text
