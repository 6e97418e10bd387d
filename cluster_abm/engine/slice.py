"""One node's life, from event to event; and all nodes' over a window.

Events of a node at one instant happen in this order: the CPU stops, the disk ends, a task enters. At a CPU stop
the reasons are tested in this order: demand used up (or a barrier reached, or a background program has had its share),
access, page fault, end of quantum.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.background import begins_again, is_background, rest
from cluster_abm.engine.barriers import come_from_travel, go_on, reach_barrier
from cluster_abm.engine.cpu import book_progress, dispatch, leap_rounds, make_ready, plan_stop
from cluster_abm.engine.disk import ask_disk, book_request, next_in_service, request_kb, service_time_ns
from cluster_abm.engine.ending import finish, kill_newest
from cluster_abm.engine.memory import change_demand, count_access, fill_cache, fit_lone_cache, is_hit
from cluster_abm.engine.profiles import ends_phase, next_phase, profile_gap_ns, sleep
from cluster_abm.engine.streams import GAP, HIT, exponential, uniform
from cluster_abm.engine.tables import (
    BROUGHT,
    EXPLICIT,
    FAULT,
    FREE,
    FREE_TOP,
    LEFT_BEHIND,
    NEVER,
    NONE,
    NS_PER_MS,
    WAKING,
    Row,
    Table,
)
from cluster_abm.jit import called, inlined, kernel

Integers = npt.NDArray[np.int64]


@inlined
def draw_gap(node: Row, task: Row, phases: Table) -> None:
    """CPU until the task's next access: exponential in its own CPU time, at least 1 ns; or as its profile says."""
    if task.phase != NONE:
        task.gap_left_ns = profile_gap_ns(node, task, phases[task.phase])
    elif task.io_per_ms > 0.0:
        gap_ms = exponential(task.key, GAP, task.accesses) / (task.io_per_ms * node.speed)
        # A gap that 64 bits do not hold outlasts any task.
        task.gap_left_ns = max(1, int(math.floor(min(gap_ms * NS_PER_MS + 0.5, NEVER))))
    else:
        task.gap_left_ns = NEVER


@inlined
def access(node: Row, tasks: Table, task: Row, phases: Table, now_ns: int) -> int:
    """The running task makes an access: 0 if the buffer has it, else the disk's service time [ns]."""
    size_kb = request_kb(task, task.accesses)
    if task.accesses >= task.lone_from and uniform(task.key, HIT, task.accesses, 0) >= task.lone_hit:
        task.lone_io_ns += service_time_ns(task.lone_seek_ns, task.lone_ns_per_kb, size_kb)
        if task.lone_buffer_kb > 0.0:
            fit_lone_cache(task, size_kb)
    service_ns = 0
    if is_hit(node, task):
        task.hits += 1
        node.hits += 1
    else:
        task.requests += 1
        node.requests += 1
        service_ns = service_time_ns(node.seek_ns, node.ns_per_kb, size_kb)
        fill_cache(node, size_kb)
    task.accesses += 1
    task.phase_accesses += 1
    count_access(node, tasks, now_ns)
    draw_gap(node, task, phases)
    return service_ns


@inlined
def next_request(node: Row, tasks: Table, task: Row, phases: Table, now_ns: int) -> tuple[int, int]:
    """What a task that has stopped asks of the disk: service [ns] and kind; 0 if its quantum is over, or on a hit."""
    if task.gap_left_ns == 0:
        return access(node, tasks, task, phases, now_ns), EXPLICIT
    if task.fault_credit >= 1.0:
        task.fault_credit -= 1.0
        task.faults += 1
        node.faults += 1
        return int(node.fault_ns - node.fault_saved_ns), FAULT
    return 0, EXPLICIT


@called
def goes_on_after_phase(
    node: Row,
    tasks: Table,
    slot: int,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    opening: Integers,
    phases: Table,
    now_ns: int,
) -> bool:
    """The running task goes on to its next phase; False if it sleeps before, or is killed, as the newest of them all,
    for growing: then the CPU has another."""
    pause_ns = next_phase(node, tasks, tasks[slot], phases, now_ns)
    if pause_ns > 0:
        node.running = NONE
        sleep(node, tasks, slot, pause_ns, now_ns)
        dispatch(node, tasks, now_ns)
    if node.demand_kb > node.limit_kb:
        kill_newest(node, tasks, records, free, counters, meetings, opening, now_ns)
    return bool(node.running == slot)


