"""The negotiation about arriving tasks, compiled: LoadManager.place and rebalance, over many slices in one call.

The readable form is model.agents.load_manager, which says what every step means; both give the same decisions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.compiling.calls import address_of, call_at
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.tables import DEPENDENT, FREE_TOP, LIVE, NEVER, RECORDS, Table, Tables
from cluster_abm.jit import called, inlined, kernel
from cluster_abm.model.deciding.compiled.asking import (
    FAULT,
    admit_at,
    advance_at,
    ask,
    bring_up_to,
    close_view,
    cost_of,
    keep_notes,
    look,
    note_declined,
    note_true_loads,
    open_view,
    restore_notes,
    whole_ns,
    write_decision,
)
from cluster_abm.model.deciding.compiled.desk import (
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
    desk_group,
    known_group,
    terms_group,
)
from cluster_abm.model.deciding.compiled.migrating import send_away_at
from cluster_abm.model.knowing.knowledge import learn
from cluster_abm.native_arrays import copy_fields

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


desk_of, known_of, terms_of = desk_group.at, known_group.at, terms_group.at


@inlined
def announce(desk: Any, jobs: Table, number: int, rank: int) -> None:
    """Make the desk's task that of a job, as the job announces it (Announcements.of)."""
    job, task = jobs[number], desk.task[0]
    copy_fields(task, job)
    task.task, task.job = job.first_task + rank, number
    task.place = -1
    task.requested_ms = desk.requested_ms[number] if desk.requested_ms.shape[0] > 0 else math.nan
    if desk.first_need.shape[0] > 0:
        first = desk.first_need[number]
        task.files_at = address_of(desk.needs) + 8 * first
        task.files_0 = desk.first_need[number + 1] - first


@called
def fetch(desk: Any, job: int, target: int) -> float:
    """A task begins to fetch its files: how long it waits for them [ms] (Staging.fetch)."""
    wait_ms = 0.0
    for need in range(desk.first_need[job], desk.first_need[job + 1]):
        file = desk.needs[need]
        wait_ms += desk.fetch_ms[file, target]
        source = desk.fetched_from[file, target]
        if source != target:
            between = 1.0 if desk.cluster_of[source] != desk.cluster_of[target] else 0.0
            desk.fetched_mb[0] += desk.file_mb[file]
            desk.fetched_mb[1] += desk.file_mb[file] * between
    return wait_ms


@called
def choose(
    tables: Tables, known: Any, desk: Any, terms: Any, decided: Table, up: Flags, accepting: Flags,
    silent_ns: Integers, manager: int, now_ns: int,
) -> tuple[int, int, int]:  # fmt: skip
    """LoadManager.place of the desk's task: its node, -1 at a fault; how long asking took [ns]; how many were asked.

    At a fault the counts say how far it has come: notes and loads are what they were before the offer in question.
    """
    declined, asking_ns = 0, 0
    task_at, view_at, decision_at = address_of(desk.task), address_of(desk.views), address_of(desk.decision)
    for asked in range(terms.offers):
        desk.counts[DECLINED], desk.counts[ASKED], desk.counts[ASKING_NS] = declined, asked, asking_ns
        changed = open_view(tables, known, desk, terms, accepting, silent_ns, manager, declined, now_ns)
        if terms.has_notes:
            keep_notes(desk, manager, 0)
        is_right = call_at(terms.place, task_at, view_at, terms.numbers, decision_at)
        close_view(known, desk, terms, manager, declined, changed)
        target = desk.decision[0].target
        if is_right != 1 or target < 0 or target >= tables.nodes.shape[0]:
            if terms.has_notes:
                restore_notes(desk, manager, 0)
            return -1, 0, 0
        if target == manager:
            write_decision(desk, terms, decided, desk.task[0], manager, target, True, desk.decision[0].reason, now_ns)
            return manager, asking_ns, asked
        reason, took_ns = ask(tables, known, desk, terms, up, accepting, silent_ns, desk.task, manager, target, now_ns)
        if reason == FAULT:
            if terms.has_notes:
                restore_notes(desk, manager, 0)
            return -1, 0, 0
        asking_ns += took_ns
        write_decision(desk, terms, decided, desk.task[0], manager, target, reason == 0, reason, now_ns)
        if reason == 0:
            return target, asking_ns, asked + 1
        declined = note_declined(desk, declined, target)
    return manager, asking_ns, declined


