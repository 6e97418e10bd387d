"""Cells, some of which say how many cells follow, a row a line: LSF's lsb.acct, and Grid Engine's accounting.

Between cells stand blanks, or the layout's separator. A row may end behind its lists, or have more cells than there
are names: each version of such a program appends some. A name NAME[OTHER] is a list of as many cells as the cell OTHER
says, NAME[6*OTHER] of six times as many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column, Source, Table
from cluster_abm.workload.traces.layouts.table import place_of
from cluster_abm.workload.traces.layouts.text_rows import block_of, checked, named

_CELL = re.compile(r'"[^"]*(?:""[^"]*)*"|\S+')
_LIST = re.compile(r"(.+)\[(?:(\d{1,3})\*)?([^\[\]*]+)\]")
NOT_CLOSED, NO_COUNT, CUT_OFF = "a quote that is not closed", "a count that is no number", "ends within its lists"


@dataclass(frozen=True)
class _Listed:
    """A name that stands for several cells."""

    place: int  # among the names
    counted_by: int  # the place of the name whose cell says how many
    times: int


def read(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table in a file of text; a list is its entries with blanks between.

    Raises InputError: empty, no text, a needed column that is not there, no row that can be read.
    """
    cells_of = _splitter(layout)
    named_so, width, lines = named(source, layout, cells_of)
    names, lists = _lists([_plain(name) for name in named_so], source.where)
    places = [
        column - 1 if isinstance(column, int) else place_of(column, names, max(width, len(names)), source.where)
        for column in needed
    ]
    rows = _Rows(lists, places, [isinstance(column, int) for column in needed])
    return Table(names, checked(_blocks(lines, needed, rows, cells_of, layout.quoted), source.where))


def _splitter(layout: TableLayout) -> Callable[[str], list[str]]:
    """What makes cells of a line; of those in quotes the quotes stay."""
    if layout.separator is None:
        return _CELL.findall if layout.quoted else str.split
    separator = layout.separator
    if not layout.quoted:
        return lambda line: line.split(separator)
    cell = re.compile(rf'(?:^|{re.escape(separator)})("[^"]*(?:""[^"]*)*"|[^{re.escape(separator)}]*)')
    return cell.findall


def _lists(names: Sequence[str], where: str) -> tuple[tuple[str, ...], tuple[_Listed, ...]]:
    """The names without brackets, and which of them are lists."""
    plain: list[str] = []
    lists = []
    for place, name in enumerate(names):
        match = _LIST.fullmatch(name)
        if match is not None:
            name, times, other = match.groups()
            if other not in plain:
                raise InputError(
                    f"{shown(where)}: file.names: {names[place][:60]!r}: allowed within []: a name before it"
                )
            lists.append(_Listed(place, plain.index(other), int(times or 1)))
        plain.append(name)
    return tuple(plain), tuple(lists)


class _Rows:
    """Finds the cells of the needed columns in a line.

    Args:
        places: of the needed columns, among the names, or in the line itself.
        direct: which of them are in the line itself.
    """

    def __init__(self, lists: tuple[_Listed, ...], places: list[int], direct: list[bool]) -> None:
        self._lists = lists
        self._wanted = list(zip(places, direct, strict=True))

    def row(self, cells: list[str]) -> list[str | None] | str:
        """The needed cells; or, as a text, why the line cannot be read."""
        spans = self._spans(cells) if self._lists else []
        if isinstance(spans, str):
            return spans
        found: list[str | None] = []
        for place, direct in self._wanted:
            begin, count = (place, 1) if direct else _position(place, spans)
            if count == 1:
                found.append(_plain(cells[begin]) if begin < len(cells) else None)
            else:
                found.append(" ".join(map(_plain, cells[begin : begin + count])))
        return found

    def _spans(self, cells: list[str]) -> list[tuple[int, int]] | str:
        """Of each list its place among the names, and how many cells it has."""
        spans: list[tuple[int, int]] = []
        for one in self._lists:
            counted_by, _ = _position(one.counted_by, spans)
            if counted_by >= len(cells):
                return CUT_OFF
            said = cells[counted_by]
            if not (said.isascii() and said.isdigit() and len(said) < 8):
                return NO_COUNT
            count = int(said) * one.times
            begin, _ = _position(one.place, spans)
            if begin + count > len(cells):
                return CUT_OFF
            spans.append((one.place, count))
        return spans


def _position(place: int, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Where the cells of a name begin in a line, and how many there are."""
    begin = place
    for at, count in spans:
        if at == place:
            return begin, count
        if at < place:
            begin += count - 1
    return begin, 1


def _plain(cell: str) -> str:
    """A cell without its quotes."""
    return cell[1:-1].replace('""', '"') if cell[:1] == '"' and cell[-1:] == '"' and len(cell) > 1 else cell


def _blocks(
    blocks: Iterator[list[str]],
    needed: tuple[Column, ...],
    rows: _Rows,
    cells_of: Callable[[str], list[str]],
    quoted: bool,
) -> Iterator[CellBlock]:
    for lines in blocks:
        found, wrong = [], Counter[str]()
        for line in lines:
            row = NOT_CLOSED if quoted and line.count('"') % 2 else rows.row(cells_of(line))
            if isinstance(row, str):
                wrong[row] += 1
            else:
                found.append(row)
        yield block_of(found, needed, wrong)
