"""The negotiation about arriving tasks, compiled: LoadManager.place and rebalance, over many slices in one call.

The readable form is model.agents.load_manager, which says what every step means; both give the same decisions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types

from cluster_abm.compiling.blocks import BLOCK
from cluster_abm.compiling.calls import address_of, call_at, native_call
from cluster_abm.compiling.tables import task_of, view_of
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.loads import describe
from cluster_abm.engine.migration import slot_of
from cluster_abm.engine.streams import message_uniform
from cluster_abm.engine.tables import DEPENDENT, FREE_TOP, LIVE, NEVER, NS_PER_MS, RECORDS, Row, Table, Tables
from cluster_abm.jit import called, inlined, kernel
from cluster_abm.model.negotiation.desk import (
    AT_FAULT,
    AT_FAULT_OF_MIGRATION,
    AT_STOP,
    DECIDED_ROWS,
    DONE,
    MIGRATIONS,
    NO_ROOM,
    NOW_NS,
    OUTCOME,
    REFUSED,
    REMOTE_EXECUTIONS,
    TAKEN,
    desk_group,
    known_group,
    terms_group,
)
from cluster_abm.model.negotiation.knowledge import INDICES, begin_view, end_view, learn
from cluster_abm.model.setup import LONGEST_WAIT_MS

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


desk_of, known_of, terms_of = desk_group.at, known_group.at, terms_group.at

# The engine's kernels are called by their addresses: compiled together with them this would take minutes.
advance_at = native_call(types.int64, "tables", "slice_ns", "end_ns", "until_records", "first", "last")
admit_at = native_call(types.none, "tables", "run_key", "starts")
measure_at = native_call(types.none, "nodes", "tasks", "now_ns", "loads", "first", "last", "effective_rates")
migrate_at = native_call(types.int64, "tables", "slot", "target", "cost_ns", "now_ns")


@inlined
def bring_up_to(tables: Tables, terms: Any, node: int, now_ns: int) -> None:
    """Let one node live until the slice begins: inside slices nodes are alone, so the others can follow later."""
    if tables.nodes[node].next_event_ns < now_ns:
        advance_at(terms.advance, tables, terms.slice_ns, now_ns, NEVER, node, node + 1)


@called
def measure_own(tables: Tables, desk: Any, terms: Any, node: int, now_ns: int) -> None:
    """Measure a node's loads into the desk's own row."""
    bring_up_to(tables, terms, node, now_ns)
    measure_at(terms.measure, tables.homes, tables.tasks, now_ns, desk.loads, node, node + 1, terms.effective_rates)
    for index in range(INDICES):
        desk.own_numbers[0, index] = desk.load_numbers[node, index]


@inlined
def note_true_loads(tables: Tables, known: Any, desk: Any, terms: Any, node: int, now_ns: int) -> None:
    """Measure a node, and where the true state is known to all tell all."""
    measure_own(tables, desk, terms, node, now_ns)
    if terms.all_is_known:
        for index in range(INDICES):
            known.table[0, index, node] = desk.own_numbers[0, index]
        known.changes[0, node // BLOCK] += 1


@called
def look(tables: Tables, known: Any, desk: Any, terms: Any, now_ns: int) -> None:
    """Measure all nodes for managers that know the true state."""
    for node in range(tables.nodes.shape[0]):
        note_true_loads(tables, known, desk, terms, node, now_ns)


@called
def believe_down(
    known: Any, desk: Any, terms: Any, accepting: Flags, silent_ns: Integers, manager: int, now_ns: int
) -> int:
    """Flag the nodes that a manager believes to be down, and as refusing; how many they are."""
    count, first = 0, desk.route_at[manager]
    audience = known.audience[manager]
    for node in range(desk.down.shape[0]):
        down = desk.unreachable[node] or desk.mb_per_s[first + node] == 0.0
        if terms.all_is_known:
            down = down or not accepting[node]
        elif terms.by_reports:
            reported_ns = max(0, known.reported_ns[audience, node])
            down = down or reported_ns + silent_ns[audience, node] < now_ns
        is_down = 1 if down and node != manager else 0
        desk.down[node] = is_down
        desk.refused[node] = is_down
        count += is_down
    return count


@called
def open_view(
    tables: Tables, known: Any, desk: Any, terms: Any, accepting: Flags, silent_ns: Integers, manager: int,
    declined: int, now_ns: int,
) -> int:  # fmt: skip
    """Make the desk's view that of a manager, whose offers the first `declined` of desk.declined have refused."""
    view = desk.views[0]
    changed = 0
    if not terms.all_is_known:
        measure_own(tables, desk, terms, manager, now_ns)
        changed = begin_view(known, manager, desk.own_numbers, desk.changed, desk.before)
    audience = known.audience[manager]
    view.me = manager
    view.now_ms = now_ns / NS_PER_MS
    view.table_at = address_of(known.table) + audience * known.table.strides[0]
    view.least_at = address_of(known.least) + audience * known.least.strides[0]
    view.as_of_at = address_of(known.as_of) + audience * known.as_of.strides[0]
    view.changes_at = address_of(known.changes) + audience * known.changes.strides[0]
    view.mb_per_s_at = address_of(desk.mb_per_s) + 8 * (desk.route_at[manager])
    view.latency_ms_at = address_of(desk.latency_ms) + 8 * (desk.route_at[manager])
    if terms.share_routes:
        own = desk.route_at[manager] + manager
        desk.own_route[0], desk.own_route[1] = desk.mb_per_s[own], desk.latency_ms[own]
        desk.mb_per_s[own], desk.latency_ms[own] = math.inf, 0.0
    view.note_names_at = address_of(desk.note_names) + manager * desk.note_names.strides[0]
    view.note_values_at = address_of(desk.note_values) + manager * desk.note_values.strides[0]
    view.candidate_count = 0
    view.down_count = 0
    if terms.can_change:
        view.down_count = believe_down(known, desk, terms, accepting, silent_ns, manager, now_ns)
    view.refused_count = view.down_count
    for place in range(declined):
        view.refused_count += 1 - desk.refused[desk.declined[place]]
        desk.refused[desk.declined[place]] = 1
    return changed


