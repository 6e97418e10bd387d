"""How tasks end: they finish, or are killed because the memory does not hold them."""

from __future__ import annotations

from cluster_abm.engine.admission import leave_members
from cluster_abm.engine.memory import change_demand
from cluster_abm.engine.migration import freeze, leave_transit
from cluster_abm.engine.rows import give_back_slot, plan_next_event
from cluster_abm.engine.tables import (
    DEPENDENT,
    FINISHED,
    FREE,
    IN_TRANSIT,
    KILLED,
    LAST_FINISH_NS,
    LIVE,
    NONE,
    PENDING_JOBS,
    RECORDS,
    REQUEST_ONLY,
    Row,
    Table,
    Tables,
)
from cluster_abm.jit import called, inlined, kernel


@inlined
def write_record(node: Row, tables: Tables, slot: int, outcome: int, end_ns: int) -> None:
    """Write the record of a task that has given back its memory, and free its row."""
    counters = tables.counters
    task = tables.tasks[slot]
    record = tables.records[counters[RECORDS]]
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
    record.first_ns = task.first_ns
    record.finish_ns = end_ns
    record.isolated_cpu_ns = task.isolated_cpu_ns
    record.isolated_io_ns = task.isolated_io_ns
    record.isolated_paging_ns = task.isolated_paging_ns
    record.isolated_barrier_ns = task.isolated_barrier_ns
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
    leave_members(node, tables.tasks, slot)
    give_back_slot(tables, slot)
    counters[LIVE] -= 1
    counters[DEPENDENT] -= task.bound
    counters[LAST_FINISH_NS] = max(counters[LAST_FINISH_NS], end_ns)


@inlined
def finish(node: Row, tables: Tables, slot: int, now_ns: int) -> None:
    """A task that has left its core is done."""
    task = tables.tasks[slot]
    node.tasks -= 1
    change_demand(node, tables, -task.memory_kb, -task.stream, -task.allocated_kb_per_s, -task.accesses, now_ns)
    write_record(node, tables, slot, FINISHED, now_ns)


@called
def kill(node: Row, tables: Tables, slot: int, outcome: int, now_ns: int) -> None:
    """The task ends without finishing, wherever it is; if the disk is serving it, with the end of that request."""
    tasks = tables.tasks
    task = tasks[slot]
    if task.state == IN_TRANSIT:
        end_ns = max(now_ns, task.since_ns)
        task.migration_ns += end_ns - task.since_ns
        leave_transit(node, tasks, slot)
        node.in_transit -= 1
        node.transit_kb -= task.memory_kb
    else:
        end_ns = freeze(node, tables, slot, now_ns)
    write_record(node, tables, slot, outcome, end_ns)


@inlined
def newest(node: Row, tasks: Table) -> int:
    """The task in the node that was submitted last; background programs were there before all."""
    found = NONE
    slot = node.member_head
    while slot != NONE:
        task = tasks[slot]
        if (
            task.job != NONE
            and task.state != IN_TRANSIT
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
def kill_newest(node: Row, tables: Tables, now_ns: int) -> None:
    """While the demand exceeds RAM and swap the newest task is killed: MCLS, section 3.1."""
    tasks, barriers, counters = tables.tasks, tables.barriers, tables.counters
    while node.demand_kb > node.limit_kb:
        slot = newest(node, tasks)
        job = tasks[slot].job
        kill(node, tables, slot, KILLED, now_ns)
        if barriers[job].dies_together != 0 and barriers[job].dead == 0:
            barriers[job].dead = 1
            tables.pending_jobs[counters[PENDING_JOBS]] = -1 - job
            counters[PENDING_JOBS] += 1


@called
def end_job(tables: Tables, job: int, outcome: int, now_ns: int) -> None:
    """End, at a slice boundary, the tasks that a job still has, with this outcome."""
    tasks = tables.tasks
    for slot in range(tasks.shape[0]):
        task = tasks[slot]
        if task.job == job and task.state != FREE and task.state != REQUEST_ONLY:
            node = tables.nodes[task.node]
            kill(node, tables, slot, outcome, now_ns)
            plan_next_event(node, tables)
    barrier = tables.barriers[job]
    barrier.head = NONE
    barrier.waiting = 0
    barrier.dead = 1


@kernel
def end_job_at_boundary(tables: Tables, job: int, outcome: int, now_ns: int) -> None:
    """`end_job`, called from Python: only kernels are kept on the disk."""
    end_job(tables, job, outcome, now_ns)


@called
def end_jobs_of_killed(tables: Tables, now_ns: int) -> None:
    """End, at a slice boundary, all tasks of the jobs of which a task was killed in the slice."""
    for entry in range(tables.counters[PENDING_JOBS]):
        if tables.pending_jobs[entry] < 0:
            end_job(tables, -1 - tables.pending_jobs[entry], KILLED, now_ns)
