"""Tasks get a row and set out for their node."""

from __future__ import annotations

import math
from typing import NamedTuple

from cluster_abm.arrays import Integers
from cluster_abm.engine.journal import note_departure
from cluster_abm.engine.memory import faults_within
from cluster_abm.engine.random_numbers import Word, task_key
from cluster_abm.engine.rows import note_next_event
from cluster_abm.engine.tables import (
    DEPENDENT,
    FREE_TOP,
    IN_TRANSIT,
    LIVE,
    NEVER,
    NONE,
    NS_PER_MS,
    STARTS,
    Row,
    Table,
    Tables,
)
from cluster_abm.formulas.buffer import data_kb, hit_rate
from cluster_abm.formulas.slowdown import isolated_faults
from cluster_abm.jit import inlined, kernel


@inlined
def wall_ns_of_cpu(cpu_ms: float, speed: float) -> int:
    """How long a CPU of that speed works on a demand at speed 1: whole ns, at least 1."""
    return max(1, int(math.floor(cpu_ms * NS_PER_MS / speed + 0.5)))


@inlined
def isolated_paging_of_profile_ms(task: Row, home: Row, phases: Table) -> float:
    """Paging of a task alone on its home node [ms], phase by phase if it has a profile."""
    fault_ms = home.fault_ns * home.disk_factor / NS_PER_MS
    memory_kb = task.isolated_memory_kb
    per_ns = home.speed / home.cpu_factor / NS_PER_MS
    if task.phase == NONE:
        faults_per_ms = faults_within(home, memory_kb, task.memory_kb, 0)
        return isolated_faults(faults_per_ms * task.cpu_demand_ms, faults_per_ms * per_ns) * fault_ms
    faults = faults_per_ms = 0.0
    accesses = 0
    for position in range(task.phase, task.last_phase + 1):
        phase = phases[position]
        faults_per_ms = faults_within(home, memory_kb, phase.memory_kb, accesses)
        # What is left of a fault is taken along into the next phase.
        faults += faults_per_ms * phase.cpu_ms
        accesses += phase.accesses
    return isolated_faults(faults, faults_per_ms * per_ns) * fault_ms


@inlined
def describe_isolated_run(task: Row, home: Row, phases: Table) -> None:
    """What the task would do alone on its home node, with nothing wrong there: the base of its slowdown."""
    speed = home.speed / home.cpu_factor
    task.isolated_cpu_ns = wall_ns_of_cpu(task.cpu_demand_ms, speed)
    # What a task takes alone does not depend on what a controller has made of the buffer.
    buffer_kb = home.buffer_kb - home.buffer_shift_kb
    task.isolated_hit = hit_rate(task.reaccess_rate, buffer_kb, task.data_kb)
    task.isolated_cache_kb, task.isolated_buffer_kb = 0.0, 0.0
    task.isolated_memory_kb = home.user_memory_kb + home.buffer_shift_kb
    if home.by_oversize != 0 and task.reaccess_rate > 0.0:
        # A buffer in free memory is empty at first.
        task.isolated_hit, task.isolated_buffer_kb = 0.0, buffer_kb
    task.isolated_paging_ns = int(isolated_paging_of_profile_ms(task, home, phases) * NS_PER_MS + 0.5)
    task.isolated_seek_ns = int(home.seek_ns * home.disk_factor + 0.5)
    task.isolated_draws_seeks = home.draws_seeks
    task.isolated_ns_per_kb = home.ns_per_kb * home.disk_factor
    task.isolated_io_ns = 0
    task.isolated_from = 0
    task.isolated_barrier_ns = 0
    task.isolated_mark_ns = 0
    task.isolated_phase_ns = wall_ns_of_cpu(task.barrier_ms, speed)


@inlined
def enters_before(first: Row, second: Row) -> bool:
    """Return whether a task in transit enters before another one: by time of entry, then by number."""
    return first.enter_ns < second.enter_ns or (first.enter_ns == second.enter_ns and first.task < second.task)


