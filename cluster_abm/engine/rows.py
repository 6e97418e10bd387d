"""Rows of the task table are taken and given back; a node's next event is the earliest of its three."""

from __future__ import annotations

from cluster_abm.engine.tables import FREE, FREE_TOP, Row, Tables
from cluster_abm.jit import inlined


@inlined
def take_slot(tables: Tables) -> int:
    """Take a free row of the task table from the stack; the caller has made sure that there is one."""
    tables.counters[FREE_TOP] -= 1
    return int(tables.free[tables.counters[FREE_TOP]])


@inlined
def give_back_slot(tables: Tables, slot: int) -> None:
    """Put a row that no task uses any more back on the stack of free rows."""
    tables.tasks[slot].state = FREE
    tables.free[tables.counters[FREE_TOP]] = slot
    tables.counters[FREE_TOP] += 1


@inlined
def plan_next_event(node: Row) -> None:
    """Set the node's next event: its CPU stops, its disk ends a request, or a task enters."""
    node.next_event_ns = min(node.cpu_stop_ns, node.disk_end_ns, node.arrival_ns)
