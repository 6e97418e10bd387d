"""Memory and buffer: the demand on a node decides its page faults, the traffic its buffer hits."""

from __future__ import annotations

from cluster_abm.arrays import Floats
from cluster_abm.engine.cores import core_of, note_cores
from cluster_abm.engine.cpu import book_progress, renew_quantum, stop_of
from cluster_abm.engine.random_numbers import HIT, uniform
from cluster_abm.engine.tables import NONE, NS_PER_MS, Row, Table, Tables
from cluster_abm.formulas.buffer import buffer_share_kb, data_kb, hit_rate
from cluster_abm.formulas.memory import node_faults_per_ms
from cluster_abm.formulas.oversize import allocation_faults, even_faults
from cluster_abm.jit import called, inlined, kernel


@inlined
def faults_within(node: Row, memory_kb: int, demand_kb: int, accesses: int) -> float:
    """Page faults per ms of CPU at speed 1 of a node with this memory for programs, and this demand for it."""
    return float(
        node_faults_per_ms(
            float(demand_kb), float(memory_kb), node.fault_rate_per_ms, node.fault_ratio_cap,
            node.overflow_only != 0, node.by_oversize != 0, float(accesses),
        )
    )  # fmt: skip


@inlined
def faults_per_ms(node: Row, demand_kb: int, accesses: int) -> float:
    """Page faults per ms of CPU at speed 1, by the memory that tasks ask a node for and the accesses they have made."""
    return faults_within(node, node.user_memory_kb, demand_kb, accesses)


@inlined
def change_demand(
    node: Row, tables: Tables, memory_kb: int, stream: int, allocated_kb_per_s: int, accesses: int, now_ns: int
) -> None:
    """Add (or, negative, take away) a task's memory, traffic, allocation rate and accesses, and renew the fault rates.

    Running tasks' progress is booked by their old rates first: call this before an allocation rate of theirs changes.
    """
    node.demand_kb += memory_kb
    node.stream += stream
    node.allocated_kb_per_s += allocated_kb_per_s
    node.accesses += accesses
    # The usual case needs nothing more: it fitted, and it fits.
    if node.by_oversize != 0 or node.demand_kb > node.user_memory_kb or node.fault_per_ns > 0.0:
        renew_fault_rates(node, tables.tasks, tables.cores, now_ns)


@called
def renew_fault_rates(node: Row, tasks: Table, cores: Table, now_ns: int) -> None:
    """The tasks of a node fault, and its buffer has room, by its present demand."""
    fit_cache(node)
    per_ms = faults_per_ms(node, node.demand_kb, node.accesses)
    each_task, each_fresh = per_ms, 0.0
    if node.by_oversize != 0:
        each_task = even_faults(per_ms, node.fault_evenness, float(node.allocated_kb_per_s))
        each_fresh = allocation_faults(per_ms, node.fault_evenness, float(node.allocated_kb_per_s), node.tasks)
    fault_per_ns = each_task * node.speed / NS_PER_MS
    fault_per_allocated = each_fresh * node.speed / NS_PER_MS
    if fault_per_ns == node.fault_per_ns and fault_per_allocated == node.fault_per_allocated:
        return
    # What has run until now earned faults at the old rate.
    book_running(node, tasks, cores, now_ns)
    node.fault_per_ns, node.fault_per_allocated = fault_per_ns, fault_per_allocated
    plan_stops(node, tasks, cores, now_ns)


@inlined
def book_running(node: Row, tasks: Table, cores: Table, now_ns: int) -> None:
    """Book the progress of all running tasks."""
    for position in range(node.cores if node.running > 0 else 0):
        slot = core_of(node, cores, position).running
        if slot != NONE:
            book_progress(node, tasks[slot], now_ns)


@inlined
def plan_stops(node: Row, tasks: Table, cores: Table, now_ns: int) -> None:
    """Plan the stops of all running tasks again in the middle of their runs; quanta that passed while no task waited
    are over."""
    if node.running == 0:
        return
    for position in range(node.cores):
        core = core_of(node, cores, position)
        if core.running != NONE:
            task = tasks[core.running]
            if node.ready_head == NONE:
                renew_quantum(node, task, now_ns)
            core.stop_ns = stop_of(node, task)
    note_cores(node, cores)


@inlined
def count_access(node: Row, tables: Tables, now_ns: int) -> None:
    """The running task has made an access; where memory is oversized, faults come by the number of accesses too."""
    if node.by_oversize != 0 and node.demand_kb > node.user_memory_kb:
        change_demand(node, tables, 0, 0, 0, 1, now_ns)
    else:
        node.accesses += 1


@inlined
def fit_cache(node: Row) -> None:
    """An I/O buffer that lives in free memory makes room for programs; what it gives up is lost."""
    room_kb = max(0.0, float(node.user_memory_kb - node.demand_kb))
    node.cache_kb = min(node.cache_kb, node.buffer_kb, room_kb)


@inlined
def fill_cache(node: Row, size_kb: float) -> None:
    """What an access has brought stays in the I/O buffer as far as there is room."""
    if node.by_oversize != 0:
        node.cache_kb += size_kb
        fit_cache(node)


@inlined
def present_buffer_kb(node: Row) -> float:
    """The I/O buffer that there is now: a fixed one, or what lives in memory that programs leave free."""
    return float(node.cache_kb if node.by_oversize != 0 else node.buffer_kb)


@called
def fit_isolated_cache(task: Row, size_kb: float) -> None:
    """Set the buffer of a task's isolated run, if it lives in free memory, after a miss that has brought `size_kb`, or
    after the task has grown (0): as `fill_cache` and `fit_cache` do on a node that the task has to itself."""
    room_kb = max(0.0, float(task.isolated_memory_kb - task.memory_kb))
    task.isolated_cache_kb = min(task.isolated_cache_kb + size_kb, task.isolated_buffer_kb, room_kb)
    task.isolated_hit = hit_rate(task.reaccess_rate, task.isolated_cache_kb, task.data_kb)


@inlined
def is_hit(node: Row, task: Row) -> bool:
    """Whether the task's present access is served from the node's buffer."""
    if task.reaccess_rate == 0.0:
        return False
    buffer_kb = present_buffer_kb(node)
    if buffer_kb == 0.0:
        return False
    share_kb = buffer_share_kb(float(task.stream), float(node.stream), buffer_kb)
    chance = hit_rate(task.reaccess_rate, share_kb, task.data_kb)
    return uniform(task.key, HIT, task.accesses, 0) < chance


@kernel
def fill_hits(jobs: Table, buffer_kb: Floats, hits: Floats) -> None:
    """Chance that an access of each job's tasks is served from the buffer of its home, if that serves it alone.

    Args:
        jobs: shape (jobs,).
        buffer_kb: of each node, shape (nodes,) [KB].
        hits: shape (jobs,), written.
    """
    for row in range(jobs.shape[0]):
        job = jobs[row]
        own_kb = data_kb(job.io_per_ms, job.cpu_ms, job.request_kb, job.reaccess_rate)
        hits[row] = hit_rate(job.reaccess_rate, buffer_kb[job.home], own_kb)
