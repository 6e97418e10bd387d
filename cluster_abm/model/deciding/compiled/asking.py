"""What load managers see and ask in compiled code: views, questions and answers, and decisions written down."""

from __future__ import annotations

import math
from typing import Any

from numba.core import types

from cluster_abm.arrays import Flags, Integers
from cluster_abm.compiling.tables import task_of, view_of
from cluster_abm.engine.advance import advance_at
from cluster_abm.engine.random_numbers import message_uniform
from cluster_abm.engine.tables import NEVER, NS_PER_MS, Row, Table, Tables
from cluster_abm.jit import called, inlined
from cluster_abm.jit.calls import address_of, call_at, native_call
from cluster_abm.model.deciding.compiled.scratch import DECIDED_ROWS, REFUSED, TAKEN
from cluster_abm.model.deciding.truths import OF_A_NODE, PLACES
from cluster_abm.model.knowing.knowledge import INDICES, begin_view, end_view, known_since, learn, note_change
from cluster_abm.native_arrays import copy_fields

# What `ask` returns in the place of a reason where compiled code cannot tell.
FAULT = -1

# The engine's kernels are called by their addresses: compiled together with them this would take minutes.
admit_at = native_call(types.none, "tables", "run_key", "starts")
measure_at = native_call(
    types.none, "nodes", "tasks", "now_ns", "loads", "first", "last", "effective_rates", "counts_effective", "truly"
)
migrate_at = native_call(types.int64, "tables", "slot", "target", "cost_ns", "now_ns")


@inlined
def bring_up_to(tables: Tables, settings: Any, node: int, now_ns: int) -> None:
    """Let one node live until the slice begins: inside slices nodes are alone, so the others can follow later."""
    if tables.nodes[node].next_event_ns < now_ns:
        advance_at(settings.advance, tables, settings.slice_ns, now_ns, NEVER, node, node + 1)


@called
def measure_node(tables: Tables, scratch: Any, settings: Any, node: int, now_ns: int, truly: bool) -> None:
    """Measure a node's loads into its row of `scratch.load_numbers`: by announced demands, or `truly`."""
    bring_up_to(tables, settings, node, now_ns)
    measure_at(
        settings.measure,
        tables.homes,
        tables.tasks,
        now_ns,
        scratch.loads,
        node,
        node + 1,
        settings.effective_rates,
        settings.counts_effective,
        truly,
    )


@called
def measure_own(tables: Tables, scratch: Any, settings: Any, node: int, now_ns: int) -> None:
    """Measure a node's loads into `scratch.own_numbers`."""
    measure_node(tables, scratch, settings, node, now_ns, False)
    for index in range(INDICES):
        scratch.own_numbers[0, index] = scratch.load_numbers[node, index]


@inlined
def note_true_loads(tables: Tables, known: Any, scratch: Any, settings: Any, node: int, now_ns: int) -> None:
    """Measure a node, and where the true state is known to all tell all."""
    measure_own(tables, scratch, settings, node, now_ns)
    if settings.all_is_known:
        for index in range(INDICES):
            known.table[0, index, node] = scratch.own_numbers[0, index]
        note_change(known, 0, node)


@called
def look(tables: Tables, known: Any, scratch: Any, settings: Any, now_ns: int) -> None:
    """Measure all nodes for managers that know the true state."""
    for node in range(tables.nodes.shape[0]):
        note_true_loads(tables, known, scratch, settings, node, now_ns)


@called
def believe_down(
    known: Any, scratch: Any, settings: Any, accepting: Flags, silent_ns: Integers, manager: int, now_ns: int
) -> int:
    """Flag the nodes that a manager believes to be down, and as refusing; how many they are."""
    count, first = 0, scratch.route_at[manager]
    audience = known.audience[manager]
    for node in range(scratch.down.shape[0]):
        down = scratch.unreachable[node] or scratch.mb_per_s[first + node] == 0.0
        if settings.all_is_known:
            down = down or not accepting[node]
        elif settings.by_reports:
            reported_ns = max(0, known.reported_ns[audience, node])
            down = down or reported_ns + silent_ns[audience, node] < now_ns
        is_down = down and node != manager
        scratch.down[node] = is_down
        scratch.refused[node] = is_down
        count += is_down
    return count


