"""Which columns of a recording the player gets, and in which units."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cluster_abm.arrays import Array
from cluster_abm.clock import NS_PER_MS
from cluster_abm.recording.recorded_run import TRUTHS, RecordedRun
from cluster_abm.recording.segments import PARTS
from cluster_abm.results.frames import slowdowns

# Above this, lines between nodes say nothing.
MOST_LINKS = 1200
# Times inside a visit are whole numbers of these.
PART_NS = 100_000
LOADS = ("tasks", "cpu_queue", "cpu_ms", "io_ms", "page_ms", "memory_mb")
_TIMES_OF_JOBS_NEVER = 2**62


class PlayerColumn(NamedTuple):
    """A column of the player's: whole or single-precision numbers, or places in a list of texts."""

    name: str
    values: Array
    delta: bool = False
    texts: list[str] | None = None


class _Reader:
    """Reads the columns of one table."""

    def __init__(self, table: pa.Table, tick_ns: int) -> None:
        self.table, self.tick_ns = table, tick_ns

    def values(self, name: str) -> Array:
        return np.asarray(self.table[name].to_numpy())

    def whole(self, *names: str, delta: bool = False) -> list[PlayerColumn]:
        return [PlayerColumn(name, self.values(name).astype(np.int64), delta) for name in names]

    def real(self, *names: str) -> list[PlayerColumn]:
        return [
            PlayerColumn(name, self.values(name).astype(np.float64))
            for name in names
            if name in self.table.column_names
        ]

    def ticks(self, name: str) -> Array:
        return _ticks(self.values(name), self.tick_ns)

    def text(self, name: str) -> PlayerColumn:
        column = self.table[name].combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        return PlayerColumn(
            name, np.asarray(column.indices.to_numpy(zero_copy_only=False)), False, column.dictionary.to_pylist()
        )


