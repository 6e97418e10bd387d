"""One node's life, from event to event; and all nodes' over a window.

Events of a node at one instant happen in this order: the CPU stops, the disk ends, a task enters. At a CPU stop
the reasons are tested in this order: demand used up (or a barrier reached), access, page fault, end of quantum.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.admission import leave_members
from cluster_abm.engine.barriers import come_from_travel, go_on, reach_barrier
from cluster_abm.engine.cpu import book_progress, dispatch, leap_rounds, make_ready, plan_stop
from cluster_abm.engine.disk import ask_disk, end_request, request_kb, service_time_ns
from cluster_abm.engine.memory import change_demand, is_hit
from cluster_abm.engine.streams import GAP, HIT, exponential, uniform
from cluster_abm.engine.tables import (
    EXPLICIT,
    FAULT,
    FREE,
    FREE_TOP,
    LAST_FINISH_NS,
    LIVE,
    NEVER,
    NONE,
    NS_PER_MS,
    RECORDS,
    WAKING,
    Row,
    Table,
)
from cluster_abm.jit import inlined, kernel

Integers = npt.NDArray[np.int64]


@inlined
def draw_gap(node: Row, task: Row) -> None:
    """CPU until the task's next access: exponential in its own CPU time, at least 1 ns."""
    if task.io_per_ms > 0.0:
        gap_ms = exponential(task.key, GAP, task.accesses) / (task.io_per_ms * node.speed)
        # A gap that 64 bits do not hold outlasts any task.
        task.gap_left_ns = max(1, int(math.floor(min(gap_ms * NS_PER_MS + 0.5, NEVER))))
    else:
        task.gap_left_ns = NEVER


@inlined
def finish(node: Row, tasks: Table, slot: int, records: Table, free: Integers, counters: Integers, now_ns: int) -> None:
    """The task is done: it becomes a record, its memory and its row are free again."""
    task = tasks[slot]
    record = records[counters[RECORDS]]
    counters[RECORDS] += 1
    record.task = task.task
    record.job = task.job
    record.home = task.home
    record.node = task.node
    record.moves = task.moves
    record.migrations = task.migrations
    record.arrival_ns = task.arrival_ns
    record.finish_ns = now_ns
    record.lone_cpu_ns = task.lone_cpu_ns
    record.lone_io_ns = task.lone_io_ns
    record.lone_paging_ns = task.lone_paging_ns
    record.lone_barrier_ns = task.lone_barrier_ns
    record.requests = task.requests
    record.faults = task.faults
    record.hits = task.hits
    record.cpu_ns = task.cpu_ns
    record.cpu_queue_ns = task.cpu_queue_ns
    record.io_ns = task.io_ns
    record.io_queue_ns = task.io_queue_ns
    record.paging_ns = task.paging_ns
    record.migration_ns = task.migration_ns
    record.barrier_ns = task.barrier_ns
    record.blocked_ns = task.blocked_ns
    leave_members(node, tasks, slot)
    node.tasks -= 1
    node.running = NONE
    change_demand(node, tasks, -task.memory_kb, -task.stream, now_ns)
    task.state = FREE
    free[counters[FREE_TOP]] = slot
    counters[FREE_TOP] += 1
    counters[LIVE] -= 1
    counters[LAST_FINISH_NS] = max(counters[LAST_FINISH_NS], now_ns)


@inlined
def access(node: Row, task: Row) -> int:
    """The running task makes an access: 0 if the buffer has it, else the disk's service time [ns]."""
    size_kb = request_kb(task, task.accesses)
    if uniform(task.key, HIT, task.accesses, 0) >= task.lone_hit:
        task.lone_io_ns += service_time_ns(task.lone_seek_ns, task.lone_ns_per_kb, size_kb)
    service_ns = 0
    if is_hit(node, task):
        task.hits += 1
        node.hits += 1
    else:
        task.requests += 1
        node.requests += 1
        service_ns = service_time_ns(node.seek_ns, node.ns_per_kb, size_kb)
    task.accesses += 1
    draw_gap(node, task)
    return service_ns


@inlined
def next_request(node: Row, task: Row) -> tuple[int, int]:
    """What a task that has stopped asks of the disk: service [ns] and kind; 0 if its quantum is over, or on a hit."""
    if task.gap_left_ns == 0:
        return access(node, task), EXPLICIT
    if task.fault_credit >= 1.0:
        task.fault_credit -= 1.0
        task.faults += 1
        node.faults += 1
        return int(node.fault_ns), FAULT
    return 0, EXPLICIT


