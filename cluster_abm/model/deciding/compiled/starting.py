"""A head node starts the jobs of its queue, compiled: over many slices in one call.

The readable form is waiting.queues and waiting.holding, with deciding.in_python; both give the same decisions.
"""

from __future__ import annotations

from typing import Any

from cluster_abm.arrays import Flags, Integers
from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.compiling.tables import HEAD, WAITING_JOBS
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.advance import advance_at
from cluster_abm.engine.tables import FREE_TOP, JOURNAL_ROWS, LIVE, NEVER, NS_PER_MS, RECORDS, Table, Tables
from cluster_abm.jit import called, inlined, kernel
from cluster_abm.jit.calls import address_of, call_at
from cluster_abm.model.deciding.compiled.arriving import announce, fetch
from cluster_abm.model.deciding.compiled.asking import (
    admit_at,
    close_view,
    cost_of,
    keep_notes,
    look,
    note_true_loads,
    open_view,
    restore_notes,
    whole_ns,
    write_decision,
    write_truth,
)
from cluster_abm.model.deciding.compiled.scratch import (
    AT_FAULT,
    AT_FAULT_OF_START,
    AT_FAULT_OF_TASK,
    DECIDED_ROWS,
    DECLINED,
    DONE,
    JOB,
    LASTS,
    NO_ROOM,
    NOW_NS,
    OUTCOME,
    READ_THEN,
    REMOTE_EXECUTIONS,
    STARTED,
    known_group,
    scratch_group,
    settings_group,
)
from cluster_abm.model.waiting.books import (
    ALL_CORES,
    FREE_CORES,
    JOBS,
    SPARES,
    begin_job,
    books_of,
    give_core,
    note_ends,
    note_open,
)
from cluster_abm.model.waiting.job_queue import (
    copy_job_notes,
    has_room_for_one,
    lasts_of,
    plan_times,
    put_in,
    queue_of,
    take_out,
)

scratch_of, known_of, settings_of = scratch_group.at, known_group.at, settings_group.at
NO_JOB = -2


@inlined
def show_cores(scratch: Any, books: Any) -> None:
    """Show a policy which cores are free, and which jobs hold the others."""
    view = scratch.views[0]
    view.free_at, view.free_0 = address_of(books.free), len(books.free)
    view.free_cores = books.counts[FREE_CORES]
    view.running_at, view.running_0 = address_of(books.running), books.counts[JOBS]
    view.given_job = NO_JOB


@called
def open_head(
    tables: Tables, known: Any, scratch: Any, settings: Any, books: Any, accepting: Flags, silent_ns: Integers,
    manager: int, now_ns: int,
) -> None:  # fmt: skip
    """Fill in `scratch.views` for the head node, at a manager's node."""
    none_declined = 0 * manager
    open_view(tables, known, scratch, settings, accepting, silent_ns, manager, none_declined, now_ns)
    if settings.can_change:
        for node in range(len(scratch.is_open)):
            scratch.is_open[node] = not scratch.refused[node]
        note_open(books, scratch.is_open)
    show_cores(scratch, books)


@called
def longest_start_ms(
    scratch: Any, settings: Any, accepting: Flags, first_task: Table, manager: int
) -> float:  # fmt: skip
    """The longest that starting a task on any node takes [ms] (expected_ends.longest_start_ms)."""
    longest_ms, first = 0.0, scratch.route_at[manager]
    for place in range(len(scratch.unlike)):
        node = scratch.unlike[place]
        is_there = accepting[node] and not scratch.unreachable[node] and scratch.mb_per_s[first + node] > 0.0
        if node != manager and is_there:
            longest_ms = max(longest_ms, cost_of(scratch, settings, first_task, manager, node))
    return longest_ms


@inlined
def has_room_to_start(tables: Tables, scratch: Any, settings: Any, books: Any, decided: Table) -> bool:
    """Whether there is room for all that the start of any job may bring about."""
    widest, counters = settings.widest, tables.counters
    return bool(
        counters[FREE_TOP] >= widest + settings.spare_rows
        and (tables.journal.shape[0] == 0 or counters[JOURNAL_ROWS] + widest <= tables.journal.shape[0])
        and (not settings.writes or scratch.counts[DECIDED_ROWS] + widest <= decided.shape[0])
        and (scratch.started.shape[1] == 0 or scratch.counts[STARTED] + widest <= scratch.started.shape[1])
        and books.counts[SPARES] > max(widest, len(scratch.given))
    )


