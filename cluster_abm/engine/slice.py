"""One node's life, from event to event.

Events of a node at one instant happen in this order: the CPU stops, core by core, the disk ends, a task enters. At a
stop the reasons are tested in this order: demand used up (or a barrier reached, or a background program has had its
share), access, page fault, end of quantum.
"""

from __future__ import annotations

import math

from cluster_abm.engine.barriers import end_transit_at_barrier, leave_barrier, reach_barrier
from cluster_abm.engine.cores import core_of
from cluster_abm.engine.cpu import (
    book_progress,
    dispatch,
    end_quantum,
    leaps_to_ns,
    make_ready,
    plan_stop,
    vacate,
)  # fmt: skip
from cluster_abm.engine.disk import (
    ask_disk,
    book_request,
    drawn_seek_ns,
    next_in_service,
    request_kb,
    seek_of_access_ns,
    service_of_fault_ns,
    service_time_ns,
)
from cluster_abm.engine.ending import finish, kill_newest
from cluster_abm.engine.memory import change_demand, count_access, fill_cache, fit_isolated_cache, is_hit
from cluster_abm.engine.programs.background import begins_again, is_background, rest
from cluster_abm.engine.programs.profiles import ends_phase, next_phase, profile_gap_ns, sleep
from cluster_abm.engine.random_numbers import GAP, HIT, SEEK, exponential, uniform
from cluster_abm.engine.rows import give_back_slot, next_event_ns, row_at
from cluster_abm.engine.tables import (
    ARRIVAL_WRITE,
    EXPLICIT,
    FAULT,
    LEFT_BEHIND,
    NEVER,
    NONE,
    NS_PER_MS,
    WAKING,
    Row,
    Table,
    Tables,
)
from cluster_abm.jit import called, inlined


@inlined
def draw_gap(node: Row, task: Row, phases: Table, accesses: int) -> None:
    """Set the CPU until a task's next access: as its profile says, else exponential in its own CPU time, at least 1 ns.

    `accesses` is the number of its accesses so far.
    """
    if task.phase != NONE:
        task.gap_left_ns = profile_gap_ns(node, task, phases[task.phase])
    elif task.io_per_ms > 0.0:
        gap_ms = exponential(task.key, GAP, accesses) / (task.io_per_ms * node.speed)
        # A gap that 64 bits do not hold outlasts any task.
        task.gap_left_ns = max(1, int(math.floor(min(gap_ms * NS_PER_MS + 0.5, NEVER))))
    else:
        task.gap_left_ns = NEVER


@inlined
def misses_alone(task: Row, access: int) -> bool:
    """Whether one of the task's accesses, counted from 0, would not be served from the buffer if the task were alone at
    home."""
    return task.isolated_hit == 0.0 or uniform(task.key, HIT, access, 0) >= task.isolated_hit


@inlined
def access(node: Row, tables: Tables, task: Row, now_ns: int) -> tuple[int, int]:
    """The running task makes an access: seek and whole service of its request [ns]; 0, 0 if the buffer has it."""
    # Read once: the compiler cannot know that what is written below is something else.
    number = task.accesses
    size_kb = request_kb(task, number)
    if number >= task.isolated_from and misses_alone(task, number):
        seek_ns = drawn_seek_ns(task.isolated_seek_ns, task.isolated_draws_seeks, task.key, SEEK, number)
        task.isolated_io_ns += service_time_ns(seek_ns, task.isolated_ns_per_kb, size_kb)
        if task.isolated_buffer_kb > 0.0:
            fit_isolated_cache(task, size_kb)
    seek_ns, service_ns = 0, 0
    if is_hit(node, task):
        task.hits += 1
        node.hits += 1
    else:
        task.requests += 1
        node.requests += 1
        seek_ns = seek_of_access_ns(node, task, number)
        service_ns = service_time_ns(seek_ns, node.ns_per_kb, size_kb)
        fill_cache(node, size_kb)
    task.accesses = number + 1
    task.phase_accesses += 1
    count_access(node, tables, now_ns)
    draw_gap(node, task, tables.phases, number + 1)
    return seek_ns, service_ns


