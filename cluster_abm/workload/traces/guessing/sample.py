"""The first rows of a table of which nothing is known, and how it lies in its file."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.workload.text.lines import BYTE_ORDER_MARK
from cluster_abm.workload.traces.guessing.cells import is_known, looks_like_number, looks_like_time
from cluster_abm.workload.traces.guessing.separators import cells_of, separation

HEAD = 2**22  # bytes of a text that are looked at
ROWS = 5000  # of a table
LONGEST_DOCUMENT = 2**26  # bytes of a JSON document that is looked at whole
LARGEST_PARQUET = 2**29  # bytes of a packed Parquet file
LONGEST_NAME = 300
PARQUET = b"PAR1"
DEEPEST = 4  # objects within each other in which the list of rows is looked for
_REMARKS = (";", "#", "//")


@dataclass(frozen=True)
class SampledTable:
    """Some rows of a table as texts, and how the table lies in its file."""

    layout: dict[str, Any]  # keys of `Layout`, those that differ from its own defaults
    names: tuple[str, ...]  # of the columns, as a map names them; "" where there is no header
    columns: tuple[tuple[str, ...], ...]  # column -> its cells; "" where a row has none

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[0]) if self.columns else 0

    def column(self, at: int) -> str | int:
        """What a map calls a column: its name; its position from 1 if it has none, or one that is there twice."""
        name = self.names[at]
        return name if 0 < len(name) <= LONGEST_NAME and self.names.count(name) == 1 else at + 1


def sample_of(blocks: Iterator[bytes], where: str, path: Path | None = None) -> SampledTable:
    """The first rows of a table.

    Raises InputError: empty, no text, or no table recognised.

    Args:
        blocks: the file's bytes, unpacked.
        where: its name, for messages.
        path: where it lies, if it is not packed: Parquet of any size is then read where it lies.
    """
    blocks = iter(blocks)
    first = next(blocks, b"")
    if first.startswith(PARQUET):
        return _of_parquet(path or io.BytesIO(_whole(first, blocks, LARGEST_PARQUET, where)), where)
    start = first.removeprefix(BYTE_ORDER_MARK).lstrip()
    if start[:1] in (b"{", b"["):
        return _of_json(first, blocks, where)
    while len(first) < HEAD and (more := next(blocks, b"")):
        first += more
    whole = len(first) <= HEAD and not next(blocks, b"")
    return _of_text(first[:HEAD], whole, where)


def _of_text(data: bytes, whole: bool, where: str) -> SampledTable:
    try:
        text = data.removeprefix(BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError as problem:
        # The last letter may have been cut in two where the part that is looked at ends.
        if whole or problem.start < len(data) - 8:
            raise InputError(f"{shown(where)}: no text in UTF-8 at byte {problem.start}") from None
        text = data[: problem.start].removeprefix(BYTE_ORDER_MARK).decode()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not whole and len(lines) > 1:
        lines.pop()
    remark = next((mark for mark in _REMARKS if _begins(lines, mark)), "")
    lines = [line for line in lines if line.strip() and not (remark and line.lstrip().startswith(remark))]
    if not lines:
        raise InputError(f"{shown(where)}: empty")
    separator = separation(lines[:200])
    if separator is None:
        raise InputError(
            f"{shown(where)}: no table recognised: it begins with {lines[0][:50]!r}; allowed: rows of as many cells "
            "each, with commas, tabs, semicolons, bars, colons or blanks between; JSON, JSON lines, or Parquet"
        )
    # Columns may be empty for long at the begin, so rows from further on are looked at as well.
    rows = cells_of(lines if len(lines) <= ROWS else lines[: ROWS // 2] + lines[-ROWS // 2 :], separator)
    header = _is_header(rows)
    width = len(rows[0]) if header else _usual(rows)
    # Blanks at an end, as in "a, b", belong to no name.
    names = tuple(cell.strip() for cell in rows[0]) if header else ("",) * width
    body = [row for row in (rows[1:] if header else rows) if len(row) == width]
    if not body:
        raise InputError(f"{shown(where)}: no row has as many cells as the first line ({width})")
    layout: dict[str, Any] = {"kind": "blanks"} if separator == " " else {"kind": "table", "separator": separator}
    if not header:
        layout["header"] = False
    if remark:
        layout["remark"] = remark
    return SampledTable(
        layout, names, tuple(tuple(cell.strip() for cell in column) for column in zip(*body, strict=True))
    )


def _begins(lines: Sequence[str], mark: str) -> bool:
    """Whether the file begins with remarks, of which a header would be one."""
    first = next((line for line in lines if line.strip()), "")
    return first.lstrip().startswith(mark)


def _usual(rows: Sequence[Sequence[str]]) -> int:
    widths = [len(row) for row in rows]
    return max(set(widths), key=lambda width: (widths.count(width), width))


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: neither numbers nor times, mostly different, and another kind below."""
    first = [cell.strip() for cell in rows[0]]
    said = [cell for cell in first if cell]
    if not said or any(looks_like_number(cell) or looks_like_time(cell) for cell in said):
        return False
    if len(set(said)) < 0.5 * len(said) or len(said) < 0.8 * len(first):
        return False
    below = [row for row in rows[1:200] if len(row) == len(first)]
    if not below:
        return len(rows) == 1 and all(re.fullmatch(r"[A-Za-z_][\w .%()\[\]/-]*", cell) for cell in said)
    for at in range(len(first)):
        known = [row[at].strip() for row in below if is_known(row[at])]
        if known and sum(looks_like_number(cell) or looks_like_time(cell) for cell in known) >= 0.8 * len(known):
            return True
    return not any(first[at] == row[at].strip() for row in below for at in range(len(first)) if first[at])