@called
def next_job(
    tables: Tables, known: Any, scratch: Any, settings: Any, books: Any, queue: Any, queue_at: int, accepting: Flags,
    silent_ns: Integers, stand_in: Integers, now_ns: int,
) -> int:  # fmt: skip
    """Which job of the queue starts, by its place; -1: none; NO_JOB: compiled code cannot tell."""
    manager = stand_in[queue.rows[queue.counts[HEAD]].home]
    open_head(tables, known, scratch, settings, books, accepting, silent_ns, manager, now_ns)
    plan_times(queue, books.counts[ALL_CORES], now_ns / NS_PER_MS, settings.slice_ns / NS_PER_MS)
    if settings.has_notes:
        keep_notes(scratch, manager, 0)
    copy_job_notes(queue, queue.note_values, queue.notes_before)
    view_at, decision_at = address_of(scratch.views), address_of(scratch.decision)
    answer = call_at(settings.next_job, queue_at, view_at, settings.numbers, decision_at)
    close_view(known, scratch, settings, manager, 0, 0)
    place = answer - 2
    if answer == 0 or place < -1 or place >= queue.counts[WAITING_JOBS]:
        copy_job_notes(queue, queue.notes_before, queue.note_values)
        if settings.has_notes:
            restore_notes(scratch, manager, 0)
        return NO_JOB
    return place


@called
def give_cores(scratch: Any, settings: Any, books: Any, tasks: int, job: int, ends: int) -> int:
    """Give a job its cores, as the policy says; its row in the books, or -1: compiled code cannot tell."""
    if settings.cores_for == 0:
        return begin_job(books, job, ends)
    scratch.given[0], scratch.given[1] = tasks, len(scratch.given)
    count = call_at(
        settings.cores_for,
        address_of(scratch.task),
        address_of(scratch.views),
        settings.numbers,
        address_of(scratch.given),
    )
    if count <= 0 or count > len(scratch.given):
        return -1
    for place in range(count):
        if scratch.given[place] < 0 or scratch.given[place] >= len(books.cores):
            return -1
    row = begin_job(books, job, ends)
    for place in range(count):
        give_core(books, row, scratch.given[place])
    scratch.views[0].given_at, scratch.views[0].given_0 = address_of(scratch.given), count
    scratch.views[0].given_job = job
    return row


@called
def start_tasks(
    tables: Tables, starts: Starts, known: Any, scratch: Any, settings: Any, books: Any, decided: Table,
    accepting: Flags, silent_ns: Integers, manager: int, job: int, now_ns: int, row: int,
) -> bool:  # fmt: skip
    """Start the tasks of a job, each where the policy places it; False at a fault, of the task of that `counts`."""
    counts, task = scratch.counts, scratch.task[0]
    task_at, view_at, decision_at = address_of(scratch.task), address_of(scratch.views), address_of(scratch.decision)
    arrival_ns, first_task = tables.jobs[job].arrival_ns, tables.jobs[job].first_task
    held_ns = max(0, now_ns - arrival_ns)
    for rank in range(tables.jobs[job].tasks):
        task.task = first_task + rank
        counts[DECLINED] = rank
        if settings.cores_for == 0 and rank > 0:
            # It may look at the cores that the tasks before it have got.
            close_view(known, scratch, settings, manager, 0, 0)
            open_head(tables, known, scratch, settings, books, accepting, silent_ns, manager, now_ns)
        if settings.has_notes:
            keep_notes(scratch, manager, 0)
        is_right = call_at(settings.place, task_at, view_at, settings.numbers, decision_at)
        target = scratch.decision[0].target
        is_there = 0 <= target < tables.nodes.shape[0]
        if is_there and target != manager:
            first = scratch.route_at[manager]
            is_there = accepting[target] and not scratch.unreachable[target] and scratch.mb_per_s[first + target] > 0.0
        cost_ms = wait_ms = 0.0
        if is_there and target != manager:
            cost_ms = cost_of(scratch, settings, scratch.task, manager, target)
        if is_right == 1 and is_there and scratch.first_need.shape[0] > 0:
            wait_ms = fetch(scratch, job, target)
        if is_right != 1 or not is_there or not max(cost_ms, wait_ms) <= LONGEST_WAIT_MS:
            if settings.has_notes:
                restore_notes(scratch, manager, 0)
            return False
        reason = scratch.decision[0].reason if target == manager else 0
        if target != manager:
            write_truth(tables, known, scratch, settings, manager, target, now_ns)
            counts[REMOTE_EXECUTIONS] += 1
        write_decision(scratch, settings, decided, task, manager, target, True, reason, now_ns)
        delay_ns = whole_ns(cost_ms) + whole_ns(wait_ms)
        starts.job[0], starts.rank[0], starts.held_ns[0] = job, rank, held_ns
        starts.target[0], starts.delay_ns[0], starts.origin[0] = target, delay_ns, manager
        admit_at(settings.admit, tables, settings.run_key, starts)
        if settings.cores_for == 0:
            give_core(books, row, target)
        if scratch.started.shape[1] > 0:
            started = scratch.started[:, counts[STARTED]]
            started[0], started[1], started[2], started[3] = job, rank, target, held_ns
            counts[STARTED] += 1
        if settings.looks:
            note_true_loads(tables, known, scratch, settings, target, now_ns)
    return True


