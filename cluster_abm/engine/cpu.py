"""The CPU: round robin over one ready queue, with a quantum and a context switch on each core."""

from __future__ import annotations

import math

from cluster_abm.engine.cores import core_of, lowest_free, note_cores, set_stop
from cluster_abm.engine.rows import row_at
from cluster_abm.engine.tables import NEVER, NONE, READY, RUNNING, Row, Table, Tables
from cluster_abm.jit import called, inlined


@inlined
def faults_per_ns(node: Row, task: Row) -> float:
    """Page faults of a task per wall ns of its CPU, now."""
    return float(node.fault_per_ns + node.fault_per_allocated * task.allocated_kb_per_s)


@inlined
def book_progress(node: Row, task: Row, now_ns: int) -> None:
    """Book what a running task has computed since the last booking. Only events may call this, never the end of a
    window: the fault credit is a float, and its sum must not depend on the windows."""
    ran_ns = now_ns - task.leg_ns
    if ran_ns > 0:
        task.cpu_left_ns -= ran_ns
        task.gap_left_ns -= ran_ns
        task.fault_credit += faults_per_ns(node, task) * ran_ns
        task.cpu_ns += ran_ns
        node.cpu_busy_ns += ran_ns
        task.leg_ns = now_ns


@inlined
def runs_for_ns(task: Row, fault_per_ns: float) -> int:
    """CPU that a task receives before it stops of itself: demand used up, access or page fault [ns]."""
    lasts_ns = min(task.cpu_left_ns, task.gap_left_ns)
    if task.fault_credit >= 1.0:
        # Earned in the very instant of an access or a phase's end, which went first.
        lasts_ns = 0
    elif fault_per_ns > 0.0:
        fault_in = (1.0 - task.fault_credit) / fault_per_ns
        if fault_in < lasts_ns:
            lasts_ns = max(0, int(math.ceil(fault_in)))
    return int(lasts_ns)


@inlined
def stop_of(node: Row, task: Row) -> int:
    """When a running task stops: demand used up, access, page fault, or its quantum if others are ready [ns]."""
    stop_ns = task.leg_ns + runs_for_ns(task, faults_per_ns(node, task))
    if node.ready_head != NONE:
        stop_ns = min(stop_ns, task.quantum_start_ns + node.quantum_ns)
    return int(stop_ns)


@inlined
def plan_stop(node: Row, cores: Table, task: Row, slot: int) -> None:
    """Plan when a running task stops."""
    set_stop(node, cores, core_of(node, cores, task.core), task.core, slot, stop_of(node, task))


@inlined
def renew_quantum(node: Row, task: Row, now_ns: int) -> None:
    """Catch up with the quanta that a task has passed without an event while no other task was ready."""
    ran_ns = now_ns - task.quantum_start_ns
    if ran_ns >= node.quantum_ns:
        task.quantum_start_ns += ran_ns // node.quantum_ns * node.quantum_ns


@inlined
def let_quanta_count(node: Row, tasks: Table, cores: Table, now_ns: int) -> None:
    """A task is about to wait while all cores are taken, the first one: from here on all quanta count."""
    if node.cores > 1:
        let_all_quanta_count(node, tasks, cores, now_ns)
        return
    task = row_at(tasks, node.stopping)
    renew_quantum(node, task, now_ns)
    stop_ns = min(node.cpu_stop_ns, task.quantum_start_ns + node.quantum_ns)
    set_stop(node, cores, core_of(node, cores, 0), 0, node.stopping, stop_ns)


@called
def let_all_quanta_count(node: Row, tasks: Table, cores: Table, now_ns: int) -> None:
    """The same on several cores."""
    for position in range(node.cores):
        core = core_of(node, cores, position)
        task = tasks[core.running]
        renew_quantum(node, task, now_ns)
        core.stop_ns = min(core.stop_ns, task.quantum_start_ns + node.quantum_ns)
    note_cores(node, cores)


@inlined
def run_on(node: Row, cores: Table, position: int, task: Row, slot: int, now_ns: int) -> None:
    """Give a core to a task, which the ready queue does not hold any more."""
    core = core_of(node, cores, position)
    number, last = task.task, core.last_task
    start_ns = now_ns
    if last != number:
        if last != NONE:
            start_ns += node.switch_ns
            node.switches += 1
        core.last_task = number
    task.cpu_queue_ns += start_ns - task.since_ns
    task.first_ns = min(task.first_ns, start_ns)
    task.state = RUNNING
    task.core = position
    task.leg_ns = start_ns
    task.quantum_start_ns = start_ns
    set_stop(node, cores, core, position, slot, stop_of(node, task))


@inlined
def vacate(node: Row, cores: Table, task: Row) -> None:
    """Take a task that is about to stop running for good, or for long, from its core, which `dispatch` then gives to
    the next one."""
    core_of(node, cores, task.core).running = NONE


