"""Nodes that fail, at a slice boundary: what happens to the tasks in them and to those in transit.

If a node fails, the tasks in it are *orphaned*: each stays in transit to that node, without an instant of entry, until
it is sent elsewhere. What it has computed since its last checkpoint (without one, since its start) has to be computed
again; the accesses of that work are made again, the same ones. The job's other tasks do not wait again at the barriers
that it had passed: it passes them again without stopping.
"""

from __future__ import annotations

from cluster_abm.engine.admission import (
    begin_phase,
    join_members,
    leave_members,
    plan_phases,
    set_out,
    wall_ns_of_cpu,
)  # fmt: skip
from cluster_abm.engine.cores import free_all
from cluster_abm.engine.cpu import faults_per_ns
from cluster_abm.engine.disk import book_request, empty_device, served_of_request_ns
from cluster_abm.engine.memory import change_demand
from cluster_abm.engine.migration import (
    arrive_at,
    at_speed,
    book_waiting,
    change_speed,
    gap_at_speed,
    leave_cpu,
    leave_transit,
)
from cluster_abm.engine.programs.profiles import profile_gap_ns
from cluster_abm.engine.rows import give_back_slot, plan_next_event
from cluster_abm.engine.tables import (
    ARRIVAL_WRITE,
    AT_BARRIER,
    AT_DISK,
    EXPLICIT,
    FAULT,
    FREE,
    IN_TRANSIT,
    NEVER,
    NONE,
    READY,
    REQUEST_ONLY,
    RUNNING,
    WAKING,
    Row,
    Table,
    Tables,
)
from cluster_abm.jit import called, inlined, kernel


@called
def fly(node: Row, tables: Tables, slot: int, now_ns: int, enter_ns: int) -> None:
    """Put the task in transit to a node, to which it belongs from now on."""
    task = tables.tasks[slot]
    task.state = IN_TRANSIT
    task.since_ns = now_ns
    task.enter_ns = enter_ns
    set_out(node, tables, slot)
    join_members(node, tables.tasks, slot)


@called
def leave_transit_to_node(node: Row, tables: Tables, slot: int) -> None:
    """Take a task in transit out of the node's transit queue and out of the list of its tasks."""
    tasks = tables.tasks
    leave_transit(node, tasks, slot)
    leave_members(node, tasks, slot)
    node.in_transit -= 1
    node.transit_kb -= tasks[slot].memory_kb
    plan_next_event(node, tables)


@kernel
def turn_back(tables: Tables, slot: int, delay_ns: int, now_ns: int) -> None:
    """Send a task in transit back to its origin, where it goes on `delay_ns` later: its transfer has failed."""
    nodes, task = tables.nodes, tables.tasks[slot]
    there, here = nodes[task.node], nodes[task.origin]
    leave_transit_to_node(there, tables, slot)
    if task.gap_left_ns == NONE:
        task.moves = 0
    else:
        task.migrations -= 1
    change_speed(task, there.speed, here.speed)
    task.node = task.origin
    left_ns = task.since_ns
    task.arrival_write_kb = 0.0
    fly(here, tables, slot, left_ns, max(now_ns, left_ns) + delay_ns)


@inlined
def book_wait(node: Row, tables: Tables, slot: int, now_ns: int) -> None:
    """Book what a task in a node was doing until its node failed."""
    task = tables.tasks[slot]
    if task.state == RUNNING:
        leave_cpu(node, tables.cores, task, now_ns)
    elif task.state == READY:
        task.cpu_queue_ns += now_ns - task.since_ns
    elif task.state == AT_BARRIER or task.state == WAKING:
        task.barrier_ns += now_ns - task.since_ns
    elif task.found_ns < NEVER:
        # The part of its request that was served is lost with the rest.
        task.service_ns = served_of_request_ns(node, task, node.disk_head == slot, now_ns)
        if task.request_kind == EXPLICIT:
            book_request(task, now_ns)
        else:
            book_waiting(task, now_ns)
    else:
        book_waiting(task, now_ns)


@kernel
def orphan_tasks(tables: Tables, index: int, now_ns: int) -> None:
    """Orphan all tasks in a node that fails: its queues are emptied, and the request in service never ends.

    Tasks in transit to it stay in transit; the caller turns them back, or counts them among the orphaned.
    """
    tasks = tables.tasks
    node = tables.nodes[index]
    slot = node.disk_head
    while slot != NONE:
        # Requests that no task waits for.
        if tasks[slot].state == REQUEST_ONLY:
            give_back_slot(tables, slot)
        slot = tasks[slot].next
    slot = node.member_head
    while slot != NONE:
        if tasks[slot].state != IN_TRANSIT:
            book_wait(node, tables, slot, now_ns)
        slot = tasks[slot].member_next
    node.ready_head = NONE
    node.ready_tail = NONE
    node.ready_count = 0
    free_all(node, tables.cores)
    empty_device(node, now_ns)
    node.no_leap_before_ns = 0
    slot = node.member_head
    while slot != NONE:
        task = tasks[slot]
        following = task.member_next
        if task.state != IN_TRANSIT:
            if task.state == WAKING:
                leave_transit(node, tasks, slot)
            leave_members(node, tasks, slot)
            node.tasks -= 1
            change_demand(node, tables, -task.memory_kb, -task.stream, -task.allocated_kb_per_s, -task.accesses, now_ns)
            task.origin = index
            fly(node, tables, slot, now_ns, NEVER)
        slot = following
    node.cache_kb = 0.0
    node.disk_delay_share = node.net_delay_share = 0.0
    plan_next_event(node, tables)