def _of_json(first: bytes, blocks: Iterator[bytes], where: str) -> SampledTable:
    head = first.removeprefix(BYTE_ORDER_MARK).lstrip()
    line = head.partition(b"\n")[0]
    with_lines = _parsed(line)
    if isinstance(with_lines, dict) and b"\n" in head:
        rows = [_parsed(one) for one in head.split(b"\n")[: ROWS + 1] if one.strip()]
        if sum(isinstance(row, dict) for row in rows) >= max(1, len(rows) - 1):
            return _of_objects([row for row in rows if isinstance(row, dict)], {"kind": "json-lines"}, where)
    document = _parsed(_whole(head, blocks, LONGEST_DOCUMENT, where))
    if document is None:
        raise InputError(f"{shown(where)}: begins as JSON does, and is none that can be read")
    path, found = max(_lists(document, "", DEEPEST), key=lambda one: len(one[1]), default=("", []))
    layout = {"kind": "json"} | ({"rows": path} if path else {})
    return _of_objects(found[:ROWS], layout, where)


def _whole(first: bytes, blocks: Iterator[bytes], most: int, where: str) -> bytes:
    """All of a file that has to be looked at whole. Raises InputError: it is larger than that."""
    data = bytearray(first)
    for block in blocks:
        data += block
        if len(data) > most:
            raise InputError(
                f"{shown(where)}: more than {most // 2**20} MB that would have to be looked at whole, unpacked: "
                "allowed are smaller files, or a map (--map)"
            )
    return bytes(data)


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lists(value: Any, path: str, depth: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The lists of objects in a document, by path."""
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value[:100]):
        yield path, [entry for entry in value if isinstance(entry, dict)]
    elif isinstance(value, dict) and depth:
        for key, inner in islice(value.items(), 200):
            yield from _lists(inner, f"{path}.{key}" if path else key, depth - 1)


def _of_objects(rows: list[dict[str, Any]], layout: dict[str, Any], where: str) -> SampledTable:
    """Objects as a table: what lies in an object within has a path, a.b, as a column's name."""
    flat = [dict(_flat(row, "")) for row in rows]
    names = tuple(dict.fromkeys(name for row in flat for name in row))
    if not names:
        raise InputError(f"{shown(where)}: no list of objects in it: allowed: one object a row")
    return SampledTable(layout, names, tuple(tuple(row.get(name, "") for row in flat) for name in names))


def _flat(value: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(inner, dict) and name.count(".") < DEEPEST:
            yield from _flat(inner, name)
        else:
            yield name, _text(inner)


def _of_parquet(file_or_path: Path | io.BytesIO, where: str) -> SampledTable:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(file_or_path) as file:
            batch = next(file.iter_batches(ROWS), None)
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise InputError(f"{shown(where)}: Parquet file damaged or cut off: {str(problem)[:200]}") from None
    if batch is None or not batch.num_columns:
        raise InputError(f"{shown(where)}: no rows")
    columns = tuple(tuple(_text(cell) for cell in batch.column(at).to_pylist()) for at in range(batch.num_columns))
    return SampledTable({"kind": "parquet"}, tuple(batch.schema.names), columns)


def _text(value: Any) -> str:
    """A cell of a typed table as a text table would have it."""
    if value is None:
        return ""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return " ".join(_text(entry) for entry in value)
    return str(value)