@inlined
def dispatch(node: Row, tables: Tables, position: int, now_ns: int) -> None:
    """Give a core of which the task stops running to the first ready task; if there is none it is free."""
    tasks, cores = tables.tasks, tables.cores
    slot = node.ready_head
    if slot == NONE:
        node.running -= 1
        set_stop(node, cores, core_of(node, cores, position), position, NONE, NEVER)
        return
    task = row_at(tasks, slot)
    node.ready_head = task.next
    node.ready_count -= 1
    if node.ready_head == NONE:
        node.ready_tail = NONE
    run_on(node, cores, position, task, slot, now_ns)


@inlined
def wait_for_core(node: Row, tasks: Table, slot: int) -> None:
    """Put a task at the end of the ready queue."""
    row_at(tasks, slot).next = NONE
    if node.ready_tail == NONE:
        node.ready_head = slot
    else:
        row_at(tasks, node.ready_tail).next = slot
    node.ready_tail = slot
    node.ready_count += 1


@inlined
def make_ready(node: Row, tables: Tables, slot: int, now_ns: int) -> None:
    """A task is ready: the free core of lowest number takes it at once; if there is none it waits."""
    tasks, cores = tables.tasks, tables.cores
    task = row_at(tasks, slot)
    task.state = READY
    task.since_ns = now_ns
    if node.running < node.cores:
        node.running += 1
        run_on(node, cores, lowest_free(node, cores), task, slot, now_ns)
        return
    if node.ready_head == NONE:
        let_quanta_count(node, tasks, cores, now_ns)
    wait_for_core(node, tasks, slot)


@inlined
def end_quantum(node: Row, tables: Tables, slot: int, now_ns: int) -> None:
    """A running task goes to the end of the ready queue; its core is about to have the first task of it."""
    task = row_at(tables.tasks, slot)
    task.state = READY
    task.since_ns = now_ns
    wait_for_core(node, tables.tasks, slot)


@inlined
def stops_of_itself_in_ns(task: Row) -> int:
    """CPU after which a task stops for another reason than its quantum, since its progress was booked last [ns]."""
    owes_ns = NEVER if task.fault_credit < 1.0 else 0
    return int(min(owes_ns, task.cpu_left_ns, task.gap_left_ns))


@inlined
def leaps_to_ns(node: Row, tables: Tables, now_ns: int, end_ns: int) -> int:
    """At the end of a quantum: when the same task's quantum ends after all the rounds that `leap_rounds` leaps over."""
    if node.fault_per_ns > 0.0 or node.fault_per_allocated > 0.0 or now_ns < node.no_leap_before_ns:
        return now_ns
    return leap_rounds(node, tables.tasks, tables.cores, now_ns, end_ns)


