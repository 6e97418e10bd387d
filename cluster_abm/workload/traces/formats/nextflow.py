"""Nextflow's `trace.txt` (tab-separated, units in its values), and the table of its fields that Lotaru publishes.

A row is a run of a workflow's task. What becomes of it:

* CPU time is realtime x %cpu. %cpu is CPU time over run time as measured, so it may exceed `cpus`, which is a request.
* A job has as many tasks as it kept cores busy: %cpu / 100 - 0.1, rounded up, at most `cpus`. They share CPU time,
  memory and bytes evenly. So alone on a machine a job takes about as long as its row did.
* Bytes that the disk saw are read_bytes and write_bytes. Where a row has neither, openly assumed shares of the bytes of
  calls (rchar, wchar) stand in: `LogReading.disk_read_share`, `disk_write_share`.
* Memory is peak_rss, else rss; requested memory does not stand in for it. 0 is not known.
* A row is submitted at `submit`, else at `start`. The clock begins at the first. Without both all are submitted at 0.
* Failed and aborted rows count if they ran: their work was done. Cached ones did not run.
* The run time (realtime) is recorded beside the CPU time. Where it counts (`LogReading.cpu_time` "run"), a row that
  used no CPU is a job, too; else it is skipped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.traces.format import OpenTrace, TraceFormat
from cluster_abm.workload.traces.parts.fields import CellRule, ForeignColumns, beyond_counting, read_fields
from cluster_abm.workload.traces.parts.finishing import (
    IDLE,
    LEAST_CPU_MS,
    ZERO_CPU,
    disk_columns,
    finished,
    on_own_clock,
    tasks_for,
)
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.parts.stamps import ALLOWED, Stamps
from cluster_abm.workload.traces.parts.units import duration_ms, percent, plain, size_bytes
from cluster_abm.workload.traces.table import RECORDED_RUN, Flags, Floats, RunTimes, Trace, sorted_out, tally

SIZE = CellRule(size_bytes, "bytes, as 4096 or 1.2 GB, or -")
TIME = CellRule(duration_ms, "a time as 3h 2m 1s, ms without a unit, or -")
STAMPS = ("submit", "start", "complete")
SIZES = ("rss", "peak_rss", "rchar", "wchar", "read_bytes", "write_bytes")
INPUTS = {
    "task_input_size": "taskinputsize",
    "task_input_size_uncompressed": "taskinputsizeuncompressed",
    "workflow_input_size": "workflowinputsize",
    "workflow_input_size_uncompressed": "workflowinputuncompressed",
}
WORDS = ("label", "machine", "workflow", "task", "process", "name", "status")
# Three of these make a header Nextflow's.
TELLING = frozenset((*STAMPS, *SIZES, *WORDS, "realtime", "duration", "%cpu", "cpus", "task_id", "native_id", "hash"))
COMPLETED, FAILED, ABORTED, CACHED = "COMPLETED", "FAILED", "ABORTED", "CACHED"


@dataclass(frozen=True, eq=False)
class TaskRuns:
    """The runs of tasks in a file."""

    # A row a run that can be used, in the file's order: label, machine, workflow, task, status (words, blank where not
    # known); task_input_size, task_input_size_uncompressed, workflow_input_size, workflow_input_size_uncompressed [B];
    # submit_ms (since 1970), realtime_ms, cpu_percent, cpus, memory_mb (peak), read_mb, written_mb (by the disk),
    # call_read_mb, call_written_mb [MB of 10^6 bytes], line (of the file). NaN where not known.
    frame: pd.DataFrame
    rows: int  # of the file; always runs + skipped
    skipped: dict[str, int]  # reason -> rows left out
    noted: dict[str, int]  # remark -> rows kept although remarkable
    idle_ms: Floats  # run times of the rows that are left out because they used no CPU alone [ms]


def looks_like_nextflow(names: list[str]) -> bool:
    """Whether a header is Nextflow's: a time that a task ran, and other fields of it."""
    lower = {name.lower() for name in names}
    return "realtime" in lower and len(lower & TELLING) >= 3


