"""Activity profiles: what a program does, phase by phase of its own CPU."""

from __future__ import annotations

from cluster_abm.engine.admission import begin_phase, wall_ns_of_cpu
from cluster_abm.engine.barriers import wake
from cluster_abm.engine.memory import change_demand, fit_isolated_cache
from cluster_abm.engine.tables import NEVER, Row, Table, Tables
from cluster_abm.jit import called, inlined


@inlined
def access_at_ns(phase_ns: int, accesses: int, number: int) -> int:
    """CPU from the start of a phase to its access of a number: in the middle of its part of the phase [ns]."""
    whole, rest = phase_ns // (2 * accesses), phase_ns % (2 * accesses)
    return (2 * number + 1) * whole + (2 * number + 1) * rest // (2 * accesses)


@inlined
def profile_gap_ns(node: Row, task: Row, phase: Row) -> int:
    """Wall ns of CPU until the next access of the phase, or after the last one until its end; at least 1."""
    phase_ns = wall_ns_of_cpu(phase.cpu_ms, node.speed)
    from_ns, to_ns = 0, phase_ns
    if task.phase_accesses > 0:
        from_ns = access_at_ns(phase_ns, phase.accesses, task.phase_accesses - 1)
    if task.phase_accesses < phase.accesses:
        to_ns = access_at_ns(phase_ns, phase.accesses, task.phase_accesses)
    return max(1, to_ns - from_ns)


@inlined
def ends_phase(task: Row, phases: Table) -> bool:
    """Whether a task with a profile that has come to the end of its gap has made all accesses of its phase."""
    return bool(task.phase_accesses == phases[task.phase].accesses)


@called
def next_phase(node: Row, tables: Tables, task: Row, now_ns: int) -> int:
    """The running task goes on to its next phase; after the last one its demand stays until it ends.

    Returns:
        how long it sleeps before that [ns].
    """
    if task.phase == task.last_phase:
        task.gap_left_ns = NEVER
        return 0
    phases = tables.phases
    pause_ns = phases[task.phase].pause_ns
    following = phases[task.phase + 1]
    change_demand(
        node,
        tables,
        following.memory_kb - task.memory_kb,
        0,
        following.allocated_kb_per_s - task.allocated_kb_per_s,
        0,
        now_ns,
    )
    begin_phase(task, phases, task.phase + 1)
    # What is computed again is no part of the isolated run.
    if task.isolated_buffer_kb > 0.0 and task.accesses >= task.isolated_from:
        fit_isolated_cache(task, 0.0)
    task.gap_left_ns = profile_gap_ns(node, task, following)
    return int(pause_ns)


@called
def sleep(node: Row, tables: Tables, slot: int, pause_ns: int, now_ns: int) -> None:
    """The task, which has left the CPU, sleeps between two phases; alone it would too. It is booked as a barrier is."""
    task = tables.tasks[slot]
    task.since_ns = now_ns
    task.wake_ns = now_ns + pause_ns
    task.isolated_barrier_ns += pause_ns
    wake(node, tables, slot)
