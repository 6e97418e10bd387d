"""Bulk-synchronous jobs: all tasks of a job meet after every so much of their own CPU, communicate, and go on.

A task that reaches its barrier leaves the CPU. Nodes are alone inside a slice, so the tasks learn at its border that
the last of them has come: they go on then, or when the communication, which begins at that instant, is over.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.admission import queue_entry, wall_ns_of_cpu
from cluster_abm.engine.cpu import make_ready
from cluster_abm.engine.tables import AT_BARRIER, MEETING, NEVER, NONE, OPENING, WAKING, Row, Table
from cluster_abm.jit import inlined

Integers = npt.NDArray[np.int64]


@inlined
def reach_barrier(
    node: Row, tasks: Table, slot: int, counters: Integers, meetings: Table, opening: Integers, now_ns: int
) -> None:
    """The running task has come to its barrier and leaves the CPU, which is then free."""
    task = tasks[slot]
    meeting = meetings[task.job]
    task.barriers_left -= 1
    phase_ns = task.cpu_after_ns
    if task.barriers_left > 0:
        phase_ns = min(phase_ns, wall_ns_of_cpu(task.barrier_ms, node.speed))
    task.cpu_left_ns = phase_ns
    task.cpu_after_ns -= phase_ns
    task.state = AT_BARRIER
    task.since_ns = now_ns
    task.go_on_ns = NEVER
    task.barrier_next = meeting.head
    meeting.head = slot
    meeting.waiting += 1
    meeting.last_ns = max(meeting.last_ns, now_ns)
    meeting.lone_io_ns = max(meeting.lone_io_ns, task.lone_io_ns - task.lone_mark_ns)
    if meeting.waiting == meeting.tasks:
        opening[counters[OPENING]] = task.job
        counters[OPENING] += 1
    node.running = NONE


@inlined
def go_on(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """The task's barrier is open."""
    task = tasks[slot]
    task.barrier_ns += now_ns - task.since_ns
    task.go_on_ns = 0
    make_ready(node, tasks, slot, now_ns)


@inlined
def come_from_travel(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """A task that migrated while it waited at its barrier has arrived: it goes on, or goes on waiting."""
    task = tasks[slot]
    task.since_ns = now_ns
    if task.go_on_ns <= now_ns:
        go_on(node, tasks, slot, now_ns)
    elif task.go_on_ns == NEVER:
        task.state = AT_BARRIER
    else:
        wake(node, tasks, slot)


@inlined
def wake(node: Row, tasks: Table, slot: int) -> None:
    """The task goes on at the instant its barrier opens."""
    task = tasks[slot]
    task.state = WAKING
    task.enter_ns = task.go_on_ns
    queue_entry(node, tasks, slot)


@inlined
def dedicated_phase_ns(task: Row, longest_io_ns: int) -> int:
    """How long a phase lasts in the job's dedicated run: equal CPU and paging, and the I/O of the slowest task."""
    paging_ns = int(task.lone_paging_ns * (task.lone_phase_ns / max(1, task.lone_cpu_ns)))
    return int(task.lone_phase_ns + paging_ns + longest_io_ns)


@inlined
def opens_ns(last_ns: int, communication_ns: int, slice_ns: int) -> int:
    """When a barrier opens to which the last task comes at `last_ns`: at the slice's border, or after communication."""
    return max((last_ns // slice_ns + 1) * slice_ns, last_ns + communication_ns)


@inlined
def meet(nodes: Table, tasks: Table, counters: Integers, meetings: Table, opening: Integers, slice_ns: int) -> None:
    """At the border of a slice: jobs whose tasks have all come to their barrier go on.

    Where a pool of one row stands for all nodes, every task is in it. The dedicated run, which slowdowns are measured
    against, is brought to the same barrier: the job alone on as many nodes as it has tasks, slices included.
    """
    for entry in range(counters[OPENING]):
        if opening[entry] < 0 or meetings[opening[entry]].dead != 0:
            continue
        meeting = meetings[opening[entry]]
        open_ns = opens_ns(meeting.last_ns, meeting.communication_ns, slice_ns)
        met_ns = meeting.lone_start_ns + dedicated_phase_ns(tasks[meeting.head], meeting.lone_io_ns)
        lone_open_ns = opens_ns(met_ns, meeting.communication_ns, slice_ns)
        slot = meeting.head
        while slot != NONE:
            task = tasks[slot]
            own_io_ns = task.lone_io_ns - task.lone_mark_ns
            task.lone_barrier_ns += lone_open_ns - met_ns + meeting.lone_io_ns - own_io_ns
            task.lone_mark_ns = task.lone_io_ns
            task.go_on_ns = open_ns
            if task.barriers_left == 0 and meeting.dies_together == 0:
                task.bound = 0
                counters[MEETING] -= 1
            following = task.barrier_next
            if task.state == AT_BARRIER:
                wake(nodes[task.node % nodes.shape[0]], tasks, slot)
            slot = following
        meeting.head = NONE
        meeting.waiting = 0
        meeting.last_ns = 0
        meeting.lone_io_ns = 0
        meeting.lone_start_ns = lone_open_ns
    counters[OPENING] = 0
