"""WfFormat of WfCommons (JSON, schema 1.0 to 1.5): the tasks of a workflow, ready when their parents have ended.

What becomes of it:

* A task is a job; its parents (and those tasks that name it among their children) are what it comes `after`. All are
  submitted at 0: a task starts to wait when its last parent has ended.
* CPU time is runtimeInSeconds x min(avgCPU / 100, coreCount): no processor computes longer than the task is there.
  coreCount is often absent, and then no bound. Without avgCPU the run time of one core is taken, and it is said.
* A job has as many tasks as cores were kept busy: avgCPU / 100 - 0.1, rounded up, at most coreCount. They share CPU
  time, memory and bytes evenly.
* readBytes and writtenBytes are bytes of calls, most of which the page cache serves: openly assumed shares of them are
  what the disk saw, `LogReading.disk_read_share`, `disk_write_share`.
* Tasks with a run time of 0 (shorter than half a second, in Nextflow's) are skipped. What comes after them comes after
  their parents.
* The run time is recorded beside the CPU time. Where it counts (`LogReading.cpu_time` "run"), a task that used no CPU
  is a job, too; else it is skipped as those are.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import networkx
import numpy as np

from cluster_abm.workload.parents import from_pairs
from cluster_abm.workload.traces.dependence import parents_of
from cluster_abm.workload.traces.format import TraceFormat
from cluster_abm.workload.traces.parts.fields import beyond_counting
from cluster_abm.workload.traces.parts.finishing import (
    IDLE,
    LEAST_CPU_MS,
    ZERO_CPU,
    disk_columns,
    finished,
    outside,
    tasks_for,
)
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.table import RECORDED_RUN, Flags, Floats, RunTimes, Trace, sorted_out
from cluster_abm.workload.traces.wfformat_document import MOST_DEPENDENCES, Workflow, document_of, too_many

NUMBERED = re.compile(r"_(?:ID)?\d+$", re.ASCII)  # what makes a task's name its own


def wfformat_trace(data: bytes, where: str, reading: LogReading = PLAIN_READING) -> Trace:
    """The trace that a workflow in WfFormat holds.

    Raises InputError: no JSON or no WfFormat, ids that are missing, given twice or unknown, tasks that wait for each
    other, fields that are no numbers (the first ten problems), or no usable task.
    """
    workflow = Workflow(document_of(data, where), where)
    numbers = workflow.numbers()
    graph = workflow.graph()
    columns, assumed, remarks, filled = _columns(numbers, reading)
    counted = [numbers[name] for name in ("read", "written", "memory")]
    runtime, idle = numbers["runtime"], numbers["cpu"] == 0
    reasons: dict[str, Flags] = {
        "in the specification, not in the execution": ~workflow.executed(),
        "no run time": np.isnan(runtime),
        "negative run time": runtime < 0,
        "zero run time": runtime == 0,
        "negative avgCPU": numbers["cpu"] < 0,
        ZERO_CPU: idle if reading.cpu_time == "used" else np.zeros(len(idle), bool),
        "negative bytes": np.any([values < 0 for values in counted], axis=0),
        "bytes beyond 2^63": beyond_counting(*counted),
    } | outside(columns)
    skipped, usable = sorted_out(reasons, len(runtime))
    ran = sorted_out({reason: holds for reason, holds in reasons.items() if reason != ZERO_CPU}, len(runtime))[1]
    after = _resolved(graph, usable, where)
    ids = workflow.spelled()
    words = {
        "name": np.array([NUMBERED.sub("", name) for name in workflow.names], object)[usable],
        "job": np.array(ids, object)[usable],
        "after": np.array([" ".join(ids[p] for p in after[row]) for row in np.flatnonzero(usable)], object),
    }
    if not any(words["after"]):
        del words["after"]
    noted = {remark: int((holds & usable).sum()) for remark, holds in remarks.items()}
    noted["bytes of calls, shares of them taken for the disk's"] = int((assumed & usable).sum())
    noted["comes after a skipped task, hence after what that came after"] = workflow.bridged(graph, usable)
    kept = {name: values[usable] for name, values in columns.items()}
    trace = finished(where, "wfformat", len(runtime), kept, words, skipped, noted, filled, reading)
    if "after" in words:
        parents = parents_of(words["job"], words["after"], where, range(1, len(words["job"]) + 1))
        trace = replace(trace, parents=parents)
    if skipped[ZERO_CPU]:
        trace = replace(trace, ran=_run_times(columns, graph, ran, where))
    return trace


def _run_times(columns: dict[str, Floats], graph: networkx.DiGraph, ran: Flags, where: str) -> RunTimes:
    """The run times of all tasks that ran, with those that used no CPU."""
    after = _resolved(graph, ran, where)
    number, rows = np.cumsum(ran) - 1, np.flatnonzero(ran)
    waiting = np.repeat(np.arange(len(rows)), [len(after[row]) for row in rows])
    parent = number[[one for row in rows for one in after[row]]] if len(waiting) else waiting
    parents = from_pairs(len(rows), parent, waiting) if len(waiting) else None
    return RunTimes(columns[RECORDED_RUN][ran], columns["cpu_ms"][ran], parents)


def _columns(
    numbers: dict[str, Floats], reading: LogReading
) -> tuple[dict[str, Floats], Flags, dict[str, Flags], dict[str, str]]:
    """Our columns, where shares of bytes stand in, what is remarkable about which rows, and what is filled how."""
    share, cores = numbers["cpu"] / 100.0, numbers["cores"]
    unknown = np.isnan(share)
    above = (cores >= 1) & (share > cores)
    busy = np.where(unknown, 1.0, np.where(above, cores, share))
    tasks = tasks_for(busy, np.where(cores >= 1, cores, math.nan))
    memory = np.where(numbers["memory"] > 0, numbers["memory"], math.nan)
    none = np.full(len(busy), math.nan)
    calls = numbers["read"] / 1e6, numbers["written"] / 1e6
    disk, assumed = disk_columns((none, none), calls, reading, tasks)
    columns = {
        "arrival_ms": np.zeros(len(busy)),
        "cpu_ms": np.where(share == 0, LEAST_CPU_MS, np.round(numbers["runtime"] * 1000.0 * busy / tasks, 6)),
        "tasks": tasks,
        "memory_mb": memory / 1e6 / tasks,
        RECORDED_RUN: np.round(numbers["runtime"] * 1000.0, 6),
        **disk,
    }
    filled = {
        "arrival_ms": "all 0: a task is submitted when its parents have ended",
        "tasks": (
            "as many as a task kept cores busy: avgCPU / 100 - 0.1, rounded up, at most coreCount; they share its work "
            "evenly"
        ),
    }
    if unknown.any():
        filled["cpu_ms"] = f"in {int(unknown.sum()):,} rows without avgCPU the run time of one core"
    if assumed.any():
        filled["disk_mb"] = (
            f"bytes of calls, not of the disk: {reading.disk_read_share:g} x readBytes + "
            f"{reading.disk_write_share:g} x writtenBytes assumed (workload.trace.disk_read_share, disk_write_share)"
        )
    remarks = {
        "no avgCPU, run time taken as CPU time": unknown,
        "avgCPU above coreCount, cut to it": above,
        "memory 0, read as not known": numbers["memory"] == 0,
        IDLE: share == 0,
    }
    return columns, assumed, remarks, filled


def _resolved(graph: networkx.DiGraph, usable: Flags, where: str) -> list[tuple[int, ...]]:
    """The usable tasks that each task comes after: of skipped parents their own.

    Raises InputError: more than MOST_DEPENDENCES of them.
    """
    after: list[tuple[int, ...]] = [()] * len(usable)
    total = 0
    for row in networkx.topological_sort(graph):
        parents: dict[int, None] = {}
        for parent in graph.pred[row]:
            parents.update({parent: None} if usable[parent] else dict.fromkeys(after[parent]))
        after[row] = tuple(sorted(parents))
        total += len(parents)
        if total > MOST_DEPENDENCES:
            raise too_many(where)
    return after


FORMAT = TraceFormat(
    title="WfFormat 1.0 to 1.5",
    row="a task",
    lacks="homes, submissions, bytes of the disk",
    begins="{ of a workflow in WfFormat (JSON)",
    rank=4,
    looks_like=lambda head: head.data.startswith(b"{") and b'"workflow"' in head.data,
    trace=lambda file: wfformat_trace(file.data, file.where, file.reading),
    reads=("cpu_time", "disk_read_share", "disk_write_share"),
)