@called
def open_view(
    tables: Tables, known: Any, scratch: Any, settings: Any, accepting: Flags, silent_ns: Integers, manager: int,
    declined: int, now_ns: int,
) -> int:  # fmt: skip
    """Fill in `scratch.views` for a manager, whose offers the first `declined` of scratch.declined have refused."""
    view = scratch.views[0]
    changed = 0
    if settings.shows_loads:
        measure_own(tables, scratch, settings, manager, now_ns)
        changed = begin_view(known, manager, scratch.own_numbers, scratch.changed, scratch.before)
    audience = known.audience[manager]
    view.me = manager
    view.now_ms = now_ns / NS_PER_MS
    view.table_at = address_of(known.table) + audience * known.table.strides[0]
    view.least_at = address_of(known.least) + audience * known.least.strides[0]
    view.as_of_at = address_of(known.as_of) + audience * known.as_of.strides[0]
    view.totals_at = address_of(known.totals) + audience * known.totals.strides[0]
    view.added_as_of_at = address_of(known.added_as_of) + audience * known.added_as_of.strides[0]
    view.changes_at = address_of(known.changes) + audience * known.changes.strides[0]
    view.group_least_at = address_of(known.group_least) + audience * known.group_least.strides[0]
    view.group_as_of_at = address_of(known.group_as_of) + audience * known.group_as_of.strides[0]
    view.group_changes_at = address_of(known.group_changes) + audience * known.group_changes.strides[0]
    view.mb_per_s_at = address_of(scratch.mb_per_s) + 8 * (scratch.route_at[manager])
    view.latency_ms_at = address_of(scratch.latency_ms) + 8 * (scratch.route_at[manager])
    if settings.share_routes:
        own = scratch.route_at[manager] + manager
        scratch.own_route[0], scratch.own_route[1] = scratch.mb_per_s[own], scratch.latency_ms[own]
        scratch.mb_per_s[own], scratch.latency_ms[own] = math.inf, 0.0
    notes = view.note_row = scratch.note_row[manager]
    view.note_names_at = address_of(scratch.note_names) + notes * scratch.note_names.strides[0]
    view.note_values_at = address_of(scratch.note_values) + notes * scratch.note_values.strides[0]
    view.note_kinds_at = address_of(scratch.note_kinds) + notes * scratch.note_kinds.strides[0]
    # None are described: what reads them is asked again in Python.
    view.candidate_count = -1
    view.down_count = 0
    if settings.can_change:
        view.down_count = believe_down(known, scratch, settings, accepting, silent_ns, manager, now_ns)
    view.refused_count = view.down_count
    for position in range(declined):
        view.refused_count += not scratch.refused[scratch.declined[position]]
        scratch.refused[scratch.declined[position]] = True
    return changed


@inlined
def close_view(known: Any, scratch: Any, settings: Any, manager: int, declined: int, changed: int) -> None:
    """Undo what `open_view` has changed."""
    if settings.shows_loads:
        end_view(known, manager, scratch.changed, scratch.before, changed)
    if settings.share_routes:
        own = scratch.route_at[manager] + manager
        scratch.mb_per_s[own], scratch.latency_ms[own] = scratch.own_route[0], scratch.own_route[1]
    for position in range(declined):
        scratch.refused[scratch.declined[position]] = False


@inlined
def note_seen(scratch: Any, settings: Any, place: int, node: int) -> None:
    """Of a run that is recorded, keep the true loads of the node that was measured last; where all is known they are.

    Args:
        place: 0 of the deciding node, 1 of the asked one.
    """
    if scratch.truths.shape[0] > 0 and not settings.all_is_known:
        scratch.seen_node[place] = node
        for index in range(INDICES):
            scratch.seen[place, index] = scratch.own_numbers[0, index]


