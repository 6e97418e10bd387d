"""The CPU: round robin with a quantum and a context switch."""

from __future__ import annotations

import math

from cluster_abm.engine.jit import inlined
from cluster_abm.engine.tables import NEVER, NONE, READY, RUNNING, Row, Table


@inlined
def book_progress(node: Row, task: Row, now_ns: int) -> None:
    """Book what the running task has computed since the last booking. Only events may call this, never a
    window's border: the fault credit is a float, and its sum must not depend on the windows."""
    ran_ns = now_ns - node.leg_ns
    if ran_ns > 0:
        task.cpu_left_ns -= ran_ns
        task.gap_left_ns -= ran_ns
        task.fault_credit += node.fault_per_ns * ran_ns
        task.cpu_ns += ran_ns
        node.cpu_busy_ns += ran_ns
        node.leg_ns = now_ns


@inlined
def plan_stop(node: Row, task: Row) -> None:
    """When the running task stops: demand used up, access, page fault, or its quantum if others are ready."""
    lasts_ns = min(task.cpu_left_ns, task.gap_left_ns)
    if node.fault_per_ns > 0.0:
        fault_in = (1.0 - task.fault_credit) / node.fault_per_ns
        if fault_in < lasts_ns:
            lasts_ns = max(0, int(math.ceil(fault_in)))
    stop_ns = node.leg_ns + lasts_ns
    if node.ready_head != NONE:
        stop_ns = min(stop_ns, node.quantum_start_ns + node.quantum_ns)
    node.cpu_stop_ns = stop_ns


@inlined
def renew_quantum(node: Row, now_ns: int) -> None:
    """A task alone gets a fresh quantum at each end without an event: catch up before another becomes ready."""
    ran_ns = now_ns - node.quantum_start_ns
    if ran_ns >= node.quantum_ns:
        node.quantum_start_ns += ran_ns // node.quantum_ns * node.quantum_ns


@inlined
def dispatch(node: Row, tasks: Table, now_ns: int) -> None:
    """Give the free CPU to the first ready task, if there is one."""
    slot = node.ready_head
    if slot == NONE:
        node.running = NONE
        node.cpu_stop_ns = NEVER
        return
    task = tasks[slot]
    node.ready_head = task.next
    if node.ready_head == NONE:
        node.ready_tail = NONE
    start_ns = now_ns
    if node.last_task != task.task:
        if node.last_task != NONE:
            start_ns += node.switch_ns
            node.switches += 1
        node.last_task = task.task
    task.cpu_queue_ns += start_ns - task.since_ns
    task.state = RUNNING
    node.running = slot
    node.leg_ns = start_ns
    node.quantum_start_ns = start_ns
    plan_stop(node, task)


@inlined
def make_ready(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """Put a task at the end of the ready queue; a free CPU takes it at once."""
    task = tasks[slot]
    task.state = READY
    task.since_ns = now_ns
    task.next = NONE
    if node.ready_tail == NONE:
        node.ready_head = slot
        if node.running != NONE:
            # The running task was alone until now: from here on its quantum counts.
            renew_quantum(node, now_ns)
            node.cpu_stop_ns = min(node.cpu_stop_ns, node.quantum_start_ns + node.quantum_ns)
    else:
        tasks[node.ready_tail].next = slot
    node.ready_tail = slot
    if node.running == NONE:
        dispatch(node, tasks, now_ns)
