"""Stealing under Hawk, one manager, message by message, worked by hand (Delgado et al. 2015, section 3.6).

Of eight nodes, 0 and 1 are kept for short tasks. The manager is that of node 4: it asks the others for work, in the
order 2, 3, 5 ... The head is node 7.
"""

from __future__ import annotations

import pytest
from post_by_hand import Manager, Sent, Started, task
from test_hawk import LEFT, NEXT, NOTHING, long, manager_of, queue_of, takes_places

STEAL = "steal"


def idle(attempts: int = 10, **more) -> Manager:
    """A node with one task, which a test ends."""
    node = manager_of(given={"steal_attempts": attempts}, **more)
    node.tasks_here = 1
    return node


def steals(*nodes: int) -> list[Sent]:
    return [Sent(node, STEAL) for node in nodes]


def stolen(*jobs: int) -> list[Sent]:
    """Node 6 gets the places of these jobs of node 0."""
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


def test_each_time_the_node_has_no_task_left_it_makes_all_its_attempts():
    """A task comes while the node asks: it gives up the other attempts, and has two again when that task ends."""
    node = idle(2)
    assert node.ended(task(1)) == steals(2)
    node.came(task(2))
    assert node.hears(2, NOTHING) == []
    assert node.ended(task(2)) == steals(2)
    assert node.hears(2, NOTHING) == steals(2)
    assert node.hears(2, NOTHING) == []


def test_a_node_that_waits_for_an_answer_asks_no_other_one():
    node = idle()
    node.ended(task(1))
    node.came(task(2))
    assert node.ended(task(2)) == []


def test_a_node_with_work_does_not_steal():
    """First another task runs. Then that task ends too, but a place stands in the queue, and its home is asked."""
    node = idle()
    node.came(task(2))
    assert node.ended(task(1)) == []
    takes_places(node, 5)
    assert node.ended(task(2)) == ready(5)


def test_a_node_does_not_steal_while_places_stand_in_its_queue():
    """The node has asked node 2; then a task has come, and a place stands behind it."""
    node = idle()
    node.ended(task(1))
    node.came(task(2))
    takes_places(node, 5)
    assert node.hears(2, NOTHING) == []
    assert node.ended(task(2)) == ready(5)


def test_a_node_that_gets_no_task_from_the_last_home_in_its_queue_steals():
    """The home has no task left, or has failed: the node has no task, and no place in its queue."""
    node = idle()
    takes_places(node, 5)
    assert node.ended(task(1)) == ready(5)
    assert node.hears(0, "none", about=5) == steals(2)
    node = idle()
    takes_places(node, 5)
    node.ended(task(1))
    node.node_failed(0)
    assert node.unanswered(0, "ready", about=5) == steals(2)


def test_a_node_with_another_place_in_its_queue_serves_that_and_does_not_steal():
    node = idle()
    takes_places(node, 5, 6)
    node.ended(task(1))
    assert node.hears(0, "none", about=5) == ready(6)
    assert node.unanswered(0, "ready", about=6) == [Sent(0, "ready", 1.0, 6)]


def test_without_another_node_in_the_general_partition_the_node_does_not_ask():
    """Node 1 is kept for short tasks, and node 4 is the own one; all others have failed. Later node 5 is back."""
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
    # The place behind the long task is stolen, not the place of the same job before it.
    ([1, 2, "L1", 1], [1], [1, 2, "L1"]),
])  # fmt: skip
def test_the_first_group_behind_a_long_task_is_given_away(queue, group, left):
    """A short task runs on the victim."""
    victim = manager_of(tasks_here=1)
    takes_places(victim, *queue)
    assert victim.hears(6, STEAL) == (stolen(*group) or [Sent(6, NOTHING)])
    assert queue_of(victim) == left


@pytest.mark.parametrize(("queue", "group", "left"), [
    ([1, 2, "L1", 3], [1, 2], ["L1", 3]), (["L1", 1, 2], [1, 2], ["L1"]), (["L1"], [], ["L1"]),
])  # fmt: skip
def test_while_a_long_task_runs_the_first_places_are_stolen(queue, group, left):
    victim = manager_of()
    victim.came(long(9))
    takes_places(victim, *queue)
    assert victim.hears(6, STEAL) == (stolen(*group) or [Sent(6, NOTHING)])
    assert queue_of(victim) == left


def test_behind_an_ended_long_task_no_place_is_stolen():
    victim = manager_of(tasks_here=1)
    victim.came(long(9))
    takes_places(victim, 1)
    assert victim.ended(long(9)) == [Sent(7, LEFT, 0.0)]
    assert victim.hears(6, STEAL) == [Sent(6, NOTHING)]


def test_the_victim_keeps_places_that_did_not_reach_the_thief_and_repeats_lost_answers():
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


def test_a_thief_that_gets_a_long_task_starts_it_and_makes_no_further_attempt():
    node = idle()
    node.ended(task(1))
    assert node.hears(7, "queue", task=long(2)) == [Started(2, 4, NEXT)]
    assert node.hears(2, NOTHING) == []
