"""The disk: one first-come first-served queue for explicit requests and page faults."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.rows import take_slot
from cluster_abm.engine.streams import SIZE, gamma
from cluster_abm.engine.tables import (
    AT_DISK,
    EXPLICIT,
    LEFT_BEHIND,
    NEVER,
    NONE,
    REQUEST_ONLY,
    Row,
    Table,
    Tables,
)
from cluster_abm.jit import called, inlined

Integers = npt.NDArray[np.int64]


@inlined
def request_kb(task: Row, access: int) -> float:
    """Size of one of the task's accesses, counted from 0 [KB]."""
    if task.request_shape == 0.0:
        return task.request_kb
    return task.request_kb * gamma(task.key, SIZE, access, task.request_shape)


@inlined
def service_time_ns(seek_ns: int, ns_per_kb: float, size_kb: float) -> int:
    """Service of a request in whole ns (formulas.service_ms in the engine's unit)."""
    return int(math.floor(seek_ns + size_kb * ns_per_kb + 0.5))


@inlined
def block(task: Row, kind: int, service_ns: int, now_ns: int) -> None:
    """The task blocks on a request."""
    task.state = AT_DISK
    task.request_kind = kind
    task.service_ns = service_ns
    task.since_ns = now_ns
    task.next = NONE


@inlined
def ask_disk(node: Row, tasks: Table, slot: int, kind: int, service_ns: int, now_ns: int) -> None:
    """The task blocks on a request, which joins the disk's queue."""
    block(tasks[slot], kind, service_ns, now_ns)
    if node.disk_tail == NONE:
        node.disk_head = slot
        node.disk_end_ns = now_ns + service_ns
    else:
        tasks[node.disk_tail].next = slot
    node.disk_tail = slot


@inlined
def book_request(task: Row, end_ns: int) -> None:
    """Book the wait for a request and its service, which ends at `end_ns`."""
    if task.request_kind == EXPLICIT:
        task.io_ns += task.service_ns
        task.io_queue_ns += end_ns - task.since_ns - task.service_ns
    else:
        task.paging_ns += end_ns - task.since_ns


@inlined
def next_in_service(node: Row, tasks: Table, now_ns: int) -> int:
    """The request in service is done and the next one starts; the row that it was of."""
    slot = node.disk_head
    following = tasks[slot].next
    node.disk_busy_ns += tasks[slot].service_ns
    node.disk_head = following
    if following == NONE:
        node.disk_tail = NONE
        node.disk_end_ns = NEVER
    else:
        node.disk_end_ns = now_ns + tasks[following].service_ns
    return int(slot)


@inlined
def request_without_task(tables: Tables, service_ns: int) -> int:
    """Take a row for a request without a task; no task waits for it, and no queue holds it yet."""
    slot = take_slot(tables)
    row = tables.tasks[slot]
    row.state = REQUEST_ONLY
    row.task = NONE
    row.job = NONE
    row.request_kind = LEFT_BEHIND
    row.service_ns = service_ns
    row.next = NONE
    return int(slot)


@called
def read_for_transfer(node: Row, tables: Tables, service_ns: int, now_ns: int) -> int:
    """The disk is to read data that will be sent elsewhere: a request without a task; when it will be done [ns]."""
    tasks = tables.tasks
    slot = request_without_task(tables, service_ns)
    if node.disk_tail == NONE:
        node.disk_head = slot
        node.disk_end_ns = now_ns + service_ns
        node.next_event_ns = min(node.next_event_ns, node.disk_end_ns)
    else:
        tasks[node.disk_tail].next = slot
    node.disk_tail = slot
    done_ns = node.disk_end_ns
    waiting = tasks[node.disk_head].next
    while waiting != NONE:
        done_ns += tasks[waiting].service_ns
        waiting = tasks[waiting].next
    return int(done_ns)
