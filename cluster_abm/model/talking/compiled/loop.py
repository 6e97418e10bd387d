"""Load managers that talk, compiled: slice after slice in one call. The readable form is model.talking.conversation."""

from __future__ import annotations

import math
from typing import Any

from cluster_abm.arrays import Integers
from cluster_abm.compiling.talking.blocks import allocate, give_back, size_for
from cluster_abm.compiling.talking.tables import (
    ARENA,
    ARRIVES,
    AT_NS,
    CAME,
    ENDED,
    ENDED_STRIDE,
    EVENTS,
    HEARS,
    HELD,
    IDLE_SINCE_NS,
    NONE,
    RECORDS_READ,
    SENT,
    UNANSWERED,
    talk_of,
)
from cluster_abm.engine.advance import advance_at
from cluster_abm.engine.tables import FREE_TOP, JOURNAL_ROWS, LIVE, NEVER, NS_PER_MS, RECORDS, Row, Table, Tables
from cluster_abm.jit import called, inlined, kernel
from cluster_abm.jit.calls import address_of, call_at
from cluster_abm.model.deciding.compiled.arriving import announce
from cluster_abm.model.deciding.compiled.asking import whole_ns
from cluster_abm.model.deciding.compiled.scratch import (
    AT_FAULT,
    AT_STOP,
    DECIDED_ROWS,
    DONE,
    NO_ROOM,
    NOW_NS,
    OUTCOME,
    STARTED,
    known_group,
    scratch_group,
    settings_group,
)
from cluster_abm.model.talking.compiled.mail import free_block, latency_ms, next_ns, pop, push
from cluster_abm.model.talking.compiled.tables import tables_at, tables_of
from cluster_abm.model.talking.compiled.views import close
from cluster_abm.model.talking.compiled.waiting import free_row, new_row, wait_at
from cluster_abm.native_arrays import copy_fields

known_of, scratch_of, settings_of = known_group.at, scratch_group.at, settings_group.at


@called
def arrive(talk_at: int, tables: Tables, scratch: Any, job: int, now_ns: int) -> None:
    """A job has arrived: the manager of its home, or of the head node, is told at its exact instant."""
    count = tables.jobs[job].tasks
    block = allocate(talk_at, size_for(count))
    for rank in range(count):
        announce(scratch, tables.jobs, job, rank)
        row = new_row(talk_at)
        talk = talk_of(talk_at)
        copy_fields(talk.tasks[row], scratch.task[0])
        talk.blocks[block + rank] = float(row)
    talk = talk_of(talk_at)
    talk.counts[HELD] += count
    at_ns = max(now_ns, tables.jobs[job].arrival_ns)
    manager = talk.stand_in[tables.jobs[job].home]
    if talk.is_central and manager != talk.head:
        talk.counts[SENT] += 1
        way_ms = latency_ms(scratch, manager, talk.head)
        at_ns += 0 if talk.are_instant or way_ms == math.inf else whole_ns(way_ms)
    if talk.is_central:
        manager = talk.head
    place = push(talk_at, at_ns, manager, ARRIVES + 0 * job)
    event = talk_of(talk_at).events[place]
    event.first, event.count = block, count


@inlined
def ends_before(one: Row, other: Row) -> bool:
    """Whether the end of a task comes before that of another one in what managers are told: node by node."""
    if one.node != other.node:
        return bool(one.node < other.node)
    return bool(one.finish_ns < other.finish_ns or (one.finish_ns == other.finish_ns and one.task < other.task))


@called
def note_ends(talk_at: int, tables: Tables, now_ns: int) -> None:
    """Tell the managers of the nodes on which tasks have ended since the last call (NodeNews.note_ends)."""
    talk = talk_of(talk_at)
    first, last = talk.counts[RECORDS_READ], tables.counters[RECORDS]
    talk.counts[RECORDS_READ] = last
    count, records = last - first, tables.records
    if count == 0:
        return
    order = allocate(talk_at, size_for(count))
    blocks = talk_of(talk_at).blocks
    for number in range(count):
        place = number
        while place > 0 and ends_before(records[first + number], records[int(blocks[order + place - 1])]):
            blocks[order + place] = blocks[order + place - 1]
            place -= 1
        blocks[order + place] = float(first + number)
    begin = 0
    while begin < count:
        node, end = records[int(blocks[order + begin])].node, begin + 1
        while end < count and records[int(blocks[order + end])].node == node:
            end += 1
        if talk.up[node]:
            told = allocate(talk_at, size_for(ENDED_STRIDE * (end - begin)))
            blocks = talk_of(talk_at).blocks
            for number in range(begin, end):
                record, place = records[int(blocks[order + number])], told + ENDED_STRIDE * (number - begin)
                here_ns = record.finish_ns - record.arrival_ns - record.blocked_ns - record.migration_ns
                blocks[place], blocks[place + 1] = float(record.task), float(record.job)
                blocks[place + 2] = here_ns / NS_PER_MS
            event = talk_of(talk_at).events[push(talk_at, now_ns, node, ENDED + 0 * node)]
            event.first, event.count = told, end - begin
            blocks = talk_of(talk_at).blocks
        begin = end
    give_back(talk_of(talk_at), order, size_for(count))


