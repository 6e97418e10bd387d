"""JIQ, one manager, message by message, worked by hand (Lu et al. 2011, sections 2 and 3)."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace

import pytest

from cluster_abm.policies.jiq import JoinIdleQueue
from cluster_abm.policies.talking import Message

ASKS, TELLS = "how many are idle?", "so many"


class Manager:
    """The manager of an idle node 0 that asks three others how long their idle queues are."""

    def __init__(self, *drawn: int, tasks_here: int = 0) -> None:
        self.sent: list[tuple[int, str]] = []
        self.post = SimpleNamespace(
            me=0, notes={}, tasks_here=tasks_here, draw_homes=lambda count: list(drawn)[:count],
            send=lambda node, topic, value=0.0: self.sent.append((node, topic)),
        )  # fmt: skip
        self.policy = JoinIdleQueue(probes=len(drawn))

    def new(self) -> list[tuple[int, str]]:
        """What was sent since the last look."""
        found, self.sent = self.sent, []
        return found

    def tells(self, node: int, length: int) -> None:
        self.policy.hears(Message(node, 0, TELLS, float(length)), self.post)

    def gives_no_answer(self, node: int) -> None:
        self.policy.unanswered(Message(0, node, ASKS), self.post)


def test_it_joins_the_shortest_queue_once_all_have_answered():
    manager = Manager(4, 5, 6)
    manager.policy.begins(manager.post)
    assert manager.new() == [(4, ASKS), (5, ASKS), (6, ASKS)]
    manager.tells(4, 3)
    manager.tells(6, 1)
    assert manager.new() == []
    manager.tells(5, 2)
    assert manager.new() == [(6, "idle")]
    assert manager.post.notes["joined"] == 6


def test_of_equal_queues_it_joins_that_of_the_first_answer():
    manager = Manager(4, 5)
    manager.policy.begins(manager.post)
    manager.tells(5, 2)
    manager.tells(4, 2)
    assert manager.new()[2:] == [(5, "idle")]


@pytest.mark.parametrize("silent_last", [True, False])
def test_it_does_not_wait_for_a_manager_that_gives_no_answer(silent_last):
    manager = Manager(4, 5, 6)
    manager.policy.begins(manager.post)
    manager.new()
    steps = [lambda: manager.tells(4, 3), lambda: manager.tells(5, 2), lambda: manager.gives_no_answer(6)]
    for step in steps if silent_last else reversed(steps):
        assert manager.new() == []
        step()
    assert manager.new() == [(5, "idle")]


def test_where_no_manager_answers_it_draws_others():
    manager = Manager(4, 5)
    manager.policy.begins(manager.post)
    assert manager.new() == [(4, ASKS), (5, ASKS)]
    manager.gives_no_answer(4)
    assert manager.new() == []
    manager.gives_no_answer(5)
    assert manager.new() == [(4, ASKS), (5, ASKS)]


def test_a_manager_that_was_joined_in_vain_is_left():
    manager = Manager(4)
    manager.policy.begins(manager.post)
    assert manager.new() == [(4, "idle")]
    manager.policy.unanswered(Message(0, 4, "idle"), manager.post)
    assert manager.new() == [(4, "idle")]


def test_a_busy_node_and_one_that_has_joined_announce_nothing():
    manager = Manager(4, tasks_here=1)
    manager.policy.ended([], manager.post)
    assert manager.new() == []
    manager.post.tasks_here = 0
    manager.policy.ended([], manager.post)
    manager.policy.ended([], manager.post)
    assert manager.new() == [(4, "idle")]


def test_a_node_that_gets_a_task_from_elsewhere_leaves_its_queue():
    for home, sent in (7, [(4, "busy")]), (4, []):
        manager = Manager(4)
        manager.policy.begins(manager.post)
        manager.new()
        manager.policy.came(SimpleNamespace(home=home), manager.post)
        assert manager.new() == sent
        assert "joined" not in manager.post.notes


def test_answers_that_come_after_a_task_are_no_reason_to_join():
    manager = Manager(4, 5)
    manager.policy.begins(manager.post)
    manager.new()
    manager.tells(4, 1)
    manager.policy.came(SimpleNamespace(home=7), manager.post)
    manager.tells(5, 0)
    manager.gives_no_answer(5)
    assert manager.new() == []


def test_the_idle_queue_of_a_manager():
    """Nodes 3 and 8 join, 3 leaves, and leaves once more; 8 fails; what is asked for is the queue's length."""
    manager = Manager(4)
    for node, topic, queue in (3, "idle", [3]), (8, "idle", [3, 8]), (3, "busy", [8]), (3, "busy", [8]):
        manager.policy.hears(Message(node, 0, topic), manager.post)
        assert manager.post.notes["idle"] == deque(queue)
    manager.policy.hears(Message(6, 0, ASKS), manager.post)
    assert manager.new() == [(6, TELLS)]
    manager.policy.node_failed(8, manager.post)
    assert not manager.post.notes["idle"]


def test_where_the_manager_that_was_joined_fails_another_one_is_drawn():
    manager = Manager(4)
    manager.policy.begins(manager.post)
    manager.new()
    manager.policy.node_failed(5, manager.post)
    assert manager.new() == []
    manager.policy.node_failed(4, manager.post)
    assert manager.new() == [(4, "idle")]
