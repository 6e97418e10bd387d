"""Sparse feedback, one manager, step by step, worked by hand (van der Boor et al. 2019, AUJSQ)."""

from __future__ import annotations

import math

import pytest
from post_by_hand import Manager, Reminded, Sent, Started, task

from cluster_abm.policies.sparse_jsq import SparseFeedback

RULE = "lowest estimate"
INF = math.inf


def node_of(intervals: str = "exponential", *numbers: float, **more) -> Manager:
    """The manager of node 5, of ten, with two tasks; the head is node 2, and messages are 400 ms apart in the mean."""
    policy = SparseFeedback(update_ms=400.0, intervals=intervals)
    return Manager(policy, me=5, head=2, nodes=10, tasks_here=2, numbers=numbers, **more)


def head_of(*numbers: float, nodes: int = 4) -> Manager:
    return Manager(SparseFeedback(), nodes=nodes, numbers=numbers)


def started(number: int, node: int, home: float, there: float) -> Started:
    """A task that was started on a node, with what the head estimated of its home and of the node."""
    return Started(number, node, RULE, "tasks", home, there)


# ---- at a node -----------------------------------------------------------------------------------------------------


def test_times_between_messages_are_exponential():
    """exp(-1) and exp(-0.5) were drawn: one mean and half a mean later."""
    manager = node_of("exponential", math.exp(-1.0), math.exp(-0.5))
    assert manager.begins() == [Reminded(pytest.approx(400.0), "tell")]
    assert manager.hears(5, "tell") == [Sent(2, "tasks", 2), Reminded(pytest.approx(200.0), "tell")]


def test_fixed_times_begin_at_an_instant_drawn_within_the_first_one():
    manager = node_of("fixed", 0.3)
    assert manager.begins() == [Reminded(pytest.approx(120.0), "tell")]
    assert manager.hears(5, "tell") == [Sent(2, "tasks", 2), Reminded(400.0, "tell")]


@pytest.mark.parametrize("intervals", ["exponential", "fixed"])
def test_a_node_that_is_back_tells_at_once_and_plans(intervals):
    told, planned = node_of(intervals, 0.5, now_ms=0.1).begins()
    assert told == Sent(2, "tasks", 2)
    assert planned.topic == "tell"


def test_a_new_head_is_told_at_once_and_nothing_is_planned_twice():
    manager = node_of("fixed", 0.3)
    manager.begins()
    manager.head, manager.now_ms = 3, 1000.0
    assert manager.begins() == [Sent(3, "tasks", 2)]


# ---- at the head ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("drawn", "node"), [(0.01, 0), (0.33, 0), (0.34, 2), (0.66, 2), (0.67, 3), (0.99, 3)])
def test_one_of_the_nodes_of_lowest_estimate_is_drawn(drawn, node):
    """Nodes 0, 2 and 3 have one task each, as far as is known, and node 1 has two."""
    head = head_of(drawn)
    for told, tasks in enumerate((1, 2, 1, 1)):
        assert head.hears(told, "tasks", tasks) == []
    assert head.arrives(task(1, home=1)) == [started(1, node, 2.0, 1.0)]


def test_an_estimate_is_one_more_at_each_task_until_the_node_tells():
    """Two nodes from which nothing was heard: the second, the first, the second; that has one, and the other has three,
    say both; the second, the second, and then one of both."""
    head = head_of(0.9, 0.9, 0.9, nodes=2)
    assert head.arrives(task(1), task(2)) == [started(1, 1, 0.0, 0.0), started(2, 0, 0.0, 0.0)]
    assert head.arrives(task(3)) == [started(3, 1, 1.0, 1.0)]
    head.hears(1, "tasks", 1)
    head.hears(0, "tasks", 3)
    head.numbers = [0.0, 0.0, 0.0]
    assert head.arrives(task(4), task(5)) == [started(4, 1, 3.0, 1.0), started(5, 1, 3.0, 2.0)]
    assert head.arrives(task(6)) == [started(6, 0, 3.0, 3.0)]


def test_nothing_goes_to_a_node_that_has_failed_until_it_tells():
    head = head_of(0.0, 0.0, 0.9, nodes=2)
    head.node_failed(0)
    assert head.arrives(task(1), task(2, home=1)) == [started(1, 1, INF, 0.0), started(2, 1, 1.0, 1.0)]
    head.hears(0, "tasks", 1)
    assert head.arrives(task(3)) == [started(3, 0, 1.0, 1.0)]
