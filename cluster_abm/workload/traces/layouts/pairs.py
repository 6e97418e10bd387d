"""Cells with a separator between them, the last of which holds KEY=VALUE pairs, a row a line: PBS's accounting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column, Source, Table
from cluster_abm.workload.traces.layouts.text_rows import block_of, checked, lines_of

SEPARATOR = ";"
# A value may stand in quotes, with blanks in it.
_QUOTED = re.compile(r'([^\s=]+)=("[^"]*"(?!\S)|\S*)')


def read(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table in a file of text; the layout's names are those of the cells before the pairs.

    Raises InputError: empty, no text, a position that is no cell before the pairs, no row that can be read.
    """
    before = len(layout.names)
    for column in needed:
        if isinstance(column, int) and column > before:
            raise InputError(
                f"{shown(source.where)}: column {column}: allowed: 1 to {before}, which the layout names, or the key "
                "of a pair"
            )
    blocks = _blocks(lines_of(source, layout.remark), layout, needed)
    return Table(None, checked(blocks, source.where))


def _blocks(blocks: Iterator[list[str]], layout: TableLayout, needed: tuple[Column, ...]) -> Iterator[CellBlock]:
    separator, before = layout.separator or SEPARATOR, len(layout.names)
    places = {name: place for place, name in enumerate(layout.names)}
    sources = [column - 1 if isinstance(column, int) else places.get(column, column) for column in needed]
    for lines in blocks:
        rows, wrong = [], Counter[str]()
        for line in lines:
            if not line.strip():
                continue
            cells = line.split(separator, before)
            if len(cells) <= before:
                wrong[f"{len(cells)} cells where {before + 1} are expected"] += 1
                continue
            pairs = _pairs(cells[before])
            rows.append([cells[one] if isinstance(one, int) else pairs.get(one) for one in sources])
        yield block_of(rows, needed, wrong)


def _pairs(text: str) -> dict[str, str]:
    """The pairs of a cell; what is none is passed over."""
    if '"' in text:
        return {key: value.strip('"') for key, value in _QUOTED.findall(text)}
    return dict(pair.split("=", 1) for pair in text.split() if "=" in pair)
