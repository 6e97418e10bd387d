"""What a recording of a file has to be: a file may be damaged, or made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from cluster_abm.arrays import Array
from cluster_abm.engine.tables import LOAD, NEVER, NONE, OUTCOME_NAMES
from cluster_abm.recording.fates import KINDS
from cluster_abm.recording.recorded_run import DOING, OPEN
from cluster_abm.recording.segments import WHAT

_Count = Annotated[StrictInt, Field(ge=0, le=NEVER)]
_Words = Annotated[StrictStr, Field(max_length=100_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _PolicyMeta(_Strict):
    name: _Words
    source: _Words
    summary: _Words


class _KeptMeta(_Strict):
    every: Annotated[StrictInt, Field(ge=1, le=NEVER)]
    from_ns: _Count | None
    to_ns: _Count | None
    why: _Words


class _SpanMeta(_Strict):
    from_ns: _Count
    to_ns: _Count


class _Meta(BaseModel):
    """`meta` of a recording: see recording.Recording. More of it, which nothing reads, does no harm."""

    version: _Words
    scenario: _Words
    title: _Words
    caption: _Words
    policy: _PolicyMeta
    seed: Annotated[StrictInt, Field(ge=0, lt=2**63)]
    slice_ns: Annotated[StrictInt, Field(ge=1, le=NEVER)]
    end_ns: _Count
    is_over: StrictBool
    toml: StrictStr
    programs: list[_Words]
    vertices: list[_Words]
    loads_not_taken: list[_Words]
    telling_index: _Words
    decisions_taken: _Count
    rules: dict[str, Annotated[list[_Words], Field(min_length=2, max_length=2)]]
    summary: dict[str, Any]
    kept: _KeptMeta
    detail: _SpanMeta | None
    jobs_killed: list[_Count] = Field(default_factory=list)


# Of a column: the least and the largest that it may hold, both allowed.
_TIME, _TIME_OR_NONE, _NUMBER, _NUMBER_OR_NONE = (0, NEVER), (NONE, NEVER), (0, 2**62), (NONE, 2**62)
_WITH_NONE: dict[str, set[str]] = {
    "jobs": {"first_phase", "program", "files"},
    "segments": {"decision"},
    "decisions": {"leaves_ns", "enters_ns", "told_ns"},
    "messages": {"heard_ns", "task"},
    "failures": {"node"},
}
_NODES = {"node", "home", "origin", "source", "target", "sender", "receiver"}
_PLACES: dict[tuple[str, str], tuple[int, int]] = {
    ("segments", "what"): (0, len(WHAT) - 1),
    ("decisions", "kind"): (0, len(KINDS) - 1),
    ("tasks", "outcome"): (OPEN, len(OUTCOME_NAMES) - 1),
    ("detail", "doing"): (0, len(DOING) - 1),
}
# Columns that have no number that is not finite, and none below 0.
_FINITE = {"nodes": ("speed", "memory_mb"), "failures": ("factor",)}


def problem_of_meta(meta: Mapping[str, Any]) -> str:
    """What is wrong with a recording's meta, in a line; "": nothing."""
    try:
        _Meta.model_validate(meta)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part)[:60] for part in first["loc"])
        return f"meta.{where}: {first['msg']}"
    except RecursionError:
        return "meta: nested too deeply"
    if not {*meta["loads_not_taken"], f"{meta['telling_index']}_ms"} <= set(LOAD.names or ()):
        return "meta.loads_not_taken, meta.telling_index: a name that is no load index"
    return ""