@called
def start_waiting(
    tables: Tables, starts: Starts, known: Any, scratch: Any, settings: Any, books: Any, queue: Any, queue_at: int,
    decided: Table, accepting: Flags, silent_ns: Integers, stand_in: Integers, now_ns: int,
) -> int:  # fmt: skip
    """Start jobs of the queue, as the policy says, until none starts: DONE, NO_ROOM or what is at fault."""
    counts = scratch.counts
    if settings.looks:
        look(tables, known, scratch, settings, now_ns)
    while queue.counts[WAITING_JOBS] > 0:
        if not has_room_to_start(tables, scratch, settings, books, decided):
            return NO_ROOM
        place = next_job(
            tables, known, scratch, settings, books, queue, queue_at, accepting, silent_ns, stand_in, now_ns
        )
        if place == NO_JOB:
            return AT_FAULT
        if place < 0:
            return DONE
        waiting = queue.rows[queue.counts[HEAD] + place]
        job, manager = waiting.job, stand_in[waiting.home]
        open_head(tables, known, scratch, settings, books, accepting, silent_ns, manager, now_ns)
        announce(scratch, tables.jobs, job, 0)
        scratch.views[0].first_task = scratch.task[0].task
        starts_ms = longest_start_ms(scratch, settings, accepting, scratch.task, manager)
        lasts = lasts_of(
            queue, queue.counts[HEAD] + place, starts_ms, now_ns / NS_PER_MS, settings.slice_ns / NS_PER_MS
        )
        counts[JOB] = job
        if settings.has_notes:
            keep_notes(scratch, manager, 0)
        row = give_cores(scratch, settings, books, waiting.tasks, job, now_ns // settings.slice_ns + lasts)
        if row < 0:
            if settings.has_notes:
                restore_notes(scratch, manager, 0)
            close_view(known, scratch, settings, manager, 0, 0)
            counts[DECLINED] = place
            return AT_FAULT_OF_START
        take_out(queue, place)
        counts[LASTS] = lasts
        is_right = start_tasks(
            tables, starts, known, scratch, settings, books, decided, accepting, silent_ns, manager, job, now_ns, row
        )
        close_view(known, scratch, settings, manager, 0, 0)
        if not is_right:
            return AT_FAULT_OF_TASK
    return DONE


@kernel
def start_jobs(
    tables: Tables, starts: Starts, known_at: int, scratch_at: int, settings_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, stand_in: Integers, books_at: int, queue_at: int, jobs: Integers,
    boundary_ns: int, leaps: bool, has_news: bool,
) -> int:  # fmt: skip
    """Jobs join the queue in the slice of their submission, and start when the policy says so, at the start of a slice.

    The policy is asked when a job has joined, and when a task has ended or something else has happened.

    Args:
        tables: the engine's, changed in place.
        starts: room for one task that starts.
        known_at, scratch_at, settings_at, decided, up, accepting, silent_ns, stand_in: as of arriving.place_arrivals.
        books_at: address of who holds which cores (books.books_group), changed in place.
        queue_at: of the queue (compiling.tables.queue_group), changed in place.
        jobs: the jobs that are submitted before the boundary, in their order, shape (jobs,).
        boundary_ns: go no further than this slice boundary [ns].
        leaps: whether to go on, all nodes with it, while anything is to do; else only in the slice that begins.
        has_news: whether anything has happened that may change the policy's answer.

    Returns:
        how many of the jobs have joined the queue; `counts[OUTCOME]` says why no more, `counts[NOW_NS]` the time.
    """
    known, scratch, settings = known_of(known_at), scratch_of(scratch_at), settings_of(settings_at)
    books, queue = books_of(books_at), queue_of(queue_at)
    counts, counters = scratch.counts, tables.counters
    now_ns, joined = counts[NOW_NS], 0
    while True:
        counts[NOW_NS] = now_ns
        note_ends(books, tables)
        while joined < len(jobs) and tables.jobs[jobs[joined]].arrival_ns < now_ns + settings.slice_ns:
            if not has_room_for_one(queue):
                counts[OUTCOME] = NO_ROOM
                return joined
            job = jobs[joined]
            manager = stand_in[tables.jobs[job].home]
            announce(scratch, tables.jobs, job, 0)
            put_in(queue, tables.jobs, job, longest_start_ms(scratch, settings, accepting, scratch.task, manager))
            joined += 1
            has_news = True
        if has_news and queue.counts[WAITING_JOBS] > 0:
            outcome = start_waiting(
                tables, starts, known, scratch, settings, books, queue, queue_at, decided, accepting, silent_ns,
                stand_in, now_ns,
            )  # fmt: skip
            if outcome != DONE:
                counts[OUTCOME] = outcome
                return joined
        counts[READ_THEN] = counters[RECORDS]
        waits = queue.counts[WAITING_JOBS] > 0
        if not leaps or (joined == len(jobs) and not (waits and counters[LIVE] > 0)):
            break
        next_ns = boundary_ns
        if joined < len(jobs):
            next_ns = min(boundary_ns, tables.jobs[jobs[joined]].arrival_ns // settings.slice_ns * settings.slice_ns)
        until_records = counters[RECORDS] + 1 if waits else NEVER
        now_ns = advance_at(
            settings.advance, tables, settings.slice_ns, next_ns, until_records, 0, tables.nodes.shape[0]
        )
        counts[NOW_NS] = now_ns
        if now_ns >= boundary_ns:
            break
        has_news = counters[RECORDS] != counts[READ_THEN]
    counts[OUTCOME] = DONE
    return joined