def task_runs(cells: CsvCells, with_idle: bool = False) -> TaskRuns:
    """The runs of tasks in an open table. Raises InputError: columns that are missing, cells that cannot be read.

    Args:
        with_idle: whether runs that used no CPU count.
    """
    stamps = Stamps()
    stamp = CellRule(stamps.read, ALLOWED)
    rules = dict.fromkeys(SIZES, SIZE) | dict.fromkeys(INPUTS.values(), SIZE)
    rules |= dict.fromkeys(STAMPS, stamp) | {"realtime": TIME, "duration": TIME}
    rules |= {"%cpu": CellRule(percent, "per cent, as 75.2%, or -"), "cpus": CellRule(plain, "a number, or -")}
    lower = {name.lower() for name in cells.names}
    if "realtime" not in lower and not {"start", "complete"} <= lower:
        raise InputError(
            f"{cells.where}: column 'realtime' is missing (or 'start' and 'complete'); found: "
            f"{', '.join(cells.names)[:200]}"
        )
    fields = read_fields(cells, rules, WORDS)
    status = np.char.upper(fields.word("status").astype(str)) if "status" in fields.words else None
    ran_ms, timed_by_stamps = _run_times(fields)
    counted = [fields.number(name) for name in SIZES]
    cpu, cpus = fields.number("%cpu"), fields.number("cpus")
    start, complete = fields.number("start"), fields.number("complete")
    no_status = np.zeros(len(ran_ms), bool)
    reasons: dict[str, Flags] = {
        "cached: did not run": no_status if status is None else status == CACHED,
        "status not known": no_status
        if status is None
        else ~np.isin(status, (COMPLETED, FAILED, ABORTED, CACHED, "", "-")),
        "no run time": np.isnan(ran_ms),
        "negative run time": ran_ms < 0,
        "zero run time": ran_ms == 0,
        "ends before it starts": complete < start,
        "negative %cpu": cpu < 0,
        ZERO_CPU: no_status if with_idle else cpu == 0,
        "negative bytes": np.any([values < 0 for values in counted], axis=0),
        "bytes beyond 2^63": beyond_counting(*counted),
    }
    skipped, usable = sorted_out(reasons, len(ran_ms))
    ran = sorted_out({reason: holds for reason, holds in reasons.items() if reason != ZERO_CPU}, len(ran_ms))[1]
    memory = fields.number("peak_rss", "rss") / 1e6
    frame = pd.DataFrame(
        {
            "label": fields.word("label"),
            "machine": fields.word("machine"),
            "workflow": fields.word("workflow"),
            "task": _names(fields),
            "status": fields.word("status"),
            **{name: fields.number(column) for name, column in INPUTS.items()},
            "submit_ms": fields.number("submit", "start"),
            "realtime_ms": ran_ms,
            "cpu_percent": cpu,
            "cpus": np.where(cpus > 0, cpus, math.nan),
            "memory_mb": np.where(memory > 0, memory, math.nan),
            "read_mb": fields.number("read_bytes") / 1e6,
            "written_mb": fields.number("write_bytes") / 1e6,
            "call_read_mb": fields.number("rchar") / 1e6,
            "call_written_mb": fields.number("wchar") / 1e6,
            "line": fields.lines,
        }
    )[usable].reset_index(drop=True)
    noted = {
        "blank lines": cells.blank_lines,
        "no realtime, complete - start used": int((timed_by_stamps & usable).sum()),
        "memory 0, read as not known": int((memory[usable] == 0).sum()),
        "kept more cores busy than its cpus": int((cpu > 100.0 * cpus)[usable].sum()),
        "times in several time zones, compared as instants": len(stamps.zones) if len(stamps.zones) > 1 else 0,
    }
    if status is not None:
        noted["failed, its work counts"] = int((usable & (status == FAILED)).sum())
        noted["aborted while it ran, its work counts"] = int((usable & (status == ABORTED)).sum())
    return TaskRuns(frame, len(ran_ms), tally(skipped), tally(noted), ran_ms[ran & ~usable])