@inlined
def next_request(node: Row, tables: Tables, task: Row, now_ns: int) -> tuple[int, int, int]:
    """What a task that has stopped asks of the disk: seek and whole service [ns], and kind; service 0 if its quantum is
    over, or on a hit."""
    if task.gap_left_ns == 0:
        seek_ns, service_ns = access(node, tables, task, now_ns)
        return seek_ns, service_ns, EXPLICIT
    if task.fault_credit >= 1.0:
        task.fault_credit -= 1.0
        task.faults += 1
        node.faults += 1
        seek_ns, service_ns = service_of_fault_ns(node, task, task.faults)
        return seek_ns, service_ns, FAULT
    return 0, 0, EXPLICIT


@called
def goes_on_after_phase(node: Row, tables: Tables, slot: int, now_ns: int) -> bool:
    """The running task goes on to its next phase; False if it sleeps before, or is killed, as the newest of them all,
    for growing: then the core has another."""
    tasks = tables.tasks
    task = tasks[slot]
    position = task.core
    pause_ns = next_phase(node, tables, task, now_ns)
    if pause_ns > 0:
        vacate(node, tables.cores, task)
        sleep(node, tables, slot, pause_ns, now_ns)
        dispatch(node, tables, position, now_ns)
    if node.demand_kb > node.limit_kb:
        kill_newest(node, tables, now_ns)
    return bool(core_of(node, tables.cores, position).running == slot)


@inlined
def stop_cpu(node: Row, tables: Tables, now_ns: int, end_ns: int) -> None:
    """The running task that is the first to stop does so, for the first reason that holds."""
    tasks, cores = tables.tasks, tables.cores
    slot = node.stopping
    task = row_at(tasks, slot)
    book_progress(node, task, now_ns)
    if task.cpu_left_ns == 0 and task.barriers_left > 0:
        vacate(node, cores, task)
        reach_barrier(node, tables, slot, now_ns)
    elif task.cpu_left_ns == 0 and not begins_again(task):
        vacate(node, cores, task)
        if is_background(task):
            rest(node, tables, slot, now_ns)
        else:
            finish(node, tables, slot, now_ns)
    else:
        seek_ns, blocks_ns, kind = 0, 0, EXPLICIT
        if task.phase != NONE and task.gap_left_ns == 0 and ends_phase(task, tables.phases):
            if not goes_on_after_phase(node, tables, slot, now_ns):
                return
        else:
            seek_ns, blocks_ns, kind = next_request(node, tables, task, now_ns)
        if blocks_ns > 0:
            ask_disk(node, tasks, slot, kind, seek_ns, blocks_ns, now_ns)
            dispatch(node, tables, task.core, now_ns)
        elif node.ready_head != NONE and now_ns >= task.quantum_start_ns + node.quantum_ns:
            now_ns = leaps_to_ns(node, tables, now_ns, end_ns)
            end_quantum(node, tables, slot, now_ns)
            dispatch(node, tables, task.core, now_ns)
        else:
            plan_stop(node, cores, task, slot)
        return
    dispatch(node, tables, task.core, now_ns)


@inlined
def pop_transit_head(node: Row, tasks: Table) -> int:
    """Take the first task out of the queue of the tasks in transit or about to go on from a barrier; return its row."""
    slot = node.transit_head
    node.transit_head = row_at(tasks, slot).next
    if node.transit_head == NONE:
        node.transit_tail = NONE
        node.arrival_ns = NEVER
    else:
        node.arrival_ns = row_at(tasks, node.transit_head).enter_ns
    return int(slot)


@inlined
def enter_node(node: Row, task: Row, now_ns: int) -> None:
    """Count a task that was in transit among the tasks in the node."""
    node.in_transit -= 1
    node.transit_kb -= task.memory_kb
    node.tasks += 1
    task.here_ns = now_ns
    task.migration_ns += now_ns - task.since_ns


