"""Rows of the task table are taken and given back; a node's next event is the earliest of its three."""

from __future__ import annotations

import numpy as np

from cluster_abm.engine.tables import BLOCK, FREE, FREE_TOP, Row, Table, Tables
from cluster_abm.jit import inlined


@inlined
def row_at(table: Table, number: int) -> Row:
    """A row of a table, by its number from 0: an unsigned one, so that at each event the kernels need not see whether
    it counts from the table's end."""
    return table[np.uint64(number)]


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
def next_event_ns(node: Row) -> int:
    """When the node's next event is: its CPU stops, its disk ends a request, or a task enters."""
    return int(min(node.cpu_stop_ns, node.disk_end_ns, node.arrival_ns))


@inlined
def note_next_event(node: Row, tables: Tables) -> None:
    """Note that the node's next event may be the first one of its block of nodes."""
    block = node.number // BLOCK
    tables.first_event_ns[block] = min(tables.first_event_ns[block], node.next_event_ns)


@inlined
def plan_next_event(node: Row, tables: Tables) -> None:
    """Set the node's next event, after something has acted on it from outside."""
    node.next_event_ns = next_event_ns(node)
    note_next_event(node, tables)
