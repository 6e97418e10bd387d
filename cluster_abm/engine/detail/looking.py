"""Nodes live from one instant with events to the next, and after each one what their tasks do is noted if it changed.

Nothing of it is in the slice: it is `advance`, up to the next instant each time. Windows change no result.
"""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.engine.advance import advance_at
from cluster_abm.engine.rows import row_at
from cluster_abm.engine.tables import (
    ARRIVAL_WRITE,
    AT_DISK,
    FAULT,
    IN_TRANSIT,
    NEVER,
    NONE,
    READY,
    RUNNING,
    Row,
    Table,
    Tables,
)
from cluster_abm.jit import called, inlined, kernel

# What a task does; AWAY: it is in no node.
AWAY, IS_READY, HAS_CPU, WAITS_FOR_DISK, HAS_DISK, WAITS_FOR_PAGE, HAS_PAGE, IS_AT_BARRIER, WRITES = range(-1, 8)

# A row each time that a task does something else.
NOTE = np.dtype(
    [
        ("task", "i8"),  # its number
        ("at_ns", "i8"),  # since when
        ("found_ns", "i8"),  # of a request in the device: when its seek ends
        ("bus_ns", "i8"),  # and if it is the next to have the bus: since when it has it; else NEVER
        ("transfer_ns", "i8"),  # and how long it needs it
        ("node", "i4"),
        ("doing", "i4"),
    ],
    align=True,
)
# What was noted of each row of the table of tasks last.
SEEN = np.dtype(
    [
        ("task", "i8"),
        ("cpu_ns", "i8"),  # since when it has the CPU, if the CPU was still switching to it
        ("found_ns", "i8"),
        ("bus_ns", "i8"),
        ("node", "i4"),
        ("doing", "i4"),
    ],
    align=True,
)


@inlined
def doing_of(task: Row) -> int:
    """What a task does."""
    if task.state == READY:
        return IS_READY
    if task.state == RUNNING:
        return HAS_CPU
    if task.state == IN_TRANSIT:
        return AWAY
    if task.state == AT_DISK:
        if task.request_kind == ARRIVAL_WRITE:
            return WRITES
        is_waiting = task.found_ns == NEVER
        if task.request_kind == FAULT:
            return WAITS_FOR_PAGE if is_waiting else HAS_PAGE
        return WAITS_FOR_DISK if is_waiting else HAS_DISK
    return IS_AT_BARRIER


@inlined
def write_note(notes: Table, row: int, task: Row, node: int, doing: int, at_ns: int) -> Row:
    """Fill a row of the notes."""
    note = notes[row]
    note.task = task.task
    note.at_ns = at_ns
    note.found_ns = NEVER
    note.bus_ns = NEVER
    note.transfer_ns = 0
    note.node = node
    note.doing = doing
    return note


@called
def look(node: Row, index: int, tasks: Table, seen: Table, notes: Table, filled: int, now_ns: int) -> int:
    """Note which of a node's tasks do something else now; how many notes there are then."""
    slot = node.member_head
    while slot != NONE:
        task = row_at(tasks, slot)
        if task.job != NONE:
            before = row_at(seen, slot)
            doing = doing_of(task)
            found_ns, bus_ns, cpu_ns = NEVER, NEVER, 0
            if doing in (HAS_DISK, HAS_PAGE):
                found_ns = task.found_ns
                if node.disk_head == slot:
                    bus_ns = max(found_ns, node.bus_free_ns)
            is_same = before.task == task.task and before.node == index and before.doing == doing
            if doing == HAS_CPU:
                cpu_ns = before.cpu_ns if is_same else 0
                # The CPU is still switching to it: it has just been given a core, perhaps again.
                if task.leg_ns > now_ns:
                    is_same = is_same and before.cpu_ns == task.leg_ns
                    cpu_ns = task.leg_ns
            if not is_same or before.found_ns != found_ns or before.bus_ns != bus_ns:
                if cpu_ns > now_ns:
                    write_note(notes, filled, task, index, IS_READY, now_ns)
                    write_note(notes, filled + 1, task, index, HAS_CPU, cpu_ns)
                    filled += 2
                elif doing != AWAY:
                    note = write_note(notes, filled, task, index, doing, now_ns)
                    note.found_ns = found_ns
                    note.bus_ns = bus_ns
                    note.transfer_ns = task.service_ns - task.seek_ns
                    filled += 1
                before.task = task.task
                before.node = index
                before.doing = doing
                before.cpu_ns = cpu_ns
                before.found_ns = found_ns
                before.bus_ns = bus_ns
        slot = task.member_next
    return filled


@inlined
def has_room(node: Row, notes: Table, filled: int) -> bool:
    """Whether there is room for all that one look at a node may note."""
    return bool(filled + 2 * (node.tasks + node.in_transit) <= notes.shape[0])


@kernel
def serve_and_look(
    tables: Tables, seen: Table, notes: Table, counts: Integers, begin_ns: int, end_ns: int, advance: int
) -> bool:
    """Serve nodes from `begin_ns` to `end_ns`, within one slice, and note what their tasks do.

    Args:
        tables: the state, changed in place.
        seen: a row a row of `tables.tasks`, changed.
        notes: filled.
        counts: how many notes are filled, the node to begin with, and whether its beginning was looked at; changed.
        begin_ns, end_ns: from when to when [ns]; what happens at the end belongs to the next call.
        advance: address of the kernel advance.advance.

    Returns:
        whether all nodes have been served: else `notes` is full, and a call with more room goes on.
    """
    for index in range(counts[1], tables.nodes.shape[0]):
        node = tables.nodes[index]
        counts[1] = index
        if not has_room(node, notes, counts[0]):
            return False
        if counts[2] == 0:
            # What has happened at the boundary.
            counts[0] = look(node, index, tables.tasks, seen, notes, counts[0], begin_ns)
            counts[2] = 1
        while node.next_event_ns < end_ns:
            if not has_room(node, notes, counts[0]):
                return False
            now_ns = node.next_event_ns
            advance_at(advance, tables, 0, now_ns + 1, NEVER, index, index + 1)
            counts[0] = look(node, index, tables.tasks, seen, notes, counts[0], now_ns)
        counts[2] = 0
    counts[1] = 0
    return True
