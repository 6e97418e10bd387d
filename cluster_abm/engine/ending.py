"""How tasks end: they finish, or are killed because the memory does not hold them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.admission import leave_members
from cluster_abm.engine.memory import change_demand
from cluster_abm.engine.migration import freeze, leave_flight
from cluster_abm.engine.tables import (
    FINISHED,
    FREE,
    FREE_TOP,
    GHOST,
    IN_FLIGHT,
    KILLED,
    LAST_FINISH_NS,
    LIVE,
    MEETING,
    NONE,
    OPENING,
    RECORDS,
    Row,
    Table,
)
from cluster_abm.jit import called, inlined

Integers = npt.NDArray[np.int64]


@inlined
def become_record(
    node: Row, tasks: Table, slot: int, outcome: int, records: Table, free: Integers, counters: Integers, end_ns: int
) -> None:
    """The task, whose memory is given back, becomes a record, and its row is free again."""
    task = tasks[slot]
    record = records[counters[RECORDS]]
    counters[RECORDS] += 1
    record.task = task.task
    record.job = task.job
    record.home = task.home
    record.node = task.node
    record.moves = task.moves
    record.migrations = task.migrations
    record.restarts = task.restarts
    record.outcome = outcome
    record.lost_cpu_ns = task.lost_cpu_ns
    record.arrival_ns = task.arrival_ns
    record.finish_ns = end_ns
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
    task.state = FREE
    free[counters[FREE_TOP]] = slot
    counters[FREE_TOP] += 1
    counters[LIVE] -= 1
    counters[MEETING] -= task.bound
    counters[LAST_FINISH_NS] = max(counters[LAST_FINISH_NS], end_ns)


@inlined
def finish(node: Row, tasks: Table, slot: int, records: Table, free: Integers, counters: Integers, now_ns: int) -> None:
    """The running task is done; the CPU is free."""
    task = tasks[slot]
    node.tasks -= 1
    node.running = NONE
    change_demand(node, tasks, -task.memory_kb, -task.stream, -task.fresh_kb_per_s, -task.accesses, now_ns)
    become_record(node, tasks, slot, FINISHED, records, free, counters, now_ns)


@called
def kill(
    node: Row, tasks: Table, slot: int, outcome: int, records: Table, free: Integers, counters: Integers, now_ns: int
) -> None:
    """The task ends without finishing, wherever it is; if the disk is serving it, with the end of that request."""
    task = tasks[slot]
    if task.state == IN_FLIGHT:
        end_ns = max(now_ns, task.since_ns)
        task.migration_ns += end_ns - task.since_ns
        leave_flight(node, tasks, slot)
        node.flying -= 1
        node.flight_kb -= task.memory_kb
    else:
        end_ns = freeze(node, tasks, slot, free, counters, now_ns)
    become_record(node, tasks, slot, outcome, records, free, counters, end_ns)


@inlined
def newest(node: Row, tasks: Table) -> int:
    """The task in the node that was submitted last; background programs were there before all."""
    found = NONE
    slot = node.member_head
    while slot != NONE:
        task = tasks[slot]
        if (
            task.job != NONE
            and task.state != IN_FLIGHT
            and (
                found == NONE
                or task.arrival_ns > tasks[found].arrival_ns
                or (task.arrival_ns == tasks[found].arrival_ns and task.task > tasks[found].task)
            )
        ):
            found = slot
        slot = task.member_next
    return int(found)


@called
def kill_newest(
    node: Row,
    tasks: Table,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    opening: Integers,
    now_ns: int,
) -> None:
    """While the demand exceeds RAM and swap the newest task is killed: MCLS, section 3.1."""
    while node.demand_kb > node.limit_kb:
        slot = newest(node, tasks)
        job = tasks[slot].job
        kill(node, tasks, slot, KILLED, records, free, counters, now_ns)
        if meetings[job].dies_together != 0 and meetings[job].dead == 0:
            meetings[job].dead = 1
            opening[counters[OPENING]] = -1 - job
            counters[OPENING] += 1


@called
def end_job(
    nodes: Table,
    tasks: Table,
    job: int,
    outcome: int,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    now_ns: int,
) -> None:
    """At the border of a slice: what is left of a job's tasks ends with this outcome."""
    for slot in range(tasks.shape[0]):
        task = tasks[slot]
        if task.job == job and task.state != FREE and task.state != GHOST:
            node = nodes[task.node]
            kill(node, tasks, slot, outcome, records, free, counters, now_ns)
            node.next_event_ns = min(node.cpu_stop_ns, node.disk_end_ns, node.arrival_ns)
    meetings[job].head = NONE
    meetings[job].waiting = 0
    meetings[job].dead = 1


@called
def bury(
    nodes: Table,
    tasks: Table,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    opening: Integers,
    now_ns: int,
) -> None:
    """At the border of a slice: jobs of which a task was killed in it end with all their tasks."""
    for entry in range(counters[OPENING]):
        if opening[entry] >= 0:
            continue
        end_job(nodes, tasks, -1 - opening[entry], KILLED, records, free, counters, meetings, now_ns)
