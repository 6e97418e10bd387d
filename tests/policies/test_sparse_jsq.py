"""Sparse feedback, one manager, step by step, worked by hand (van der Boor et al. 2019, AUJSQ)."""

from __future__ import annotations

import math

import pytest
from post_by_hand import Manager, Reminded, Sent, Started, task

from cluster_abm.policies.sparse_jsq import SparseFeedback

RULE = "lowest estimate"
INF = math.inf


def node_of(intervals: str = "exponential", *numbers: float, **more) -> Manager:
    """The manager of node 5, of ten, with two tasks; the head is node 2. Messages are 400 ms apart on average."""
    policy = SparseFeedback(update_ms=400.0, intervals=intervals)
    return Manager(policy, me=5, head=2, nodes=10, tasks_here=2, numbers=numbers, **more)


def head_of(*numbers: float, nodes: int = 4) -> Manager:
    return Manager(SparseFeedback(), nodes=nodes, numbers=numbers)


def started(number: int, node: int, home: float, there: float) -> Started:
    """A task that was started on a node; the head's estimates of its home and of the node."""
    return Started(number, node, RULE, "tasks", home, there)


# ---- at a node -----------------------------------------------------------------------------------------------------


def test_times_between_messages_are_exponential():
    """The numbers exp(-1) and exp(-0.5) are drawn: the intervals are 1 and 0.5 times the mean of 400 ms."""
    manager = node_of("exponential", math.exp(-1.0), math.exp(-0.5))
    assert manager.begins() == [Reminded(pytest.approx(400.0), "tell")]
    assert manager.hears(5, "tell") == [Sent(2, "tasks", 2), Reminded(pytest.approx(200.0), "tell")]


def test_with_fixed_times_the_first_message_comes_at_an_instant_drawn_within_the_first_interval():
    """The number 0.3 is drawn: 0.3 x 400 ms."""
    manager = node_of("fixed", 0.3)
    assert manager.begins() == [Reminded(pytest.approx(120.0), "tell")]
    assert manager.hears(5, "tell") == [Sent(2, "tasks", 2), Reminded(400.0, "tell")]


@pytest.mark.parametrize("intervals", ["exponential", "fixed"])
def test_a_node_that_is_back_sends_a_message_at_once_and_plans_the_next(intervals):
    told, planned = node_of(intervals, 0.5, now_ms=0.1).begins()
    assert told == Sent(2, "tasks", 2)
    assert planned.topic == "tell"


def test_a_new_head_gets_a_message_at_once_and_no_second_reminder_is_set():
    manager = node_of("fixed", 0.3)
    manager.begins()
    manager.head, manager.now_ms = 3, 1000.0
    assert manager.begins() == [Sent(3, "tasks", 2)]


# ---- at the head ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("drawn", "node"), [(0.01, 0), (0.33, 0), (0.34, 2), (0.66, 2), (0.67, 3), (0.99, 3)])
def test_one_of_the_nodes_of_lowest_estimate_is_drawn(drawn, node):
    """The head has heard of one task on nodes 0, 2 and 3 each, and of two on node 1."""
    head = head_of(drawn)
    for told, tasks in enumerate((1, 2, 1, 1)):
        assert head.hears(told, "tasks", tasks) == []
    assert head.arrives(task(1, home=1)) == [started(1, node, 2.0, 1.0)]


def test_each_started_task_adds_one_to_an_estimate_until_the_node_sends_its_own_number():
    """The estimates of nodes 0 and 1 are 0 at first: tasks 1 to 3 go to nodes 1, 0 and 1. Then node 1 sends 1, and node
    0 sends 3: tasks 4 and 5 go to node 1. Both have 3 then, and node 0 is drawn for task 6."""
    head = head_of(0.9, 0.9, 0.9, nodes=2)
    assert head.arrives(task(1), task(2)) == [started(1, 1, 0.0, 0.0), started(2, 0, 0.0, 0.0)]
    assert head.arrives(task(3)) == [started(3, 1, 1.0, 1.0)]
    head.hears(1, "tasks", 1)
    head.hears(0, "tasks", 3)
    head.numbers = [0.0, 0.0, 0.0]
    assert head.arrives(task(4), task(5)) == [started(4, 1, 3.0, 1.0), started(5, 1, 3.0, 2.0)]
    assert head.arrives(task(6)) == [started(6, 0, 3.0, 3.0)]


def test_a_failed_node_gets_no_task_until_it_sends_a_message():
    head = head_of(0.0, 0.0, 0.9, nodes=2)
    head.node_failed(0)
    assert head.arrives(task(1), task(2, home=1)) == [started(1, 1, INF, 0.0), started(2, 1, 1.0, 1.0)]
    head.hears(0, "tasks", 1)
    assert head.arrives(task(3)) == [started(3, 0, 1.0, 1.0)]
