"""The negotiation about arriving tasks, compiled: `place` and `rebalance`, over many slices in one call.

The readable form is deciding.in_python, which says what every step means; both give the same decisions.
"""

from __future__ import annotations

import math
from typing import Any

from cluster_abm.arrays import Flags, Integers
from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.compiling.tables import NO, YES
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.advance import advance_at
from cluster_abm.engine.tables import DEPENDENT, FREE_TOP, JOURNAL_ROWS, LIVE, NEVER, RECORDS, Table, Tables
from cluster_abm.jit import called, inlined, kernel
from cluster_abm.jit.calls import address_of, call_at
from cluster_abm.model.deciding.compiled.asking import (
    FAULT,
    admit_at,
    ask,
    bring_up_to,
    close_view,
    cost_of,
    keep_notes,
    look,
    note_declined,
    note_seen,
    note_true_loads,
    open_view,
    restore_notes,
    whole_ns,
    write_decision,
    write_truth,
)
from cluster_abm.model.deciding.compiled.migrating import rebalance_at
from cluster_abm.model.deciding.compiled.scratch import (
    ASKED,
    ASKING_NS,
    AT_FAULT,
    AT_FAULT_OF_MIGRATION,
    AT_STOP,
    DECIDED_ROWS,
    DECLINED,
    DONE,
    NO_ROOM,
    NOW_NS,
    OUTCOME,
    REMOTE_EXECUTIONS,
    known_group,
    scratch_group,
    settings_group,
)
from cluster_abm.model.knowing.knowledge import learn
from cluster_abm.native_arrays import copy_fields

# In the place of a node: the job is held.
KEPT = -2

scratch_of, known_of, settings_of = scratch_group.at, known_group.at, settings_group.at


@inlined
def announce(scratch: Any, jobs: Table, number: int, rank: int) -> None:
    """Fill in `scratch.task` with the task of a job, as the job announces it (Announcements.of)."""
    job, task = jobs[number], scratch.task[0]
    copy_fields(task, job)
    task.task, task.job = job.first_task + rank, number
    if scratch.announced_ms.shape[0] > 0:
        task.cpu_ms = scratch.announced_ms[task.task]
    task.place = -1
    task.requested_ms = scratch.requested_ms[number] if scratch.requested_ms.shape[0] > 0 else math.nan
    if scratch.first_need.shape[0] > 0:
        first = scratch.first_need[number]
        task.files_at = address_of(scratch.needs) + 8 * first
        task.files_0 = scratch.first_need[number + 1] - first


@called
def fetch(scratch: Any, job: int, target: int) -> float:
    """A task begins to fetch its files: how long it waits for them [ms] (Staging.fetch)."""
    wait_ms = 0.0
    for need in range(scratch.first_need[job], scratch.first_need[job + 1]):
        file = scratch.needs[need]
        wait_ms += scratch.fetch_ms[file, target]
        source = scratch.fetched_from[file, target]
        if source != target:
            between = 1.0 if scratch.cluster_of[source] != scratch.cluster_of[target] else 0.0
            scratch.fetched_mb[0] += scratch.file_mb[file]
            scratch.fetched_mb[1] += scratch.file_mb[file] * between
    return wait_ms


