"""A run as data: what happened to every task, every decision, every measurement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cluster_abm.arguments import PATH, check_arguments
from cluster_abm.arrays import Array
from cluster_abm.clock import NS_PER_MS
from cluster_abm.engine.tables import JOB, LOAD, RECORD, Table
from cluster_abm.errors import InputError
from cluster_abm.policy.decision import RECORDED
from cluster_abm.recording.container import write
from cluster_abm.recording.fates import KINDS
from cluster_abm.recording.segments import PARTS, WHAT
from cluster_abm.results.columns import PLAIN_LOADS
from cluster_abm.results.frames import jobs_frame
from cluster_abm.results.vertices import with_vertices

TEXT = pa.dictionary(pa.int32(), pa.string())
I8, I4, F8, FLAG, STRING = pa.int64(), pa.int32(), pa.float64(), pa.bool_(), pa.string()
_OF_NUMPY = {"i8": I8, "i4": I4, "f8": F8, "?": FLAG}


def _of_rows(dtype: np.dtype[np.void]) -> dict[str, pa.DataType]:
    return {name: _OF_NUMPY[dtype[name].str.lstrip("<|=")[:2].replace("b1", "?")] for name in dtype.names or ()}


# What a decision about another node is kept with: see model.deciding.truths.
TRUTHS = ("index", "tasks", "cpu_queue", "memory_mb", "cpu_ms", "page_ms", "io_ms", "io_load")
# What a task does inside a visit, at each moment of a detailed window.
DOING = (
    "ready", "cpu", "waits for the disk", "disk", "waits for a page fault", "page fault", "barrier or sleep",
    "writes what it brought",
)  # fmt: skip
# The outcome of a task that has not ended.
OPEN = -1
_DECIDED = {"int": I8, "float": F8, "bool": FLAG, "str": TEXT}
COLUMNS: Mapping[str, Mapping[str, pa.DataType]] = {
    "nodes": {
        "node": I4, "vertex": STRING, "cluster": STRING, "cores": I4, "speed": F8, "memory_mb": F8, "x": F8, "y": F8,
    },
    "links": {"x1": F8, "y1": F8, "x2": F8, "y2": F8},
    "jobs": {"job": I8, **_of_rows(JOB)},
    "tasks": _of_rows(RECORD) | {"is_open": FLAG},
    "segments": {
        "task": I8, "node": I4, "origin": I4, "from_ns": I8, "to_ns": I8, "what": pa.int8(), "decision": I8,
        "is_open": FLAG, **dict.fromkeys(PARTS, I8),
    },
    "decisions": {
        **{("time_ns" if one.name == "time_ms" else one.name): (I8 if one.name == "time_ms" else _DECIDED[one.kind])
           for one in RECORDED},
        "kind": pa.int8(), "leaves_ns": I8, "enters_ns": I8, "told_ns": I8,
        **{f"true_{side}_{name}": F8 for side in ("here", "there") for name in TRUTHS},
    },
    "loads": {"at_ns": I8, "node": I4, **dict.fromkeys(LOAD.names or (), F8), "cpu_ns": I8, "disk_ns": I8},
    "messages": {"sent_ns": I8, "heard_ns": I8, "sender": I4, "receiver": I4, "topic": TEXT, "task": I8},
    "failures": {"at_ns": I8, "what": TEXT, "node": I4, "other": STRING, "factor": F8},
    "detail": {"task": I8, "node": I4, "from_ns": I8, "to_ns": I8, "doing": pa.int8()},
}  # fmt: skip
"""The columns of each table, and their types. Times are ns of simulated time; NONE, -1, is no node, task or time.

* `nodes`: number, vertex, cluster, hardware, and position in the unit square, y downwards.
* `links`: the lines to draw between them.
* `jobs`: the number of each job that is kept, and what it is (engine.fields.JOB_FIELDS).
* `tasks`: one row a task (engine.fields.RECORD_FIELDS): those that have ended, in the order of their ends, then those
  that have not, up to the recording's end.
* `segments`: the life of each task (segments.segments_of); `what` is a place in WHAT, `decision` the row of the
  decision that has brought it about.
