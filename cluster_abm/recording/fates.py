"""What each decision was about, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Array, Flags, Integers
from cluster_abm.columns import places_in
from cluster_abm.engine.tables import LOST_NODE, MIGRATES, NONE, RESTARTS, RETURNS, Table
from cluster_abm.jit import kernel
from cluster_abm.recording.departures import Ends, TaskDepartures

# What a decision was about.
KINDS = ("stays", "starts", "migrates", "recovers")
STAYS, STARTS_ELSEWHERE, MIGRATION, RECOVERY = range(len(KINDS))


class Fates(NamedTuple):
    """What came of decisions, shape (decisions,) each."""

    kind: Array  # KINDS; of an offer that was refused what it would have been
    leaves_ns: Integers  # when the task set out [ns]; NONE: it did not
    enters_ns: Integers  # when it entered the node [ns]; NONE: it has not
    departure: Integers  # the place of that departure; NONE: none


def fates_of(
    task: Integers, source: Array, target: Array, time_ns: Integers, accepted: Flags, departures: TaskDepartures,
    ends: Ends,
) -> Fates:  # fmt: skip
    """Find the departure that each decision has brought about: the first one of the task for that node since then.

    Args:
        task, source, target, time_ns, accepted: columns of the decisions, in the order in which they were taken.
        departures, ends: those of all tasks; that of each decision is among them.
    """
    leaves_ns, enters_ns, departure, before = np.full((4, len(task)), NONE)
    kind = np.empty(len(task), np.int8)
    latest = np.full(len(ends.task), NONE)
    end, _ = places_in(ends.task, task)
    _fill(*departures, end, source, target, time_ns, accepted, latest, before, kind, leaves_ns, enters_ns, departure)
    return Fates(kind, leaves_ns, enters_ns, departure)


@kernel
def _fill(
    journal: Table, row: Integers, first: Integers, enter_ns: Integers, until_ns: Integers,
    end: Integers, source: Array, target: Array, time_ns: Integers, accepted: Flags,
    latest: Integers, before: Integers, kind: Array, leaves_ns: Integers, entered_ns: Integers, departure: Integers,
) -> None:  # fmt: skip
    """Fill the last four, as of Fates, all NONE at first.

    Args:
        journal, row, first, enter_ns, until_ns: of TaskDepartures.
        end: the place of each decision's task among the ends.
        source, target, time_ns, accepted: of fates_of.
        latest: room for the last accepted decision about each task, NONE at first.
        before: room for the accepted decision about the same task before each one, NONE at first.
    """
    for decision in range(end.shape[0]):
        if accepted[decision]:
            before[decision], latest[end[decision]] = latest[end[decision]], decision
    for task in range(latest.shape[0]):
        decision = latest[task]
        # The last one first: that of a decision found last is its first one.
        for place in range(first[task + 1] - 1, first[task] - 1, -1):
            way = journal[row[place]]
            if way.kind == RETURNS or way.kind == LOST_NODE:
                continue
            while decision != NONE and time_ns[decision] > way.at_ns:
                decision = before[decision]
            brought = decision
            while brought != NONE and target[brought] != way.node:
                brought = before[brought]
            # A later departure without a decision of its own, as after a failure, has none.
            if brought != NONE:
                departure[brought] = place
    for decision in range(end.shape[0]):
        kind[decision] = STAYS if target[decision] == source[decision] else STARTS_ELSEWHERE
        place = departure[decision]
        if place != NONE:
            way = journal[row[place]]
            leaves_ns[decision] = way.at_ns
            if enter_ns[place] < until_ns[place]:
                entered_ns[decision] = enter_ns[place]
            if way.kind == MIGRATES:
                kind[decision] = MIGRATION
            elif way.kind == RESTARTS:
                kind[decision] = RECOVERY
        elif kind[decision] == STARTS_ELSEWHERE and not accepted[decision]:
            # A task that was on a node when another one was asked about it would have migrated.
            for place in range(first[end[decision]], first[end[decision] + 1]):
                if enter_ns[place] < until_ns[place] and enter_ns[place] < time_ns[decision]:
                    kind[decision] = MIGRATION
                    break
