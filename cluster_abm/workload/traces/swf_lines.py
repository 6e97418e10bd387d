"""The lines of an SWF log: the fields in use as columns, and what the header says."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.errors import InputError
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.text.problems import SHOWN_PROBLEMS, Problems
from cluster_abm.workload.traces.gathering import NumberColumn
from cluster_abm.workload.traces.parts.fields import LARGEST_COUNT
from cluster_abm.workload.traces.swf_scan import PLAIN, POWERS, scan_lines
from cluster_abm.workload.traces.table import LARGEST_WHOLE, LONGEST_MS, number

FIELDS = 18
USED = {  # position in the line, from 0
    "job number": 0,
    "submit time": 1,
    "wait time": 2,
    "run time": 3,
    "allocated processors": 4,
    "average CPU time": 5,
    "used memory": 6,
    "requested processors": 7,
    "requested time": 8,
    "status": 10,
    "user": 11,
    "group": 12,
    "preceding job": 16,
}
WHOLE = ("allocated processors", "requested processors")
# Read where preceding jobs are followed.
THINK_TIME = {"think time": 17}
# Only names: any number will do.
NAMES = ("job number", "preceding job", "user", "group")
MEMORY = ("used memory", "requested memory")
# Requests that stand for "as much as there is" in real logs: the largest numbers of 31 and 32 bits.
REQUESTS = ("requested time", "requested processors", "requested memory")
NO_REQUEST = (2.0**31 - 1, 2.0**32 - 1)
LONGEST_S = LONGEST_MS / 1000.0
# Submit times count from the log's begin. A first one of 16 years and more is a Unix time; from UNIX_END on they would
# be milliseconds.
UNIX_S, UNIX_END = 5e8, 1e11
LONGEST_HEADER = 16_000_000  # bytes
HEADER_LINE = re.compile(r"([A-Za-z]\w*):(?:\s+(.*))?$")
# Read instead of the used memory, where a scenario wants that.
REQUESTED_MEMORY = {"requested memory": 9}


def stands_for_all(requests: Floats) -> Flags:
    """Which requests are one of NO_REQUEST, shape as `requests`."""
    return (requests == NO_REQUEST[0]) | (requests == NO_REQUEST[1])


def value_rows(used: Mapping[str, int]) -> Integers:
    """For each field of a line its row among those in use, -1 for the others, shape (18,)."""
    rows = np.full(FIELDS, -1, np.int64)
    rows[list(used.values())] = range(len(used))
    return rows


VALUE_ROWS = value_rows(USED)


class SwfLog(NamedTuple):
    """The lines of a log."""

    columns: dict[str, Floats]  # the fields in use, shape (rows,) each
    longer: int  # how many lines have more than 18
    header: dict[str, str]  # what it says
    unix: bool  # whether submit times are Unix times


def read_log(lines: Lines, used: Mapping[str, int] = USED) -> SwfLog:
    """The log that these lines are, with those fields in use (name -> position in the line).

    Raises InputError: lines cut short or not numeric (the first ten), a header that has no end.
    """
    columns = {name: NumberColumn() for name in used}
    submit, is_followed = list(used).index("submit time"), used.keys() >= THINK_TIME.keys()
    header = _Header(lines.where)
    problems = Problems(lines.where)
    longer, before = 0, 0
    unix: bool | None = None
    for block in lines:
        blank = lines.blank(block)
        if blank:
            before += blank
            continue
        lines_read = _Block(block, before, header, problems, used)
        longer += lines_read.longer
        # Below the first job remarks belong to no header.
        header.is_open = header.is_open and not len(lines_read.rows)
        if unix is None:
            unix = _counts_from_1970(lines_read.values[submit])
        for value_row, (name, column) in enumerate(columns.items()):
            _note_wrong(
                name, used[name], value_row, lines_read, before, problems, unix=bool(unix), is_followed=is_followed
            )
            column.extend(lines_read.values[value_row])
        before += lines_read.all_lines
    problems.refuse()
    read = {name: column.column() for name, column in columns.items()} if not header.is_open else {}
    return SwfLog(read, longer, header.keys(), bool(unix))


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


class _Block:
    """The lines of one block: plain ones read by compiled code, odd ones one by one.

    Attributes:
        all_lines: how many lines there are.
        rows: the lines that are rows, from 0, shape (rows,).
        values: of the fields in use, shape (fields in use, rows).
        longer: how many rows have more than 18 fields.
    """

    def __init__(self, block: bytes, before: int, header: _Header, problems: Problems, used: Mapping[str, int]) -> None:
        self._block, self._pick = block, itemgetter(*used.values())
        most = block.count(b"\n") + block.count(b"\r") + 1
        values, kinds = np.empty((len(used), most)), np.empty(most, np.uint8)
        begins = np.empty(most + 1, np.int64)
        text = np.frombuffer(block, np.uint8)
        self.all_lines = scan_lines(text, value_rows(used), FIELDS, POWERS, values, begins, kinds)
        self._begins = begins[: self.all_lines + 1].tolist()
        is_row = kinds[: self.all_lines] == PLAIN
        self.longer = 0
        if not is_row.all():
            first_plain = int(is_row.argmax()) if is_row.any() else self.all_lines
            self._read_odd(np.flatnonzero(~is_row).tolist(), first_plain, before, values, is_row, header, problems)
        self.rows = np.flatnonzero(is_row)
        self.values = values[:, self.rows] if len(self.rows) < self.all_lines else values[:, : self.all_lines]

    def cell(self, row: int, field: int) -> bytes:
        """What stands in a row at a position of the line."""
        return self._cells(int(self.rows[row]))[0][field]

    def _cells(self, line: int) -> tuple[list[bytes], bytes, bytes]:
        """The fields of a line, and the mark and the text of its remark."""
        data, mark, remark = self._block[self._begins[line] : self._begins[line + 1]].partition(b";")
        return data.split(), mark, remark

    def _read_odd(
        self,
        odd: list[int],
        first_plain: int,
        before: int,
        values: Floats,
        is_row: Flags,
        header: _Header,
        problems: Problems,
    ) -> None:
        cut: list[tuple[int, int]] = []
        first_row = first_plain
        for line in odd:
            cells, mark, remark = self._cells(line)
            if not cells:
                if mark and line < first_row and header.is_open:
                    header.add(remark.strip())
            elif len(cells) < FIELDS:
                cut.append((before + 1 + line, len(cells)))
            else:
                first_row = min(first_row, line)
                self.longer += len(cells) > FIELDS
                values[:, line] = [number(cell.decode("latin-1")) for cell in self._pick(cells)]
                is_row[line] = True
        problems.add_rows(
            range(len(cut)),
            [line for line, _ in cut],
            lambda position: f"{cut[position][1]} fields (cut off?): allowed: {FIELDS} numbers",
        )


def _counts_from_1970(submit: Floats) -> bool | None:
    """Whether the first submit time is a Unix time; None where none is known."""
    known = submit[submit >= 0]
    return bool(known[0] >= UNIX_S) if len(known) else None


def _note_wrong(
    name: str,
    field: int,
    value_row: int,
    block: _Block,
    before: int,
    problems: Problems,
    *,
    unix: bool,
    is_followed: bool,
) -> None:
    """Note each cell that is no number, too large, or broken where it must be whole."""
    values = block.values[value_row]
    if name == "preceding job" and not is_followed:
        return  # only counted
    whole = name in WHOLE
    high, hint = LARGEST_WHOLE if whole else LONGEST_S, ""
    if name in NAMES:
        high = math.inf
    elif name in MEMORY:
        high = LARGEST_COUNT
    elif name == "submit time" and unix:
        high, hint = UNIX_END, f" (s since 1970, from {UNIX_S:.0f} on, as in the first row)"
    wrong = ~np.isfinite(values) | (values > high)
    if hint:
        wrong |= (values > 0) & (values < UNIX_S)
    if whole:
        wrong |= values != np.floor(values)
    if name in REQUESTS:
        wrong &= ~stands_for_all(values)
    rows = np.flatnonzero(wrong).tolist()
    if not rows:
        return
    kind = "a whole number" if whole else "a number"
    bound = "" if math.isinf(high) else f" up to {high:.12g}"
    problems.add_rows(
        rows,
        {row: int(block.rows[row]) + before + 1 for row in rows[:SHOWN_PROBLEMS]},
        lambda row: (
            f"{name} = {block.cell(row, field).decode('utf-8', 'replace')[:40]!r}: "
            f"allowed: {kind}{bound}{hint}, -1 if not known"
        ),
    )