@called
def see_truly(tables: Tables, scratch: Any, settings: Any, manager: int, target: int, now_ns: int) -> None:
    """Measure the two nodes of a decision by the demands that tasks have, whatever they announce."""
    for place in range(2):
        node = target if place else manager
        measure_node(tables, scratch, settings, node, now_ns, True)
        for index in range(INDICES):
            scratch.seen[place, index] = scratch.load_numbers[node, index]


@inlined
def write_truth(
    tables: Tables, known: Any, scratch: Any, settings: Any, manager: int, target: int, now_ns: int
) -> None:
    """Of a run that is recorded, write down what is true at a decision about another node (truths.COLUMNS), before the
    decision itself."""
    if scratch.truths.shape[0] > 0:
        truth = scratch.truths[scratch.counts[DECIDED_ROWS]]
        truth[0] = float(now_ns if settings.all_is_known else known_since(known, manager, target))
        # What managers have seen, or know, is the truth unless tasks announce other demands than they have.
        is_seen = not settings.all_is_known
        if tables.demands.shape[0] > 0:
            see_truly(tables, scratch, settings, manager, target, now_ns)
            is_seen = True
        elif is_seen and scratch.seen_node[1] != target:
            measure_own(tables, scratch, settings, target, now_ns)
            note_seen(scratch, settings, 1, target)
        # The texts that name a load index have the numbers of their rows, plus one (compiling.texts).
        compared = scratch.decision[0].index - 1
        for place in range(2):
            node = target if place else manager
            first = 1 + place * OF_A_NODE
            for position in range(OF_A_NODE):
                index = PLACES[position - 1] if position else compared
                if index < 0 or index >= INDICES:
                    truth[first + position] = math.nan
                elif is_seen:
                    truth[first + position] = scratch.seen[place, index]
                else:
                    truth[first + position] = known.table[0, index, node]


@called
def write_decision(
    scratch: Any, settings: Any, decided: Table, task: Row, manager: int, target: int, accepted: bool, reason: int,
    now_ns: int,
) -> None:  # fmt: skip
    """Count a decision, and write it down if it is to be read."""
    counts, decision = scratch.counts, scratch.decision[0]
    counts[TAKEN] += 1
    if not accepted and target != manager:
        counts[REFUSED] += 1
    if not settings.writes:
        return
    row = decided[counts[DECIDED_ROWS]]
    if scratch.truths.shape[0] > 0 and target == manager:
        for column in range(scratch.truths.shape[1]):
            scratch.truths[counts[DECIDED_ROWS], column] = math.nan
    counts[DECIDED_ROWS] += 1
    copy_fields(row, decision)
    row.time_ns, row.task, row.job = now_ns, task.task, task.job
    row.source, row.target, row.accepted, row.reason = manager, target, accepted, reason


@called
def keep_notes(scratch: Any, manager: int, copy: int) -> None:
    """Keep a manager's notes as they are, as one of two copies: 0 or 1."""
    row = scratch.note_row[manager]
    for note in range(scratch.note_names.shape[1]):
        scratch.notes_before[3 * copy, note] = scratch.note_names[row, note]
        scratch.notes_before[3 * copy + 1, note] = scratch.note_values[row, note]
        scratch.notes_before[3 * copy + 2, note] = scratch.note_kinds[row, note]
    before = scratch.noted_before[copy]
    before[0], before[1], before[2] = scratch.noted_ends[row, 0], scratch.noted_ends[row, 1], scratch.noted_top[0]


@called
def restore_notes(scratch: Any, manager: int, copy: int) -> None:
    """Restore a manager's notes from a copy."""
    row = scratch.note_row[manager]
    for note in range(scratch.note_names.shape[1]):
        scratch.note_names[row, note] = int(scratch.notes_before[3 * copy, note])
        scratch.note_values[row, note] = scratch.notes_before[3 * copy + 1, note]
        scratch.note_kinds[row, note] = int(scratch.notes_before[3 * copy + 2, note])
    before = scratch.noted_before[copy]
    scratch.noted_ends[row, 0], scratch.noted_ends[row, 1], scratch.noted_top[0] = before[0], before[1], before[2]
    if before[1] >= 0:
        scratch.noted_following[before[1]] = -1