@inlined
def queue_for_entry(node: Row, tables: Tables, slot: int) -> None:
    """Queue the task, by its instant of entry, among the tasks in transit or about to go on from a barrier."""
    tasks = tables.tasks
    task = tasks[slot]
    tail = node.transit_tail
    if tail == NONE or enters_before(tasks[tail], task):
        # The usual case: a task that sets out later enters later.
        before = tail
    else:
        before = NONE
        following = node.transit_head
        while enters_before(tasks[following], task):
            before = following
            following = tasks[following].next
    if before == NONE:
        task.next = node.transit_head
        node.transit_head = slot
    else:
        task.next = tasks[before].next
        tasks[before].next = slot
    if task.next == NONE:
        node.transit_tail = slot
    node.arrival_ns = tasks[node.transit_head].enter_ns
    node.next_event_ns = min(node.next_event_ns, node.arrival_ns)
    note_next_event(node, tables)


@inlined
def set_out(node: Row, tables: Tables, slot: int) -> None:
    """Put the task in transit to the node, where its memory counts from now on."""
    queue_for_entry(node, tables, slot)
    node.in_transit += 1
    node.transit_kb += tables.tasks[slot].memory_kb


@inlined
def plan_phases(task: Row, speed: float) -> None:
    """Divide an arriving task's demand into what it computes up to its first barrier, if it has one, and the rest."""
    whole_ns = wall_ns_of_cpu(task.cpu_demand_ms, speed)
    task.cpu_left_ns = whole_ns
    if task.barriers_left > 0:
        task.cpu_left_ns = min(whole_ns, wall_ns_of_cpu(task.barrier_ms, speed))
    task.cpu_after_ns = whole_ns - task.cpu_left_ns


@inlined
def begin_phase(task: Row, phases: Table, position: int) -> None:
    """From now on the task does as that phase of its profile says."""
    task.phase = position
    task.phase_accesses = 0
    task.memory_kb = phases[position].memory_kb
    task.allocated_kb_per_s = phases[position].allocated_kb_per_s


@inlined
def begin_profile(task: Row, job: Row, phases: Table) -> None:
    """The task runs a program that has an activity profile, from its first phase on."""
    task.last_phase = job.first_phase + job.phases - 1
    begin_phase(task, phases, job.first_phase)


@inlined
def barriers_of(job: Row) -> int:
    """Return how many barriers each task of the job comes to: one after every `barrier_ms` of CPU in the run, none at
    its end."""
    if job.barrier_ms <= 0.0 or job.tasks < 2:
        return 0
    return max(0, int(math.ceil((job.cpu_ms - job.received_ms) / job.barrier_ms)) - 1)


@inlined
def join_members(node: Row, tasks: Table, slot: int) -> None:
    """Append the task to the list of those that belong to the node."""
    task = tasks[slot]
    task.member_next = NONE
    task.member_prev = node.member_tail
    if node.member_tail == NONE:
        node.member_head = slot
    else:
        tasks[node.member_tail].member_next = slot
    node.member_tail = slot


@inlined
def leave_members(node: Row, tasks: Table, slot: int) -> None:
    """Take the task out of the list of those that belong to the node."""
    task = tasks[slot]
    if task.member_prev == NONE:
        node.member_head = task.member_next
    else:
        tasks[task.member_prev].member_next = task.member_next
    if task.member_next == NONE:
        node.member_tail = task.member_prev
    else:
        tasks[task.member_next].member_prev = task.member_prev


class Starts(NamedTuple):
    """Tasks that start, shape (tasks,) each."""

    job: Integers  # row of the task's job
    rank: Integers  # its number inside the job
    held_ns: Integers  # how long its submission was held [ns]
    target: Integers  # the node on which it starts
    delay_ns: Integers  # how long it is in transit [ns]
    origin: Integers  # the node that it is sent from