@inlined
def stop_cpu(
    node: Row,
    tasks: Table,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    opening: Integers,
    now_ns: int,
    end_ns: int,
) -> None:
    """The running task stops, for the first reason that holds."""
    slot = node.running
    task = tasks[slot]
    book_progress(node, task, now_ns)
    if task.cpu_left_ns == 0 and task.barriers_left > 0:
        reach_barrier(node, tasks, slot, counters, meetings, opening, now_ns)
        dispatch(node, tasks, now_ns)
        return
    if task.cpu_left_ns == 0:
        finish(node, tasks, slot, records, free, counters, now_ns)
        dispatch(node, tasks, now_ns)
        return
    blocks_ns, kind = next_request(node, task)
    if blocks_ns > 0:
        ask_disk(node, tasks, slot, kind, blocks_ns, now_ns)
        dispatch(node, tasks, now_ns)
    elif node.ready_head != NONE and now_ns >= node.quantum_start_ns + node.quantum_ns:
        now_ns = leap_rounds(node, tasks, now_ns, end_ns)
        node.running = NONE
        make_ready(node, tasks, slot, now_ns)
    else:
        plan_stop(node, task)


@inlined
def leave_flight_head(node: Row, tasks: Table) -> int:
    """Take the first task out of the queue of those on their way or about to go on from a barrier; its row."""
    slot = node.flight_head
    node.flight_head = tasks[slot].next
    if node.flight_head == NONE:
        node.flight_tail = NONE
        node.arrival_ns = NEVER
    else:
        node.arrival_ns = tasks[node.flight_head].enter_ns
    return int(slot)


@inlined
def come_in(node: Row, task: Row, now_ns: int) -> None:
    """A task that was on its way is in the node."""
    node.flying -= 1
    node.flight_kb -= task.memory_kb
    node.tasks += 1
    task.migration_ns += now_ns - task.since_ns


@inlined
def enter(node: Row, tasks: Table, now_ns: int) -> None:
    """The first task in flight arrives: it joins the ready queue, or the disk's with a request it has still to make,
    or goes on waiting at its barrier. Or the first whose barrier has opened goes on."""
    slot = leave_flight_head(node, tasks)
    task = tasks[slot]
    if task.state == WAKING:
        go_on(node, tasks, slot, now_ns)
        return
    come_in(node, task, now_ns)
    if task.gap_left_ns == NONE:
        draw_gap(node, task)
    change_demand(node, tasks, task.memory_kb, task.stream, now_ns)
    if task.go_on_ns > 0:
        come_from_travel(node, tasks, slot, now_ns)
    elif task.request_kind == NONE:
        make_ready(node, tasks, slot, now_ns)
    elif task.request_kind == FAULT:
        ask_disk(node, tasks, slot, FAULT, node.fault_ns, now_ns)
    else:
        service_ns = service_time_ns(node.seek_ns, node.ns_per_kb, request_kb(task, task.accesses - 1))
        ask_disk(node, tasks, slot, EXPLICIT, service_ns, now_ns)


@kernel
def serve(
    nodes: Table,
    tasks: Table,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    opening: Integers,
    end_ns: int,
) -> None:
    """Every node lives until `end_ns`; what happens at that very instant belongs to the next window.

    Args:
        nodes, tasks, records: the tables, changed in place.
        free: stack of free task slots, shape (len(tasks),).
        counters: shape (COUNTERS,), int64.
        meetings: one row a job, tables.MEETING_FIELDS.
        opening: stack of the jobs whose tasks have all come to their barrier, shape (jobs,).
        end_ns: end of the window [ns].
    """
    for index in range(nodes.shape[0]):
        node = nodes[index]
        while node.next_event_ns < end_ns:
            now_ns = node.next_event_ns
            if node.cpu_stop_ns == now_ns:
                stop_cpu(node, tasks, records, free, counters, meetings, opening, now_ns, end_ns)
            elif node.disk_end_ns == now_ns:
                end_request(node, tasks, free, counters, now_ns)
            else:
                enter(node, tasks, now_ns)
            node.next_event_ns = min(node.cpu_stop_ns, node.disk_end_ns, node.arrival_ns)
