"""Many slices in one call, as long as nothing outside the engine acts in them."""

from __future__ import annotations

from numba.core import types

from cluster_abm.engine.barriers import open_barriers
from cluster_abm.engine.ending import end_jobs_of_killed
from cluster_abm.engine.slice import live_until
from cluster_abm.engine.tables import BLOCK, DEPENDENT, NEVER, PENDING_JOBS, RECORDS, Table, Tables
from cluster_abm.jit import inlined, kernel
from cluster_abm.jit.calls import native_call

# Other kernels call `advance` by its address: compiled together with them it would take minutes.
advance_at = native_call(types.int64, "tables", "slice_ns", "end_ns", "until_records", "first", "last")


@inlined
def first_of_block_ns(nodes: Table, first: int, last: int) -> int:
    """The earliest event of some nodes [ns]; NEVER if there is none."""
    found = NEVER
    for index in range(first, last):
        found = min(found, nodes[index].next_event_ns)
    return int(found)


@inlined
def first_event_ns(tables: Tables) -> int:
    """The earliest event of any node [ns]; NEVER if there is none."""
    found, count = NEVER, tables.nodes.shape[0]
    for block in range((count + BLOCK - 1) // BLOCK):
        if tables.first_event_ns[block] < found:
            first = block * BLOCK
            tables.first_event_ns[block] = first_of_block_ns(tables.nodes, first, min(first + BLOCK, count))
            found = min(found, tables.first_event_ns[block])
    return int(found)


@inlined
def serve(tables: Tables, first: int, last: int, end_ns: int) -> int:
    """Let nodes live until `end_ns`, and see on the way when the first of them has its next event [ns].

    What happens at that very instant belongs to the next window.

    Args:
        tables: the state, changed in place.
        first, last: the nodes from the `first`-th to the one before the `last`-th.
        end_ns: end of the window [ns].
    """
    found, count = NEVER, tables.nodes.shape[0]
    for block in range(first // BLOCK, (last + BLOCK - 1) // BLOCK):
        if tables.first_event_ns[block] < end_ns:
            begin, end = block * BLOCK, min(block * BLOCK + BLOCK, count)
            for index in range(max(first, begin), min(last, end)):
                node = tables.nodes[index]
                if node.next_event_ns < end_ns:
                    live_until(node, tables, end_ns)
            if first <= begin and end <= last:
                tables.first_event_ns[block] = first_of_block_ns(tables.nodes, begin, end)
        found = min(found, tables.first_event_ns[block])
    return int(found)


@kernel
def advance(tables: Tables, slice_ns: int, end_ns: int, until_records: int, first: int, last: int) -> int:
    """Serve all nodes and open barriers, slice after slice, until `end_ns`.

    While a task depends on others of its job, or the end of a task is waited for, this goes from slice to slice, over
    those in which nothing happens; else in one leap.

    Args:
        tables: the state, changed in place.
        slice_ns: length of a slice [ns]; 0: in one leap, whatever happens at boundaries.
        end_ns: a slice boundary [ns].
        until_records: stop at the first slice boundary by which this many tasks have ended; NEVER: do not.
        first, last: in one leap only the nodes from the `first`-th to the one before the `last`-th are served.

    Returns:
        the boundary reached [ns].
    """
    nodes = tables.nodes
    next_ns = NEVER
    leaps = slice_ns == 0 or (tables.counters[DEPENDENT] == 0 and until_records == NEVER)
    if not leaps:
        next_ns = first_event_ns(tables)
    # The slice stands in one place only: compiled code has it once.
    while True:
        boundary_ns = end_ns
        if not leaps:
            if next_ns >= end_ns:
                return end_ns
            boundary_ns = min(end_ns, (next_ns // slice_ns + 1) * slice_ns)
            first, last = 0, nodes.shape[0]
        next_ns = serve(tables, first, last, boundary_ns)
        if leaps:
            return end_ns
        if tables.counters[PENDING_JOBS] > 0:
            end_jobs_of_killed(tables, boundary_ns)
            open_barriers(tables, slice_ns)
            next_ns = first_event_ns(tables)
        if boundary_ns == end_ns or tables.counters[RECORDS] >= until_records:
            return boundary_ns
        leaps = tables.counters[DEPENDENT] == 0 and until_records == NEVER


@kernel
def end_slice(tables: Tables, slice_ns: int, now_ns: int, opens_barriers: bool) -> None:
    """At the boundary of a slice in which the nodes were served one by one: killed jobs end, barriers open.

    Args:
        tables: the state, changed in place.
        slice_ns: length of a slice [ns].
        now_ns: the boundary [ns].
        opens_barriers: whether barriers open; else `open_barrier_of` opens them, job by job.
    """
    end_jobs_of_killed(tables, now_ns)
    if opens_barriers:
        open_barriers(tables, slice_ns)
    tables.counters[PENDING_JOBS] = 0
