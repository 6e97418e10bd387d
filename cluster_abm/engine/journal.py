"""The journal of a run that is recorded: a row each time that a task sets out for a node.

Tasks set out at slice boundaries only, so nothing of it is in the slice.
"""

from __future__ import annotations

from cluster_abm.engine.tables import JOURNAL_ROWS, Tables
from cluster_abm.jit import called, kernel


@called
def note_departure(tables: Tables, slot: int, kind: int, origin: int, at_ns: int) -> None:
    """Write down that a task sets out, if the run is recorded; the caller has made room.

    Args:
        slot: its row, in which `node`, `enter_ns` and the breakdown are those of the departure.
        kind: why (tables.STARTS and the following).
        origin: the node that it leaves.
        at_ns: when [ns].
    """
    if tables.journal.shape[0] == 0:
        return
    task = tables.tasks[slot]
    row = tables.journal[tables.counters[JOURNAL_ROWS]]
    tables.counters[JOURNAL_ROWS] += 1
    row.task = task.task
    row.at_ns = at_ns
    row.enter_ns = task.enter_ns
    row.kind = kind
    row.origin = origin
    row.node = task.node
    row.cpu_ns = task.cpu_ns
    row.cpu_queue_ns = task.cpu_queue_ns
    row.io_ns = task.io_ns
    row.io_queue_ns = task.io_queue_ns
    row.paging_ns = task.paging_ns
    row.migration_ns = task.migration_ns
    row.barrier_ns = task.barrier_ns
    row.blocked_ns = task.blocked_ns


@kernel
def note(tables: Tables, slot: int, kind: int, origin: int, at_ns: int) -> None:
    """`note_departure`, for a caller that is not compiled."""
    note_departure(tables, slot, kind, origin, at_ns)
