"""Cells with any number of blanks or tabs between them, a row a line: GWF, SWF, and what programs print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column, Source, Table
from cluster_abm.workload.traces.layouts.table import place_of
from cluster_abm.workload.traces.layouts.text_rows import block_of, checked, named


def read(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table in a file of text; rows with another number of cells than the first or the names are counted as wrong.

    Raises InputError: empty, no text, a needed column that is not there, no row that can be read.
    """
    names, width, lines = named(source, layout, str.split)
    width = len(names) or width
    places = [place_of(column, names, width, source.where) for column in needed]
    return Table(names, checked(_blocks(lines, needed, places, width), source.where))


def _blocks(
    blocks: Iterator[list[str]], needed: tuple[Column, ...], places: list[int], width: int
) -> Iterator[CellBlock]:
    for lines in blocks:
        rows, wrong = [], Counter[str]()
        for line in lines:
            cells = line.split()
            if len(cells) == width:
                rows.append([cells[place] for place in places])
            else:
                wrong[f"{len(cells)} cells where {width} are expected"] += 1
        yield block_of(rows, needed, wrong)