@called
def place(
    tables: Tables, known: Any, scratch: Any, settings: Any, decided: Table, up: Flags, accepting: Flags,
    silent_ns: Integers, manager: int, takes_back: int, now_ns: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Place `scratch.task` (NegotiationInPython.place): its node, -1 at a fault; time asking [ns]; how many were asked.

    At a fault the counts say how far it has come: notes and loads are what they were before the offer in question. A
    job that may wait, for which the policy is asked at the address `takes_back` (0: it may not), has no node: KEPT.
    """
    declined, asking_ns = 0, 0
    task_at, view_at, decision_at = address_of(scratch.task), address_of(scratch.views), address_of(scratch.decision)
    for asked in range(settings.offers):
        scratch.counts[DECLINED], scratch.counts[ASKED], scratch.counts[ASKING_NS] = declined, asked, asking_ns
        changed = open_view(tables, known, scratch, settings, accepting, silent_ns, manager, declined, now_ns)
        note_seen(scratch, settings, 0, manager)
        if settings.has_notes:
            keep_notes(scratch, manager, 0)
        is_right = call_at(settings.place, task_at, view_at, settings.numbers, decision_at)
        target = scratch.decision[0].target
        waits = NO
        if takes_back != 0 and is_right == 1 and target == manager:
            waits = call_at(takes_back, task_at, view_at, settings.numbers, decision_at)
        close_view(known, scratch, settings, manager, declined, changed)
        if is_right != 1 or target < 0 or target >= tables.nodes.shape[0] or waits == 0:
            if settings.has_notes:
                restore_notes(scratch, manager, 0)
            return -1, 0, 0
        if target == manager:
            is_kept = waits == YES
            reason = scratch.decision[0].reason
            write_decision(scratch, settings, decided, scratch.task[0], manager, target, not is_kept, reason, now_ns)
            return KEPT if is_kept else manager, asking_ns, asked
        reason, took_ns = ask(
            tables, known, scratch, settings, up, accepting, silent_ns, scratch.task, manager, target, now_ns
        )
        if reason == FAULT:
            if settings.has_notes:
                restore_notes(scratch, manager, 0)
            return -1, 0, 0
        asking_ns += took_ns
        write_truth(tables, known, scratch, settings, manager, target, now_ns)
        write_decision(scratch, settings, decided, scratch.task[0], manager, target, reason == 0, reason, now_ns)
        if reason == 0:
            return target, asking_ns, asked + 1
        declined = note_declined(scratch, declined, target)
    if takes_back == 0:
        return manager, asking_ns, declined
    scratch.counts[DECLINED], scratch.counts[ASKED], scratch.counts[ASKING_NS] = declined, settings.offers, asking_ns
    changed = open_view(tables, known, scratch, settings, accepting, silent_ns, manager, declined, now_ns)
    if settings.has_notes:
        keep_notes(scratch, manager, 0)
    waits = call_at(takes_back, task_at, view_at, settings.numbers, decision_at)
    close_view(known, scratch, settings, manager, declined, changed)
    if waits == 0:
        if settings.has_notes:
            restore_notes(scratch, manager, 0)
        return -1, 0, 0
    if waits == NO:
        return manager, asking_ns, declined
    at_home = scratch.decision[0]
    at_home.target, at_home.load_there, at_home.cost_ms = manager, math.nan, math.nan
    write_decision(scratch, settings, decided, scratch.task[0], manager, manager, False, settings.all_refused, now_ns)
    return KEPT, asking_ns, declined


@inlined
def has_room(tables: Tables, known: Any, scratch: Any, settings: Any, decided: Table, manager: int) -> bool:
    """Whether there is room for all that one arriving task may bring about."""
    tasks = 1
    if settings.migrates:
        tasks += tables.nodes[manager].tasks + tables.nodes[manager].in_transit + 1
    answers = tasks * (min(settings.offers, tables.nodes.shape[0]) + 1)
    counters = tables.counters
    return bool(
        counters[FREE_TOP] >= tasks + settings.spare_rows
        and counters[RECORDS] + counters[LIVE] + 1 <= tables.records.shape[0]
        and (tables.journal.shape[0] == 0 or counters[JOURNAL_ROWS] + tasks <= tables.journal.shape[0])
        and (not settings.writes or scratch.counts[DECIDED_ROWS] + answers <= decided.shape[0])
        and known.free[1] >= answers
        and (not settings.migrates or tasks <= scratch.candidates.shape[0])
        and (not settings.has_notes or scratch.noted_top[0] + answers <= scratch.noted_following.shape[0])
    )


@inlined
def start(
    tables: Tables, starts: Starts, known_at: int, scratch_at: int, settings_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, manager: int, job: int, rank: int, held_ns: int, target: int,
    asking_ns: int, asked: int, now_ns: int,
) -> tuple[int, int]:  # fmt: skip
    """Send `scratch.task`, which has been placed, to its node, and let tasks migrate after it (Placement._place_one).

    Args:
        tables, starts, known_at, scratch_at, settings_at, decided, up, accepting, silent_ns: of `place_arrivals`.
        manager: the node of the load manager.
        job, rank, held_ns: which task it is, and how long it was held [ns].
        target, asking_ns, asked: what `place` has found.
        now_ns: the beginning of the slice [ns].

    Returns:
        how it went (scratch.DONE), and the delay of the task [ns].
    """
    known, scratch, settings = known_of(known_at), scratch_of(scratch_at), settings_of(settings_at)
    delay_ns = asking_ns
    cost_ms = 0.0
    if target >= 0 and target != manager:
        cost_ms = cost_of(scratch, settings, scratch.task, manager, target)
        delay_ns += whole_ns(min(cost_ms, LONGEST_WAIT_MS))
    if target >= 0 and scratch.first_need.shape[0] > 0:
        wait_ms = fetch(scratch, job, target)
        cost_ms = max(cost_ms, wait_ms)
        delay_ns += whole_ns(min(wait_ms, LONGEST_WAIT_MS))
    if target < 0 or not cost_ms <= LONGEST_WAIT_MS:
        return AT_FAULT, delay_ns
    if target != manager:
        scratch.counts[REMOTE_EXECUTIONS] += 1
    bring_up_to(tables, settings, target, now_ns)
    starts.job[0], starts.rank[0], starts.held_ns[0] = job, rank, held_ns
    starts.target[0], starts.delay_ns[0], starts.origin[0] = target, delay_ns, manager
    admit_at(settings.admit, tables, settings.run_key, starts)
    has_asked = asked > 0 and target != manager
    if settings.all_is_known or has_asked:
        note_true_loads(tables, known, scratch, settings, target, now_ns)
    if has_asked and not settings.all_is_known:
        learn(known, manager, target, now_ns, scratch.own_numbers[0])
    if settings.migrates and not rebalance_at(
        settings.rebalance, tables, known_at, scratch_at, settings_at, decided, up, accepting, silent_ns, manager,
        now_ns,
    ):  # fmt: skip
        return AT_FAULT_OF_MIGRATION, delay_ns
    return DONE, delay_ns


@kernel
def place_arrivals(
    tables: Tables, starts: Starts, known_at: int, scratch_at: int, settings_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, stand_in: Integers, arrivals: tuple[Integers, Integers, Integers],
    placed: Integers, first: int, last: int,
) -> int:  # fmt: skip
    """Place arriving tasks one after another, each at the beginning of its slice, up to which nodes live first.

    Args:
        tables: the engine's, changed in place.
        starts: room for one task that starts.
        known_at: address of what load managers know (scratch.known_group), changed in place.
        scratch_at: of scratch space; its counts begin with the time that the nodes have reached, and say what was done.
        settings_at: of the settings of the run.
        decided: decisions are written here, from row `counts[DECIDED_ROWS]` on.
        up, accepting: which nodes work, and take tasks, shape (nodes,).
        silent_ns: latency from each node to each audience and what reports may be missed, shape (audiences, nodes).
        stand_in: the node that takes the arrivals of each node.
        arrivals: job, rank and how long it was held [ns], shape (tasks,) each.
        placed: filled with node, delay, time asking [ns] of each, shape (3, tasks).
        first, last: they are placed from the `first`-th to the one before the `last`-th.

    Returns:
        how many have been placed; `counts[OUTCOME]` says why no more.
    """
    known, scratch, settings = known_of(known_at), scratch_of(scratch_at), settings_of(settings_at)
    counts = scratch.counts
    now_ns = counts[NOW_NS]
    looked_ns = -1
    for entry in range(first, last):
        job, rank, held_ns = arrivals[0][entry], arrivals[1][entry], arrivals[2][entry]
        begins_ns = max(now_ns, tables.jobs[job].arrival_ns // settings.slice_ns * settings.slice_ns)
        manager = stand_in[tables.jobs[job].home]
        if begins_ns >= settings.stop_ns:
            counts[NOW_NS], counts[OUTCOME] = begins_ns, AT_STOP
            return entry
        if not has_room(tables, known, scratch, settings, decided, manager):
            counts[NOW_NS], counts[OUTCOME] = now_ns, NO_ROOM
            return entry
        if begins_ns > now_ns:
            now_ns = begins_ns
            if tables.counters[DEPENDENT] > 0:
                advance_at(settings.advance, tables, settings.slice_ns, now_ns, NEVER, 0, tables.nodes.shape[0])
        if settings.all_is_known and looked_ns != now_ns:
            look(tables, known, scratch, settings, now_ns)
            looked_ns = now_ns
        announce(scratch, tables.jobs, job, rank)
        # No literal 0: for that numba would compile `place` again.
        never_waits = 0 * manager
        target, asking_ns, asked = place(
            tables, known, scratch, settings, decided, up, accepting, silent_ns, manager, never_waits, now_ns
        )
        outcome, delay_ns = start(
            tables, starts, known_at, scratch_at, settings_at, decided, up, accepting, silent_ns, manager, job, rank,
            held_ns, target, asking_ns, asked, now_ns,
        )  # fmt: skip
        if outcome != AT_FAULT:
            placed[0, entry], placed[1, entry], placed[2, entry] = target, delay_ns, asking_ns
        if outcome != DONE:
            counts[NOW_NS], counts[OUTCOME] = now_ns, outcome
            return entry
    counts[NOW_NS], counts[OUTCOME] = now_ns, DONE
    return last