@inlined
def has_room(tables: Tables, known: Any, desk: Any, terms: Any, decided: Table, manager: int) -> bool:
    """Whether there is room for all that one arriving task may bring about."""
    tasks = 1
    if terms.migrates:
        tasks += tables.nodes[manager].tasks + tables.nodes[manager].in_transit + 1
    answers = tasks * (min(terms.offers, tables.nodes.shape[0]) + 1)
    counters = tables.counters
    return bool(
        counters[FREE_TOP] >= tasks + terms.spare_rows
        and counters[RECORDS] + counters[LIVE] + 1 <= tables.records.shape[0]
        and (not terms.writes or desk.counts[DECIDED_ROWS] + answers <= decided.shape[0])
        and known.free[1] >= answers
        and (not terms.migrates or tasks <= desk.candidates.shape[0])
    )


@kernel
def place_arrivals(
    tables: Tables, starts: Starts, known_at: int, desk_at: int, terms_at: int, decided: Table, up: Flags,
    accepting: Flags, silent_ns: Integers, stand_in: Integers, arrivals: tuple[Integers, Integers, Integers],
    placed: Integers, first: int, last: int,
) -> int:  # fmt: skip
    """Place arriving tasks one after another, each at the beginning of its slice, up to which nodes live first.

    Args:
        tables: the engine's, changed in place.
        starts: room for one task that starts.
        known_at: address of what load managers know (desk.known_group), changed in place.
        desk_at: of scratch space; its counts begin with the time that the nodes have reached, and say what was done.
        terms_at: of the terms of the run.
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
    known, desk, terms = known_of(known_at), desk_of(desk_at), terms_of(terms_at)
    counts = desk.counts
    now_ns = counts[NOW_NS]
    desk.views[0].policy_key = terms.policy_key
    desk.views[0].remote_execution_ms, desk.views[0].migration_ms = terms.remote_execution_ms, terms.migration_ms
    looked_ns = -1
    for entry in range(first, last):
        job, rank, held_ns = arrivals[0][entry], arrivals[1][entry], arrivals[2][entry]
        begins_ns = max(now_ns, tables.jobs[job].arrival_ns // terms.slice_ns * terms.slice_ns)
        manager = stand_in[tables.jobs[job].home]
        if begins_ns >= terms.stop_ns:
            counts[NOW_NS], counts[OUTCOME] = begins_ns, AT_STOP
            return entry
        if not has_room(tables, known, desk, terms, decided, manager):
            counts[NOW_NS], counts[OUTCOME] = now_ns, NO_ROOM
            return entry
        if begins_ns > now_ns:
            now_ns = begins_ns
            if tables.counters[DEPENDENT] > 0:
                advance_at(terms.advance, tables, terms.slice_ns, now_ns, NEVER, 0, tables.nodes.shape[0])
        if terms.all_is_known and looked_ns != now_ns:
            look(tables, known, desk, terms, now_ns)
            looked_ns = now_ns
        announce(desk, tables.jobs, job, rank)
        target, asking_ns, asked = choose(
            tables, known, desk, terms, decided, up, accepting, silent_ns, manager, now_ns
        )
        delay_ns = asking_ns
        cost_ms = 0.0
        if target >= 0 and target != manager:
            cost_ms = cost_of(desk, terms, desk.task, manager, target)
            delay_ns += whole_ns(min(cost_ms, LONGEST_WAIT_MS))
        if target >= 0 and desk.first_need.shape[0] > 0:
            wait_ms = fetch(desk, job, target)
            cost_ms = max(cost_ms, wait_ms)
            delay_ns += whole_ns(min(wait_ms, LONGEST_WAIT_MS))
        if target < 0 or not cost_ms <= LONGEST_WAIT_MS:
            counts[NOW_NS], counts[OUTCOME] = now_ns, AT_FAULT
            return entry
        if target != manager:
            counts[REMOTE_EXECUTIONS] += 1
        bring_up_to(tables, terms, target, now_ns)
        starts.job[0], starts.rank[0], starts.held_ns[0] = job, rank, held_ns
        starts.target[0], starts.delay_ns[0], starts.origin[0] = target, delay_ns, manager
        admit_at(terms.admit, tables, terms.run_key, starts)
        placed[0, entry], placed[1, entry], placed[2, entry] = target, delay_ns, asking_ns
        has_asked = asked > 0 and target != manager
        if terms.all_is_known or has_asked:
            note_true_loads(tables, known, desk, terms, target, now_ns)
        if has_asked and not terms.all_is_known:
            learn(known, manager, target, now_ns, desk.own_numbers[0])
        if terms.migrates and not send_away_at(
            terms.send_away, tables, known_at, desk_at, terms_at, decided, up, accepting, silent_ns, manager, now_ns
        ):
            counts[NOW_NS], counts[OUTCOME] = now_ns, AT_FAULT_OF_MIGRATION
            return entry
    counts[NOW_NS], counts[OUTCOME] = now_ns, DONE
    return last
