"""An object of JSON a line. Names and paths without lists are read by pyarrow, the rest a line at a time."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from cluster_abm.bounded_files import shown
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.layouts.blocks import CellBlock, Column, Source, Table
from cluster_abm.workload.traces.layouts.json_paths import Step, json_column, parsed_json, steps_of, value_at
from cluster_abm.workload.traces.layouts.text_rows import checked, refuse_positions

SAMPLE = 50  # lines of a block from which the kinds of its columns are found
NO_JSON, NO_OBJECT = "no JSON", "no object"
Path = tuple[str, tuple[Step, ...]]


def read(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table in a file of lines; a line that is no object of JSON is counted as wrong.

    Raises InputError: empty, no text, a column by its position, no line that is an object.
    """
    where = shown(source.where)
    refuse_positions(needed, where)
    paths = [(str(column), steps_of(str(column), where)) for column in needed]
    return Table(None, checked(_blocks(Lines(source.blocks, source.where), paths), where))


def _blocks(blocks: Lines, paths: list[Path]) -> Iterator[CellBlock]:
    for block in blocks:
        if block.strip():
            yield _by_pyarrow(block, paths) or _line_by_line(block, paths)


def _line_by_line(block: bytes, paths: list[Path]) -> CellBlock:
    objects, wrong = [], Counter[str]()
    for line in block.replace(b"\r", b"\n").split(b"\n"):
        if not line.strip():
            continue
        try:
            value = parsed_json(line.decode(errors="replace"))
        except ValueError:
            wrong[NO_JSON] += 1
            continue
        if isinstance(value, dict):
            objects.append(value)
        else:
            wrong[NO_OBJECT] += 1
    columns: dict[Column, Any] = {
        path: json_column([value_at(one, path, steps) for one in objects]) for path, steps in paths
    }
    return CellBlock(columns, len(objects) + sum(wrong.values()), wrong)


def _by_pyarrow(block: bytes, paths: list[Path]) -> CellBlock | None:
    """The rows of a block in which each column is of one kind; None if it cannot be read so."""
    import pyarrow as pa
    from pyarrow import compute, json

    kinds = _kinds(block, paths)
    if kinds is None:
        return None
    try:
        table = json.read_json(
            io.BytesIO(block),
            json.ReadOptions(block_size=len(block) + 1),
            json.ParseOptions(explicit_schema=_schema(kinds), unexpected_field_behavior="ignore"),
        )
    except (pa.ArrowException, ValueError):
        return None
    columns: dict[Column, Any] = {}
    for path, (steps, _) in kinds.items():
        cells = table.column(steps[0]).combine_chunks()
        columns[path] = compute.struct_field(cells, list(steps[1:])) if len(steps) > 1 else cells
    return CellBlock(columns, table.num_rows)


def _kinds(block: bytes, paths: list[Path]) -> dict[str, tuple[tuple[str, ...], Any]] | None:
    """Each path's names and pyarrow type, by the first lines; None if pyarrow gives something else than a look at
    each line does."""
    import pyarrow as pa

    lines = [line for line in block.split(b"\n", 2 * SAMPLE)[: 2 * SAMPLE] if line.strip()][:SAMPLE]
    try:
        objects = [parsed_json(line.decode()) for line in lines]
    except ValueError:
        return None
    if not paths or not all(isinstance(one, dict) for one in objects):
        return None
    types = {
        frozenset((str,)): pa.string(),
        frozenset((int,)): pa.int64(),
        frozenset((float,)): pa.float64(),
        frozenset((int, float)): pa.float64(),
    }
    found: dict[str, tuple[tuple[str, ...], Any]] = {}
    for path, steps in paths:
        spelled_so = any(path in one for one in objects)
        names = (path,) if spelled_so else _names(steps)
        kinds = frozenset(type(value_at(one, path, steps)) for one in objects) - {type(None)}
        if not kinds and names is not None and f'"{names[-1]}"'.encode() not in block:
            # In no row of the block.
            found[path] = names, pa.string()
        elif names is None or kinds not in types:
            return None
        else:
            found[path] = names, types[kinds]
    return found


def _names(steps: Sequence[Step]) -> tuple[str, ...] | None:
    names = tuple(step for step in steps if isinstance(step, str))
    return names if len(names) == len(steps) else None


def _schema(kinds: dict[str, tuple[tuple[str, ...], Any]]) -> Any:
    """The schema of the needed values, with objects in objects as far as the paths go."""
    import pyarrow as pa

    tree: dict[str, Any] = {}
    for names, kind in kinds.values():
        at = tree
        for name in names[:-1]:
            at = at.setdefault(name, {})
            if not isinstance(at, dict):
                raise ValueError(f"{name}: a value, and an object")
        at[names[-1]] = kind

    def made(branch: dict[str, Any]) -> list[Any]:
        return [pa.field(name, pa.struct(made(one)) if isinstance(one, dict) else one) for name, one in branch.items()]

    return pa.schema(made(tree))
