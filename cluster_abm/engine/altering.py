"""What changes of a node at a slice boundary: its CPU speed, its disk's speed, its size of memory, its I/O buffer."""

from __future__ import annotations

import math

from cluster_abm.arrays import Integers
from cluster_abm.engine.disk import plan_disk_end
from cluster_abm.engine.ending import end_jobs_of_killed, kill_newest
from cluster_abm.engine.memory import book_running, plan_stops, renew_fault_rates
from cluster_abm.engine.migration import at_speed, gap_at_speed
from cluster_abm.engine.programs.background import is_background
from cluster_abm.engine.rows import plan_next_event
from cluster_abm.engine.tables import NEVER, NONE, PENDING_JOBS, Row, Table, Tables
from cluster_abm.jit import inlined, kernel


@kernel
def change_cpu_speed(tables: Tables, index: int, speed: float, now_ns: int) -> None:
    """A node's CPU has another speed from now on; what its tasks have still to receive lasts accordingly.

    Args:
        tables: the state, changed in place.
        index: the node's number.
        speed: the new speed, 1 = the papers' node.
        now_ns: the slice boundary at which this happens [ns].
    """
    node, tasks = tables.nodes[index], tables.tasks
    before = node.speed
    book_running(node, tasks, tables.cores, now_ns)
    node.speed = speed
    slot = node.member_head
    while slot != NONE:
        task = tasks[slot]
        # The share of the CPU that a background program takes does not depend on the speed.
        if not is_background(task):
            task.cpu_left_ns = at_speed(task.cpu_left_ns, before, speed)
            task.cpu_after_ns = at_speed(task.cpu_after_ns, before, speed)
        if task.gap_left_ns != NONE:
            task.gap_left_ns = gap_at_speed(task.gap_left_ns, before, speed)
        slot = task.member_next
    renew_fault_rates(node, tasks, tables.cores, now_ns)
    plan_stops(node, tasks, tables.cores, now_ns)
    node.no_leap_before_ns = 0
    plan_next_event(node, tables)


@kernel
def change_disk_speed(tables: Tables, index: int, factor: float, as_built: Table, now_ns: int) -> None:
    """A node's disk works at `factor` times the speed that it was built with from now on.

    What requests have still to get stretches: seek and transfer of those that wait for a channel or for the bus, and
    what is left of the seeks and of the transfer under way. Requests keep their order.

    Args:
        tables: the state, changed in place.
        index: the node's number.
        factor: above 0.
        as_built: the node table as it was at the start, for the disk's times.
        now_ns: the slice boundary at which this happens [ns].
    """
    node, tasks = tables.nodes[index], tables.tasks
    stretch = node.disk_factor / factor
    node.disk_factor = factor
    node.seek_ns = stretched(as_built[index].seek_ns, 1.0 / factor)
    node.ns_per_kb = as_built[index].ns_per_kb / factor
    node.fault_ns = stretched(as_built[index].fault_ns, 1.0 / factor)
    node.fault_seek_ns = stretched(as_built[index].fault_seek_ns, 1.0 / factor)
    slot, position = node.disk_head, 0
    while slot != NONE:
        task = tasks[slot]
        stretch_request(node, task, position, stretch, now_ns)
        slot = task.next
        position += 1
    plan_disk_end(node, tasks)
    plan_next_event(node, tables)


@inlined
def stretched(time_ns: int, stretch: float) -> int:
    """A time at another speed, in whole ns."""
    return int(math.floor(time_ns * stretch + 0.5))


@inlined
def stretch_request(node: Row, task: Row, position: int, stretch: float, now_ns: int) -> None:
    """Make what is left of a request take `stretch` times as long.

    `position` is the request's in the disk's list; the request at 0 has the bus.
    """
    transfer_ns = task.service_ns - task.seek_ns
    begun_ns = max(task.found_ns, node.bus_free_ns)
    if position >= node.in_device:
        task.seek_ns = stretched(task.seek_ns, stretch)
    elif task.found_ns > now_ns:
        left_ns = stretched(task.found_ns - now_ns, stretch)
        task.seek_ns += left_ns - (task.found_ns - now_ns)
        task.found_ns = now_ns + left_ns
    done_ns = now_ns - begun_ns if position == 0 and node.in_device > 0 and begun_ns < now_ns else 0
    task.service_ns = task.seek_ns + done_ns + stretched(transfer_ns - done_ns, stretch)


@kernel
def change_memory(tables: Tables, index: int, memory_kb: int, now_ns: int) -> None:
    """A node has another size of RAM from now on; what the system and a fixed buffer keep, and the swap, stay.

    Args:
        tables: the state, changed in place; there must be a free slot, and room for records of all live tasks.
        index: the node's number.
        memory_kb: the new RAM [KB].
        now_ns: the slice boundary at which this happens [ns].
    """
    node = tables.nodes[index]
    more_kb = memory_kb - node.memory_kb
    node.memory_kb += more_kb
    node.user_memory_kb += more_kb
    if node.limit_kb != NEVER:
        node.limit_kb += more_kb
    renew_fault_rates(node, tables.tasks, tables.cores, now_ns)
    if node.demand_kb > node.limit_kb:
        kill_newest(node, tables, now_ns)
        end_jobs_of_killed(tables, now_ns)
        tables.counters[PENDING_JOBS] = 0
    node.no_leap_before_ns = 0
    plan_next_event(node, tables)


@kernel
def change_buffers(tables: Tables, more_kb: Integers, now_ns: int) -> None:
    """Let nodes' fixed I/O buffers take more of the memory from now on, or (negative) give it to programs.

    Args:
        tables: the state, changed in place.
        more_kb: by how much each buffer grows, no more than what is free; or shrinks, no more than it has, shape
            (nodes,) [KB].
        now_ns: the slice boundary at which this happens [ns].
    """
    for index in range(len(more_kb)):
        if more_kb[index] == 0:
            continue
        node = tables.nodes[index]
        node.buffer_kb += more_kb[index]
        node.buffer_shift_kb += more_kb[index]
        # Swap ends where it did: what the buffer has taken it gives back.
        node.user_memory_kb -= more_kb[index]
        renew_fault_rates(node, tables.tasks, tables.cores, now_ns)
        node.no_leap_before_ns = 0
        plan_next_event(node, tables)