@inlined
def has_room(talk: Any, tables: Tables, scratch: Any, settings: Any, decided: Table, event: Row) -> bool:
    """Whether there is room for all starts that an event may bring about: of every task that waits at its manager."""
    tasks = talk.managers[event.manager].waiting + 1 + (event.count if event.kind == ARRIVES else 0)
    counters = tables.counters
    return bool(
        counters[FREE_TOP] >= tasks + settings.spare_rows
        and (tables.journal.shape[0] == 0 or counters[JOURNAL_ROWS] + tasks <= tables.journal.shape[0])
        and (not settings.writes or scratch.counts[DECIDED_ROWS] + tasks <= decided.shape[0])
        and (scratch.started.shape[1] == 0 or scratch.counts[STARTED] + tasks <= scratch.started.shape[1])
    )


@called
def tell(talk_at: int) -> bool:
    """Tell a manager the event in `told`; False: its policy is at fault, or compiled code cannot do what it does."""
    talk = talk_of(talk_at)
    told = talk.told[0]
    manager, kind = told.manager, told.kind
    talk.counts[AT_NS], talk.counts[ARENA] = told.at_ns, 0
    if kind == ARRIVES:
        for place in range(told.count):
            wait_at(talk, manager, int(talk.blocks[told.first + place]))
    elif told.task != NONE and kind != CAME:
        wait_at(talk, manager, told.task)
    method = talk.methods[kind]
    is_right = True
    if method != 0:
        is_right = call_at(method, talk_at, manager, talk.numbers, 0) == 1
    close(talk_at)
    talk = talk_of(talk_at)
    if is_right:
        told = talk.told[0]
        if kind == CAME:
            free_row(talk, told.task)
        elif kind == ENDED:
            give_back(talk, told.first, size_for(ENDED_STRIDE * told.count))
        elif kind == ARRIVES or kind == HEARS or kind == UNANSWERED:
            free_block(talk, told)
    return is_right


@inlined
def is_over(talk: Any, counters: Integers, have_all_arrived: bool) -> bool:
    """Whether the last task has ended."""
    return bool(have_all_arrived and talk.counts[HELD] == 0 and counters[LIVE] == 0)


@kernel
def go_on(talk_at: int, jobs: Integers, boundary_ns: int, leaps: bool, all_submitted: bool) -> int:
    """Managers talk about what they learn in a slice, and in those that follow it, as long as nothing else acts.

    Args:
        talk_at: address of the conversation's rows (compiling.talking.tables.talk_group), changed in place; the counts
            of its scratch space begin with the time that the nodes have reached, and say what was done.
        jobs: the jobs that are submitted before the boundary, in their order, shape (jobs,).
        boundary_ns: go on up to the slice that ends at this boundary [ns].
        leaps: whether to go on, all nodes with it; else only in the slice that begins.
        all_submitted: whether no other job is to come, and the run ends with the last task.

    Returns:
        how many of the jobs have arrived; `counts[OUTCOME]` says why no more, `counts[NOW_NS]` the time.
    """
    talk = talk_of(talk_at)
    scratch, settings, tables = scratch_of(talk.scratch_at), settings_of(talk.settings_at), tables_of(talk.tables_at)
    counts, counters, decided = scratch.counts, tables.counters, tables_at(talk.tables_at).decided
    now_ns, arrived, slice_ns = counts[NOW_NS], 0, settings.slice_ns
    # What a start costs is asked of a view, which need not have been opened yet.
    scratch.views[0].table_at = address_of(known_of(talk.known_at).table)
    while True:
        counts[NOW_NS] = now_ns
        while arrived < len(jobs) and tables.jobs[jobs[arrived]].arrival_ns < now_ns + slice_ns:
            arrive(talk_at, tables, scratch, jobs[arrived], now_ns)
            arrived += 1
        if talk.hears_ends:
            note_ends(talk_at, tables, now_ns)
        while next_ns(talk_of(talk_at)) < now_ns + slice_ns:
            talk = talk_of(talk_at)
            if not has_room(talk, tables, scratch, settings, decided, talk.events[0]):
                counts[OUTCOME] = NO_ROOM
                return arrived
            pop(talk)
            if not tell(talk_at):
                counts[OUTCOME] = AT_FAULT
                return arrived
        talk = talk_of(talk_at)
        if talk.counts[HELD] == 0 or counters[LIVE] > 0:
            talk.counts[IDLE_SINCE_NS] = now_ns
        elif arrived == len(jobs):
            # Nothing runs, and tasks wait: whether any will ever start is asked for in Python.
            counts[OUTCOME] = AT_STOP
            return arrived
        if not leaps or is_over(talk, counters, all_submitted and arrived == len(jobs)):
            break
        to_ns = boundary_ns - slice_ns
        if arrived < len(jobs):
            to_ns = min(to_ns, tables.jobs[jobs[arrived]].arrival_ns // slice_ns * slice_ns)
        if talk.counts[EVENTS] > 0:
            to_ns = min(to_ns, next_ns(talk) // slice_ns * slice_ns)
        if to_ns <= now_ns:
            break
        until_records = NEVER
        if talk.hears_ends:
            until_records = counters[RECORDS] + 1
        elif all_submitted and arrived == len(jobs) and talk.counts[HELD] == 0:
            # Programs of nodes would go on after the last task has ended.
            until_records = counters[RECORDS] + counters[LIVE]
        now_ns = advance_at(settings.advance, tables, slice_ns, to_ns, until_records, 0, tables.nodes.shape[0])
        counts[NOW_NS] = now_ns
        if is_over(talk, counters, all_submitted and arrived == len(jobs)):
            # The run ends with the slice in which the last task has.
            break
    counts[OUTCOME] = DONE
    return arrived
