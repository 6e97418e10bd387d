"""Preemptive migration: a task is frozen between two slices, travels, and goes on at its target."""

from __future__ import annotations

import math

from cluster_abm.engine.admission import join_members, leave_members, plan_phases, queue_for_entry, set_out
from cluster_abm.engine.cpu import book_progress, dispatch, vacate
from cluster_abm.engine.disk import book_request, read_for_transfer, request_ends_ns, request_without_task
from cluster_abm.engine.journal import note_departure
from cluster_abm.engine.memory import change_demand
from cluster_abm.engine.rows import plan_next_event
from cluster_abm.engine.tables import (
    ARRIVAL_WRITE,
    AT_BARRIER,
    AT_DISK,
    EXPLICIT,
    FAULT,
    IN_TRANSIT,
    MIGRATES,
    NEVER,
    NONE,
    READY,
    RUNNING,
    SENT_ON,
    WAKING,
    Row,
    Table,
    Tables,
)
from cluster_abm.jit import called, inlined, kernel


@inlined
def at_speed(wall_ns: int, speed: float, other: float) -> int:
    """Wall ns of CPU at one speed as wall ns at another; exactly the same if the speeds are."""
    if wall_ns >= NEVER or speed == other:
        return wall_ns
    return int(math.floor(min(wall_ns * (speed / other) + 0.5, NEVER)))


@inlined
def gap_at_speed(gap_ns: int, speed: float, other: float) -> int:
    """Convert the CPU until a task's next access; without I/O it has counted down from NEVER, and stays NEVER."""
    return NEVER if gap_ns > NEVER // 2 else at_speed(gap_ns, speed, other)


@called
def change_speed(task: Row, speed: float, other: float) -> None:
    """What the task has still to receive, in wall ns of another node's CPU."""
    task.cpu_left_ns = at_speed(task.cpu_left_ns, speed, other)
    task.cpu_after_ns = at_speed(task.cpu_after_ns, speed, other)
    if task.gap_left_ns != NONE:
        task.gap_left_ns = gap_at_speed(task.gap_left_ns, speed, other)


@inlined
def predecessor(tasks: Table, head: int, slot: int) -> int:
    """The row before another one in a queue that begins at `head`; NONE if it is the first."""
    before = NONE
    other = head
    while other != slot:
        before = other
        other = tasks[other].next
    return before


@inlined
def leave_cpu(node: Row, cores: Table, task: Row, now_ns: int) -> None:
    """Take a running task from its core; if that was still switching to it, it never ran."""
    book_progress(node, task, now_ns)
    task.cpu_queue_ns -= max(0, task.leg_ns - now_ns)
    vacate(node, cores, task)


