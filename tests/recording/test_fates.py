"""What decisions were about and what came of them, worked by hand."""

from __future__ import annotations

import numpy as np
from journals import departure, end, ends

from cluster_abm.engine.tables import LOST_NODE, MIGRATES, NEVER, RESTARTS, RETURNS, STARTS
from cluster_abm.recording.departures import departures_of
from cluster_abm.recording.fates import KINDS, fates_of


def fates(journal, tasks, *decisions):
    """(kind, leaves, enters) of decisions (task, source, target, time, accepted)."""
    departures = departures_of(np.concatenate(journal), tasks)
    kinds = ("i8", "i4", "i4", "i8", "?")
    columns = [np.array(column, kind) for column, kind in zip(zip(*decisions, strict=True), kinds, strict=True)]
    found = fates_of(*columns, departures, tasks)
    return [
        (KINDS[kind], int(leaves), int(enters))
        for kind, leaves, enters in zip(found.kind, found.leaves_ns, found.enters_ns, strict=True)
    ]


def test_a_task_is_refused_starts_elsewhere_is_refused_again_and_migrates():
    """It starts on node 2 at 0, is there from 10 on, and leaves at 40 for node 3, where it comes to at 55."""
    journal = [departure(STARTS, 1, 0, 10, 0, 2), departure(MIGRATES, 1, 40, 55, 2, 3)]
    decisions = [(1, 0, 1, 0, 0), (1, 0, 2, 0, 1), (1, 2, 2, 20, 0), (1, 2, 1, 30, 0), (1, 2, 3, 40, 1)]
    assert fates(journal, ends(end(1, 90)), *decisions) == [
        ("starts", -1, -1), ("starts", 0, 10), ("stays", -1, -1), ("migrates", -1, -1), ("migrates", 40, 55),
    ]  # fmt: skip


def test_the_second_move_to_a_node_is_of_the_second_decision():
    journal = [
        departure(STARTS, 1, 0, 0, 0, 0), departure(MIGRATES, 1, 10, 12, 0, 1),
        departure(MIGRATES, 1, 20, 22, 1, 0), departure(MIGRATES, 1, 30, 32, 0, 1),
    ]  # fmt: skip
    decisions = [(1, 0, 1, 10, 1), (1, 1, 0, 20, 1), (1, 0, 0, 25, 1), (1, 0, 1, 30, 1)]
    assert [one[1] for one in fates(journal, ends(end(1, 90)), *decisions)] == [10, 20, -1, 30]


def test_a_failed_transfer_has_left_and_never_entered():
    journal = [
        departure(STARTS, 1, 0, 0, 0, 0), departure(MIGRATES, 1, 40, 90, 0, 2), departure(RETURNS, 1, 60, 65, 2, 0)
    ]  # fmt: skip
    assert fates(journal, ends(end(1, 100)), (1, 0, 2, 40, 1)) == [("migrates", 40, -1)]


def test_a_way_without_a_decision_is_of_none():
    """It was sent to node 3 once; after node 3 has failed and is up again its task goes on there."""
    journal = [
        departure(STARTS, 1, 0, 10, 0, 3), departure(LOST_NODE, 1, 50, NEVER, 3, 3),
        departure(RESTARTS, 1, 70, 80, 3, 3),
    ]  # fmt: skip
    assert fates(journal, ends(end(1, 100)), (1, 0, 3, 0, 1), (1, 0, 2, 60, 0))[0] == ("starts", 0, 10)


def test_a_task_that_lost_its_node_recovers():
    journal = [departure(STARTS, 1, 0, 0, 0, 0), departure(RESTARTS, 1, 70, 80, 0, 3)]
    assert fates(journal, ends(end(1, 100)), (1, 0, 3, 70, 1)) == [("recovers", 70, 80)]


def test_a_task_on_its_way_at_the_end_has_not_entered():
    assert fates([departure(STARTS, 1, 90, 110, 0, 1)], ends(end(1, 100, True)), (1, 0, 1, 90, 1)) == [
        ("starts", 90, -1)
    ]
