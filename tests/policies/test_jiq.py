"""JIQ, one manager, message by message, worked by hand (Lu et al. 2011, sections 2 and 3)."""

from __future__ import annotations

from collections import deque

import pytest
from post_by_hand import Manager, Sent, Started, task

from cluster_abm.policies.jiq import JoinIdleQueue

ASKS, TELLS = "how many are idle?", "so many"
FIRST, RANDOM = "first in the idle queue", "random: no node is known to be idle"


def manager_of(*drawn: int, tasks_here: int = 0) -> Manager:
    """The manager of node 0, which asks as many others how long their idle queues are."""
    return Manager(JoinIdleQueue(probes=len(drawn)), nodes=10, order=drawn, tasks_here=tasks_here)


def asks(*nodes: int) -> list[Sent]:
    return [Sent(node, ASKS) for node in nodes]


def test_by_default_it_joins_a_queue_drawn_at_random_and_asks_nobody():
    assert Manager(JoinIdleQueue(), order=[3, 1]).begins() == [Sent(3, "idle")]


def test_only_managers_to_which_jobs_come_are_joined():
    assert Manager(JoinIdleQueue(), order=[3, 1], homes=[1, 2]).begins() == [Sent(1, "idle")]


def test_it_joins_the_shortest_queue_once_all_have_answered():
    manager = manager_of(4, 5, 6)
    assert manager.begins() == asks(4, 5, 6)
    assert manager.hears(4, TELLS, 3) == []
    assert manager.hears(6, TELLS, 1) == []
    assert manager.hears(5, TELLS, 2) == [Sent(6, "idle")]
    assert manager.notes["joined"] == 6


def test_of_equal_queues_it_joins_that_of_the_first_answer():
    manager = manager_of(4, 5)
    manager.begins()
    manager.hears(5, TELLS, 2)
    assert manager.hears(4, TELLS, 2) == [Sent(5, "idle")]


@pytest.mark.parametrize("silent_last", [True, False])
def test_it_does_not_wait_for_a_manager_that_gives_no_answer(silent_last):
    manager = manager_of(4, 5, 6)
    manager.begins()
    steps = [
        lambda: manager.hears(4, TELLS, 3), lambda: manager.hears(5, TELLS, 2), lambda: manager.unanswered(6, ASKS),
    ]  # fmt: skip
    first, second, last = steps if silent_last else reversed(steps)
    assert first() == second() == []
    assert last() == [Sent(5, "idle")]


def test_where_no_manager_answers_it_draws_others():
    manager = manager_of(4, 5)
    manager.begins()
    assert manager.unanswered(4, ASKS) == []
    assert manager.unanswered(5, ASKS) == asks(4, 5)


def test_a_manager_that_was_joined_in_vain_is_left():
    manager = manager_of(4)
    assert manager.begins() == [Sent(4, "idle")]
    assert manager.unanswered(4, "idle") == [Sent(4, "idle")]


def test_a_node_that_has_joined_another_queue_since_stays_there():
    """What it said to manager 4 was lost; a task came and ended before that was known, and it joined manager 5."""
    manager, one = manager_of(4), task(1, home=7)
    manager.begins()
    manager.came(one)
    manager.order = [5]
    assert manager.ended(one) == [Sent(5, "idle")]
    assert manager.unanswered(4, "idle") == []
    assert manager.notes["joined"] == 5


def test_a_busy_node_and_one_that_has_joined_announce_nothing():
    manager = manager_of(4, tasks_here=2)
    assert manager.ended(task(1)) == []
    assert manager.ended(task(2)) == [Sent(4, "idle")]
    assert manager.ended() == []


@pytest.mark.parametrize(("home", "sent"), [(7, [Sent(4, "busy")]), (4, [])])
def test_a_node_that_gets_a_task_from_elsewhere_leaves_its_queue(home, sent):
    manager = manager_of(4)
    manager.begins()
    assert manager.came(task(1, home=home)) == sent
    assert "joined" not in manager.notes


def test_answers_that_come_after_a_task_are_no_reason_to_join():
    manager = manager_of(4, 5)
    manager.begins()
    manager.hears(4, TELLS, 1)
    assert manager.came(task(1, home=7)) == []
    assert manager.hears(5, TELLS, 0) == []
    assert manager.unanswered(5, ASKS) == []


def test_the_idle_queue_of_a_manager():
    """Nodes 3 and 8 join, 3 leaves, and leaves once more; what is asked for is the queue's length; 8 fails."""
    manager = manager_of(4)
    for node, topic, queue in (3, "idle", [3]), (8, "idle", [3, 8]), (3, "busy", [8]), (3, "busy", [8]):
        assert manager.hears(node, topic) == []
        assert manager.notes["idle"] == deque(queue)
    assert manager.hears(6, ASKS) == [Sent(6, TELLS, 1)]
    manager.node_failed(8)
    assert manager.hears(6, ASKS) == [Sent(6, TELLS, 0)]


def test_tasks_go_to_the_nodes_that_joined_first_and_then_to_random_ones():
    manager = manager_of(9)
    manager.hears(3, "idle")
    manager.hears(8, "idle")
    assert manager.arrives(task(1), task(2)) == [Started(1, 3, FIRST), Started(2, 8, FIRST)]
    manager.hears(7, "idle")
    assert manager.arrives(task(3), task(4)) == [Started(3, 7, FIRST), Started(4, 9, RANDOM)]


def test_where_the_manager_that_was_joined_fails_another_one_is_drawn():
    manager = manager_of(4)
    manager.begins()
    assert manager.node_failed(5) == []
    assert manager.node_failed(4) == [Sent(4, "idle")]
