"""What each decision was about, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Array, Integers
from cluster_abm.engine.tables import MIGRATES, NEVER, NONE, RESTARTS, RETURNS
from cluster_abm.recording.segments import Departures

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
    task: Integers, source: Integers, target: Integers, time_ns: Integers, accepted: Array, departures: Departures
) -> Fates:
    """Find the departure that each decision has brought about: the n-th of a task for a node by its n-th decision.

    Args:
        task, source, target, time_ns, accepted: columns of the decisions, in the order in which they were taken.
        departures: those of all tasks.
    """
    rows = departures.rows
    kind = np.where(target == source, STAYS, STARTS_ELSEWHERE)
    leaves_ns, enters_ns, departure = (np.full(len(task), NONE, np.int64) for _ in range(3))
    taken = np.flatnonzero(accepted)
    left = np.flatnonzero(rows["kind"] != RETURNS)
    of_decisions = _numbered(task[taken], target[taken])
    of_departures = _numbered(rows["task"][left], rows["node"][left])
    _, mine, theirs = np.intersect1d(of_decisions, of_departures, assume_unique=True, return_indices=True)
    decision, place = taken[mine], left[theirs]
    departure[decision] = place
    leaves_ns[decision] = rows["at_ns"][place]
    entry_ns = rows["enter_ns"][place]
    enters_ns[decision] = np.where(entry_ns < departures.until_ns[place], entry_ns, NONE)
    # A task that was on a node when another one was asked about it would have migrated.
    started, first_entry_ns = rows["task"][departures.is_first], _first_entries(departures)
    at = np.searchsorted(started, task)
    has_started = (at < len(started)) & (np.append(started, NONE)[at] == task)
    on_a_node = has_started & (np.append(first_entry_ns, NEVER)[at] < time_ns)
    kind[(target != source) & ~accepted & on_a_node] = MIGRATION
    kind[decision[rows["kind"][place] == MIGRATES]] = MIGRATION
    kind[decision[rows["kind"][place] == RESTARTS]] = RECOVERY
    return Fates(kind, leaves_ns, enters_ns, departure)


def _first_entries(departures: Departures) -> Integers:
    """When each task first entered a node [ns], in the order of the tasks; NEVER: it has not."""
    rows = departures.rows
    enters = np.where(rows["enter_ns"] < departures.until_ns, rows["enter_ns"], NEVER)
    first = np.flatnonzero(departures.is_first)
    return np.minimum.reduceat(enters, first) if len(first) else np.zeros(0, np.int64)


def _numbered(task: Integers, node: Integers) -> Array:
    """Rows (task, node, how often this pair stood before), each once, in the order given."""
    order = np.lexsort((np.arange(len(task)), node, task))
    sorted_task, sorted_node = task[order], node[order]
    same = np.zeros(len(task), bool)
    same[1:] = (sorted_task[1:] == sorted_task[:-1]) & (sorted_node[1:] == sorted_node[:-1])
    places = np.arange(len(task))
    begin = np.maximum.accumulate(np.where(same, 0, places)) if len(task) else places
    found = np.zeros(len(task), [("task", np.int64), ("node", np.int64), ("number", np.int64)])
    found["task"][order], found["node"][order], found["number"][order] = sorted_task, sorted_node, places - begin
    return found
