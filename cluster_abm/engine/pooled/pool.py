"""The reference `pooled`: all cores as one processor-sharing station, all disks as one first-come first-served one.

k tasks share n cores: each is served at full speed if k <= n, else at the share n/k, without switches. A request takes
any free channel of any disk, and the bus of any disk that is free. Time passes in
a virtual clock, the CPU that each task has received since the beginning: a task stops when the clock has advanced by
what it still needs. The clock is a float and moves at events only, so windows cannot change it; it lags behind the
exact one by less than a nanosecond an event.

Memory is never short for several tasks together: each faults as if it were alone, which no placement can better.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.barriers import open_barriers, reach_barrier
from cluster_abm.engine.cpu import runs_for_ns
from cluster_abm.engine.disk import (
    begin_seek,
    block,
    book_request,
    first_waiting,
    leave_device,
    wait_for_channel,
)  # fmt: skip
from cluster_abm.engine.ending import finish
from cluster_abm.engine.memory import change_demand
from cluster_abm.engine.programs.profiles import ends_phase, next_phase, sleep
from cluster_abm.engine.rows import next_event_ns
from cluster_abm.engine.slice import draw_gap, enter_node, next_request, pop_transit_head
from cluster_abm.engine.tables import (
    DEPENDENT,
    EXPLICIT,
    NEVER,
    NONE,
    NS_PER_MS,
    READY,
    RECORDS,
    WAKING,
    Row,
    Table,
    Tables,
)
from cluster_abm.formulas.memory import node_faults_per_ms
from cluster_abm.jit import inlined, kernel

# A stop that float error puts a hair after a whole nanosecond is at that nanosecond.
ROUNDING_NS = 1e-3


class Stations(NamedTuple):
    """The stations of a pooled cluster."""

    # sharing, stops: slots of the tasks that share the CPUs and the clock's reading at which each stops next, shape
    # (len(tasks),); `ready_count` of the pool says how many
    sharing: Integers
    stops: Floats
    clock: Floats  # shape (1,), the virtual clock [ns]
    # serving, ends: slot of the request that has each disk's bus, and when that ends, shape (disks,)
    serving: Integers
    ends: Integers
    taken: Integers  # shape (1,), channels that are taken


@inlined
def share_of(pool: Row, cpus: float) -> float:
    """Progress of each task that shares the CPUs, in ns per ns."""
    return min(1.0, cpus / max(1, pool.ready_count))


@inlined
def turn_clock(pool: Row, clock: Floats, cpus: float, now_ns: int) -> None:
    """The virtual clock as it is at `now_ns`."""
    clock[0] += (now_ns - pool.leg_ns) * share_of(pool, cpus)
    pool.leg_ns = now_ns


@inlined
def plan_next_stop(pool: Row, clock: Floats, stops: Floats, cpus: float) -> None:
    """When the first of the tasks that share the CPUs stops."""
    first = math.inf
    for position in range(pool.ready_count):
        first = min(first, stops[position])
    if pool.ready_count == 0:
        pool.cpu_stop_ns = NEVER
    else:
        wait = (first - clock[0]) / share_of(pool, cpus)
        pool.cpu_stop_ns = pool.leg_ns + max(0, int(math.ceil(wait - ROUNDING_NS)))


@inlined
def faults_of(pool: Row, task: Row) -> float:
    """Page faults of a task per wall ns of CPU: those that it has alone on the node with the largest memory."""
    per_ms = node_faults_per_ms(
        float(task.memory_kb), float(pool.memory_kb), pool.fault_rate_per_ms, pool.fault_ratio_cap,
        pool.overflow_only != 0, pool.by_oversize != 0, float(task.accesses),
    )  # fmt: skip
    return float(per_ms * pool.speed / NS_PER_MS)


@inlined
def plan_stint(pool: Row, task: Row) -> int:
    """CPU until the task stops next: demand used up, access or page fault [ns]; kept in `service_ns`."""
    task.service_ns = runs_for_ns(task, faults_of(pool, task))
    return int(task.service_ns)


@inlined
def join(pool: Row, tasks: Table, slot: int, stations: Stations, now_ns: int) -> None:
    """The task shares the CPUs from now on; the clock is right."""
    task = tasks[slot]
    task.state = READY
    task.since_ns = now_ns
    task.first_ns = min(task.first_ns, now_ns)
    stations.sharing[pool.ready_count] = slot
    stations.stops[pool.ready_count] = stations.clock[0] + plan_stint(pool, task)
    pool.ready_count += 1


@inlined
def book_stint(pool: Row, task: Row, now_ns: int) -> None:
    """Book what a task has received since it joined."""
    got_ns = task.service_ns
    task.cpu_left_ns -= got_ns
    task.gap_left_ns -= got_ns
    task.fault_credit += faults_of(pool, task) * got_ns
    task.cpu_ns += got_ns
    task.cpu_queue_ns += now_ns - task.since_ns - got_ns
    pool.cpu_busy_ns += got_ns


@inlined
def count_devices(pool: Row, stations: Stations, now_ns: int) -> None:
    """Book the time that requests were in the devices, and that devices were busy, as many as there could be."""
    passed_ns = now_ns - pool.device_mark_ns
    pool.in_device_ns += stations.taken[0] * passed_ns
    pool.disk_busy_ns += min(stations.ends.shape[0], stations.taken[0]) * passed_ns
    pool.device_mark_ns = now_ns


@inlined
def take_bus(slot: int, stations: Stations, end_ns: int) -> None:
    """A request has a free bus until its end."""
    server = 0
    while stations.serving[server] != NONE:
        server += 1
    stations.serving[server] = slot
    stations.ends[server] = end_ns


@inlined
def take_channel(pool: Row, tasks: Table, stations: Stations, now_ns: int) -> None:
    """The first request that waits takes a free channel."""
    slot = first_waiting(pool, tasks)
    count_devices(pool, stations, now_ns)
    stations.taken[0] += 1
    begin_seek(pool, tasks, slot, now_ns)
    if pool.channels == stations.ends.shape[0]:
        # Each channel has its own bus: nothing is waited for after the seek.
        leave_device(pool, tasks)
        take_bus(slot, stations, now_ns + tasks[slot].service_ns)


@inlined
def plan_device(pool: Row, tasks: Table, stations: Stations, now_ns: int) -> None:
    """When the first transfer ends, or the first request whose seek is over by then gets a free bus."""
    pool.disk_end_ns = NEVER
    has_free_bus = False
    for server in range(stations.ends.shape[0]):
        pool.disk_end_ns = min(pool.disk_end_ns, stations.ends[server])
        has_free_bus = has_free_bus or stations.serving[server] == NONE
    if has_free_bus and pool.in_device > 0:
        pool.disk_end_ns = min(pool.disk_end_ns, max(now_ns, tasks[pool.disk_head].found_ns))


@inlined
def ask_pool(
    pool: Row, tasks: Table, slot: int, request: tuple[int, int, int], stations: Stations, now_ns: int
) -> None:
    """The task blocks on a request of seek, service and kind: a free channel takes it at once, else it queues."""
    seek_ns, service_ns, kind = request
    block(tasks[slot], kind, seek_ns, service_ns, now_ns)
    wait_for_channel(pool, tasks, slot)
    if stations.taken[0] < pool.channels:
        take_channel(pool, tasks, stations, now_ns)
        plan_device(pool, tasks, stations, now_ns)


@inlined
def end_pool_request(pool: Row, tasks: Table, stations: Stations, now_ns: int) -> None:
    """The first of the transfers that end now does, and the first request that waits takes its channel; if none ends,
    a request gets a free bus."""
    server = 0
    while server < stations.ends.shape[0] and stations.ends[server] != now_ns:
        server += 1
    if server == stations.ends.shape[0]:
        slot = leave_device(pool, tasks)
        take_bus(slot, stations, now_ns + tasks[slot].service_ns - tasks[slot].seek_ns)
        plan_device(pool, tasks, stations, now_ns)
        return
    slot = stations.serving[server]
    task = tasks[slot]
    stations.serving[server] = NONE
    stations.ends[server] = NEVER
    count_devices(pool, stations, now_ns)
    stations.taken[0] -= 1
    book_request(task, now_ns)
    task.request_kind = NONE
    join(pool, tasks, slot, stations, now_ns)
    if first_waiting(pool, tasks) != NONE:
        take_channel(pool, tasks, stations, now_ns)
    plan_device(pool, tasks, stations, now_ns)


@inlined
def stop_first(pool: Row, tables: Tables, stations: Stations, now_ns: int) -> None:
    """The first of the tasks that share the CPUs stops, of several the one of lowest number."""
    tasks = tables.tasks
    sharing, stops, clock = stations.sharing, stations.stops, stations.clock
    position = 0
    for other in range(1, pool.ready_count):
        earlier = stops[other] < stops[position]
        if earlier or (stops[other] == stops[position] and tasks[sharing[other]].task < tasks[sharing[position]].task):
            position = other
    slot = sharing[position]
    task = tasks[slot]
    clock[0] = max(clock[0], stops[position])
    pool.ready_count -= 1
    sharing[position] = sharing[pool.ready_count]
    stops[position] = stops[pool.ready_count]
    book_stint(pool, task, now_ns)
    if task.cpu_left_ns == 0 and task.barriers_left > 0:
        reach_barrier(pool, tables, slot, now_ns)
        return
    if task.cpu_left_ns == 0:
        finish(pool, tables, slot, now_ns)
        return
    request, pause_ns = (0, 0, EXPLICIT), 0
    if task.phase != NONE and task.gap_left_ns == 0 and ends_phase(task, tables.phases):
        pause_ns = next_phase(pool, tables, task, now_ns)
    else:
        request = next_request(pool, tables, task, now_ns)
    if pause_ns > 0:
        sleep(pool, tables, slot, pause_ns, now_ns)
    elif request[1] > 0:
        ask_pool(pool, tasks, slot, request, stations, now_ns)
    else:
        join(pool, tasks, slot, stations, now_ns)


@inlined
def enter_pool(pool: Row, tables: Tables, stations: Stations, now_ns: int) -> None:
    """Let the first task in transit arrive, or the first task with an opened barrier go on."""
    tasks = tables.tasks
    slot = pop_transit_head(pool, tasks)
    task = tasks[slot]
    if task.state == WAKING:
        task.barrier_ns += now_ns - task.since_ns
        task.wake_ns = 0
    else:
        enter_node(pool, task, now_ns)
        draw_gap(pool, task, tables.phases, task.accesses)
        change_demand(pool, tables, task.memory_kb, task.stream, task.allocated_kb_per_s, 0, now_ns)
    join(pool, tasks, slot, stations, now_ns)


@kernel
def advance_pool(
    tables: Tables, stations: Stations, cpus: float, slice_ns: int, end_ns: int, until_records: int
) -> int:
    """`advance` for a pooled cluster.

    Args:
        tables: the state, changed in place; `nodes` is the one row that stands for all nodes.
        stations: the cores and disks that all tasks share.
        cpus: cores, in units of the fastest one.
        slice_ns, end_ns, until_records: as for `advance`.

    Returns:
        the boundary reached [ns].
    """
    pool, tasks = tables.nodes[0], tables.tasks
    while pool.next_event_ns < end_ns:
        boundary_ns = end_ns
        if tables.counters[DEPENDENT] > 0 or until_records < NEVER:
            boundary_ns = min(end_ns, (pool.next_event_ns // slice_ns + 1) * slice_ns)
        while pool.next_event_ns < boundary_ns:
            now_ns = pool.next_event_ns
            turn_clock(pool, stations.clock, cpus, now_ns)
            if pool.cpu_stop_ns == now_ns:
                stop_first(pool, tables, stations, now_ns)
            elif pool.disk_end_ns == now_ns:
                end_pool_request(pool, tasks, stations, now_ns)
            else:
                enter_pool(pool, tables, stations, now_ns)
            plan_next_stop(pool, stations.clock, stations.stops, cpus)
            pool.next_event_ns = next_event_ns(pool)
        open_barriers(tables, slice_ns)
        if tables.counters[RECORDS] >= until_records:
            return boundary_ns
    return end_ns
