"""What the own node's loads are with an arriving task on it, and without one of its tasks."""

from __future__ import annotations

from dataclasses import replace

from cluster_abm.formulas import (
    buffer_beside_kb,
    buffer_share_kb,
    data_kb,
    explicit_io_per_ms,
    hit_rate,
    node_faults_per_ms,
)
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.policy.view import View


def with_task(task: ArrivingTask, view: View) -> View:
    """The view as if an arriving task had been assigned to the own node: WAL-PM Fig. 1, line 1."""
    return _changed(task, view, 1.0)


def without_task(task: ArrivingTask, view: View) -> View:
    """The view as if a task of the own node had left it."""
    return _changed(task, view, -1.0)


def _changed(task: ArrivingTask, view: View, tasks: float) -> View:
    """CPU queue, memory load and I/O load of the own node, WAL-PM (9)-(11), changed by one task.

    Page faults of all its tasks follow the memory demand. What the task leaves of the others' buffer is not counted.
    """
    loads, me = view.loads.copy(), view.me
    row, hardware = loads[me], view.hardware[me]
    buffer_kb = float(row["cache_mb"]) * 1000.0
    stream = task.io_per_ms * task.request_kb
    streams = float(row["stream"])
    if tasks > 0.0:
        streams += stream
        if hardware.by_oversize:
            buffer_kb = buffer_beside_kb(buffer_kb, float(row["free_mb"]) * 1000.0, task.memory_mb * 1000.0)
    all_data_kb = data_kb(task.io_per_ms, task.age_ms + task.cpu_ms, task.request_kb, task.reaccess_rate)
    hit = hit_rate(task.reaccess_rate, buffer_share_kb(stream, streams, buffer_kb), all_data_kb)
    before = float(row["faults_per_ms"])
    memory_mb = max(0.0, float(row["memory_mb"]) + tasks * task.memory_mb)
    after = node_faults_per_ms(
        memory_mb, hardware.user_memory_mb, hardware.fault_rate_per_ms, hardware.fault_ratio_cap,
        hardware.overflow_only, hardware.by_oversize, float(row["accesses"]),
    )  # fmt: skip
    faults = (float(row["tasks"]) + tasks) * after - float(row["tasks"]) * before
    row["io_load"] = max(0.0, row["io_load"] + faults + tasks * explicit_io_per_ms(task.io_per_ms, hit))
    row["faults_per_ms"], row["memory_mb"] = after, memory_mb
    row["cpu_queue"] = max(0.0, row["cpu_queue"] + tasks)
    row["tasks"] = max(0.0, row["tasks"] + tasks)
    return replace(view, loads=loads)