@inlined
def start(tables: Tables, run_key: Word, starts: Starts, entry: int, slot: int) -> None:
    """Send one of the tasks to its node, in a row of the table."""
    job = tables.jobs[starts.job[entry]]
    home = tables.homes[job.home]
    node = tables.nodes[starts.target[entry] % tables.nodes.shape[0]]
    task = tables.tasks[slot]
    task.task = job.first_task + starts.rank[entry]
    task.job = starts.job[entry]
    task.home = job.home
    task.node = starts.target[entry]
    task.origin = starts.origin[entry]
    task.restarts = 0
    task.lost_cpu_ns = 0
    task.state = IN_TRANSIT
    task.moves = 1 if starts.target[entry] != job.home else 0
    task.migrations = 0
    task.request_kind = NONE
    task.arrival_write_kb = 0.0
    task.gap_left_ns = NONE
    task.key = task_key(run_key, task.task)
    task.arrival_ns = job.arrival_ns
    task.since_ns = job.arrival_ns + starts.held_ns[entry]
    task.enter_ns = task.since_ns + starts.delay_ns[entry]
    whole_ms = job.cpu_ms
    task.announced_over_ms = 0.0
    if tables.demands.shape[0] > 0:
        own = tables.demands[task.task]
        whole_ms = own.cpu_ms
        task.announced_over_ms = own.announced_ms - own.cpu_ms
    task.cpu_demand_ms = whole_ms - job.received_ms
    task.barrier_ms = job.barrier_ms
    if whole_ms != job.cpu_ms:
        # All tasks of a job come to the same barriers, each after the same part of its own CPU.
        task.barrier_ms *= whole_ms / job.cpu_ms
    task.barriers_left = barriers_of(job)
    task.wake_ns = 0
    task.bound = 1 if task.barriers_left > 0 or (job.tasks > 1 and node.limit_kb < NEVER) else 0
    plan_phases(task, node.speed)
    task.fault_credit = 0.0
    task.accesses = 0
    task.io_per_ms = job.io_per_ms
    task.request_kb = job.request_kb
    task.request_shape = job.request_shape
    task.reaccess_rate = job.reaccess_rate
    task.initial_data_mb = job.initial_data_mb
    task.data_kb = data_kb(job.io_per_ms, whole_ms, job.request_kb, job.reaccess_rate)
    task.memory_kb = int(math.floor(job.memory_mb * 1000.0 + 0.5))
    task.allocated_kb_per_s = 0
    task.phase = NONE
    if job.phases > 0:
        begin_profile(task, job, tables.phases)
    task.stream = int(math.floor(job.io_per_ms * job.request_kb * 1e6 + 0.5))
    task.requests = 0
    task.faults = 0
    task.hits = 0
    task.cpu_ns = 0
    task.first_ns = NEVER
    task.cpu_queue_ns = 0
    task.io_ns = 0
    task.io_queue_ns = 0
    task.paging_ns = 0
    task.migration_ns = 0
    task.barrier_ns = 0
    task.blocked_ns = starts.held_ns[entry]
    describe_isolated_run(task, home, tables.phases)
    set_out(node, tables, slot)
    join_members(node, tables.tasks, slot)
    tables.counters[DEPENDENT] += task.bound
    note_departure(tables, slot, STARTS, starts.origin[entry], task.since_ns)


@kernel
def admit(tables: Tables, run_key: Word, starts: Starts) -> None:
    """Send tasks to their nodes; each enters its target `held_ns` and `delay_ns` after its job's arrival.

    Args:
        tables: the state, changed in place; there must be free rows enough.
        run_key: key of the service-time streams of this run.
        starts: the tasks.
    """
    count = starts.job.shape[0]
    for entry in range(count):
        start(tables, run_key, starts, entry, tables.free[tables.counters[FREE_TOP] - 1 - entry])
    tables.counters[FREE_TOP] -= count
    tables.counters[LIVE] += count
