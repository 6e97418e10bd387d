"""JIQ, one manager, message by message, worked by hand (Lu et al. 2011, sections 2 and 3)."""

from __future__ import annotations

from collections import deque

import pytest
from post_by_hand import Manager, Sent, Started, task

from cluster_abm.policies.jiq import NOBODY, JoinIdleQueue

ASKS, TELLS = "how many are idle?", "so many"
FIRST, RANDOM = "first in the idle queue", "random: no node is known to be idle"


def manager_of(*drawn: int, tasks_here: int = 0) -> Manager:
    """The manager of node 0; it draws these nodes, and asks all of them for the length of their idle queue."""
    return Manager(JoinIdleQueue(probes=len(drawn)), nodes=10, order=drawn, tasks_here=tasks_here)


def asks(*nodes: int) -> list[Sent]:
    return [Sent(node, ASKS) for node in nodes]


def test_by_default_an_idle_node_joins_the_queue_of_a_drawn_manager_and_asks_none():
    assert Manager(JoinIdleQueue(), order=[3, 1]).begins() == [Sent(3, "idle")]


def test_an_idle_node_joins_only_the_queue_of_a_dispatcher():
    assert Manager(JoinIdleQueue(), order=[3, 1], homes=[1, 2]).begins() == [Sent(1, "idle")]


def test_an_idle_node_joins_the_shortest_queue_when_all_managers_have_answered():
    manager = manager_of(4, 5, 6)
    assert manager.begins() == asks(4, 5, 6)
    assert manager.hears(4, TELLS, 3) == []
    assert manager.hears(6, TELLS, 1) == []
    assert manager.hears(5, TELLS, 2) == [Sent(6, "idle")]
    assert manager.notes.joined == 6


def test_of_equal_queues_an_idle_node_joins_that_of_the_first_answer():
    manager = manager_of(4, 5)
    manager.begins()
    manager.hears(5, TELLS, 2)
    assert manager.hears(4, TELLS, 2) == [Sent(5, "idle")]


@pytest.mark.parametrize("silent_last", [True, False])
def test_an_idle_node_does_not_wait_for_a_silent_manager(silent_last):
    manager = manager_of(4, 5, 6)
    manager.begins()
    steps = [
        lambda: manager.hears(4, TELLS, 3), lambda: manager.hears(5, TELLS, 2), lambda: manager.unanswered(6, ASKS),
    ]  # fmt: skip
    first, second, last = steps if silent_last else reversed(steps)
    assert first() == second() == []
    assert last() == [Sent(5, "idle")]


def test_if_no_manager_answers_the_node_draws_again():
    manager = manager_of(4, 5)
    manager.begins()
    assert manager.unanswered(4, ASKS) == []
    assert manager.unanswered(5, ASKS) == asks(4, 5)


def test_after_a_lost_announcement_the_node_joins_a_queue_again():
    manager = manager_of(4)
    assert manager.begins() == [Sent(4, "idle")]
    assert manager.unanswered(4, "idle") == [Sent(4, "idle")]


def test_after_a_lost_announcement_the_node_stays_in_a_queue_that_it_has_joined_since():
    """Its message to manager 4 is lost. Before the timeout a task comes and ends, and the node joins manager 5."""
    manager, one = manager_of(4), task(1, home=7)
    manager.begins()
    manager.came(one)
    manager.order = [5]
    assert manager.ended(one) == [Sent(5, "idle")]
    assert manager.unanswered(4, "idle") == []
    assert manager.notes.joined == 5


def test_a_node_that_is_busy_or_in_a_queue_announces_nothing():
    manager = manager_of(4, tasks_here=2)
    assert manager.ended(task(1)) == []
    assert manager.ended(task(2)) == [Sent(4, "idle")]
    assert manager.ended() == []


@pytest.mark.parametrize(("home", "sent"), [(7, [Sent(4, "busy")]), (4, [])])
def test_a_node_that_gets_a_task_tells_the_manager_of_its_queue_unless_that_sent_it(home, sent):
    """The node is in the queue of manager 4."""
    manager = manager_of(4)
    manager.begins()
    assert manager.came(task(1, home=home)) == sent
    assert manager.notes.joined == NOBODY


def test_a_node_that_has_got_a_task_ignores_late_answers():
    manager = manager_of(4, 5)
    manager.begins()
    manager.hears(4, TELLS, 1)
    assert manager.came(task(1, home=7)) == []
    assert manager.hears(5, TELLS, 0) == []
    assert manager.unanswered(5, ASKS) == []


def test_the_idle_queue_of_a_manager_and_its_length():
    """Nodes 3 and 8 join; node 3 leaves twice, the second time without effect; node 8 fails."""
    manager = manager_of(4)
    for node, topic, queue in (3, "idle", [3]), (8, "idle", [3, 8]), (3, "busy", [8]), (3, "busy", [8]):
        assert manager.hears(node, topic) == []
        assert manager.notes.idle == deque(queue)
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


def test_if_the_manager_of_its_queue_fails_the_node_draws_another_one():
    manager = manager_of(4)
    manager.begins()
    assert manager.node_failed(5) == []
    assert manager.node_failed(4) == [Sent(4, "idle")]