@called
def settle(node: Row, tables: Tables, slot: int, now_ns: int) -> None:
    """A task that has arrived writes what it brought, and then goes on where it was: at its barrier, at the disk with a
    request that it has still to make, or in the ready queue."""
    tasks = tables.tasks
    task = tasks[slot]
    if task.request_kind == ARRIVAL_WRITE:
        # It has been written.
        task.migration_ns += now_ns - task.since_ns
        task.request_kind = task.pending_kind
    elif task.arrival_write_kb > 0.0:
        task.pending_kind = task.request_kind
        write_ns = int(math.floor(task.arrival_write_kb * node.ns_per_kb + 0.5))
        ask_disk(node, tasks, slot, ARRIVAL_WRITE, 0, write_ns, now_ns)
        task.arrival_write_kb = 0.0
        return
    if task.wake_ns > 0:
        end_transit_at_barrier(node, tables, slot, now_ns)
    elif task.request_kind == NONE:
        make_ready(node, tables, slot, now_ns)
    elif task.request_kind == FAULT:
        seek_ns, service_ns = service_of_fault_ns(node, task, task.faults)
        ask_disk(node, tasks, slot, FAULT, seek_ns, service_ns, now_ns)
    else:
        seek_ns = seek_of_access_ns(node, task, task.accesses - 1)
        service_ns = service_time_ns(seek_ns, node.ns_per_kb, request_kb(task, task.accesses - 1))
        ask_disk(node, tasks, slot, EXPLICIT, seek_ns, service_ns, now_ns)


@inlined
def end_request(node: Row, tables: Tables, now_ns: int) -> tuple[int, bool]:
    """End the request in service; the next one starts.

    Returns the row of its task, NONE if that has migrated; and whether the task has written what it brought, and has
    still to settle in: else it is ready.
    """
    tasks = tables.tasks
    slot = next_in_service(node, tasks, now_ns)
    task = row_at(tasks, slot)
    if task.request_kind == ARRIVAL_WRITE:
        return slot, True
    if task.request_kind == LEFT_BEHIND:
        give_back_slot(tables, slot)
        return NONE, False
    if node.measures_bandwidths != 0 and task.request_kind == EXPLICIT and task.service_ns > 0:
        node.disk_delay_share = (now_ns - task.since_ns) / task.service_ns - 1.0
    book_request(task, now_ns)
    task.request_kind = NONE
    return slot, False


@inlined
def enter(node: Row, tables: Tables, now_ns: int) -> tuple[int, bool]:
    """Let the first task in transit arrive, or the first task with an opened barrier go on.

    Returns its row; and whether it brought data, waits at a barrier or has a request to make, and has still to settle
    in: else it is ready.
    """
    tasks = tables.tasks
    slot = pop_transit_head(node, tasks)
    task = row_at(tasks, slot)
    if task.state == WAKING:
        leave_barrier(task, now_ns)
        return slot, False
    enter_node(node, task, now_ns)
    if task.gap_left_ns == NONE:
        draw_gap(node, task, tables.phases, task.accesses)
    change_demand(node, tables, task.memory_kb, task.stream, task.allocated_kb_per_s, task.accesses, now_ns)
    return slot, task.arrival_write_kb > 0.0 or task.wake_ns > 0 or task.request_kind != NONE


@called
def live_until(node: Row, tables: Tables, end_ns: int) -> None:
    """Let one node live from event to event until `end_ns`."""
    while node.next_event_ns < end_ns:
        now_ns = next_ns = node.next_event_ns
        arrived = NONE
        # Kills, and arrivals in the middle of something, are rare: they wait outside the loop of all others.
        while next_ns < end_ns and node.demand_kb <= node.limit_kb:
            now_ns = next_ns
            if node.cpu_stop_ns == now_ns:
                stop_cpu(node, tables, now_ns, end_ns)
            elif node.disk_end_ns == now_ns:
                slot, has_to_settle = end_request(node, tables, now_ns)
                if has_to_settle:
                    arrived = slot
                    break
                if slot != NONE:
                    make_ready(node, tables, slot, now_ns)
            else:
                slot, has_to_settle = enter(node, tables, now_ns)
                if has_to_settle:
                    arrived = slot
                    break
                make_ready(node, tables, slot, now_ns)
            next_ns = next_event_ns(node)
        if arrived != NONE:
            settle(node, tables, arrived, now_ns)
        if node.demand_kb > node.limit_kb:
            kill_newest(node, tables, now_ns)
        # Later than before: what is noted of its block goes on holding.
        node.next_event_ns = next_event_ns(node)