* `decisions`: those of `decisions_frame`; `kind` is a place in KINDS, `told_ns` when the target told what the manager
  knew of it, `true_...` what was true then at source and target.
* `loads`: the measurements of `nodes_frame`.
* `messages`: those of managers that talk; `heard_ns` -1: it got lost.
* `failures`: nodes, links and devices that fail, drain, are slow, or recover.
* `detail`: only where it was asked for: what each task does at each moment of a window, inside its visits, by (task,
  time); `doing` is a place in DOING.
"""
# Present only where jobs name files.
CLUSTER_T = "cluster_t_ms"
OPTIONAL_COLUMNS: Mapping[str, Mapping[str, pa.DataType]] = {"decisions": {CLUSTER_T: pa.list_(F8)}}
DETAIL = "detail"
# The bits of the one NaN.
_NAN = int(np.array(np.nan).view(np.int64))


class RecordedRun:
    """What happened in a run, as data (`Recording` also shows it).

    Attributes:
        meta, tables: as of Recording.
    """

    def __init__(self, meta: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
        self.meta, self.tables = dict(meta), dict(tables)

    @property
    def title(self) -> str:
        """Scenario, policy and seed; of a command's run also what was changed in the scenario."""
        changed = f"; with {self.meta['changed']}" if self.meta.get("changed") else ""
        return f"{self.meta['scenario']}: policy {self.meta['policy']['name']}, seed {self.meta['seed']}{changed}"

    def __repr__(self) -> str:
        tasks, decisions = (self.tables[name].num_rows for name in ("tasks", "decisions"))
        end_s = self.meta["end_ns"] / NS_PER_MS / 1000.0
        kept = f"; {self.meta['kept']['why']}" if self.meta["kept"]["why"] else ""
        return f"<Recording {self.title}: {tasks:,} tasks, {decisions:,} decisions, {end_s:,.10g} s{kept}>"

    def save(self, path: str | Path) -> None:
        """Write it into a file, which `cluster_abm.load_recording` reads; the same recording gives the same bytes.

        Raises InputError: the file cannot be written.
        """
        check_arguments(path=(path, PATH))
        write(Path(path), [(self.meta, self.tables)])

    def jobs_frame(self) -> pd.DataFrame:
        """One row a task that has ended, as ClusterModel.jobs_frame; of a part of the run those of that part."""
        ended = self.tables["tasks"].filter(pc.invert(self.tables["tasks"]["is_open"]))
        records, jobs = _rows(ended, RECORD), self.tables["jobs"]
        job = records["job"].copy()
        records["job"] = np.searchsorted(_values(jobs, "job"), job)
        frame = jobs_frame(records, _rows(jobs, JOB), self.meta["programs"])
        frame["job"] = job
        return with_vertices(frame, "jobs", self.meta["vertices"])

    def nodes_frame(self) -> pd.DataFrame:
        """One row a node and measurement, as ClusterModel.nodes_frame; of a window those of that window."""
        table = self.tables["loads"]
        columns: dict[str, Array] = {"time_ms": _values(table, "at_ns") / NS_PER_MS, "node": _values(table, "node")}
        columns["node"] = columns["node"].astype(np.int64)
        for name in LOAD.names or ():
            if name not in self.meta["loads_not_taken"]:
                columns[name if name in PLAIN_LOADS else f"load_{name}"] = _values(table, name)
        for device in ("cpu", "disk"):
            columns[f"{device}_busy_ms"] = _values(table, f"{device}_ns") / NS_PER_MS
        return with_vertices(pd.DataFrame(columns), "nodes", self.meta["vertices"])

    def decisions_frame(self) -> pd.DataFrame:
        """One row a decision, as ClusterModel.decisions_frame; of a part of the run those of that part.

        `attrs["taken"]` says how many decisions the whole run took.
        """
        table = self.tables["decisions"]
        columns: dict[str, pd.Series] = {}
        for one in RECORDED:
            if one.name == "time_ms":
                columns[one.name] = pd.Series(_values(table, "time_ns") / NS_PER_MS, dtype="float64")
            elif one.kind == "str":
                columns[one.name] = pd.Series(_texts(table, one.name), dtype="object")
            else:
                dtype = {"float": "float64", "int": "int64", "bool": "bool"}[one.kind]
                columns[one.name] = pd.Series(_values(table, one.name), dtype=dtype)
        frame = pd.DataFrame(columns)
        if CLUSTER_T in table.column_names:
            frame[CLUSTER_T] = pd.Series([*map(tuple, table[CLUSTER_T].to_pylist())], frame.index, dtype="object")
        frame = with_vertices(frame, "decisions", self.meta["vertices"])
        frame.attrs["taken"] = self.meta["decisions_taken"]
        return frame

    def segments_frame(self) -> pd.DataFrame:
        """One row a segment of a task's life: task, what it does, node, origin, from_ms, to_ms and its parts [ms].

        `what` is one of waits, starts, asks, fetches, runs, migrates, returns, lost, restarts.
        """
        table = self.tables["segments"]
        frame = pd.DataFrame({name: _values(table, name) for name in ("task", "node", "origin", "decision", "is_open")})
        frame.insert(1, "what", np.array(WHAT, object)[_values(table, "what")])
        for name in ("from_ns", "to_ns", *PARTS):
            frame[name.replace("_ns", "_ms")] = _values(table, name) / NS_PER_MS
        return frame

    def detail_frame(self) -> pd.DataFrame:
        """One row each time that a task does something else in the window of `meta["detail"]`: task, node, from_ms,
        to_ms, doing (DOING).

        Raises InputError: the recording has no such window.
        """
        if DETAIL not in self.tables:
            raise InputError(
                "detail_frame(): the recording has no detail: record(..., detail=(from_s, to_s)) or "
                "cluster_abm.detail_of(recording, from_s, to_s) give it"
            )
        table = self.tables[DETAIL]
        frame = pd.DataFrame({name: _values(table, name) for name in ("task", "node")})
        for name in ("from", "to"):
            frame[f"{name}_ms"] = _values(table, f"{name}_ns") / NS_PER_MS
        frame["doing"] = np.array(DOING, object)[_values(table, "doing")]
        return frame

    def kinds(self) -> Array:
        """What each decision was about: stays, starts, migrates or recovers, shape (decisions,)."""
        return np.asarray(np.array(KINDS, object)[_values(self.tables["decisions"], "kind")])