@inlined
def close_view(known: Any, desk: Any, terms: Any, manager: int, declined: int, changed: int) -> None:
    """Undo what `open_view` has changed."""
    if not terms.all_is_known:
        end_view(known, manager, desk.changed, desk.before, changed)
    if terms.share_routes:
        own = desk.route_at[manager] + manager
        desk.mb_per_s[own], desk.latency_ms[own] = desk.own_route[0], desk.own_route[1]
    for place in range(declined):
        desk.refused[desk.declined[place]] = 0


@called
def write_decision(
    desk: Any, terms: Any, decided: Table, task: Row, manager: int, target: int, accepted: bool, reason: int,
    now_ns: int,
) -> None:  # fmt: skip
    """Count a decision, and write it down if it is to be read."""
    counts, decision = desk.counts, desk.decision[0]
    counts[TAKEN] += 1
    if not accepted and target != manager:
        counts[REFUSED] += 1
    if not terms.writes:
        return
    row = decided[counts[DECIDED_ROWS]]
    counts[DECIDED_ROWS] += 1
    row.time_ns, row.task, row.job = now_ns, task.task, task.job
    row.source, row.target = manager, target
    row.rule, row.index, row.reason = decision.rule, decision.index, reason
    row.task_load, row.load_here, row.load_there = decision.task_load, decision.load_here, decision.load_there
    row.response_here_ms, row.response_there_ms = decision.response_here_ms, decision.response_there_ms
    row.cost_ms, row.mce, row.accepted = decision.cost_ms, decision.mce, accepted


@inlined
def whole_ns(milliseconds: float) -> int:
    """The whole ns nearest to a time in ms (interconnect.units.whole_ns)."""
    return int(math.floor(milliseconds * 1e6 + 0.5))


@called
def is_lost(desk: Any, terms: Any, task: int) -> bool:
    """Draw whether the question about a task, or the answer to it, gets lost."""
    if terms.loss_share == 0.0:
        return False
    first = 2 * desk.asked[task]
    desk.asked[task] += 1
    for message in range(2):
        if message_uniform(terms.message_key, task, first + message) < terms.loss_share:
            return True
    return False


