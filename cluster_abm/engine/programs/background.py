"""Background programs: load that belongs to a node from the beginning of a run to its end.

To the CPU, the disk and the memory they are tasks like all others. But they belong to no job: they are never placed,
migrated, killed or counted among the tasks that live. Each period such a program computes for its share of the
period, then sleeps to the beginning of the next one; a program with a share of 1 is always ready.
"""

from __future__ import annotations

import math

from cluster_abm.engine.admission import join_members, set_out
from cluster_abm.engine.barriers import wake
from cluster_abm.engine.random_numbers import Word, task_key
from cluster_abm.engine.rows import take_slot
from cluster_abm.engine.tables import FIRST_BACKGROUND, IN_TRANSIT, NONE, WAKING, Row, Table, Tables
from cluster_abm.jit import called, inlined, kernel


@inlined
def is_background(task: Row) -> bool:
    """Return whether a task is a background program, which belongs to no job."""
    return bool(task.job == NONE)


@inlined
def sleeps(task: Row) -> bool:
    """Whether a task is a background program that has had its share of this period."""
    return bool(task.state == WAKING and task.job == NONE)


@called
def begins_again(task: Row) -> bool:
    """Whether the running task, which has used up its demand, is a background program that is always ready."""
    if task.job != NONE or task.burst_ns < task.period_ns:
        return False
    task.cpu_left_ns = task.burst_ns
    return True


@called
def rest(node: Row, tables: Tables, slot: int, now_ns: int) -> None:
    """A background program that has left its core has had its share: it sleeps until a period begins.

    A program that was so delayed that it runs into the next period has missed its turn there: nothing piles up.
    """
    task = tables.tasks[slot]
    task.cpu_left_ns = task.burst_ns
    task.since_ns = now_ns
    task.wake_ns = (now_ns + task.period_ns - 1) // task.period_ns * task.period_ns
    wake(node, tables, slot)


@kernel
def start_background(tables: Tables, run_key: Word, programs: Table) -> None:
    """Send background programs to their nodes, which they enter at time 0.

    Args:
        tables: the state at the beginning, changed in place; there must be free slots enough.
        run_key: key of the service-time streams of this run.
        programs: tables.BACKGROUND_FIELDS.
    """
    for number in range(programs.shape[0]):
        program = programs[number]
        node = tables.nodes[program.node]
        slot = take_slot(tables)
        task = tables.tasks[slot]
        task.task = FIRST_BACKGROUND + number
        task.job = NONE
        task.home = program.node
        task.node = program.node
        task.origin = program.node
        task.state = IN_TRANSIT
        task.request_kind = NONE
        task.gap_left_ns = NONE
        task.phase = NONE
        task.key = task_key(run_key, task.task)
        task.cpu_left_ns = program.burst_ns
        task.burst_ns = program.burst_ns
        task.period_ns = program.period_ns
        task.memory_kb = program.memory_kb
        task.io_per_ms = program.io_per_ms
        task.request_kb = program.request_kb
        task.stream = int(math.floor(program.io_per_ms * program.request_kb * 1e6 + 0.5))
        node.background += 1
        set_out(node, tables, slot)
        join_members(node, tables.tasks, slot)
