"""What load managers see and ask in compiled code: views, questions and answers, and decisions written down."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types

from cluster_abm.compiling.blocks import BLOCK
from cluster_abm.compiling.calls import address_of, call_at, native_call
from cluster_abm.compiling.tables import task_of, view_of
from cluster_abm.engine.streams import message_uniform
from cluster_abm.engine.tables import NEVER, NS_PER_MS, Row, Table, Tables
from cluster_abm.jit import called, inlined
from cluster_abm.model.deciding.compiled.desk import DECIDED_ROWS, REFUSED, TAKEN
from cluster_abm.model.knowing.knowledge import INDICES, begin_view, end_view, learn
from cluster_abm.native_arrays import copy_fields

Integers = npt.NDArray[np.int64]
# What `ask` returns in the place of a reason where compiled code cannot tell.
FAULT = -1
Flags = npt.NDArray[np.bool_]

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
        is_down = down and node != manager
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
    view.totals_at = address_of(known.totals) + audience * known.totals.strides[0]
    view.added_as_of_at = address_of(known.added_as_of) + audience * known.added_as_of.strides[0]
    view.changes_at = address_of(known.changes) + audience * known.changes.strides[0]
    view.mb_per_s_at = address_of(desk.mb_per_s) + 8 * (desk.route_at[manager])
    view.latency_ms_at = address_of(desk.latency_ms) + 8 * (desk.route_at[manager])
    if terms.share_routes:
        own = desk.route_at[manager] + manager
        desk.own_route[0], desk.own_route[1] = desk.mb_per_s[own], desk.latency_ms[own]
        desk.mb_per_s[own], desk.latency_ms[own] = math.inf, 0.0
    notes = desk.note_row[manager]
    view.note_names_at = address_of(desk.note_names) + notes * desk.note_names.strides[0]
    view.note_values_at = address_of(desk.note_values) + notes * desk.note_values.strides[0]
    view.note_kinds_at = address_of(desk.note_kinds) + notes * desk.note_kinds.strides[0]
    # None are described: what reads them is asked again in Python.
    view.candidate_count = -1
    view.down_count = 0
    if terms.can_change:
        view.down_count = believe_down(known, desk, terms, accepting, silent_ns, manager, now_ns)
    view.refused_count = view.down_count
    for place in range(declined):
        view.refused_count += not desk.refused[desk.declined[place]]
        desk.refused[desk.declined[place]] = True
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
        desk.refused[desk.declined[place]] = False


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
    copy_fields(row, decision)
    row.time_ns, row.task, row.job = now_ns, task.task, task.job
    row.source, row.target, row.accepted, row.reason = manager, target, accepted, reason


@called
def keep_notes(desk: Any, manager: int, place: int) -> None:
    """Keep a manager's notes as they are, in one of two places: 0 or 1."""
    row = desk.note_row[manager]
    for note in range(desk.note_names.shape[1]):
        desk.notes_before[3 * place, note] = desk.note_names[row, note]
        desk.notes_before[3 * place + 1, note] = desk.note_values[row, note]
        desk.notes_before[3 * place + 2, note] = desk.note_kinds[row, note]


@called
def restore_notes(desk: Any, manager: int, place: int) -> None:
    """Make a manager's notes again what they were."""
    row = desk.note_row[manager]
    for note in range(desk.note_names.shape[1]):
        desk.note_names[row, note] = int(desk.notes_before[3 * place, note])
        desk.note_values[row, note] = desk.notes_before[3 * place + 1, note]
        desk.note_kinds[row, note] = int(desk.notes_before[3 * place + 2, note])


@inlined
def cost_of(desk: Any, terms: Any, task: Table, manager: int, target: int) -> float:
    """What moving a task from a manager's node costs [ms] (View.cost_ms)."""
    view = desk.views[0]
    view.me = manager
    view.mb_per_s_at = address_of(desk.mb_per_s) + 8 * (desk.route_at[manager])
    view.latency_ms_at = address_of(desk.latency_ms) + 8 * (desk.route_at[manager])
    return float(view_of(address_of(desk.views)).cost_ms(task_of(address_of(task)), target))


@inlined
def note_declined(desk: Any, declined: int, target: int) -> int:
    """A node has refused; how many have."""
    for place in range(declined):
        if desk.declined[place] == target:
            return declined
    desk.declined[declined] = target
    return declined + 1


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
    """LoadManager.ask and answer: the number of the reason of a refusal, 0 if it accepts, and how long it took [ns].

    FAULT in the place of a reason: compiled code cannot tell; nothing has been asked yet.
    """
    latency_ms = desk.latency_ms[desk.route_at[asker] + target]
    out_of_reach = not up[target] or desk.unreachable[target] or latency_ms == math.inf
    if out_of_reach or is_lost(desk, terms, task[0].task):
        return terms.no_answer, terms.timeout_ns
    took_ns = 0 if terms.all_is_known else 2 * whole_ns(latency_ms)
    reason = 0
    if not accepting[target]:
        reason = terms.drains
    elif not terms.all_is_known and terms.refusals:
        decision = desk.decision[0]
        said_ms = decision.cost_ms
        if math.isnan(said_ms):
            decision.cost_ms = cost_of(desk, terms, task, asker, target)
        # No literal 0: for that numba would compile `open_view` again.
        none_declined = 0 * target
        changed = open_view(tables, known, desk, terms, accepting, silent_ns, target, none_declined, now_ns)
        if terms.has_notes:
            keep_notes(desk, target, 1)
        at, view_at = address_of(task), address_of(desk.views)
        answer = call_at(terms.accept, at, view_at, terms.numbers, address_of(desk.decision))
        close_view(known, desk, terms, target, 0, changed)
        decision.cost_ms = said_ms
        if answer >= 0:
            if terms.has_notes:
                restore_notes(desk, target, 1)
            if terms.loss_share > 0.0:
                desk.asked[task[0].task] -= 1
            return FAULT, 0
        reason = -1 - answer
    if reason != 0 and not terms.all_is_known:
        measure_own(tables, desk, terms, target, now_ns)
        learn(known, asker, target, now_ns, desk.own_numbers[0])
    return reason, took_ns