@called
def ask(
    tables: Tables, known: Any, desk: Any, terms: Any, up: Flags, accepting: Flags, silent_ns: Integers,
    task: Table, asker: int, target: int, now_ns: int,
) -> tuple[int, int]:  # fmt: skip
    """LoadManager.ask and answer: the number of the reason of a refusal, 0 if it accepts, and how long it took [ns]."""
    latency_ms = desk.latency_ms[desk.route_at[asker] + target]
    out_of_reach = not up[target] or desk.unreachable[target] or latency_ms == math.inf
    if out_of_reach or is_lost(desk, terms, task[0].task):
        return terms.no_answer, terms.timeout_ns
    took_ns = 0 if terms.all_is_known else 2 * whole_ns(latency_ms)
    reason = 0
    if not accepting[target]:
        reason = terms.drains
    elif not terms.all_is_known and terms.refusals:
        changed = open_view(tables, known, desk, terms, accepting, silent_ns, target, 0, now_ns)
        at, view_at = address_of(task), address_of(desk.views)
        reason = call_at(terms.accept, at, view_at, terms.numbers, address_of(desk.decision))
        close_view(known, desk, terms, target, 0, changed)
    if reason != 0 and not terms.all_is_known:
        measure_own(tables, desk, terms, target, now_ns)
        learn(known, asker, target, now_ns, desk.own_numbers[0])
    return reason, took_ns


@inlined
def note_declined(desk: Any, declined: int, target: int) -> int:
    """A node has refused; how many have."""
    for place in range(declined):
        if desk.declined[place] == target:
            return declined
    desk.declined[declined] = target
    return declined + 1


@inlined
def announce(desk: Any, jobs: Table, number: int, rank: int) -> None:
    """Make the desk's task that of a job, as the job announces it (Announcements.of)."""
    job, task = jobs[number], desk.task[0]
    task.task, task.job, task.home = job.first_task + rank, number, job.home
    task.cpu_ms, task.io_per_ms, task.request_kb = job.cpu_ms, job.io_per_ms, job.request_kb
    task.memory_mb, task.initial_data_mb = job.memory_mb, job.initial_data_mb
    task.reaccess_rate, task.write_share = job.reaccess_rate, job.write_share
    task.place = -1
    if desk.first_need.shape[0] > 0:
        first = desk.first_need[number]
        task.files_at = address_of(desk.needs) + 8 * first
        task.file_count = desk.first_need[number + 1] - first


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
    """LoadManager.place of the desk's task: its node, -1 at a fault; how long asking took [ns]; how many were asked."""
    declined, asking_ns = 0, 0
    task_at, view_at, decision_at = address_of(desk.task), address_of(desk.views), address_of(desk.decision)
    for asked in range(terms.offers):
        changed = open_view(tables, known, desk, terms, accepting, silent_ns, manager, declined, now_ns)
        is_right = call_at(terms.place, task_at, view_at, terms.numbers, decision_at)
        close_view(known, desk, terms, manager, declined, changed)
        target = desk.decision[0].target
        if is_right != 1 or target < 0 or target >= tables.nodes.shape[0]:
            return -1, 0, 0
        if target == manager:
            write_decision(desk, terms, decided, desk.task[0], manager, target, True, desk.decision[0].reason, now_ns)
            return manager, asking_ns, asked
        reason, took_ns = ask(tables, known, desk, terms, up, accepting, silent_ns, desk.task, manager, target, now_ns)
        asking_ns += took_ns
        write_decision(desk, terms, decided, desk.task[0], manager, target, reason == 0, reason, now_ns)
        if reason == 0:
            return target, asking_ns, asked + 1
        declined = note_declined(desk, declined, target)
    return manager, asking_ns, declined


@inlined
def cost_of(desk: Any, terms: Any, task: Table, manager: int, target: int) -> float:
    """What moving a task from a manager's node costs [ms] (View.cost_ms)."""
    view = desk.views[0]
    view.me = manager
    view.mb_per_s_at = address_of(desk.mb_per_s) + 8 * (desk.route_at[manager])
    view.latency_ms_at = address_of(desk.latency_ms) + 8 * (desk.route_at[manager])
    return float(view_of(address_of(desk.views)).cost_ms(task_of(address_of(task)), target))


