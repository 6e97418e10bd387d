"""The start of a task that waits at a manager, compiled; the readable form is model.talking.post, with
deciding.task_starts."""

from __future__ import annotations

import math
from typing import Any

from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.compiling.decisions import forget_decision
from cluster_abm.compiling.talking.tables import AT_NS, CAME, HELD, talk_of
from cluster_abm.engine.tables import Tables
from cluster_abm.jit import called, kernel
from cluster_abm.model.deciding.compiled.arriving import fetch
from cluster_abm.model.deciding.compiled.asking import (
    admit_at,
    bring_up_to,
    cost_of,
    see_truly,
    whole_ns,
    write_decision,
)
from cluster_abm.model.deciding.compiled.scratch import (
    DECIDED_ROWS,
    NOW_NS,
    REMOTE_EXECUTIONS,
    STARTED,
    known_group,
    scratch_group,
    settings_group,
)
from cluster_abm.model.deciding.truths import OF_A_NODE, PLACES
from cluster_abm.model.knowing.knowledge import INDICES, known_since
from cluster_abm.model.talking.compiled.mail import latency_ms, push
from cluster_abm.model.talking.compiled.tables import starts_of, tables_at, tables_of
from cluster_abm.model.talking.compiled.views import close
from cluster_abm.model.talking.compiled.waiting import free_row, wait_no_more

scratch_of, settings_of, known_of = scratch_group.at, settings_group.at, known_group.at


@called
def has_route(scratch: Any, node: int, other: int) -> bool:
    """Whether a route leads from a node to another one."""
    is_cut_off = scratch.unreachable[node] or scratch.unreachable[other]
    return bool(node == other or not (is_cut_off or scratch.mb_per_s[scratch.route_at[node] + other] == 0.0))


@called
def write_truth(tables: Tables, known: Any, scratch: Any, settings: Any, home: int, target: int, now_ns: int) -> None:
    """Of a run that is recorded, write down what is true at a decision about another node (truths.Witness)."""
    truth = scratch.truths[scratch.counts[DECIDED_ROWS]]
    truth[0] = float(now_ns if settings.all_is_known else known_since(known, home, target))
    # The texts that name a load index have the numbers of their rows, plus one (compiling.texts).
    compared = scratch.decision[0].index - 1
    see_truly(tables, scratch, settings, home, target, now_ns)
    for place in range(2):
        for position in range(OF_A_NODE):
            index = PLACES[position - 1] if position else compared
            is_one = 0 <= index < INDICES
            truth[1 + place * OF_A_NODE + position] = scratch.seen[place, index] if is_one else math.nan


@kernel
def start(talk_at: int, me: int, row: int) -> int:
    """Start a task that waits here as has been filled in (PostActions.start).

    0: it does not wait here, there is no such node, or the way there takes too long.
    """
    talk = talk_of(talk_at)
    said = talk.said[0]
    if said.node < 0 or said.node >= talk.up.shape[0] or row < 0 or talk.links[row].manager != me:
        return 0
    scratch, settings, known = scratch_of(talk.scratch_at), settings_of(talk.settings_at), known_of(talk.known_at)
    tables, starts, now_ns = tables_of(talk.tables_at), starts_of(talk.tables_at), scratch.counts[NOW_NS]
    close(talk_at)
    task = talk.tasks[row]
    home, job = talk.stand_in[task.home], task.job
    target = said.node if talk.accepting[said.node] else talk.stand_in[said.node]
    told_ms = latency_ms(scratch, me, home)
    if target != home and (told_ms == math.inf or not has_route(scratch, home, target)):
        target = home
    told_ns = whole_ns(told_ms) if target != home and me != home and not settings.all_is_known else 0
    cost_ms = cost_of(scratch, settings, talk.tasks[row : row + 1], home, target) if target != home else 0.0
    if not cost_ms <= LONGEST_WAIT_MS:
        return 0
    delay_ns = told_ns + whole_ns(cost_ms)
    wait_no_more(talk, row)
    talk.counts[HELD] -= 1
    decision = scratch.decision[0]
    forget_decision(decision)
    decision.target, decision.rule, decision.index = target, said.rule, said.index
    decision.load_here, decision.load_there = said.here, said.there
    if target != home:
        if scratch.truths.shape[0] > 0:
            write_truth(tables, known, scratch, settings, home, target, now_ns)
        scratch.counts[REMOTE_EXECUTIONS] += 1
    write_decision(scratch, settings, tables_at(talk.tables_at).decided, task, home, target, True, 0, now_ns)
    if scratch.first_need.shape[0] > 0:
        delay_ns += whole_ns(fetch(scratch, job, target))
    bring_up_to(tables, settings, target, now_ns)
    starts.job[0], starts.rank[0] = job, task.task - tables.jobs[job].first_task
    starts.held_ns[0] = talk.counts[AT_NS] - tables.jobs[job].arrival_ns
    starts.target[0], starts.delay_ns[0], starts.origin[0] = target, delay_ns, home
    admit_at(settings.admit, tables, settings.run_key, starts)
    if scratch.started.shape[1] > 0:
        started = scratch.started[:, scratch.counts[STARTED]]
        started[0], started[1], started[2], started[3] = job, starts.rank[0], target, starts.held_ns[0]
        started[4] = told_ns
        scratch.counts[STARTED] += 1
    if talk.hears_starts:
        place = push(talk_at, talk.counts[AT_NS], target, CAME + 0 * me)
        talk_of(talk_at).events[place].task = row
    else:
        free_row(talk, row)
    return 1
