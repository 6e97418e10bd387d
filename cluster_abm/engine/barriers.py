"""Bulk-synchronous jobs: after each interval of their own CPU all tasks come to a barrier, communicate and go on.

A task that reaches its barrier leaves the CPU. Nodes do not interact inside a slice, so a barrier opens at a slice
boundary at the earliest. The tasks go on at the first boundary after the last of them has come, or when their
communication, which begins when the last of them comes, is over.
"""

from __future__ import annotations

from cluster_abm.engine.admission import queue_for_entry, wall_ns_of_cpu
from cluster_abm.engine.cpu import make_ready
from cluster_abm.engine.tables import AT_BARRIER, DEPENDENT, NEVER, NONE, PENDING_JOBS, WAKING, Row, Tables
from cluster_abm.jit import inlined, kernel


@inlined
def reach_barrier(node: Row, tables: Tables, slot: int, now_ns: int) -> None:
    """A task that has left its core has come to its barrier."""
    task = tables.tasks[slot]
    barrier = tables.barriers[task.job]
    task.barriers_left -= 1
    phase_ns = task.cpu_after_ns
    if task.barriers_left > 0:
        phase_ns = min(phase_ns, wall_ns_of_cpu(task.barrier_ms, node.speed))
    task.cpu_left_ns = phase_ns
    task.cpu_after_ns -= phase_ns
    task.state = AT_BARRIER
    task.since_ns = now_ns
    task.wake_ns = NEVER
    task.barrier_next = barrier.head
    barrier.head = slot
    barrier.waiting += 1
    barrier.last_ns = max(barrier.last_ns, now_ns)
    barrier.isolated_longest_ns = max(barrier.isolated_longest_ns, phase_of_isolated_run_ns(task))
    if barrier.waiting == barrier.tasks:
        tables.pending_jobs[tables.counters[PENDING_JOBS]] = task.job
        tables.counters[PENDING_JOBS] += 1


@inlined
def leave_barrier(task: Row, now_ns: int) -> None:
    """The task's barrier is open: it is about to be ready."""
    task.barrier_ns += now_ns - task.since_ns
    task.wake_ns = 0


@inlined
def end_transit_at_barrier(node: Row, tables: Tables, slot: int, now_ns: int) -> None:
    """A task that migrated while it waited at its barrier has arrived: it goes on, or goes on waiting."""
    task = tables.tasks[slot]
    task.since_ns = now_ns
    if task.wake_ns <= now_ns:
        leave_barrier(task, now_ns)
        make_ready(node, tables, slot, now_ns)
    elif task.wake_ns == NEVER:
        task.state = AT_BARRIER
    else:
        wake(node, tables, slot)


@inlined
def wake(node: Row, tables: Tables, slot: int) -> None:
    """The task goes on at the instant its barrier opens."""
    task = tables.tasks[slot]
    task.state = WAKING
    task.enter_ns = task.wake_ns
    queue_for_entry(node, tables, slot)


@inlined
def phase_of_isolated_run_ns(task: Row) -> int:
    """Return what the task, which is at its barrier, takes in this phase of the isolated run: CPU, paging and I/O."""
    paging_ns = int(task.isolated_paging_ns * (task.isolated_phase_ns / max(1, task.isolated_cpu_ns)))
    return int(task.isolated_phase_ns + paging_ns + (task.isolated_io_ns - task.isolated_mark_ns))


@inlined
def barrier_opens_ns(last_ns: int, communication_ns: int, slice_ns: int) -> int:
    """Return when a barrier opens to which the last task comes at `last_ns`: at the slice boundary, or after the
    communication if that ends later [ns]."""
    return max((last_ns // slice_ns + 1) * slice_ns, last_ns + communication_ns)


@inlined
def open_one(tables: Tables, job: int, slice_ns: int, now_ns: int) -> None:
    """At a slice boundary: the tasks of a job, which have all come to their barrier, go on.

    The isolated run, which slowdowns are measured against, is brought to the same barrier: the job alone on as many
    nodes as it has tasks, slices included.
    """
    tasks, barrier = tables.tasks, tables.barriers[job]
    open_ns = max(now_ns, barrier_opens_ns(barrier.last_ns, barrier.communication_ns, slice_ns))
    met_ns = barrier.isolated_start_ns + barrier.isolated_longest_ns
    isolated_open_ns = barrier_opens_ns(met_ns, barrier.communication_ns, slice_ns)
    slot = barrier.head
    while slot != NONE:
        task = tasks[slot]
        task.isolated_barrier_ns += isolated_open_ns - met_ns + barrier.isolated_longest_ns
        task.isolated_barrier_ns -= phase_of_isolated_run_ns(task)
        task.isolated_mark_ns = task.isolated_io_ns
        task.wake_ns = open_ns
        if task.barriers_left == 0 and barrier.dies_together == 0:
            task.bound = 0
            tables.counters[DEPENDENT] -= 1
        following = task.barrier_next
        if task.state == AT_BARRIER:
            # Where a pool of one row stands for all nodes, every task is in it.
            wake(tables.nodes[task.node % tables.nodes.shape[0]], tables, slot)
        slot = following
    barrier.head = NONE
    barrier.waiting = 0
    barrier.last_ns = 0
    barrier.isolated_longest_ns = 0
    barrier.isolated_start_ns = isolated_open_ns


@inlined
def open_barriers(tables: Tables, slice_ns: int) -> None:
    """Open, at a slice boundary, the barriers to which all tasks of a job have come."""
    for entry in range(tables.counters[PENDING_JOBS]):
        job = tables.pending_jobs[entry]
        if job >= 0 and tables.barriers[job].dead == 0:
            open_one(tables, job, slice_ns, 0)
    tables.counters[PENDING_JOBS] = 0


@kernel
def open_barrier_of(tables: Tables, job: int, slice_ns: int, now_ns: int) -> None:
    """At a slice boundary: one job goes on if all its tasks have come to their barrier.

    Args:
        tables: the state, changed in place.
        job: its number.
        slice_ns: length of a slice [ns].
        now_ns: the boundary [ns].
    """
    barrier = tables.barriers[job]
    # Jobs of one task have no row that is filled in: none of theirs waits.
    if barrier.waiting > 0 and barrier.waiting == barrier.tasks and barrier.dead == 0:
        open_one(tables, job, slice_ns, now_ns)