@called
def leap_rounds(node: Row, tasks: Table, cores: Table, now_ns: int, end_ns: int) -> int:
    """At the end of a quantum: leap over all the whole rounds in which nothing but ends of quanta will happen.

    In a round all tasks get equally many quanta, and each core is left at the point of the same task's quantum at
    which it was; the node then is as it was. With n tasks on c cores that is so after n/gcd(n, c) times a quantum and
    a switch, in which each task gets c/gcd(n, c) quanta: on one core, one each. All times are whole nanoseconds, so one
    multiplication equals the steps it stands for to the last bit. Page faults earn a credit in floats, and a sum of
    floats depends on the steps: no leap while the node pages.

    Returns:
        the end of the same task's quantum after the last of those rounds, `now_ns` if there is none.
    """
    count = node.ready_count + node.cores
    periods, quanta = count, 1
    if node.cores > 1:
        divisor = math.gcd(count, node.cores)
        periods, quanta = count // divisor, node.cores // divisor
    round_ns = periods * (node.quantum_ns + node.switch_ns)
    # At one instant the CPU's event comes first, so the others may fall on the leap's end; the window's may not.
    limit_ns = min(node.disk_end_ns, node.arrival_ns, end_ns - 1)
    rounds = (limit_ns - now_ns) // round_ns
    if rounds < 1:
        return now_ns
    needs_ns = NEVER
    for position in range(node.cores):
        task = tasks[core_of(node, cores, position).running]
        # It is to come to the end of its quantum after the leap as it would have before.
        quantum_left_ns = task.quantum_start_ns + node.quantum_ns - task.leg_ns
        needs_ns = min(needs_ns, stops_of_itself_in_ns(task) - quantum_left_ns)
    slot = node.ready_head
    while slot != NONE:
        needs_ns = min(needs_ns, stops_of_itself_in_ns(tasks[slot]))
        slot = tasks[slot].next
    # A task that uses up exactly its last quantum stops for another reason than its quantum.
    rounds = min(rounds, (needs_ns - 1) // (quanta * node.quantum_ns))
    if rounds < 1:
        node.no_leap_before_ns = now_ns + round_ns
        return now_ns
    given_ns = rounds * quanta * node.quantum_ns
    leap_ns = rounds * round_ns
    note_first_quanta(node, tasks, cores)
    for position in range(node.cores):
        core = core_of(node, cores, position)
        task = tasks[core.running]
        pass_rounds(task, given_ns, leap_ns)
        task.leg_ns += leap_ns
        task.quantum_start_ns += leap_ns
        core.stop_ns += leap_ns
    slot = node.ready_head
    while slot != NONE:
        task = tasks[slot]
        pass_rounds(task, given_ns, leap_ns)
        task.since_ns += leap_ns
        slot = task.next
    note_last_quanta(node, tasks, cores)
    node.cpu_busy_ns += given_ns * count
    node.switches += rounds * quanta * count
    return now_ns + leap_ns


@inlined
def note_first_quanta(node: Row, tasks: Table, cores: Table) -> None:
    """Of ready tasks that have never run, note when each gets its first quantum of the rounds that are leapt over.

    Cores take the ready tasks in turn, in the order in which their quanta end, each again a quantum and a switch later.
    """
    slot, place = node.ready_head, 0
    while slot != NONE:
        task = tasks[slot]
        if task.first_ns == NEVER:
            turns = place // node.cores
            ends_ns = nth_end_of_quantum_ns(node, cores, place - turns * node.cores)
            task.first_ns = ends_ns + turns * (node.quantum_ns + node.switch_ns) + node.switch_ns
        slot, place = task.next, place + 1


@inlined
def nth_end_of_quantum_ns(node: Row, cores: Table, number: int) -> int:
    """When the quantum ends that ends as the `number`-th, from 0, of those that the cores are at."""
    for position in range(node.cores):
        stop_ns, before, at = core_of(node, cores, position).stop_ns, 0, 0
        for other in range(node.cores):
            other_ns = core_of(node, cores, other).stop_ns
            before += other_ns < stop_ns
            at += other_ns == stop_ns
        if before <= number < before + at:
            return int(stop_ns)
    return NEVER


@inlined
def note_last_quanta(node: Row, tasks: Table, cores: Table) -> None:
    """Of ready tasks, note since when each waits after the rounds that were leapt over: the end of its last quantum.

    They came in the order in which the cores' quanta end, each core's a quantum and a switch after the one before. So
    a task came as much later than the one that stands as many places before it as there are cores.
    """
    turn_ns = node.quantum_ns + node.switch_ns
    turns = -(-node.ready_count // node.cores)
    position, earlier_turns = core_to_stop_first(node, cores), turns
    for _ in range(turns * node.cores - node.ready_count):
        position = core_to_stop_after(node, cores, position)
    slot, earlier, place = node.ready_head, node.ready_head, 0
    while slot != NONE:
        task = tasks[slot]
        if place < node.cores:
            since_ns = core_of(node, cores, position).stop_ns - earlier_turns * turn_ns
            position = core_to_stop_after(node, cores, position)
            if position == NONE:
                position, earlier_turns = core_to_stop_first(node, cores), earlier_turns - 1
        else:
            since_ns = tasks[earlier].since_ns + turn_ns
            earlier = tasks[earlier].next
        # What it has waited before is booked: all of its waiting stays as it is.
        task.cpu_queue_ns += since_ns - task.since_ns
        task.since_ns = since_ns
        slot, place = task.next, place + 1


@inlined
def core_to_stop_first(node: Row, cores: Table) -> int:
    """The core of which the quantum ends first, of several the one of lowest number."""
    first = 0
    for other in range(1, node.cores):
        if core_of(node, cores, other).stop_ns < core_of(node, cores, first).stop_ns:
            first = other
    return first


@inlined
def core_to_stop_after(node: Row, cores: Table, position: int) -> int:
    """The core of which the quantum ends next after that of another one; NONE: none does."""
    stop_ns, found, found_ns = core_of(node, cores, position).stop_ns, NONE, NEVER
    for other in range(node.cores):
        other_ns = core_of(node, cores, other).stop_ns
        comes_after = other_ns > stop_ns or (other_ns == stop_ns and other > position)
        if comes_after and other_ns < found_ns:
            found, found_ns = other, other_ns
    return int(found)


@inlined
def pass_rounds(task: Row, given_ns: int, leap_ns: int) -> None:
    """Book rounds in which a task was given CPU, and waited for the rest."""
    task.cpu_left_ns -= given_ns
    task.gap_left_ns -= given_ns
    task.cpu_ns += given_ns
    task.cpu_queue_ns += leap_ns - given_ns
