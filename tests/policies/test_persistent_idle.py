"""Persistent-Idle, one manager, step by step, worked by hand (Atar et al. 2019, section 2)."""

from __future__ import annotations

import pytest
from post_by_hand import Manager, Sent, Started, task

from cluster_abm.policies.jiq import PersistentIdle

IDLE, LAST = "an idle node", "the node that was idle last"


def head_of(*idle: int, **more) -> Manager:
    """The head, node 0, which has heard from these nodes that they are idle."""
    manager = Manager(PersistentIdle(), nodes=10, **more)
    for node in idle:
        assert manager.hears(node, "idle") == []
    return manager


# ---- at a node -----------------------------------------------------------------------------------------------------


def test_an_idle_node_tells_the_head_once():
    manager = Manager(PersistentIdle(), me=5, head=2, nodes=10)
    assert manager.begins() == [Sent(2, "idle")]
    assert manager.ended() == []


def test_a_busy_node_tells_the_head_when_its_last_task_has_ended():
    manager = Manager(PersistentIdle(), me=5, head=2, nodes=10, tasks_here=2)
    assert manager.begins() == []
    assert manager.ended(task(1)) == []
    assert manager.ended(task(2)) == [Sent(2, "idle")]


def test_a_node_that_gets_a_task_sends_no_message():
    """The head has sent the task: it knows."""
    manager, one = Manager(PersistentIdle(), me=5, head=2, nodes=10), task(1, home=7)
    manager.begins()
    assert manager.came(one) == []
    assert manager.ended(one) == [Sent(2, "idle")]


def test_a_lost_message_is_sent_again():
    manager = Manager(PersistentIdle(), me=5, head=2, nodes=10)
    manager.begins()
    assert manager.unanswered(2, "idle") == [Sent(2, "idle")]


def test_a_lost_message_is_not_sent_again_by_a_node_that_has_got_a_task_since():
    manager = Manager(PersistentIdle(), me=5, head=2, nodes=10)
    manager.begins()
    manager.came(task(1))
    assert manager.unanswered(2, "idle") == []


@pytest.mark.parametrize("busy", [False, True])
def test_an_idle_node_tells_each_new_head(busy):
    """Node 2 is the head, then node 3 stands in for it, then node 2 is back; all managers begin each time."""
    manager = Manager(PersistentIdle(), me=5, head=2, nodes=10)
    manager.begins()
    if busy:
        manager.came(task(1))
    for head in 3, 2:
        manager.head = head
        assert manager.begins() == ([] if busy else [Sent(head, "idle")])
        assert manager.ended() == []


def test_the_loss_of_a_message_to_the_old_head_sends_none_to_the_new_one():
    """The node tells node 2, which fails; it tells node 3 as soon as node 3 stands in, and not again."""
    manager = Manager(PersistentIdle(), me=5, head=2, nodes=10)
    manager.begins()
    manager.head = 3
    assert manager.begins() == [Sent(3, "idle")]
    assert manager.unanswered(2, "idle") == []
    assert manager.node_failed(2) == []


# ---- at the head ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("drawn", "node"), [(0.01, 4), (0.33, 4), (0.34, 6), (0.66, 6), (0.67, 8), (0.99, 8)])
def test_one_of_three_idle_nodes_is_drawn(drawn, node):
    head = head_of(4, 6, 8, numbers=[drawn])
    assert head.arrives(task(1)) == [Started(1, node, IDLE)]


def test_each_idle_node_gets_one_task_and_the_last_one_all_further_tasks():
    """Of nodes 4, 6 and 8, node 8 is drawn, then 4, then 6. Later node 8 is idle again."""
    head = head_of(4, 6, 8, numbers=[0.9, 0.1, 0.9])
    assert head.arrives(task(1), task(2)) == [Started(1, 8, IDLE), Started(2, 4, IDLE)]
    assert head.arrives(task(3), task(4)) == [Started(3, 6, IDLE), Started(4, 6, LAST)]
    assert head.arrives(task(5)) == [Started(5, 6, LAST)]
    head.hears(8, "idle")
    head.numbers = [0.5]
    assert head.arrives(task(6), task(7)) == [Started(6, 8, IDLE), Started(7, 8, LAST)]


def test_if_no_node_has_been_idle_one_is_drawn_and_kept():
    head = head_of(order=[7, 3])
    assert head.arrives(task(1)) == [Started(1, 7, LAST)]
    head.order = [3]
    assert head.arrives(task(2)) == [Started(2, 7, LAST)]


def test_a_failed_node_is_neither_idle_nor_the_last():
    head = head_of(4, 6, order=[9], numbers=[0.9, 0.9])
    assert head.arrives(task(1)) == [Started(1, 6, IDLE)]
    head.node_failed(4)
    head.node_failed(3)
    assert head.arrives(task(2)) == [Started(2, 6, LAST)]
    head.node_failed(6)
    assert head.arrives(task(3)) == [Started(3, 9, LAST)]


def test_node_0_can_be_the_node_that_was_idle_last():
    head = head_of(0, order=[9], numbers=[0.5])
    assert head.arrives(task(1), task(2)) == [Started(1, 0, IDLE), Started(2, 0, LAST)]
