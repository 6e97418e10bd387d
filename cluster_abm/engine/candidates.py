"""The tasks on a node that could be sent elsewhere, as its load manager knows them."""

from __future__ import annotations

from cluster_abm.engine.migration import is_movable
from cluster_abm.engine.tables import IN_FLIGHT, NONE, NS_PER_MS, RUNNING, Table
from cluster_abm.jit import kernel


@kernel
def describe(nodes: Table, tasks: Table, jobs: Table, node: int, now_ns: int, found: Table) -> int:
    """Fill `found` with the tasks on a node that can be sent elsewhere, in the order in which they came to it.

    Args:
        nodes, tasks, jobs: the tables.
        node: the node's number.
        now_ns: now [ns].
        found: shape (at least tasks + flying,), fields tables.CANDIDATE_FIELDS; filled from the start.

    Returns:
        how many there are.
    """
    count = 0
    here = nodes[node]
    slot = here.member_head
    while slot != NONE:
        task = tasks[slot]
        if is_movable(task):
            unbooked_ns = max(0, now_ns - here.leg_ns) if task.state == RUNNING else 0
            left_ms = (task.cpu_left_ns + task.cpu_after_ns - unbooked_ns) * here.speed / NS_PER_MS
            row = found[count]
            row.task = task.task
            row.job = task.job
            row.home = task.home
            row.running = task.state != IN_FLIGHT
            row.cpu_ms = left_ms
            row.io_per_ms = task.io_per_ms
            row.request_kb = task.request_kb
            row.memory_mb = task.memory_kb / 1000.0
            row.initial_data_mb = task.initial_data_mb
            row.reaccess_rate = task.reaccess_rate
            row.write_share = jobs[task.job].write_share
            # Nanoseconds are whole: who has received nothing is 0 old, not a fraction of one.
            row.age_ms = task.cpu_demand_ms - left_ms if task.cpu_ns + unbooked_ns > 0 else 0.0
            row.page_faults = task.faults
            row.accesses = task.accesses
            row.here_ms = (now_ns - task.here_ns) / NS_PER_MS if task.state != IN_FLIGHT else 0.0
            row.migrations = task.migrations
            count += 1
        slot = task.member_next
    return count