@inlined
def stop_cpu(
    node: Row,
    tasks: Table,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    opening: Integers,
    phases: Table,
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
    if task.cpu_left_ns == 0 and not begins_again(task):
        if is_background(task):
            rest(node, tasks, slot, now_ns)
        else:
            finish(node, tasks, slot, records, free, counters, now_ns)
        dispatch(node, tasks, now_ns)
        return
    if task.phase != NONE and task.gap_left_ns == 0 and ends_phase(task, phases):
        blocks_ns, kind = 0, EXPLICIT
        if not goes_on_after_phase(
            node, tasks, slot, records, free, counters, meetings, opening, phases, now_ns
        ):  # fmt: skip
            return
    else:
        blocks_ns, kind = next_request(node, tasks, task, phases, now_ns)
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
    task.here_ns = now_ns
    task.migration_ns += now_ns - task.since_ns


@called
def settle_in(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """A task that has arrived writes what it brought, and then goes on where it was: at its barrier, at the disk with a
    request that it has still to make, or in the ready queue."""
    task = tasks[slot]
    if task.request_kind == BROUGHT:
        # It has been written.
        task.migration_ns += now_ns - task.since_ns
        task.request_kind = task.pending_kind
    elif task.brought_kb > 0.0:
        task.pending_kind = task.request_kind
        ask_disk(node, tasks, slot, BROUGHT, int(math.floor(task.brought_kb * node.ns_per_kb + 0.5)), now_ns)
        task.brought_kb = 0.0
        return
    if task.go_on_ns > 0:
        come_from_travel(node, tasks, slot, now_ns)
    elif task.request_kind == NONE:
        make_ready(node, tasks, slot, now_ns)
    elif task.request_kind == FAULT:
        ask_disk(node, tasks, slot, FAULT, node.fault_ns - node.fault_saved_ns, now_ns)
    else:
        service_ns = service_time_ns(node.seek_ns, node.ns_per_kb, request_kb(task, task.accesses - 1))
        ask_disk(node, tasks, slot, EXPLICIT, service_ns, now_ns)


@inlined
def end_request(node: Row, tasks: Table, free: Integers, counters: Integers, now_ns: int) -> int:
    """The request in service is done: its task, if it has not migrated, is ready again; the next request starts.

    Returns the row of a task that has written what it brought, and has still to settle in; NONE: nobody.
    """
    slot = next_in_service(node, tasks, now_ns)
    task = tasks[slot]
    if task.request_kind == BROUGHT:
        return slot
    if task.request_kind == LEFT_BEHIND:
        task.state = FREE
        free[counters[FREE_TOP]] = slot
        counters[FREE_TOP] += 1
    else:
        book_request(task, now_ns)
        task.request_kind = NONE
        make_ready(node, tasks, slot, now_ns)
    return NONE


@inlined
def enter(node: Row, tasks: Table, phases: Table, now_ns: int) -> int:
    """The first task in flight arrives, or the first whose barrier has opened goes on.

    Returns the row of a task that brought something or was in the middle of something, and has still to settle in;
    NONE: nobody, it is in the ready queue.
    """
    slot = leave_flight_head(node, tasks)
    task = tasks[slot]
    if task.state == WAKING:
        go_on(node, tasks, slot, now_ns)
        return NONE
    come_in(node, task, now_ns)
    if task.gap_left_ns == NONE:
        draw_gap(node, task, phases)
    change_demand(node, tasks, task.memory_kb, task.stream, task.fresh_kb_per_s, task.accesses, now_ns)
    if task.brought_kb > 0.0 or task.go_on_ns > 0 or task.request_kind != NONE:
        return slot
    make_ready(node, tasks, slot, now_ns)
    return NONE


@kernel
def serve(
    nodes: Table,
    tasks: Table,
    records: Table,
    free: Integers,
    counters: Integers,
    meetings: Table,
    opening: Integers,
    phases: Table,
    end_ns: int,
) -> None:
    """Every node lives until `end_ns`; what happens at that very instant belongs to the next window.

    Args:
        nodes, tasks, records: the tables, changed in place.
        free: stack of free task slots, shape (len(tasks),).
        counters: shape (COUNTERS,), int64.
        meetings: one row a job, tables.MEETING_FIELDS.
        opening: stack of the jobs whose tasks have all come to their barrier, and of those of which one was killed (as
            -1 - job); shape (2 jobs,).
        phases: the phases of all programs, tables.PHASE_FIELDS.
        end_ns: end of the window [ns].
    """
    for index in range(nodes.shape[0]):
        node = nodes[index]
        while node.next_event_ns < end_ns:
            now_ns = node.next_event_ns
            landed = NONE
            # Kills, and arrivals in the middle of something, are rare: they wait outside the loop of all others.
            while node.next_event_ns < end_ns and node.demand_kb <= node.limit_kb and landed == NONE:
                now_ns = node.next_event_ns
                if node.cpu_stop_ns == now_ns:
                    stop_cpu(node, tasks, records, free, counters, meetings, opening, phases, now_ns, end_ns)
                elif node.disk_end_ns == now_ns:
                    landed = end_request(node, tasks, free, counters, now_ns)
                else:
                    landed = enter(node, tasks, phases, now_ns)
                node.next_event_ns = min(node.cpu_stop_ns, node.disk_end_ns, node.arrival_ns)
            if landed != NONE:
                settle_in(node, tasks, landed, now_ns)
            if node.demand_kb > node.limit_kb:
                kill_newest(node, tasks, records, free, counters, meetings, opening, now_ns)
            node.next_event_ns = min(node.cpu_stop_ns, node.disk_end_ns, node.arrival_ns)