@inlined
def cost_of(scratch: Any, settings: Any, task: Table, manager: int, target: int) -> float:
    """What moving a task from a manager's node costs [ms] (View.cost_ms)."""
    view = scratch.views[0]
    view.me = manager
    view.mb_per_s_at = address_of(scratch.mb_per_s) + 8 * (scratch.route_at[manager])
    view.latency_ms_at = address_of(scratch.latency_ms) + 8 * (scratch.route_at[manager])
    return float(view_of(address_of(scratch.views)).cost_ms(task_of(address_of(task)), target))


@inlined
def note_declined(scratch: Any, declined: int, target: int) -> int:
    """A node has refused; how many have."""
    for position in range(declined):
        if scratch.declined[position] == target:
            return declined
    scratch.declined[declined] = target
    return declined + 1


@inlined
def whole_ns(milliseconds: float) -> int:
    """The whole ns nearest to a time in ms (clock.whole_ns)."""
    return int(math.floor(milliseconds * 1e6 + 0.5))


@called
def is_lost(scratch: Any, settings: Any, task: int) -> bool:
    """Draw whether the question about a task, or the answer to it, gets lost."""
    if settings.loss_share == 0.0:
        return False
    first = 2 * scratch.asked[task]
    scratch.asked[task] += 1
    for message in range(2):
        if message_uniform(settings.message_key, task, first + message) < settings.loss_share:
            return True
    return False


@called
def ask(
    tables: Tables, known: Any, scratch: Any, settings: Any, up: Flags, accepting: Flags, silent_ns: Integers,
    task: Table, asker: int, target: int, now_ns: int,
) -> tuple[int, int]:  # fmt: skip
    """Ask and answer, as in Python: the number of the reason of a refusal, 0 if it accepts, and how long it took [ns].

    FAULT in the place of a reason: compiled code cannot tell; nothing has been asked yet.
    """
    scratch.seen_node[1] = -1
    latency_ms = scratch.latency_ms[scratch.route_at[asker] + target]
    out_of_reach = not up[target] or scratch.unreachable[target] or latency_ms == math.inf
    if out_of_reach or is_lost(scratch, settings, task[0].task):
        return settings.no_answer, settings.timeout_ns
    took_ns = 0 if settings.all_is_known else 2 * whole_ns(latency_ms)
    reason = 0
    if not accepting[target]:
        reason = settings.drains
    elif not settings.all_is_known and settings.refusals:
        decision = scratch.decision[0]
        said_ms = decision.cost_ms
        if math.isnan(said_ms):
            decision.cost_ms = cost_of(scratch, settings, task, asker, target)
        # No literal 0: for that numba would compile `open_view` again.
        none_declined = 0 * target
        changed = open_view(tables, known, scratch, settings, accepting, silent_ns, target, none_declined, now_ns)
        note_seen(scratch, settings, 1, target)
        if settings.has_notes:
            keep_notes(scratch, target, 1)
        at, view_at = address_of(task), address_of(scratch.views)
        answer = call_at(settings.accept, at, view_at, settings.numbers, address_of(scratch.decision))
        close_view(known, scratch, settings, target, 0, changed)
        decision.cost_ms = said_ms
        if answer >= 0:
            if settings.has_notes:
                restore_notes(scratch, target, 1)
            if settings.loss_share > 0.0:
                scratch.asked[task[0].task] -= 1
            return FAULT, 0
        reason = -1 - answer
    if reason != 0 and not settings.all_is_known:
        measure_own(tables, scratch, settings, target, now_ns)
        learn(known, asker, target, now_ns, scratch.own_numbers[0])
    return reason, took_ns