@kernel
def strand(tables: Tables, slot: int, now_ns: int) -> None:
    """A task in transit has lost its node, or the node that it came from: its journey ends, and from now on it waits
    for another node."""
    task = tables.tasks[slot]
    if task.since_ns < now_ns:
        task.migration_ns += now_ns - task.since_ns
        task.since_ns = now_ns
    arrive_at(tables, slot, NEVER)


@kernel
def save_checkpoints(nodes: Table, tasks: Table, saved: Table, now_ns: int) -> None:
    """Checkpoint every task that has begun, as it is now, wherever it is.

    Args:
        nodes, tasks: the tables.
        saved: a row a slot of `tasks`, tables.CHECKPOINT_FIELDS, written.
        now_ns: the slice boundary at which this happens [ns].
    """
    for slot in range(tasks.shape[0]):
        task = tasks[slot]
        if task.state == FREE or task.state == REQUEST_ONLY or task.gap_left_ns == NONE:
            continue
        node = nodes[task.node]
        unbooked_ns = max(0, now_ns - task.leg_ns) if task.state == RUNNING else 0
        row = saved[slot]
        row.task = task.task
        row.speed = node.speed
        row.left_ns = task.cpu_left_ns + task.cpu_after_ns - unbooked_ns
        row.useful_ns = task.cpu_ns - task.lost_cpu_ns + unbooked_ns
        row.gap_left_ns = task.gap_left_ns - unbooked_ns
        row.fault_credit = task.fault_credit + faults_per_ns(node, task) * unbooked_ns
        row.accesses = task.accesses
        row.phase = task.phase
        row.phase_accesses = task.phase_accesses
        # What it has asked the disk for and not yet had it will ask for again.
        kind = task.pending_kind if task.request_kind == ARRIVAL_WRITE else task.request_kind
        if kind == EXPLICIT and (task.state == AT_DISK or task.state == IN_TRANSIT):
            row.gap_left_ns = 0
            row.accesses -= 1
            row.phase_accesses -= 1
        elif kind == FAULT and (task.state == AT_DISK or task.state == IN_TRANSIT):
            row.fault_credit += 1.0


@inlined
def return_to_phase(node: Row, task: Row, phases: Table, position: int) -> None:
    """A task with a profile is in this phase again. Pauses that it makes again count once in its isolated run; one
    that it is in is over, if it comes to it again."""
    present = task.phase
    if (
        position < present
        and task.phase_accesses == 0
        and task.gap_left_ns == profile_gap_ns(node, task, phases[present])
    ):
        # It has computed nothing in this phase: it sleeps before it, and waits at no barrier.
        task.wake_ns = 0
    for again in range(position, present):
        task.isolated_barrier_ns -= phases[again].pause_ns
    begin_phase(task, phases, position)


@called
def rewind(node: Row, task: Row, saved: Row, job: Row, phases: Table) -> None:
    """A task that has lost its node has to compute again what it had since its last checkpoint, or its start."""
    task.restarts += 1
    left_ns = task.cpu_left_ns + task.cpu_after_ns
    kept_ns = 0
    task.isolated_from = max(task.isolated_from, task.accesses)
    if task.phase != NONE:
        return_to_phase(node, task, phases, saved.phase if saved.task == task.task else job.first_phase)
    if saved.task == task.task:
        again_ns = at_speed(saved.left_ns, saved.speed, node.speed) - left_ns
        kept_ns = saved.useful_ns
        task.gap_left_ns = gap_at_speed(saved.gap_left_ns, saved.speed, node.speed)
        task.fault_credit = saved.fault_credit
        task.accesses = saved.accesses
        task.phase_accesses = saved.phase_accesses
    else:
        again_ns = wall_ns_of_cpu(task.cpu_demand_ms, node.speed) - left_ns
        task.gap_left_ns = NONE
        task.fault_credit = 0.0
        task.accesses = task.phase_accesses = 0
    again_ns = max(0, again_ns)
    task.cpu_left_ns += again_ns
    # As it was received: to compute it again takes longer on a slower CPU.
    task.lost_cpu_ns = task.cpu_ns - kept_ns
    task.request_kind = NONE


@kernel
def resume(tables: Tables, saved: Table, slot: int, target: int, delay_ns: int, now_ns: int) -> None:
    """Send a task that has lost its node, or the node that it came from, to another one.

    Args:
        tables: the state, changed in place.
        saved: checkpoints, a row a slot of `tasks`; rows of other tasks count for nothing.
        slot: the task's row, IN_TRANSIT, stranded (`strand`, `orphan_tasks`).
        target: a node that is up.
        delay_ns: how long it travels [ns].
        now_ns: the slice boundary at which this happens [ns].
    """
    nodes, tasks = tables.nodes, tables.tasks
    task = tasks[slot]
    before, there = nodes[task.node], nodes[target]
    leave_transit_to_node(before, tables, slot)
    # The disk may still be serving its last request.
    leaves_ns = max(now_ns, task.since_ns)
    task.blocked_ns += leaves_ns - task.since_ns
    # What was under way to the node that it has lost is not written at another one.
    task.arrival_write_kb = 0.0
    if task.gap_left_ns != NONE or task.restarts > 0:
        rewind(before, task, saved[slot], tables.jobs[task.job], tables.phases)
        change_speed(task, before.speed, there.speed)
    else:
        plan_phases(task, there.speed)
    if task.gap_left_ns == NONE:
        task.moves = 1 if target != task.home else 0
    task.node = target
    # Nowhere to turn back to.
    task.origin = target
    fly(there, tables, slot, leaves_ns, leaves_ns + delay_ns)
