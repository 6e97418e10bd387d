"""What changes of a node at a slice boundary: its CPU speed, its size of memory, its I/O buffer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.background import is_background
from cluster_abm.engine.cpu import book_progress, plan_stop
from cluster_abm.engine.ending import end_jobs_of_killed, kill_newest
from cluster_abm.engine.memory import renew_fault_rates
from cluster_abm.engine.migration import at_speed, gap_at_speed
from cluster_abm.engine.rows import plan_next_event
from cluster_abm.engine.tables import NEVER, NONE, PENDING_JOBS, Tables
from cluster_abm.jit import kernel

Integers = npt.NDArray[np.int64]


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
    if node.running != NONE:
        book_progress(node, tasks[node.running], now_ns)
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
    renew_fault_rates(node, tasks, now_ns)
    if node.running != NONE:
        plan_stop(node, tasks[node.running])
    node.no_leap_before_ns = 0
    plan_next_event(node)


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
    renew_fault_rates(node, tables.tasks, now_ns)
    if node.demand_kb > node.limit_kb:
        kill_newest(node, tables, now_ns)
        end_jobs_of_killed(tables, now_ns)
        tables.counters[PENDING_JOBS] = 0
    node.no_leap_before_ns = 0
    plan_next_event(node)


@kernel
def change_buffers(tables: Tables, more_kb: Integers, now_ns: int) -> None:
    """Nodes' fixed I/O buffers take so much more of the memory from now on, or (negative) give it to programs.

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
        renew_fault_rates(node, tables.tasks, now_ns)
        node.no_leap_before_ns = 0
        plan_next_event(node)
