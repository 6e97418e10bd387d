"""The CPU: round robin with a quantum and a context switch."""

from __future__ import annotations

import math

from cluster_abm.engine.tables import NEVER, NONE, READY, RUNNING, Row, Table
from cluster_abm.jit import inlined


@inlined
def faults_per_ns(node: Row, task: Row) -> float:
    """Page faults of a task per wall ns of its CPU, now."""
    return float(node.fault_per_ns + node.fault_per_allocated * task.allocated_kb_per_s)


@inlined
def book_progress(node: Row, task: Row, now_ns: int) -> None:
    """Book what the running task has computed since the last booking. Only events may call this, never the end of
    a window: the fault credit is a float, and its sum must not depend on the windows."""
    ran_ns = now_ns - node.leg_ns
    if ran_ns > 0:
        task.cpu_left_ns -= ran_ns
        task.gap_left_ns -= ran_ns
        task.fault_credit += faults_per_ns(node, task) * ran_ns
        task.cpu_ns += ran_ns
        node.cpu_busy_ns += ran_ns
        node.leg_ns = now_ns


@inlined
def runs_for_ns(task: Row, fault_per_ns: float) -> int:
    """CPU that a task receives before it stops of itself: demand used up, access or page fault [ns]."""
    lasts_ns = min(task.cpu_left_ns, task.gap_left_ns)
    if task.fault_credit >= 1.0:
        # Earned in the very instant of an access or a phase's end, which went first.
        lasts_ns = 0
    elif fault_per_ns > 0.0:
        fault_in = (1.0 - task.fault_credit) / fault_per_ns
        if fault_in < lasts_ns:
            lasts_ns = max(0, int(math.ceil(fault_in)))
    return int(lasts_ns)


@inlined
def plan_stop(node: Row, task: Row) -> None:
    """When the running task stops: demand used up, access, page fault, or its quantum if others are ready."""
    stop_ns = node.leg_ns + runs_for_ns(task, faults_per_ns(node, task))
    if node.ready_head != NONE:
        stop_ns = min(stop_ns, node.quantum_start_ns + node.quantum_ns)
    node.cpu_stop_ns = stop_ns


@inlined
def renew_quantum(node: Row, now_ns: int) -> None:
    """Catch up with the quanta that a task alone has passed without an event, before another task becomes ready."""
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
    node.ready_count -= 1
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
    node.ready_count += 1
    if node.running == NONE:
        dispatch(node, tasks, now_ns)


@inlined
def leap_rounds(node: Row, tasks: Table, now_ns: int, end_ns: int) -> int:
    """At the end of a quantum: leap over all the whole rounds in which nothing but ends of quanta will happen.

    In each such round every task gets one quantum and waits for the others'; the node then is as it was. All times
    are whole nanoseconds, so one multiplication equals the steps it stands for to the last bit. Page faults earn a
    credit in floats, and a sum of floats depends on the steps: no leap while the node pages.

    Returns:
        the end of the same task's quantum after the last of those rounds, `now_ns` if there is none.
    """
    if node.fault_per_ns > 0.0 or node.fault_per_allocated > 0.0 or now_ns < node.no_leap_before_ns:
        return now_ns
    round_ns = (node.ready_count + 1) * (node.quantum_ns + node.switch_ns)
    # At one instant the CPU's event comes first, so the others may fall on the leap's end; the window's may not.
    limit_ns = min(node.disk_end_ns, node.arrival_ns, end_ns - 1)
    rounds = (limit_ns - now_ns) // round_ns
    if rounds < 1:
        return now_ns
    running = tasks[node.running]
    needs_ns = NEVER if running.fault_credit < 1.0 else 0
    needs_ns = min(needs_ns, running.cpu_left_ns, running.gap_left_ns)
    slot = node.ready_head
    while slot != NONE:
        task = tasks[slot]
        owes_ns = NEVER if task.fault_credit < 1.0 else 0
        needs_ns = min(needs_ns, owes_ns, task.cpu_left_ns, task.gap_left_ns)
        slot = task.next
    # A task that uses up exactly its last quantum stops for another reason than its quantum.
    rounds = min(rounds, (needs_ns - 1) // node.quantum_ns)
    if rounds < 1:
        node.no_leap_before_ns = now_ns + round_ns
        return now_ns
    given_ns = rounds * node.quantum_ns
    leap_ns = rounds * round_ns
    running.cpu_left_ns -= given_ns
    running.gap_left_ns -= given_ns
    running.cpu_ns += given_ns
    running.cpu_queue_ns += leap_ns - given_ns
    slot = node.ready_head
    while slot != NONE:
        task = tasks[slot]
        task.cpu_left_ns -= given_ns
        task.gap_left_ns -= given_ns
        task.cpu_ns += given_ns
        task.cpu_queue_ns += leap_ns - given_ns
        task.since_ns += leap_ns
        slot = task.next
    node.cpu_busy_ns += given_ns * (node.ready_count + 1)
    node.switches += rounds * (node.ready_count + 1)
    return now_ns + leap_ns
