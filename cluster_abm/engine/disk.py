"""The disk: one first-come first-served queue for explicit requests and page faults."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.cpu import make_ready
from cluster_abm.engine.streams import SIZE, gamma
from cluster_abm.engine.tables import (
    AT_DISK,
    EXPLICIT,
    FREE,
    FREE_TOP,
    LEFT_BEHIND,
    NEVER,
    NONE,
    Row,
    Table,
)
from cluster_abm.jit import inlined

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
def end_request(node: Row, tasks: Table, free: Integers, counters: Integers, now_ns: int) -> None:
    """The request in service is done: its task, if it has not migrated, is ready again; the next request starts."""
    slot = node.disk_head
    task = tasks[slot]
    following = task.next
    node.disk_busy_ns += task.service_ns
    if task.request_kind == LEFT_BEHIND:
        task.state = FREE
        free[counters[FREE_TOP]] = slot
        counters[FREE_TOP] += 1
    else:
        book_request(task, now_ns)
        task.request_kind = NONE
        make_ready(node, tasks, slot, now_ns)
    node.disk_head = following
    if following == NONE:
        node.disk_tail = NONE
        node.disk_end_ns = NEVER
    else:
        node.disk_end_ns = now_ns + tasks[following].service_ns
