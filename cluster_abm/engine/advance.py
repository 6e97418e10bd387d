"""Many slices in one call, as long as nothing outside the engine acts in them."""

from __future__ import annotations

from cluster_abm.engine.barriers import open_barriers
from cluster_abm.engine.ending import end_jobs_of_killed
from cluster_abm.engine.slice import live_until, serve
from cluster_abm.engine.tables import DEPENDENT, NEVER, PENDING_JOBS, RECORDS, Table, Tables
from cluster_abm.jit import inlined, kernel


@inlined
def first_event_ns(nodes: Table) -> int:
    """The earliest event of any node [ns]; NEVER if there is none."""
    found = NEVER
    for index in range(nodes.shape[0]):
        found = min(found, nodes[index].next_event_ns)
    return int(found)


@inlined
def serve_slice(tables: Tables, end_ns: int) -> int:
    """Serve all nodes until `end_ns`, and see on the way when the first of them has its next event [ns].

    What happens at the boundary, to jobs of which a task was killed or a barrier opens, is not in it yet.
    """
    found = NEVER
    for index in range(tables.nodes.shape[0]):
        node = tables.nodes[index]
        if node.next_event_ns < end_ns:
            live_until(node, tables, end_ns)
        found = min(found, node.next_event_ns)
    return int(found)


@kernel
def advance(tables: Tables, slice_ns: int, end_ns: int, until_records: int, first: int, last: int) -> int:
    """Serve all nodes and open barriers, slice after slice, until `end_ns`.

    While a task depends on others of its job, or the end of a task is waited for, this goes from slice to slice, over
    those in which nothing happens; else in one leap.

    Args:
        tables: the state, changed in place.
        slice_ns: length of a slice [ns].
        end_ns: a slice boundary [ns].
        until_records: stop at the first slice boundary by which this many tasks have ended; NEVER: do not.
        first, last: in one leap only the nodes from the `first`-th to the one before the `last`-th are served.

    Returns:
        the boundary reached [ns].
    """
    nodes = tables.nodes
    next_ns = NEVER
    if tables.counters[DEPENDENT] > 0 or until_records < NEVER:
        next_ns = first_event_ns(nodes)
    while tables.counters[DEPENDENT] > 0 or until_records < NEVER:
        if next_ns >= end_ns:
            return end_ns
        boundary_ns = min(end_ns, (next_ns // slice_ns + 1) * slice_ns)
        next_ns = serve_slice(tables, boundary_ns)
        if tables.counters[PENDING_JOBS] > 0:
            end_jobs_of_killed(tables, boundary_ns)
            open_barriers(tables, slice_ns)
            next_ns = first_event_ns(nodes)
        if boundary_ns == end_ns or tables.counters[RECORDS] >= until_records:
            return boundary_ns
    serve(tables, first, last, end_ns)
    return end_ns


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