def nextflow_trace(cells: CsvCells, reading: LogReading = PLAIN_READING) -> Trace:
    """The trace that a table of Nextflow's or Lotaru's holds.

    Raises InputError: columns that are missing, cells that cannot be read, no usable row.
    """
    runs = task_runs(cells, reading.cpu_time == "run")
    frame, filled = runs.frame, {}
    submit = frame["submit_ms"].to_numpy(float)
    skipped, noted = dict(runs.skipped), dict(runs.noted)
    begins_at_ms = None if np.isnan(submit).all() else float(np.nanmin(submit))
    if begins_at_ms is None:
        submit = np.zeros(len(frame))
        filled["arrival_ms"] = "in no row: all are submitted at 0, in the file's order"
    elif np.isnan(submit).any():
        skipped["no submit time"] = int(np.isnan(submit).sum())
        frame = frame[~np.isnan(submit)]
        submit = submit[~np.isnan(submit)]
    share = frame["cpu_percent"].to_numpy(float) / 100.0
    unknown = np.isnan(share)
    if unknown.any():
        noted["no %cpu, run time taken as CPU time"] = int(unknown.sum())
        filled["cpu_ms"] = "in rows without %cpu the run time of one task"
    busy, ran_ms = np.where(unknown, 1.0, share), frame["realtime_ms"].to_numpy(float)
    tasks = tasks_for(busy, frame["cpus"].to_numpy(float))
    filled["tasks"] = (
        "as many as a row kept cores busy: %cpu / 100 - 0.1, rounded up, at most cpus; they share its work evenly"
    )
    columns: dict[str, Floats] = {
        "arrival_ms": on_own_clock(submit, cells.where),
        "cpu_ms": np.where(busy == 0, LEAST_CPU_MS, np.round(ran_ms * busy / tasks, 6)),
        "tasks": tasks,
        "memory_mb": frame["memory_mb"].to_numpy(float) / tasks,
        RECORDED_RUN: np.round(ran_ms, 6),
    }
    noted[IDLE] = int((busy == 0).sum())
    calls = frame["call_read_mb"].to_numpy(float), frame["call_written_mb"].to_numpy(float)
    disk, assumed = disk_columns(
        (frame["read_mb"].to_numpy(float), frame["written_mb"].to_numpy(float)), calls, reading, tasks
    )
    columns |= disk
    noted["bytes of the disk not known, shares of those of calls used"] = int(assumed.sum())
    if assumed.any():
        filled["disk_mb"] = (
            f"in {int(assumed.sum()):,} rows without read_bytes and write_bytes: {reading.disk_read_share:g} x rchar + "
            f"{reading.disk_write_share:g} x wchar (workload.trace.disk_read_share, disk_write_share)"
        )
    words = {"name": frame["task"].to_numpy(object)}
    trace = finished(cells.where, "nextflow", runs.rows, columns, words, skipped, noted, filled, reading)
    if len(runs.idle_ms):
        all_ms = np.concatenate([ran_ms, runs.idle_ms])
        cpu_ms = np.concatenate([columns["cpu_ms"], np.full(len(runs.idle_ms), LEAST_CPU_MS)])
        trace = replace(trace, ran=RunTimes(all_ms, cpu_ms, None))
    return replace(trace, begins_at_ms=begins_at_ms)


def _run_times(fields: ForeignColumns) -> tuple[Floats, Flags]:
    """Run times [ms], and where they are taken from start and complete."""
    given, between = fields.number("realtime"), fields.number("complete") - fields.number("start")
    taken = np.isnan(given) & ~np.isnan(between)
    return np.where(taken, between, given), taken


def _names(fields: ForeignColumns) -> np.ndarray:
    """The process of each row: Lotaru's Task, Nextflow's process, else its name up to the tag in brackets."""
    if "task" in fields.words or "process" in fields.words:
        return fields.word("task", "process")
    return np.array([name.partition(" (")[0] for name in fields.word("name")], object)


def table_of(file: OpenTrace) -> CsvCells:
    """A table with tabs or commas, as its header has them; with tabs quotes are like any other character."""
    between = file.head.separator
    return file.cells("task", between=between, quoted=between == ",")


FORMAT = TraceFormat(
    title="Nextflow's `trace.txt`, Lotaru's table",
    row="a run of a task",
    lacks="homes; Lotaru: submissions",
    begins="a header with realtime, %cpu, rchar, ... of Nextflow's or Lotaru's table",
    rank=7,
    names=tuple(sorted(TELLING)),
    looks_like=lambda head: looks_like_nextflow(head.names),
    trace=lambda file: nextflow_trace(table_of(file), file.reading),
    reads=("cpu_time", "disk_read_share", "disk_write_share"),
)