def table_of(name: str, columns: Mapping[str, Any], **more: pa.Array) -> pa.Table:
    """A table of a recording: its columns in their order, each of its type.

    Args:
        name: which table.
        columns: arrays, lists or Arrow arrays, by name.
        more: further columns at its end.
    """
    kinds = COLUMNS[name]
    arrays = [_as(columns[column], kind) for column, kind in kinds.items()]
    return pa.table([*arrays, *more.values()], names=[*kinds, *more])


def _as(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array):
        return values if values.type == kind else values.cast(kind)
    if isinstance(values, np.ndarray) and values.dtype != object:
        if values.dtype.kind == "f":
            values = _plain(values)
        return pa.array(np.ascontiguousarray(values), kind, from_pandas=False)
    return pa.array(values, kind)


def _plain(values: Array) -> Array:
    """The same numbers with one zero, and one NaN, so that equal values are equal bytes."""
    values = np.ascontiguousarray(values, np.float64)
    # Of numbers from 0 to that NaN bits are in the order of the numbers: most columns are such, and stay as they are.
    bits = values.view(np.int64)
    if not len(bits) or (bits.min() >= 0 and bits.max() <= _NAN):
        return values
    return np.where(np.isnan(values), np.nan, values + 0.0)


def _values(table: pa.Table, name: str) -> Array:
    return np.asarray(table[name].to_numpy())


def _texts(table: pa.Table, name: str) -> Array:
    column = table[name].combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks else pa.array([], TEXT)
    words = np.array([*column.dictionary.to_pylist(), ""], object)
    return np.asarray(words[column.indices.to_numpy(zero_copy_only=False)])


def _rows(table: pa.Table, dtype: np.dtype[np.void]) -> Table:
    rows = np.zeros(table.num_rows, dtype)
    for name in dtype.names or ():
        rows[name] = _values(table, name)
    return rows
