"""Stealing under Hawk, one manager, message by message, worked by hand (Delgado et al. 2015, section 3.6).

Of eight nodes 0 and 1 are kept for short tasks: the others, in the order 2, 3, ..., are asked for work. The manager is
that of node 4, and the head is node 7.
"""

from __future__ import annotations

import pytest
from post_by_hand import Manager, Sent, Started, task
from test_hawk import LEFT, NEXT, NOTHING, long, manager_of, queue_of, takes_places

STEAL = "steal"


def idle(attempts: int = 10, **more) -> Manager:
    """A node whose only task has just ended."""
    node = manager_of(given={"steal_attempts": attempts}, **more)
    node.tasks_here = 1
    return node


def steals(*nodes: int) -> list[Sent]:
    return [Sent(node, STEAL) for node in nodes]


def stolen(*jobs: int) -> list[Sent]:
    """Places for these jobs of node 0 that are given to node 6."""
    return [Sent(6, "stolen", about=job, nodes=(0,)) for job in jobs]


def ready(job: int, home: int = 0) -> list[Sent]:
    return [Sent(home, "ready", about=job)]


# ---- the thief -----------------------------------------------------------------------------------------------------


def test_a_node_whose_last_task_has_ended_asks_one_node_after_another():
    node = idle(3)
    assert node.ended(task(1)) == steals(2)
    node.order = [0, 4, 5, 3]
    assert node.hears(2, NOTHING) == steals(5)
    assert node.unanswered(5, STEAL) == steals(5)
    assert node.hears(5, NOTHING) == []


def test_by_default_ten_nodes_are_asked():
    node = idle()
    asked = [node.ended(task(1))] + [node.hears(2, NOTHING) for _ in range(9)]
    assert asked == [steals(2)] * 10
    assert node.hears(2, NOTHING) == []


def test_each_end_of_a_last_task_is_followed_by_as_many_attempts():
    """Work comes while it asks for some: the attempts that are left are given up."""
    node = idle(2)
    assert node.ended(task(1)) == steals(2)
    node.came(task(2))
    assert node.hears(2, NOTHING) == []
    assert node.ended(task(2)) == steals(2)
    assert node.hears(2, NOTHING) == steals(2)
    assert node.hears(2, NOTHING) == []


def test_a_node_that_is_being_answered_asks_no_other_one():
    node = idle()
    node.ended(task(1))
    node.came(task(2))
    assert node.ended(task(2)) == []


def test_a_node_with_work_does_not_steal():
    """Another task runs; a place stands in its queue, for a task that is asked for."""
    node = idle()
    node.came(task(2))
    assert node.ended(task(1)) == []
    takes_places(node, 5)
    assert node.ended(task(2)) == ready(5)


def test_a_node_does_not_steal_while_places_stand_in_its_queue():
    """It has asked node 2; then a task has come, and a place stands behind it."""
    node = idle()
    node.ended(task(1))
    node.came(task(2))
    takes_places(node, 5)
    assert node.hears(2, NOTHING) == []
    assert node.ended(task(2)) == ready(5)


def test_a_node_that_is_left_without_work_by_an_answer_steals():
    """The home has no task left, or it has failed: the node has no task, and no place is left in its queue."""
    node = idle()
    takes_places(node, 5)
    assert node.ended(task(1)) == ready(5)
    assert node.hears(0, "none", about=5) == steals(2)
    node = idle()
    takes_places(node, 5)
    node.ended(task(1))
    node.node_failed(0)
    assert node.unanswered(0, "ready", about=5) == steals(2)


def test_a_node_that_has_another_place_does_not_steal_after_an_answer():
    node = idle()
    takes_places(node, 5, 6)
    node.ended(task(1))
    assert node.hears(0, "none", about=5) == ready(6)
    assert node.unanswered(0, "ready", about=6) == [Sent(0, "ready", 1.0, 6)]


def test_where_there_is_nobody_to_steal_from_it_does_not_ask():
    """Node 1 is kept for short tasks, and node 4 is its own; later there is one more."""
    node = idle(order=[1, 4])
    assert node.ended(task(1)) == []
    node.order = [4, 5]
    node.came(task(2))
    assert node.ended(task(2)) == steals(5)


def test_stolen_places_are_served_like_others_and_end_the_attempts():
    node = idle()
    node.ended(task(1))
    assert node.hears(2, "stolen", about=5, nodes=[3]) == ready(5, home=3)
    assert node.hears(2, "stolen", about=6, nodes=[1]) == []
    assert node.hears(2, NOTHING) == []
    assert node.hears(3, "none", about=5) == ready(6, home=1)
    assert node.came(task(60, job=6)) == []
    assert node.ended(task(60, job=6)) == steals(2)


# ---- the victim ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("queue", "group", "left"), [
    ([1, "L1", 2, 3, "L2", 4], [2, 3], [1, "L1", "L2", 4]),
    (["L1", 1], [1], ["L1"]),
    (["L1", "L2", 1, 2], [1, 2], ["L1", "L2"]),
    (["L1", 1, "L2", 2, "L3", 3], [1], ["L1", "L2", 2, "L3", 3]),
    ([1, 2, "L1"], [], [1, 2, "L1"]),
    ([1, 2], [], [1, 2]),
    ([], [], []),
    # A place behind the long task is taken, and not that for the same job before it.
    ([1, 2, "L1", 1], [1], [1, 2, "L1"]),
])  # fmt: skip
def test_the_first_group_behind_a_long_task_is_given_away(queue, group, left):
    """A short task runs."""
    victim = manager_of(tasks_here=1)
    takes_places(victim, *queue)
    assert victim.hears(6, STEAL) == (stolen(*group) or [Sent(6, NOTHING)])
    assert queue_of(victim) == left


@pytest.mark.parametrize(("queue", "group", "left"), [
    ([1, 2, "L1", 3], [1, 2], ["L1", 3]), (["L1", 1, 2], [1, 2], ["L1"]), (["L1"], [], ["L1"]),
])  # fmt: skip
def test_behind_a_long_task_that_runs_are_the_first_places(queue, group, left):
    victim = manager_of()
    victim.came(long(9))
    takes_places(victim, *queue)
    assert victim.hears(6, STEAL) == (stolen(*group) or [Sent(6, NOTHING)])
    assert queue_of(victim) == left


def test_a_long_task_that_has_ended_is_none_to_stand_behind():
    victim = manager_of(tasks_here=1)
    victim.came(long(9))
    takes_places(victim, 1)
    assert victim.ended(long(9)) == [Sent(7, LEFT, 0.0)]
    assert victim.hears(6, STEAL) == [Sent(6, NOTHING)]


def test_what_the_thief_did_not_hear_is_kept_or_said_again():
    victim = manager_of(tasks_here=1)
    takes_places(victim, "L1", 5)
    victim.hears(6, STEAL)
    assert victim.unanswered(6, NOTHING) == [Sent(6, NOTHING)]
    takes_places(victim, 6)
    assert victim.unanswered(6, "stolen", about=5, nodes=[0]) == []
    assert queue_of(victim) == ["L1", 6, 5]
    # Where a slot is free, the place is served at once.
    victim = manager_of()
    assert victim.unanswered(6, "stolen", about=5, nodes=[3]) == ready(5, home=3)


def test_a_thief_that_gets_a_long_task_starts_it():
    node = idle()
    node.ended(task(1))
    assert node.hears(7, "queue", task=long(2)) == [Started(2, 4, NEXT)]
    assert node.hears(2, NOTHING) == []