@inlined
def leave_ready(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """Take a task out of the ready queue."""
    task = tasks[slot]
    before = predecessor(tasks, node.ready_head, slot)
    if before == NONE:
        node.ready_head = task.next
    else:
        tasks[before].next = task.next
    if node.ready_tail == slot:
        node.ready_tail = before
    node.ready_count -= 1
    task.cpu_queue_ns += now_ns - task.since_ns


@inlined
def book_waiting(task: Row, now_ns: int) -> None:
    """Book the wait for the disk of a request that is not served."""
    if task.request_kind == EXPLICIT:
        task.io_queue_ns += now_ns - task.since_ns
    elif task.request_kind == FAULT:
        task.paging_ns += now_ns - task.since_ns
    else:
        task.migration_ns += now_ns - task.since_ns


@inlined
def leave_disk_queue(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """Withdraw a request that waits for the disk; the task makes it again at its target."""
    task = tasks[slot]
    before = predecessor(tasks, node.disk_head, slot)
    tasks[before].next = task.next
    if node.disk_tail == slot:
        node.disk_tail = before
    book_waiting(task, now_ns)


@inlined
def leave_request_behind(node: Row, tables: Tables, slot: int) -> int:
    """The device finishes a request that is in it, which nothing can stop: a row without a task takes its place.

    Returns when it will end [ns].
    """
    tasks = tables.tasks
    task = tasks[slot]
    left = request_without_task(tables, task.seek_ns, task.service_ns)
    tasks[left].found_ns = task.found_ns
    tasks[left].next = task.next
    before = predecessor(tasks, node.disk_head, slot)
    if before == NONE:
        node.disk_head = left
    else:
        tasks[before].next = left
    if node.device_tail == slot:
        node.device_tail = left
    if node.disk_tail == slot:
        node.disk_tail = left
    ends_ns = request_ends_ns(node, tasks, left)
    if task.request_kind == ARRIVAL_WRITE:
        task.migration_ns += ends_ns - task.since_ns
    else:
        book_request(task, ends_ns)
    task.request_kind = NONE
    return ends_ns


@inlined
def leave_transit(node: Row, tasks: Table, slot: int) -> None:
    """Take a task out of the queue of the tasks in transit or about to go on from a barrier."""
    task = tasks[slot]
    before = predecessor(tasks, node.transit_head, slot)
    if before == NONE:
        node.transit_head = task.next
    else:
        tasks[before].next = task.next
    if node.transit_tail == slot:
        node.transit_tail = before
    node.arrival_ns = NEVER if node.transit_head == NONE else tasks[node.transit_head].enter_ns


@inlined
def freeze(node: Row, tables: Tables, slot: int, now_ns: int) -> int:
    """Take a task that is in the node out of it; when it leaves [ns]."""
    tasks = tables.tasks
    task = tasks[slot]
    leaves_ns = now_ns
    was_running = task.state == RUNNING
    position = task.core
    if was_running:
        leave_cpu(node, tables.cores, task, now_ns)
    elif task.state == READY:
        leave_ready(node, tasks, slot, now_ns)
    elif task.state == AT_BARRIER or task.state == WAKING:
        # It goes on waiting in transit and at its target.
        task.barrier_ns += now_ns - task.since_ns
        if task.state == WAKING:
            leave_transit(node, tasks, slot)
    elif task.found_ns < NEVER:
        leaves_ns = leave_request_behind(node, tables, slot)
    else:
        leave_disk_queue(node, tasks, slot, now_ns)
    node.tasks -= 1
    change_demand(node, tables, -task.memory_kb, -task.stream, -task.allocated_kb_per_s, -task.accesses, now_ns)
    if was_running:
        dispatch(node, tables, position, now_ns)
    node.no_leap_before_ns = 0
    return leaves_ns


@kernel
def migrate(tables: Tables, slot: int, target: int, cost_ns: int, now_ns: int) -> int:
    """Freeze a task on its node and send it to another, where it goes on `cost_ns` after it has left.

    It leaves at once, or when the disk has served the request it is serving for it. Its memory counts at the target
    from now on. An arriving task that has not entered its home yet is sent on instead: a remote execution.

    Args:
        tables: the state, changed in place; there must be a free slot.
        slot: the task's row: READY, RUNNING, AT_DISK, AT_BARRIER, WAKING, or an arriving task IN_TRANSIT to its home.
        target: another node.
        cost_ns: how long it travels [ns].
        now_ns: the slice boundary at which this happens [ns].

    Returns:
        when it enters its target [ns].
    """
    nodes, tasks = tables.nodes, tables.tasks
    task = tasks[slot]
    node = nodes[task.node]
    leave_members(node, tasks, slot)
    there = nodes[target]
    if task.state == IN_TRANSIT:
        # What its manager has spent asking others is behind it.
        leaves_ns = task.enter_ns
        task.migration_ns += leaves_ns - task.since_ns
        leave_transit(node, tasks, slot)
        node.in_transit -= 1
        node.transit_kb -= task.memory_kb
        task.moves = 1
        kind = SENT_ON
        plan_phases(task, there.speed)
    else:
        leaves_ns = freeze(node, tables, slot, now_ns)
        task.migrations += 1
        kind = MIGRATES
        if there.speed != node.speed:
            # Demands are kept in wall ns of the node's CPU.
            change_speed(task, node.speed, there.speed)
    plan_next_event(node, tables)
    task.state = IN_TRANSIT
    task.origin = task.node
    task.node = target
    task.since_ns = leaves_ns
    task.enter_ns = leaves_ns + cost_ns
    set_out(there, tables, slot)
    join_members(there, tasks, slot)
    note_departure(tables, slot, kind, task.origin, leaves_ns)
    return int(task.enter_ns)


@inlined
def is_movable(task: Row) -> bool:
    """Whether a task of a node can be sent elsewhere: it is in the node, or has not begun and not entered; and it is no
    background program."""
    if task.job == NONE:
        return False
    if task.state == AT_DISK:
        # A task that has not yet written the data it brought has not arrived.
        return bool(task.request_kind != ARRIVAL_WRITE)
    has_not_begun = task.gap_left_ns == NONE and task.moves == 0 and task.restarts == 0
    return bool(task.state != IN_TRANSIT or (has_not_begun and task.enter_ns < NEVER))


@kernel
def read_at(tables: Tables, index: int, data_kb: float, now_ns: int) -> int:
    """A node's disk is to read data that is to be sent elsewhere, behind what waits for it; when it is done [ns]."""
    node = tables.nodes[index]
    service_ns = int(math.floor(data_kb * node.ns_per_kb + 0.5))
    return read_for_transfer(node, tables, service_ns, now_ns)


@kernel
def arrive_at(tables: Tables, slot: int, enter_ns: int) -> None:
    """Set the instant at which a task in transit arrives; NEVER: not known yet."""
    tasks = tables.tasks
    task = tasks[slot]
    node = tables.nodes[task.node]
    leave_transit(node, tasks, slot)
    task.enter_ns = enter_ns
    plan_next_event(node, tables)
    queue_for_entry(node, tables, slot)


@kernel
def slot_of(nodes: Table, tasks: Table, node: int, task: int) -> int:
    """Row of a task that belongs to a node, NONE if it does not."""
    slot = nodes[node].member_head
    while slot != NONE and tasks[slot].task != task:
        slot = tasks[slot].member_next
    return int(slot)