@called
def send_away(
    tables: Tables, known: Any, desk: Any, terms: Any, decided: Table, up: Flags, accepting: Flags,
    silent_ns: Integers, manager: int, now_ns: int,
) -> bool:  # fmt: skip
    """LoadManager.rebalance: tasks of the node migrate, as its policy decides; False at a fault."""
    declined, sent, asking_ns = 0, 0, 0
    task_at, view_at, decision_at = address_of(desk.task), address_of(desk.views), address_of(desk.decision)
    while sent != terms.most_migrations and declined < terms.offers:
        changed = open_view(tables, known, desk, terms, accepting, silent_ns, manager, declined, now_ns)
        bring_up_to(tables, terms, manager, now_ns)
        count = describe(tables.nodes, tables.tasks, tables.jobs, manager, now_ns, desk.candidates)
        desk.views[0].candidate_count = count
        is_right = call_at(terms.migration, task_at, view_at, terms.numbers, decision_at)
        close_view(known, desk, terms, manager, declined, changed)
        decision = desk.decision[0]
        target, cost_ms = decision.target, decision.cost_ms
        if is_right != 1:
            return False
        if target == -1 or decision.place < 0:
            return True
        if target < 0 or target >= tables.nodes.shape[0] or target == manager or decision.place >= count:
            return False
        view_of(view_at).candidate(decision.place)
        reason, took_ns = ask(
            tables, known, desk, terms, up, accepting, silent_ns, desk.candidate, manager, target, now_ns
        )
        task = desk.candidate[0]
        write_decision(desk, terms, decided, task, manager, target, reason == 0, reason, now_ns)
        if reason != 0:
            asking_ns += took_ns
            declined = note_declined(desk, declined, target)
            continue
        slot = slot_of(tables.nodes, tables.tasks, manager, task.task)
        if slot < 0 or not 0.0 <= cost_ms <= LONGEST_WAIT_MS:
            return False
        bring_up_to(tables, terms, target, now_ns)
        transit_ns = whole_ns(cost_ms) + asking_ns + took_ns
        migrate_at(terms.migrate, tables, slot, target, transit_ns, now_ns)
        desk.counts[MIGRATIONS if task.running else REMOTE_EXECUTIONS] += 1
        note_true_loads(tables, known, desk, terms, manager, now_ns)
        note_true_loads(tables, known, desk, terms, target, now_ns)
        if not terms.all_is_known:
            learn(known, manager, target, now_ns, desk.own_numbers[0])
        declined, asking_ns = 0, 0
        sent += 1
    return True


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
    accepting: Flags, silent_ns: Integers, stand_in: Integers, arrivals: Integers, placed: Integers, first: int,
    last: int,
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
        arrivals: rows of job, rank and how long it was held [ns], shape (3, tasks).
        placed: filled with node, delay, time asking [ns] of each, shape (3, tasks).
        first, last: they are placed from the `first`-th to the one before the `last`-th.

    Returns:
        how many have been placed; `counts[OUTCOME]` says why no more.
    """
    known, desk, terms = known_of(known_at), desk_of(desk_at), terms_of(terms_at)
    counts = desk.counts
    now_ns = counts[NOW_NS]
    desk.views[0].candidates_at = address_of(desk.candidates)
    desk.views[0].policy_key = terms.policy_key
    desk.views[0].remote_execution_ms, desk.views[0].migration_ms = terms.remote_execution_ms, terms.migration_ms
    looked_ns = -1
    for entry in range(first, last):
        job, rank, held_ns = arrivals[0, entry], arrivals[1, entry], arrivals[2, entry]
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
        note_true_loads(tables, known, desk, terms, target, now_ns)
        if asked > 0 and target != manager and not terms.all_is_known:
            learn(known, manager, target, now_ns, desk.own_numbers[0])
        if terms.migrates and not send_away(
            tables, known, desk, terms, decided, up, accepting, silent_ns, manager, now_ns
        ):
            counts[NOW_NS], counts[OUTCOME] = now_ns, AT_FAULT_OF_MIGRATION
            return entry
    counts[NOW_NS], counts[OUTCOME] = now_ns, DONE
    return last
