"""What each decision was about, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Array, Integers
from cluster_abm.columns import places_in
from cluster_abm.engine.tables import LOST_NODE, MIGRATES, NEVER, NONE, RESTARTS, RETURNS
from cluster_abm.recording.segments import TaskDepartures

# What a decision was about.
KINDS = ("stays", "starts", "migrates", "recovers")
STAYS, STARTS_ELSEWHERE, MIGRATION, RECOVERY = range(len(KINDS))


class Fates(NamedTuple):
    """What came of decisions, shape (decisions,) each."""

    kind: Integers  # KINDS; of an offer that was refused what it would have been
    leaves_ns: Integers  # when the task set out [ns]; NONE: it did not
    enters_ns: Integers  # when it entered the node [ns]; NONE: it has not
    departure: Integers  # the place of that departure; NONE: none


def fates_of(
    task: Integers, source: Integers, target: Integers, time_ns: Integers, accepted: Array, departures: TaskDepartures
) -> Fates:
    """Find the departure that each decision has brought about: the first one of the task for that node since then.

    Args:
        task, source, target, time_ns, accepted: columns of the decisions, in the order in which they were taken.
        departures: those of all tasks.
    """
    rows = departures.rows
    kind = np.where(target == source, STAYS, STARTS_ELSEWHERE)
    leaves_ns, enters_ns, departure = (np.full(len(task), NONE, np.int64) for _ in range(3))
    decision, place = _brought_about(task, target, time_ns, accepted, departures.rows)
    departure[decision] = place
    leaves_ns[decision] = rows["at_ns"][place]
    entry_ns = rows["enter_ns"][place]
    enters_ns[decision] = np.where(entry_ns < departures.until_ns[place], entry_ns, NONE)
    # A task that was on a node when another one was asked about it would have migrated.
    started, first_entry_ns = rows["task"][departures.is_first], _first_entries(departures)
    at, has_started = places_in(started, task)
    on_a_node = has_started & (np.append(first_entry_ns, NEVER)[at] < time_ns)
    kind[(target != source) & ~accepted & on_a_node] = MIGRATION
    kind[decision[rows["kind"][place] == MIGRATES]] = MIGRATION
    kind[decision[rows["kind"][place] == RESTARTS]] = RECOVERY
    return Fates(kind, leaves_ns, enters_ns, departure)


def _first_entries(departures: TaskDepartures) -> Integers:
    """When each task first entered a node [ns], in the order of the tasks; NEVER: it has not."""
    rows = departures.rows
    enters = np.where(rows["enter_ns"] < departures.until_ns, rows["enter_ns"], NEVER)
    first = np.flatnonzero(departures.is_first)
    return np.minimum.reduceat(enters, first) if len(first) else np.zeros(0, np.int64)


def _brought_about(
    task: Integers, target: Integers, time_ns: Integers, accepted: Array, rows: Mapping[str, Array]
) -> tuple[Integers, Integers]:
    """Decisions, and the place of the departure that each has brought about."""
    taken = np.flatnonzero(accepted)
    left = np.flatnonzero((rows["kind"] != RETURNS) & (rows["kind"] != LOST_NODE))
    keys = [
        np.concatenate([task[taken], rows["task"][left]]),
        np.concatenate([target[taken], rows["node"][left].astype(np.int64)]),
        np.concatenate([time_ns[taken], rows["at_ns"][left]]),
    ]
    # Decisions stand before the departures of the same instant.
    order = _by(*keys)
    places = np.arange(len(order))
    is_decision = order < len(taken)
    last = np.maximum.accumulate(np.where(is_decision, places, NONE)) if len(order) else places
    found = ~is_decision & (last != NONE)
    departure, decision = order[found], order[last[found]]
    same = (keys[0][departure] == keys[0][decision]) & (keys[1][departure] == keys[1][decision])
    # A later departure without a decision of its own, as after a failure, has none.
    decision, departure = decision[same], departure[same]
    first = np.append(True, decision[1:] != decision[:-1])[: len(decision)]
    return taken[decision[first]], left[departure[first] - len(taken)]


def _by(task: Integers, target: Integers, time_ns: Integers) -> Integers:
    """The order by all three; of equal ones, that in which they are."""
    # Time and task rise together, and most tasks have one target: what is sorted almost is sorted soon.
    order = np.lexsort((time_ns, task))
    has_others = (task[order[1:]] == task[order[:-1]]) & (target[order[1:]] != target[order[:-1]])
    return np.lexsort((time_ns, target, task)) if has_others.any() else order
