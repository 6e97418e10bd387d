"""Lines of KEY = VALUE, with a blank line or a line of stars between jobs: HTCondor's ClassAds, as
`condor_history -long` prints them and its history files keep them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column, Source, Table
from cluster_abm.workload.traces.layouts.text_rows import block_of, checked, lines_of, refuse_positions

BETWEEN = ("***", "-- ")  # begin the line between two jobs of a history file, and what is printed before the jobs
NOT_KNOWN = ("undefined", "error")
_ESCAPED = re.compile(r"\\(.)")
NO_PAIR = "a line that is not KEY = VALUE"


def read(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table in a file of text, a job a row; keys are the same in small and large letters.

    Raises InputError: empty, no text, a column by its position, no row that can be read.
    """
    refuse_positions(needed, source.where)
    return Table(None, checked(_blocks(lines_of(source, layout.remark), needed), source.where))


def _blocks(blocks: Iterator[list[str]], needed: tuple[Column, ...]) -> Iterator[CellBlock]:
    keys = [str(column).lower() for column in needed]
    wanted = set(keys)
    job: dict[str, str] = {}
    begun = whole = False
    rows: list[list[str | None]] = []
    wrong: Counter[str] = Counter()

    def end() -> None:
        nonlocal begun
        if begun and whole:
            rows.append([_value(job.get(key)) for key in keys])
        elif begun:
            wrong[NO_PAIR] += 1
        begun = False

    for lines in blocks:
        for line in lines:
            if not line.strip() or line.startswith(BETWEEN):
                end()
                continue
            if not begun:
                begun, whole, job = True, True, {}
            key, sign, value = line.partition("=")
            if not sign:
                whole = False
            elif (small := key.strip().lower()) in wanted:
                job[small] = value.strip()
        yield block_of(rows, needed, wrong)
        rows, wrong = [], Counter()
    end()
    if rows or wrong:
        yield block_of(rows, needed, wrong)


def _value(text: str | None) -> str | None:
    """A value as a cell: a text without its quotes, None if it is not known."""
    if text is None or text.lower() in NOT_KNOWN:
        return None
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _ESCAPED.sub(r"\1", text[1:-1])
    return text
