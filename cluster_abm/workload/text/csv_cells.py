"""A table as text with a header line, read in blocks: its cells by column, and the line that each row begins on."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from cluster_abm.bounded_files import BLOCK
from cluster_abm.errors import InputError
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.text.problems import Problems

if TYPE_CHECKING:
    from _csv import Reader

MOST_COLUMNS = 100
LINE_END, QUOTE = b'\n"'
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}


@dataclass(frozen=True)
class Rows:
    """Some rows of a CSV: each column's cells, and the line of the file that each row begins on."""

    cells: dict[str, Sequence[str]]
    lines: Sequence[int]


class CsvCells:
    """A table, usually CSV, of which the header is read at once, the rows as they are asked for.

    Raises InputError: empty file, broken quotes, a column named twice.

    Args:
        kind: what a row is, for messages.
        remarks: what begins with # is left out, and so are spaces before a cell.
        between: what stands between cells, one of SEPARATORS.
        quoted: whether quotes enclose cells, or are like any other character.
        names: the columns of a file without a header line.
        cut: whether rows may have more cells than there are columns; these are passed over.

    Attributes:
        where: the file's name.
        names: the columns.
        problems: rows of a wrong width, as far as the file is read.
        rows: how many rows of the right width came.
        blank_lines: how many lines hold nothing.
        longer: how many rows were cut.
    """

    def __init__(
        self,
        lines: Lines,
        kind: str = "job",
        remarks: bool = False,
        between: str = ",",
        quoted: bool = True,
        names: Sequence[str] = (),
        cut: bool = False,
    ) -> None:
        self.where, self._kind, self._between, self._quoted = lines.where, kind, between, quoted
        self.problems = Problems(lines.where)
        self.rows = self.blank_lines = self.longer = 0
        self._lines, self._remarks, self._cut = lines, remarks, cut
        self._blocks = iter(lines)
        self._block_number = self._row_block = 0
        self._line = 1
        self._current, self._current_end = io.StringIO(), 0
        self.names = list(names)
        self._said = "there are" if names else "the header names"
        if not names:
            self._read_header()

    def _read_header(self) -> None:
        first = next((block for block in self._blocks if not self._skipped(block)), b"")
        before = self._line - 1
        reader = self._reader(chain([first], self._blocks))
        for row in self._checked(reader):
            self._line, self._row_block = before + reader.line_num + 1, self._block_number
            if len(row) > 1 or (row and row[0].strip()):
                self.names = [name.strip() for name in row]
                break
            self.blank_lines += 1
        if not self.names:
            raise InputError(
                f"{self.where}: empty; allowed: a header line naming the columns, then a {self._kind} a line"
            )
        if len(self.names) > MOST_COLUMNS:
            raise InputError(
                f"{self.where}, line 1: {len(self.names):,} columns: allowed up to {MOST_COLUMNS}, named and separated "
                f"by {SEPARATORS[self._between]}"
            )
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            listed = ", ".join(repr(name[:60]) for name in twice)
            raise InputError(f"{self.where}, line 1: column named more than once: {listed}")

    def __iter__(self) -> Iterator[Rows]:
        """The rows, some at a time. Raises InputError: broken quotes, a row that is too long, or no row at all."""
        rest = self._current.read().encode()
        blocks = chain([rest] if rest else [], self._blocks)
        for block in blocks:
            if self._skipped(block):
                continue
            rows = self._regular(block)
            if rows is not None:
                yield rows
            else:
                # A quote may span blocks: as many are taken as its rows need.
                yield from self._one_by_one(chain([block], blocks))
        if not self.rows and not self.problems:
            raise InputError(f"{self.where}: no {self._kind}, only a header line")

    def _skipped(self, block: bytes) -> bool:
        """Whether a block has blank lines only, which are counted then."""
        blank = self._lines.blank(block)
        self.blank_lines += blank
        self._line += blank
        return blank > 0

    def _regular(self, block: bytes) -> Rows | None:
        """The rows of a block without remarks or blank lines in which each has the right width, and no quote is needed.

        Spaces before a cell may stay: where they are left out, all cells are stripped anyway.
        """
        width = len(self.names)
        if width == 1 or (self._remarks and b"#" in block):
            return None
        text = self._lines.text(block)
        if b"\r" in block:
            block, text = block.replace(b"\r\n", b"\n"), text.replace("\r\n", "\n")
        if b"\r" in block:
            return None
        if not block.endswith(b"\n"):
            block, text = block + b"\n", text + "\n"
        divider = ord(self._between)
        if self._quoted and b'"' in block:
            if not _quotes_are_idle(block, divider):
                return None
            block, text = block.replace(b'"', b""), text.replace('"', "")
        marks = np.frombuffer(block, np.uint8)
        marks = marks[(marks == divider) | (marks == LINE_END)]
        if len(marks) % width:
            return None
        table = marks.reshape(-1, width)
        if not ((table[:, :-1] == divider).all() and (table[:, -1] == LINE_END).all()):
            return None
        cells = text.replace("\n", self._between).split(self._between)
        lines = range(self._line, self._line + len(table))
        self._line += len(table)
        self.rows += len(table)
        return Rows({name: cells[position:-1:width] for position, name in enumerate(self.names)}, lines)

    def _one_by_one(self, blocks: Iterable[bytes]) -> Iterator[Rows]:
        """The rows of the first block, and of as many more as a quote in it spans."""
        width = len(self.names)
        before = self._line - 1
        reader = self._reader(blocks)
        rows: list[list[str]] = []
        lines: list[int] = []
        wrong: list[tuple[int, int]] = []
        self._row_block = self._block_number
        for row in self._checked(reader, before):
            if len(row) == width or (self._cut and len(row) > width):
                self.longer += len(row) > width
                rows.append(row[:width])
                lines.append(self._line)
            elif not row:
                self.blank_lines += 1
            else:
                wrong.append((self._line, len(row)))
            self._line = before + reader.line_num + 1
            self._row_block = self._block_number
            if self._current.tell() == self._current_end:
                break
        self.problems.add_rows(
            range(len(wrong)),
            [line for line, _ in wrong],
            lambda position: f"{wrong[position][1]} values where {self._said} {width} columns (cut off?)",
        )
        if rows:
            self.rows += len(rows)
            yield Rows(dict(zip(self.names, zip(*rows, strict=True), strict=True)), lines)

    def _reader(self, blocks: Iterable[bytes]) -> Reader:
        texts = chain.from_iterable(map(self._text_lines, blocks))
        return csv.reader(
            texts,
            strict=True,
            skipinitialspace=self._remarks,
            delimiter=self._between,
            quoting=csv.QUOTE_MINIMAL if self._quoted else csv.QUOTE_NONE,
        )

    def _text_lines(self, block: bytes) -> Iterable[str]:
        self._block_number += 1
        if self._block_number > self._row_block + 2:
            raise InputError(
                f"{self.where}, line {self._line}: a row of more than {BLOCK:,} bytes (a quote that is never closed?)"
            )
        text = self._lines.text(block)
        self._current, self._current_end = io.StringIO(text, newline=""), len(text)
        return map(_without_remark, self._current) if self._remarks else self._current

    def _checked(self, reader: Reader, before: int = 0) -> Iterator[list[str]]:
        try:
            yield from reader
        except csv.Error as problem:
            raise InputError(
                f"{self.where}, line {self._line}: not CSV: {problem} (a quote that is never closed?)"
            ) from None


def _quotes_are_idle(block: bytes, divider: int) -> bool:
    """Whether every quote encloses a whole cell in which nothing needs it: the rows are the same without them."""
    marks = np.frombuffer(b"\n" + block, np.uint8)
    at = np.flatnonzero(marks == QUOTE)
    if len(at) % 2:
        return False
    begins, ends = marks[at[::2] - 1], marks[at[1::2] + 1]
    dividers = (divider, LINE_END)
    if not (np.isin(begins, dividers).all() and np.isin(ends, dividers).all()):
        return False
    # Dividers between the two quotes of a cell: as many up to its end as up to its beginning.
    before = np.cumsum(np.isin(marks, dividers), dtype=np.int32)
    return bool((before[at[::2]] == before[at[1::2]]).all())


def _without_remark(line: str) -> str:
    """The line up to a #, unless that may stand within quotes; nothing of a line of spaces."""
    if "#" in line and ('"' not in line or line.lstrip().startswith("#")):
        line = line.partition("#")[0]
    return "" if line.isspace() else line
