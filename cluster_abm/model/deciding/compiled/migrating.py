"""Tasks that migrate when another one has arrived, compiled: NegotiationInPython.rebalance.

It is compiled apart from the placement of arrivals, for policies that migrate tasks alone.
"""

from __future__ import annotations

import math

from numba.core import types

from cluster_abm.arrays import Flags, Integers
from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.compiling.tables import NO_DECISION, view_of
from cluster_abm.engine.loads import describe
from cluster_abm.engine.migration import slot_of
from cluster_abm.engine.tables import Table, Tables
from cluster_abm.jit import kernel
from cluster_abm.jit.calls import address_of, call_at, native_call
from cluster_abm.model.deciding.compiled.asking import (
    FAULT,
    ask,
    bring_up_to,
    close_view,
    cost_of,
    keep_notes,
    migrate_at,
    note_declined,
    note_seen,
    note_true_loads,
    open_view,
    restore_notes,
    whole_ns,
    write_decision,
    write_truth,
)
from cluster_abm.model.deciding.compiled.scratch import (
    ASKED,
    ASKING_NS,
    DECLINED,
    MIGRATIONS,
    REMOTE_EXECUTIONS,
    known_group,
    scratch_group,
    settings_group,
)
from cluster_abm.model.knowing.knowledge import learn

scratch_of, known_of, settings_of = scratch_group.at, known_group.at, settings_group.at


@kernel
def rebalance(
    tables: Tables, known_at: int, scratch_at: int, settings_at: int, decided: Table, up: Flags, accepting: Flags,
    silent_ns: Integers, manager: int, now_ns: int,
) -> bool:  # fmt: skip
    """NegotiationInPython.rebalance: tasks of the node migrate, as its policy decides; False at a fault.

    Arguments are those of arriving.place_arrivals; `manager`: the node, `now_ns`: the beginning of the slice [ns].
    """
    known, scratch, settings = known_of(known_at), scratch_of(scratch_at), settings_of(settings_at)
    declined, sent, asking_ns = 0, 0, 0
    task_at, view_at, decision_at = address_of(scratch.task), address_of(scratch.views), address_of(scratch.decision)
    while sent != settings.most_migrations and declined < settings.offers:
        scratch.counts[DECLINED], scratch.counts[ASKED], scratch.counts[ASKING_NS] = declined, sent, asking_ns
        changed = open_view(tables, known, scratch, settings, accepting, silent_ns, manager, declined, now_ns)
        note_seen(scratch, settings, 0, manager)
        if settings.has_notes:
            keep_notes(scratch, manager, 0)
        bring_up_to(tables, settings, manager, now_ns)
        count = describe(tables.nodes, tables.tasks, tables.jobs, manager, now_ns, scratch.candidates)
        scratch.views[0].candidate_count = count
        is_right = call_at(settings.migration, task_at, view_at, settings.numbers, decision_at)
        close_view(known, scratch, settings, manager, declined, changed)
        decision = scratch.decision[0]
        target, position = decision.target, decision.place
        if is_right == NO_DECISION:
            return True
        # No task is to migrate; of a decision for another node it is missing.
        if is_right == 1 and position < 0 and target == manager:
            return True
        is_wrong = (
            target < 0 or target >= tables.nodes.shape[0] or target == manager or position < 0 or position >= count
        )
        if is_right != 1 or is_wrong:
            if settings.has_notes:
                restore_notes(scratch, manager, 0)
            return False
        view_of(view_at).candidate(position)
        chosen = scratch.candidate[position : position + 1]
        if math.isnan(decision.cost_ms):
            decision.cost_ms = cost_of(scratch, settings, chosen, manager, target)
        reason, took_ns = ask(
            tables, known, scratch, settings, up, accepting, silent_ns, chosen, manager, target, now_ns
        )
        if reason == FAULT:
            if settings.has_notes:
                restore_notes(scratch, manager, 0)
            return False
        task = chosen[0]
        write_truth(tables, known, scratch, settings, manager, target, now_ns)
        write_decision(scratch, settings, decided, task, manager, target, reason == 0, reason, now_ns)
        if reason != 0:
            asking_ns += took_ns
            before = declined
            declined = note_declined(scratch, declined, target)
            if declined == before:
                # It would ask the same node without end.
                return True
            continue
        slot = slot_of(tables.nodes, tables.tasks, manager, task.task)
        # What the policy has said is its account; a move costs what it does in truth.
        cost_ms = cost_of(scratch, settings, chosen, manager, target)
        if slot < 0 or not cost_ms <= LONGEST_WAIT_MS:
            return False
        bring_up_to(tables, settings, target, now_ns)
        transit_ns = whole_ns(cost_ms) + asking_ns + took_ns
        migrate_at(settings.migrate, tables, slot, target, transit_ns, now_ns)
        scratch.counts[MIGRATIONS if task.running else REMOTE_EXECUTIONS] += 1
        note_true_loads(tables, known, scratch, settings, manager, now_ns)
        note_true_loads(tables, known, scratch, settings, target, now_ns)
        if not settings.all_is_known:
            learn(known, manager, target, now_ns, scratch.own_numbers[0])
        declined, asking_ns = 0, 0
        sent += 1
    return True


# How the placement of arrivals calls it.
rebalance_at = native_call(
    types.boolean, "tables", "known_at", "scratch_at", "settings_at", "decided", "up", "accepting", "silent_ns",
    "manager", "now_ns",
)  # fmt: skip