def problem_of_tables(meta: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str:
    """What is wrong with the values of tables that have their columns, in a line; "": nothing."""
    return next(_problems(meta, tables), "")


def _problems(meta: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> Iterator[str]:
    nodes = tables["nodes"].num_rows
    if len(meta["vertices"]) not in (0, nodes):
        yield f"meta.vertices: {len(meta['vertices'])} names: allowed are none, or one a node, {nodes}"
    for name, table in tables.items():
        for field in table.schema:
            column = table[field.name]
            if column.null_count or _has_nulls_inside(column):
                yield f"table {name}, column {field.name}: a value is missing: none may"
            elif pa.types.is_integer(field.type):
                least, most = _allowed(name, field.name, nodes)
                yield from _out_of_range(name, field.name, column, least, most)
    for name, columns in _FINITE.items():
        for one in columns:
            values = _values(tables[name], one)
            if not bool((np.isfinite(values) & (values >= 0.0)).all()):
                yield f"table {name}, column {one}: a number that is not finite, or negative: allowed is 0 on"
    # Links round the back of a torus end outside the unit square.
    for name, columns in (("nodes", ("x", "y")), ("links", ("x1", "y1", "x2", "y2"))):
        for one in columns:
            values = _values(tables[name], one)
            if not bool(((values >= -1.0) & (values <= 2.0)).all()):
                yield f"table {name}, column {one}: a place far outside the unit square: allowed are -1 to 2"
    if not np.array_equal(_values(tables["nodes"], "node"), np.arange(nodes)):
        yield "table nodes, column node: allowed are 0, 1, 2 and so on, in this order"
    yield from _of_tasks(tables)
    yield from _of_segments(tables)
    if "detail" in tables:
        yield from _in_order("detail", tables["detail"])


def _allowed(table: str, column: str, nodes: int) -> tuple[int, int]:
    if (table, column) in _PLACES:
        return _PLACES[table, column]
    has_none = column in _WITH_NONE.get(table, ())
    if column in _NODES:
        return (NONE if has_none else 0), nodes - 1
    if column.endswith("_ns"):
        return _TIME_OR_NONE if has_none else _TIME
    return _NUMBER_OR_NONE if has_none else _NUMBER


def _out_of_range(table: str, name: str, column: pa.ChunkedArray, least: int, most: int) -> Iterator[str]:
    if len(column) == 0:
        return
    found = pc.min_max(column).as_py()
    for value in (found["min"], found["max"]):
        if not least <= value <= most:
            yield f"table {table}, column {name}: {value:,}: allowed is {least:,} to {most:,}"


def _has_nulls_inside(column: pa.ChunkedArray) -> bool:
    if pa.types.is_list(column.type):
        return any(chunk.flatten().null_count for chunk in column.chunks)
    if pa.types.is_dictionary(column.type):
        return any(chunk.dictionary.null_count for chunk in column.chunks)
    return False


def _of_tasks(tables: Mapping[str, pa.Table]) -> Iterator[str]:
    """Every task is of a job that is there, and there once."""
    job, task = _values(tables["jobs"], "job"), _values(tables["tasks"], "task")
    if not bool((np.diff(job) > 0).all()):
        yield "table jobs, column job: allowed are ascending numbers"
    elif not bool(np.isin(_values(tables["tasks"], "job"), job).all()):
        yield "table tasks, column job: a job that is not in table jobs"
    if len(np.unique(task)) != len(task):
        yield "table tasks, column task: a task stands there twice"
    for name in ("segments", "decisions"):
        if not bool(np.isin(_values(tables[name], "task"), task).all()):
            yield f"table {name}, column task: a task that is not in table tasks"


def _of_segments(tables: Mapping[str, pa.Table]) -> Iterator[str]:
    table = tables["segments"]
    yield from _in_order("segments", table)
    decision = _values(table, "decision")
    if len(decision) and int(decision.max()) >= tables["decisions"].num_rows:
        yield f"table segments, column decision: {int(decision.max()):,}: there is no such row of table decisions"


def _in_order(name: str, table: pa.Table) -> Iterator[str]:
    """By task, then time; those of a task follow each other."""
    task, from_ns, to_ns = (_values(table, one) for one in ("task", "from_ns", "to_ns"))
    if not bool((from_ns <= to_ns).all()):
        yield f"table {name}: from_ns is after to_ns"
    same = task[1:] == task[:-1]
    if not bool((task[1:] >= task[:-1]).all()) or not bool((to_ns[:-1] <= from_ns[1:])[same].all()):
        yield f"table {name}: its rows are not in the order of task and time, or overlap"


def _values(table: pa.Table, name: str) -> Array:
    return np.asarray(table[name].to_numpy())
