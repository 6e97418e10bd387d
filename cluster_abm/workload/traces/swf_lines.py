"""The lines of an SWF log: the fields in use as columns, and what the header says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.workload.lines import Lines
from cluster_abm.workload.problems import Problems
from cluster_abm.workload.traces.gathering import NumberColumn
from cluster_abm.workload.traces.table import LARGEST_WHOLE, LONGEST_MS, Floats, number

FIELDS = 18
USED = {  # position in the line, from 0
    "job number": 0,
    "submit time": 1,
    "run time": 3,
    "allocated processors": 4,
    "average CPU time": 5,
    "used memory": 6,
    "requested processors": 7,
    "requested time": 8,
    "status": 10,
}
WHOLE = ("allocated processors", "requested processors")
LONGEST_S = LONGEST_MS / 1000.0
LONGEST_HEADER = 16_000_000  # bytes
HEADER_LINE = re.compile(r"([A-Za-z]\w*):(?:\s+(.*))?$")
SPACES = np.isin(np.arange(256), list(b" \t\n\r\v\f"))
LINE_END = ord("\n")


class Log(NamedTuple):
    """The fields in use, each of shape (rows,), how many lines have more than 18, and the header."""

    columns: dict[str, Floats]
    longer: int
    header: dict[str, str]


class _Rows(NamedTuple):
    """Cells of the fields in use, the line each row stands on, and how many lines there are in all."""

    cells: Sequence[Sequence[bytes]]
    lines: Sequence[int]
    all_lines: int


def read_log(lines: Lines) -> Log:
    """The log that these lines are.

    Raises:
        InputError: lines cut short or not numeric (the first ten), a header that has no end.
    """
    columns = {name: NumberColumn() for name in USED}
    header = _Header(lines.where)
    problems = Problems(lines.where)
    longer, before = 0, 0
    for block in lines:
        blank = lines.blank(block)
        if blank:
            before += blank
            continue
        rows = _regular(block, before)
        if rows is None:
            rows, more = _one_by_one(block, before, header, problems)
            longer += more
        # Below the first job remarks belong to no header.
        header.is_open = header.is_open and not rows.lines
        before += rows.all_lines
        for name, cells in zip(USED, rows.cells, strict=False):
            values = _values(cells)
            _note_wrong(name, values, cells, rows.lines, problems)
            columns[name].extend(values)
    problems.refuse()
    found = {name: column.column() for name, column in columns.items()} if not header.is_open else {}
    return Log(found, longer, header.keys())


class _Header:
    """Remarks above the first job."""

    def __init__(self, where: str) -> None:
        self.is_open = True
        self._where, self._bytes = where, 0
        self._remarks: list[bytes] = []

    def add(self, remark: bytes) -> None:
        """Note one; empty ones say nothing."""
        if remark:
            self._bytes += len(remark)
            if self._bytes > LONGEST_HEADER:
                raise InputError(f"{self._where}: its header is longer than {LONGEST_HEADER:,} bytes")
            self._remarks.append(remark)

    def keys(self) -> dict[str, str]:
        """`; Key: value` lines; repeated keys and continued values are joined by line breaks."""
        try:
            remarks = [remark.decode() for remark in self._remarks]
        except UnicodeDecodeError:
            # Old logs name people in their header; the rest is numbers.
            remarks = [remark.decode("latin-1") for remark in self._remarks]
        values: dict[str, list[str]] = {}
        key = ""
        for remark in remarks:
            match = HEADER_LINE.match(remark)
            if match:
                key = match.group(1)
                values.setdefault(key, []).append((match.group(2) or "").strip())
            elif key:
                values[key].append(remark)
        return {key: "\n".join(parts) for key, parts in values.items()}


def _regular(block: bytes, before: int) -> _Rows | None:
    """The rows of a block that has no remark, no blank line, and 18 fields in each line."""
    if b";" in block or b"_" in block or block.count(b"\r") != block.count(b"\r\n"):
        return None
    if not block.endswith(b"\n"):
        block += b"\n"
    marks = np.frombuffer(block, np.uint8)
    blank = SPACES[marks]
    begins = ~blank
    begins[1:] &= blank[:-1]
    fields = np.diff(np.cumsum(begins)[marks == LINE_END], prepend=0)
    if (fields != FIELDS).any():
        return None
    words = block.split()
    cells = [words[place::FIELDS] for place in USED.values()]
    return _Rows(cells, range(before + 1, before + len(fields) + 1), len(fields))


def _one_by_one(block: bytes, before: int, header: _Header, problems: Problems) -> tuple[_Rows, int]:
    """The rows of any block, and how many of them have more than 18 fields."""
    pick = itemgetter(*USED.values())
    rows: list[tuple[bytes, ...]] = []
    lines: list[int] = []
    cut: list[tuple[int, int]] = []
    longer = 0
    contents = block.splitlines()
    for line, content in enumerate(contents, start=before + 1):
        data, mark, remark = content.partition(b";")
        cells = data.split()
        if not cells:
            if mark and not rows and header.is_open:
                header.add(remark.strip())
        elif len(cells) < FIELDS:
            cut.append((line, len(cells)))
        else:
            longer += len(cells) > FIELDS
            rows.append(pick(cells))
            lines.append(line)
    problems.add_rows(
        range(len(cut)),
        [line for line, _ in cut],
        lambda place: f"{cut[place][1]} fields (cut off?): allowed: {FIELDS} numbers",
    )
    return _Rows(list(zip(*rows, strict=True)), lines, len(contents)), longer


def _values(cells: Sequence[bytes]) -> Floats:
    try:
        if b"_" not in b"".join(cells):
            return np.fromiter(map(float, cells), float, len(cells))
    except ValueError:
        pass
    return np.fromiter((number(cell.decode("latin-1")) for cell in cells), float, len(cells))


def _note_wrong(name: str, values: Floats, cells: Sequence[bytes], lines: Sequence[int], problems: Problems) -> None:
    """Note each cell that is no number, too large, or broken where it must be whole."""
    whole = name in WHOLE
    high = LARGEST_WHOLE if whole else LONGEST_S
    wrong = ~np.isfinite(values) | (values > high)
    if whole:
        wrong |= values != np.floor(values)
    kind = "a whole number" if whole else "a number"
    problems.add_rows(
        np.flatnonzero(wrong).tolist(),
        lines,
        lambda row: (
            f"{name} = {cells[row].decode('utf-8', 'replace')[:40]!r}: allowed: {kind} up to {high:.12g}, "
            "-1 if not known"
        ),
    )
