"""What a load manager measures on its own node: its load row, and the tasks that could be sent elsewhere."""

from __future__ import annotations

import math
from typing import Any

from cluster_abm.arrays import Integers
from cluster_abm.engine.cores import core_of
from cluster_abm.engine.disk import busy_since_booked_ns
from cluster_abm.engine.memory import faults_per_ms as faults_at
from cluster_abm.engine.memory import present_buffer_kb
from cluster_abm.engine.migration import is_movable
from cluster_abm.engine.programs.background import is_background, sleeps
from cluster_abm.engine.tables import ARRIVAL_WRITE, AT_DISK, IN_TRANSIT, NEVER, NONE, NS_PER_MS, READY, RUNNING, Table
from cluster_abm.formulas.buffer import buffer_share_kb, explicit_io_per_ms, hit_rate
from cluster_abm.formulas.disk import disk_work_ms, service_ms
from cluster_abm.formulas.load import cpu_share, disk_share, io_load_ms
from cluster_abm.formulas.memory import page_load_ms
from cluster_abm.formulas.oversize import oversize
from cluster_abm.jit import inlined, kernel
from cluster_abm.native_arrays import copy_fields


@inlined
def share_at_cpu(task: Any, now_ns: int) -> float:
    """Share of a task's time so far, at CPU and disk, that it was at the CPU or waited for it; 1 before any I/O."""
    at_disk_ns = task.io_ns + task.io_queue_ns + task.paging_ns
    if task.state == AT_DISK and task.request_kind != ARRIVAL_WRITE:
        at_disk_ns += max(0, now_ns - task.since_ns)
    if at_disk_ns <= 0:
        return 1.0
    at_cpu_ns = task.cpu_ns + task.cpu_queue_ns
    if task.state == RUNNING:
        at_cpu_ns += max(0, now_ns - task.leg_ns)
    elif task.state == READY:
        at_cpu_ns += max(0, now_ns - task.since_ns)
    return at_cpu_ns / (at_cpu_ns + at_disk_ns)


@inlined
def announced_left_ms(task: Any, left_ms: float) -> float:
    """What is left of the announced CPU demand of a task that has so much left in truth, at speed 1 [ms]: a load
    manager knows what the task has received, and never less than nothing."""
    return max(0.0, left_ms + task.announced_over_ms)


@kernel
def measure(
    nodes: Table,
    tasks: Table,
    now_ns: int,
    loads: Table,
    first: int,
    last: int,
    effective_rates: bool,
    counts_effective: bool,
    truly: bool,
) -> None:
    """Fill rows `first` to `last` - 1 of the load table with the state at `now_ns`; changes nothing else.

    Tasks in transit to a node count as its own. Background programs are no `tasks` and never the newest; else they
    count as tasks do, while they sleep by their memory and their `stream` alone. Rows are float64, fields in
    tables.LOAD_FIELDS. With effective rates accesses served from the buffer are left out, and page faults counted,
    wherever I/O rates enter. Without `counts_effective` the index `effective_tasks` is NaN: on work with I/O it takes
    nearly as long as all others together. A manager counts with what the hardware is when nothing is wrong: of a
    degraded device it sees the consequences.
    CPU to come is counted as it was announced; `truly`: as it is.
    `cpu_ms` is per core; work ahead of the disk is what its channels or its bus have to do, whichever is more.
    """
    for index in range(first, last):
        node = nodes[index]
        load = loads[index]
        demand_kb = node.demand_kb + node.transit_kb
        faults_per_ms = faults_at(node, demand_kb, node.accesses)
        speed = node.speed / node.cpu_factor
        fault_ms = (node.fault_ns * node.disk_factor - node.fault_saved_ns) / NS_PER_MS
        # Remote memory spares the seek first.
        fault_transfer_ms = min(fault_ms, (node.fault_ns - node.fault_seek_ns) * node.disk_factor / NS_PER_MS)
        fault_work_ms = disk_work_ms(fault_ms, fault_transfer_ms, node.channels)
        seek_ms = node.seek_ns * node.disk_factor / NS_PER_MS
        mb_per_s = NS_PER_MS / (node.ns_per_kb * node.disk_factor)
        load.tasks = float(node.tasks + node.in_transit - node.background)
        load.memory_mb = demand_kb / 1000.0
        load.faults_per_ms = faults_per_ms
        load.accesses = float(node.accesses)
        load.oversize = oversize(float(demand_kb), float(node.user_memory_kb))
        load.oversize_here = oversize(float(node.demand_kb), float(node.user_memory_kb))
        buffer_kb = present_buffer_kb(node)
        load.cache_mb = buffer_kb / 1000.0
        used_kb = demand_kb + (node.cache_kb if node.by_oversize != 0 else 0.0)
        load.free_mb = max(0.0, node.user_memory_kb - used_kb) / 1000.0
        load.virtual_free_mb = math.inf if node.limit_kb == NEVER else (node.limit_kb - demand_kb) / 1000.0
        load.cpu_percent = node.cpu_percent
        load.mean_queue = node.mean_queue
        load.memory_percent = node.memory_percent
        load.net_ms = node.net_kb / 1000.0 * node.link_ms_per_mb
        load.disk_delay_share, load.net_delay_share = node.disk_delay_share, node.net_delay_share
        # With effective rates, I/O is counted as it reaches the disk, page faults included.
        counted_faults = faults_per_ms * speed if effective_rates else 0.0
        stream = 0
        slot = node.member_head
        while slot != NONE:
            stream += tasks[slot].stream
            slot = tasks[slot].member_next
        load.stream = stream / 1e6
        # Sums in variables of their own: each is in a register, not read from the table again for every task.
        newest_ns, tasks_at_cpu = NEVER, 0
        cpu_ms = page_ms = io_ms = transfers_ms = queue = queue_paging = at_disk = effective_tasks = 0.0
        io_per_ms = io_load = disk_work = disk_square = 0.0
        slot = node.member_head
        while slot != NONE:
            task = tasks[slot]
            slot = task.member_next
            if sleeps(task):
                continue
            left_ns = task.cpu_left_ns + task.cpu_after_ns
            if task.state == RUNNING:
                left_ns -= max(0, now_ns - task.leg_ns)
                tasks_at_cpu += 1
            elif task.state == READY or task.state == IN_TRANSIT:
                tasks_at_cpu += 1
            if task.migrations == 0 and not is_background(task):
                newest_ns = min(newest_ns, 0 if task.state == IN_TRANSIT else now_ns - task.here_ns)
            remaining_ms = left_ns * node.cpu_factor / NS_PER_MS
            if task.announced_over_ms != 0.0 and not truly:
                remaining_ms = announced_left_ms(task, remaining_ms * speed) / speed
            cpu_ms += remaining_ms
            if counts_effective:
                effective_tasks += share_at_cpu(task, now_ns)
            if task.io_per_ms == 0.0 and faults_per_ms == 0.0:
                # What follows, of a task that only computes: nothing but its share of the CPU.
                queue += 1.0
                queue_paging += 1.0
                continue
            # Accesses and faults go with CPU at speed 1: the faster the node, the more of them in a ms of its CPU.
            work_ms = remaining_ms * speed
            share_kb = buffer_share_kb(float(task.stream), float(stream), buffer_kb)
            explicit = explicit_io_per_ms(task.io_per_ms, hit_rate(task.reaccess_rate, share_kb, task.data_kb))
            rate = explicit if effective_rates else task.io_per_ms
            rate_here = rate * speed
            request_ms = service_ms(task.request_kb, seek_ms, mb_per_s)
            page_ms += page_load_ms(faults_per_ms, work_ms, fault_work_ms)
            io_ms += io_load_ms(work_ms, rate, request_ms)
            transfers_ms += io_load_ms(work_ms, rate, task.request_kb / mb_per_s)
            queue += cpu_share(rate_here, request_ms, counted_faults, fault_ms)
            queue_paging += cpu_share(rate_here, request_ms, faults_per_ms * speed, fault_ms)
            at_disk += disk_share(rate_here, request_ms, counted_faults, fault_ms)
            io_per_ms += rate
            disk_work += rate_here * request_ms
            disk_square += rate_here * request_ms * request_ms
            io_load += faults_per_ms + explicit
        load.newest_ms = math.inf if newest_ns == NEVER else newest_ns / NS_PER_MS
        load.cpu_queue = float(tasks_at_cpu)
        load.cpu_ms, load.page_ms = cpu_ms / node.cores, page_ms
        load.io_ms = disk_work_ms(io_ms, transfers_ms, node.channels)
        load.queue, load.queue_paging, load.at_disk = queue, queue_paging, at_disk
        load.effective_tasks = effective_tasks if counts_effective else math.nan
        load.io_per_ms, load.io_load = io_per_ms, io_load
        load.disk_work, load.disk_square = disk_work, disk_square


