"""One document of JSON, in which a list holds the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column, Source, Table
from cluster_abm.workload.traces.layouts.json_paths import Step, json_column, parsed_json, steps_of, value_at
from cluster_abm.workload.traces.layouts.text_rows import checked, refuse_positions

ROWS = 100_000  # of a block
NO_OBJECT = "no object"


def read(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table in a document, which is read whole.

    Raises InputError: no JSON, no list at the layout's path, a column by its position, no row that is an object.
    """
    where = shown(source.where)
    refuse_positions(needed, where)
    document = _document(b"".join(source.blocks), where)
    rows = _rows(document, layout.rows, where)
    columns = [_Path(str(column), document, layout.lookups, where) for column in needed]
    return Table(None, checked(_blocks(rows, columns), where))


class _Path:
    """The path of a column, from a row, or from the entry of an object elsewhere that the row names.

    Raises InputError: no path, or nothing at the path of a lookup.
    """

    def __init__(self, path: str, document: Any, lookups: dict[str, str], where: str) -> None:
        self.path = path
        self._steps: tuple[Step, ...] = steps_of(path, where)
        self._entries: dict[str, Any] | None = None
        for column, elsewhere in lookups.items():
            if path.startswith(f"{column}."):
                self._by, self._rest = column, path[len(column) + 1 :]
                self._by_steps, self._steps = steps_of(column, where), steps_of(self._rest, where)
                entries = value_at(document, elsewhere, steps_of(elsewhere, where))
                if not isinstance(entries, dict):
                    raise InputError(f"{where}: file.lookups: no object at {elsewhere[:60]!r}")
                self._entries = entries

    def of(self, row: dict[str, Any]) -> Any:
        """The value of a row."""
        if self._entries is None:
            return value_at(row, self.path, self._steps)
        named = value_at(row, self._by, self._by_steps)
        return value_at(self._entries.get(named), self._rest, self._steps) if isinstance(named, str) else None


def _document(data: bytes, where: str) -> Any:
    if not data.strip():
        raise InputError(f"{where}: empty")
    try:
        return parsed_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise InputError(f"{where}: not JSON: no UTF-8 text (byte {problem.start:,})") from None
    except JSONDecodeError as problem:
        cut = " (cut off?)" if problem.pos >= len(problem.doc.rstrip()) else ""
        raise InputError(f"{where}, line {problem.lineno}: not JSON: {problem.msg}{cut}") from None
    except ValueError as problem:
        raise InputError(f"{where}: not JSON: {problem}") from None


def _rows(document: Any, path: str, where: str) -> list[Any]:
    rows = value_at(document, path, steps_of(path, where)) if path else document
    if isinstance(rows, list):
        return rows
    at = f"at {path[:60]!r}" if path else "as the document"
    lists = [key for key, value in document.items() if isinstance(value, list)] if isinstance(document, dict) else []
    there = f"; there are lists at {', '.join(map(repr, lists))[:200]}" if lists else ""
    raise InputError(f"{where}: no list {at} (file.rows says where the rows are){there}")


def _blocks(rows: list[Any], columns: list[_Path]) -> Iterator[CellBlock]:
    for begin in range(0, max(len(rows), 1), ROWS):
        some = rows[begin : begin + ROWS]
        objects = [row for row in some if isinstance(row, dict)]
        wrong = Counter({NO_OBJECT: len(some) - len(objects)} if len(objects) < len(some) else {})
        made: dict[Column, Any] = {column.path: json_column([column.of(row) for row in objects]) for column in columns}
        yield CellBlock(made, len(some), wrong)