def _ticks(times_ns: Array, tick_ns: int) -> Array:
    return np.asarray((times_ns + tick_ns // 2) // tick_ns)


def columns_of(recording: RecordedRun, tick_ns: int) -> dict[str, list[PlayerColumn]]:
    """The player's columns, by table; times are whole numbers of a tick, -1 stands for none."""
    reader = {name: _Reader(table, tick_ns) for name, table in recording.tables.items()}
    nodes, links = reader["nodes"], reader["links"]
    shown = links if recording.tables["links"].num_rows <= MOST_LINKS else _Reader(links.table.slice(0, 0), tick_ns)
    tasks = _Reader(recording.tables["tasks"].sort_by("task"), tick_ns)
    found = {
        "nodes": [
            nodes.text("vertex"), nodes.text("cluster"), *nodes.whole("cores"),
            *nodes.real("speed", "memory_mb", "x", "y"),
        ],
        "links": shown.real("x1", "y1", "x2", "y2"),
        "jobs": _jobs(reader["jobs"]),
        "tasks": _tasks(tasks, reader["jobs"]),
        "segments": _segments(reader["segments"], tasks),
        "decisions": _decisions(reader["decisions"]),
        "loads": _loads(reader["loads"]),
        "messages": _messages(reader["messages"]),
        "failures": _failures(reader["failures"]),
    }  # fmt: skip
    if "detail" in reader:
        detail = reader["detail"]
        begin = detail.ticks("from_ns")
        found["detail"] = [
            *detail.whole("task", "node", "doing"), PlayerColumn("from", begin, True),
            PlayerColumn("length", detail.ticks("to_ns") - begin),
        ]  # fmt: skip
    return found


def _jobs(jobs: _Reader) -> list[PlayerColumn]:
    arrival_ns = jobs.values("arrival_ns")
    arrival = np.where(arrival_ns < _TIMES_OF_JOBS_NEVER, _ticks(arrival_ns, jobs.tick_ns), -1)
    return [
        *jobs.whole("job", delta=True), PlayerColumn("arrival", arrival, True), *jobs.whole("home", "tasks"),
        *jobs.whole("first_task", delta=True),
        *jobs.real("cpu_ms", "io_per_ms", "memory_mb", "initial_data_mb"), *jobs.whole("program"),
    ]  # fmt: skip


def _tasks(tasks: _Reader, jobs: _Reader) -> list[PlayerColumn]:
    """`job` is the row of the job, as not all may be there."""
    arrival, finish = tasks.ticks("arrival_ns"), tasks.ticks("finish_ns")
    parts = ("cpu", "io", "paging", "barrier")
    alone_ns = np.sum([tasks.values(f"isolated_{part}_ns") for part in parts], axis=0)
    # Not by the player, of rounded times: the shortest tasks may have the largest slowdowns.
    slowdown = slowdowns(tasks.values("finish_ns") - tasks.values("arrival_ns"), alone_ns)
    return [
        *tasks.whole("task", delta=True),
        PlayerColumn("job", np.searchsorted(jobs.values("job"), tasks.values("job")), True),
        *tasks.whole("home", "node", "moves", "migrations", "restarts", "outcome"),
        PlayerColumn("arrival", arrival, True), PlayerColumn("response", finish - arrival),
        PlayerColumn("slowdown", slowdown), *tasks.whole("requests", "faults", "is_open"),
    ]  # fmt: skip


def _segments(segments: _Reader, tasks: _Reader) -> list[PlayerColumn]:
    """`gap` is from the end of the task's segment before, or from its submission, to the begin."""
    task = segments.values("task")
    begin, end = segments.ticks("from_ns"), segments.ticks("to_ns")
    before = np.roll(end, 1)
    first = np.append(True, task[1:] != task[:-1])[: len(task)]
    place = np.searchsorted(tasks.values("task"), task)
    before[first] = tasks.ticks("arrival_ns")[place[first]]
    parts = [PlayerColumn(name.replace("_ns", ""), _ticks(segments.values(name), PART_NS)) for name in PARTS]
    return [
        PlayerColumn("task", place, True), *segments.whole("node", "origin", "what", "decision", "is_open"),
        PlayerColumn("gap", begin - before), PlayerColumn("length", end - begin), *parts,
    ]  # fmt: skip


def _decisions(decisions: _Reader) -> list[PlayerColumn]:
    time = decisions.ticks("time_ns")
    after: list[PlayerColumn] = []
    for name in ("leaves", "enters"):
        at = decisions.values(f"{name}_ns")
        after.append(PlayerColumn(name, np.where(at < 0, -1, np.maximum(decisions.ticks(f"{name}_ns") - time, 0))))
    told = decisions.values("told_ns")
    age = np.where(told < 0, -1, np.maximum(time - decisions.ticks("told_ns"), 0))
    truths = [f"true_{side}_{name}" for side in ("here", "there") for name in TRUTHS if name != "io_load"]
    return [
        PlayerColumn("time", time, True), *decisions.whole("task", "source", "target"),
        *(decisions.text(name) for name in ("rule", "index", "reason")), *decisions.whole("accepted", "kind"),
        *after, PlayerColumn("age", age),
        *decisions.real("task_load", "load_here", "load_there", "response_here_ms", "response_there_ms"),
        *decisions.real("cost_ms", "mce"),
        *decisions.real(*truths),
    ]  # fmt: skip


def _loads(loads: _Reader) -> list[PlayerColumn]:
    busy = [PlayerColumn(f"{device}_busy_ms", loads.values(f"{device}_ns") / NS_PER_MS) for device in ("cpu", "disk")]
    return [PlayerColumn("at", loads.ticks("at_ns"), True), *loads.whole("node"), *loads.real(*LOADS), *busy]


def _messages(messages: _Reader) -> list[PlayerColumn]:
    sent = messages.ticks("sent_ns")
    heard = np.where(messages.values("heard_ns") < 0, -1, np.maximum(messages.ticks("heard_ns") - sent, 0))
    return [
        PlayerColumn("sent", sent, True), PlayerColumn("after", heard), *messages.whole("sender", "receiver"),
        messages.text("topic"), *messages.whole("task"),
    ]  # fmt: skip


def _failures(failures: _Reader) -> list[PlayerColumn]:
    return [
        PlayerColumn("at", failures.ticks("at_ns"), True), failures.text("what"), *failures.whole("node"),
        failures.text("other"), *failures.real("factor"),
    ]  # fmt: skip
