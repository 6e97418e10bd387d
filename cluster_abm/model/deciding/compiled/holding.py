"""Jobs wait in a queue of each node, compiled: a job joins a queue, leaves it, and its tasks start.

The readable form is Submissions._from_queues, which says in which order queues are looked at; both do the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cluster_abm.arrays import Flags, Integers
from cluster_abm.compiling.pointers import group
from cluster_abm.compiling.tables import YES
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.advance import advance_at
from cluster_abm.engine.tables import DEPENDENT, NEVER, Table, Tables
from cluster_abm.jit import called, inlined, kernel
from cluster_abm.jit.calls import address_of, call_at
from cluster_abm.model.deciding.compiled.arriving import KEPT, announce, has_room, place, start
from cluster_abm.model.deciding.compiled.asking import FAULT, close_view, keep_notes, look, open_view, restore_notes
from cluster_abm.model.deciding.compiled.scratch import (
    AT_FAULT,
    AT_FAULT_OF_HOLDING,
    AT_STOP,
    DONE,
    NO_ROOM,
    NOW_NS,
    OUTCOME,
    known_group,
    scratch_group,
    settings_group,
)

scratch_of, known_of, settings_of = scratch_group.at, known_group.at, settings_group.at

# How far a look at the queues has come, by position in `state`: how many jobs wait; the queue that is looked at (the
# number of nodes: none); the task of its head that is placed next; whether that job has been let go; whether all queues
# are looked at, or only those that a job has joined; whether all are to be looked at in the slice that begins next; how
# many tasks have started in this call.
(WAITING, QUEUE, RANK, LET_GO, ALL, ALL_NEXT, STARTED, STATES) = range(8)
# What is said of each task that starts, by row: its job, rank and time held [ns], its node, delay and time asking [ns].
(JOB, TASK_RANK, HELD_NS, NODE, DELAY_NS, ASKING_NS, STARTED_ROWS) = range(7)

# Arrays: first and last job of each queue, shape (nodes,), -1: it is empty; the job behind each job, shape (jobs,);
# whether a job has just joined a queue, shape (nodes,); `state`, shape (STATES,). Addresses of the policy's answers.
queues_group = group(
    "Queues",
    {**dict.fromkeys(("head", "tail", "following", "state"), np.zeros(1, np.int64)), "joined": np.zeros(1, bool)},
    {"holds": "i8", "takes_back": "i8"},
)
queues_of = queues_group.at


@inlined
def append(queues: Any, node: int, job: int) -> None:
    """A job joins the queue of a node."""
    queues.following[job] = -1
    if queues.head[node] < 0:
        queues.head[node] = job
    else:
        queues.following[queues.tail[node]] = job
    queues.tail[node] = job
    queues.joined[node] = True
    queues.state[WAITING] += 1


@called
def holds(
    tables: Tables, known: Any, scratch: Any, settings: Any, queues: Any, accepting: Flags, silent_ns: Integers,
    manager: int, tasks: int, now_ns: int,
) -> int:  # fmt: skip
    """Whether the job of `scratch.task`, of that many tasks, has to wait: 1 or 0; FAULT: compiled code cannot tell."""
    # No literal 0: for that numba would compile `open_view` again.
    none_declined = 0 * manager
    changed = open_view(tables, known, scratch, settings, accepting, silent_ns, manager, none_declined, now_ns)
    if settings.has_notes:
        keep_notes(scratch, manager, 0)
    answer = call_at(queues.holds, address_of(scratch.task), address_of(scratch.views), settings.numbers, tasks)
    close_view(known, scratch, settings, manager, 0, changed)
    if answer == 0:
        if settings.has_notes:
            restore_notes(scratch, manager, 0)
        return FAULT
    return 1 if answer == YES else 0


@kernel
def release(
    tables: Tables, starts: Starts, known_at: int, scratch_at: int, settings_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, stand_in: Integers, jobs: Integers, started: Integers, first: int,
    queues_at: int,
) -> int:  # fmt: skip
    """Jobs join their queues, each at the beginning of its slice; the heads of these queues start, or go on waiting.

    Args:
        tables, starts, known_at, scratch_at, settings_at, decided, up, accepting, silent_ns, stand_in: as of
            arriving.place_arrivals.
        jobs: those that arrive, in the order of their submission.
        started: filled with the tasks that start, in their order, shape (STARTED_ROWS, tasks).
        first: the first of `jobs` that has not joined its queue yet.
        queues_at: address of the queues (queues_group), changed in place.

    Returns:
        how many of `jobs` have joined; `counts[OUTCOME]` says why not all is done, and the queues' `state` where to
        go on.
    """
    known, scratch, settings, queues = (
        known_of(known_at), scratch_of(scratch_at), settings_of(settings_at), queues_of(queues_at),
    )  # fmt: skip
    counts, state = scratch.counts, queues.state
    now_ns, nodes, entry = counts[NOW_NS], tables.nodes.shape[0], first
    state[STARTED] = 0
    if state[QUEUE] < nodes and settings.all_is_known:
        look(tables, known, scratch, settings, now_ns)
    while True:
        if state[QUEUE] == nodes:
            if entry == jobs.shape[0] and state[ALL_NEXT] == 0:
                break
            begins_ns = now_ns
            if state[ALL_NEXT] == 0:
                begins_ns = max(now_ns, slice_of(tables, settings, jobs[entry]))
            if begins_ns >= settings.stop_ns:
                counts[NOW_NS], counts[OUTCOME] = begins_ns, AT_STOP
                return entry
            if begins_ns > now_ns:
                now_ns = begins_ns
                if tables.counters[DEPENDENT] > 0:
                    advance_at(settings.advance, tables, settings.slice_ns, now_ns, NEVER, 0, nodes)
            while entry < jobs.shape[0] and slice_of(tables, settings, jobs[entry]) <= now_ns:
                append(queues, tables.jobs[jobs[entry]].home, jobs[entry])
                entry += 1
            if settings.all_is_known:
                look(tables, known, scratch, settings, now_ns)
            state[ALL], state[ALL_NEXT] = state[ALL_NEXT], 0
            state[QUEUE], state[RANK], state[LET_GO] = 0, 0, 0
        while state[QUEUE] < nodes:
            queue = state[QUEUE]
            if state[ALL] != 0 or queues.joined[queue]:
                outcome = serve_queue(
                    tables, starts, known_at, scratch_at, settings_at, decided, up, accepting, silent_ns,
                    stand_in[queue], started, queues_at, now_ns,
                )  # fmt: skip
                if outcome != DONE:
                    counts[NOW_NS], counts[OUTCOME] = now_ns, outcome
                    return entry
            leave_queue(queues)
    counts[NOW_NS], counts[OUTCOME] = now_ns, DONE
    return entry


@inlined
def slice_of(tables: Tables, settings: Any, job: int) -> int:
    """When the slice begins in which a job is submitted [ns]."""
    return int(tables.jobs[job].arrival_ns // settings.slice_ns * settings.slice_ns)


@inlined
def leave_queue(queues: Any) -> None:
    """Go on with the next queue."""
    queues.joined[queues.state[QUEUE]] = False
    queues.state[QUEUE] += 1
    queues.state[RANK], queues.state[LET_GO] = 0, 0


@called
def serve_queue(
    tables: Tables, starts: Starts, known_at: int, scratch_at: int, settings_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, manager: int, started: Integers, queues_at: int, now_ns: int,
) -> int:  # fmt: skip
    """Jobs at the head of the queue that is looked at start, until one has to wait; arguments as of `release`.

    Args:
        manager: the node of the load manager that decides.
        now_ns: the beginning of the slice [ns].

    Returns:
        how it went (scratch.DONE and so on).
    """
    known, scratch, settings, queues = (
        known_of(known_at), scratch_of(scratch_at), settings_of(settings_at), queues_of(queues_at),
    )  # fmt: skip
    state = queues.state
    queue = state[QUEUE]
    while queues.head[queue] >= 0:
        job = queues.head[queue]
        row = tables.jobs[job]
        held_ns = max(0, now_ns - row.arrival_ns)
        if state[LET_GO] == 0:
            announce(scratch, tables.jobs, job, 0)
            answer = holds(tables, known, scratch, settings, queues, accepting, silent_ns, manager, row.tasks, now_ns)
            if answer == FAULT:
                return AT_FAULT_OF_HOLDING
            if answer == 1:
                return DONE
            state[LET_GO] = 1
        while state[RANK] < row.tasks:
            rank = state[RANK]
            if not has_room(tables, known, scratch, settings, decided, manager) or (state[STARTED] == started.shape[1]):
                return NO_ROOM
            announce(scratch, tables.jobs, job, rank)
            target, asking_ns, asked = place(
                tables, known, scratch, settings, decided, up, accepting, silent_ns, manager,
                queues.takes_back if rank == 0 else 0, now_ns,
            )  # fmt: skip
            if target == KEPT:
                return DONE
            outcome, delay_ns = start(
                tables, starts, known_at, scratch_at, settings_at, decided, up, accepting, silent_ns, manager, job,
                rank, held_ns, target, asking_ns, asked, now_ns,
            )  # fmt: skip
            if outcome != AT_FAULT:
                column = state[STARTED]
                started[JOB, column], started[TASK_RANK, column], started[HELD_NS, column] = job, rank, held_ns
                started[NODE, column], started[DELAY_NS, column] = target, delay_ns
                started[ASKING_NS, column] = asking_ns
                state[STARTED] += 1
            if outcome != DONE:
                return outcome
            state[RANK] += 1
        queues.head[queue] = queues.following[job]
        state[WAITING] -= 1
        state[RANK], state[LET_GO] = 0, 0
    return DONE