@kernel
def busy(nodes: Table, tasks: Table, cores: Table, now_ns: int, cpu_ns: Integers, disk_ns: Integers) -> None:
    """Fill in the CPU of all its cores that each node has given until `now_ns`, and the time in which there was a
    request in its disk's device, shape (nodes,) each [ns]."""
    for index in range(nodes.shape[0]):
        node = nodes[index]
        cpu_ns[index] = node.cpu_busy_ns
        for place in range(node.cores if node.running > 0 else 0):
            slot = core_of(node, cores, place).running
            if slot != NONE:
                cpu_ns[index] += max(0, now_ns - tasks[slot].leg_ns)
        disk_ns[index] = node.disk_busy_ns + busy_since_booked_ns(node, now_ns)


@kernel
def describe(nodes: Table, tasks: Table, jobs: Table, node: int, now_ns: int, found: Table) -> int:
    """Fill `found` with the tasks on a node that can be sent elsewhere, in the order in which they came to it.

    Args:
        nodes, tasks, jobs: the tables.
        node: the node's number.
        now_ns: now [ns].
        found: shape (at least tasks + in_transit,), fields of policy.tasks.CANDIDATE; filled from the start.

    Returns:
        how many there are.
    """
    count = 0
    here = nodes[node]
    slot = here.member_head
    while slot != NONE:
        task = tasks[slot]
        if is_movable(task):
            unbooked_ns = max(0, now_ns - task.leg_ns) if task.state == RUNNING else 0
            left_ms = (task.cpu_left_ns + task.cpu_after_ns - unbooked_ns) * here.speed / NS_PER_MS
            row = found[count]
            copy_fields(row, task)
            row.running = task.state != IN_TRANSIT
            row.cpu_ms = announced_left_ms(task, left_ms)
            row.memory_mb = task.memory_kb / 1000.0
            row.write_share = jobs[task.job].write_share
            # Demands are rounded to whole ns: a task that has received no CPU is no fraction of a ns older than before.
            here_ms = task.cpu_demand_ms - left_ms if task.cpu_ns + unbooked_ns > 0 else 0.0
            row.age_ms = jobs[task.job].received_ms + here_ms
            row.page_faults = task.faults
            row.here_ms = (now_ns - task.here_ns) / NS_PER_MS if task.state != IN_TRANSIT else 0.0
            count += 1
        slot = task.member_next
    return count
