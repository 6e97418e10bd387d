"""The post of a load manager, alone: how it draws nodes, when it makes a new view, and which arguments it refuses."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from cluster_abm.errors import PolicyFault
from cluster_abm.model.talking.post import ManagersPost
from cluster_abm.policies import Decision

MS = 1_000_000


def post_of(*draws: float, closed: tuple[int, ...] = (), without_jobs: tuple[int, ...] = ()):
    """The post of manager 2 of five, which draws these numbers, and the list of what it has asked for."""
    done: list[tuple] = []
    views = iter(range(100))
    surroundings = SimpleNamespace(
        nodes=5, closed_to=lambda manager: set(closed), without_jobs=lambda: set(without_jobs),
        draw=lambda manager, number: draws[number - 1], view_of=lambda manager: (manager, next(views)),
    )  # fmt: skip
    actions = SimpleNamespace(
        remind=lambda message, at_ns: done.append((message.topic, message.target, at_ns)),
        send=lambda message, now_ns: done.append((message.topic, message.target, message.task, message.sent_ms)),
        start=lambda post, task, decision: done.append((task, decision.target, decision.rule)),
    )
    post = ManagersPost(surroundings=surroundings, actions=actions, held={}, me=2, policy_name="test")
    return post, done


@pytest.mark.parametrize(
    ("closed", "excluded", "draws", "count", "nodes"),
    [
        # Nodes 0 to 4 have a fifth of the numbers each.
        ((), (), [0.0], 1, [0]),
        ((), (), [0.199], 1, [0]),
        ((), (), [0.2], 1, [1]),
        ((), (), [0.999], 1, [4]),
        # Nodes 0, 2 and 4 are open: the second of three, then the second of two (0 and 4), then node 0, and no more.
        ((1,), (3,), [0.5, 0.9, 0.999], 9, [2, 4, 0]),
        # No node twice.
        ((), (), [0.0, 0.0, 0.0], 3, [0, 1, 2]),
        ((), (), [0.999, 0.999, 0.999], 3, [4, 3, 2]),
        ((0, 1, 2, 3, 4), (), [], 2, []),
    ],
)
def test_each_open_node_is_drawn_at_most_once(closed, excluded, draws, count, nodes):
    post, _ = post_of(*draws, closed=closed)
    assert post.draw_nodes(count, excluded) == nodes


@pytest.mark.parametrize(
    ("closed", "excluded", "draws", "first", "stop", "nodes"),
    [
        # Of nodes 2, 3 and 4, the first and the last.
        ((), (), [0.0, 0.999], 2, sys.maxsize, [2, 4]),
        # Nodes 1 and 3 of 1 to 3 are open; what is excluded outside does not count.
        ((2,), (0, 4), [0.5, 0.5], 1, 4, [3, 1]),
        ((), (0,), [0.999], -3, 2, [1]),
        ((), (), [], 3, 3, []),
    ],
)
def test_nodes_of_a_range_are_drawn(closed, excluded, draws, first, stop, nodes):
    post, _ = post_of(*draws, closed=closed)
    assert post.draw_nodes(2, excluded, first, stop) == nodes


def test_homes_are_drawn_among_the_nodes_that_have_jobs():
    """Node 1 is closed, nodes 0 and 4 have no jobs, and node 2 is excluded: node 3 is left."""
    post, _ = post_of(0.999, closed=(1,), without_jobs=(0, 4))
    assert post.draw_homes(2, [2]) == [3]


def test_a_new_view_is_made_at_each_instant_and_after_each_start():
    post, done = post_of()
    task = SimpleNamespace(task=7, job=3)
    post.at(10 * MS).held[7] = task
    assert (post.now_ms, post.view, post.view) == (10.0, (2, 0), (2, 0))
    post.start(task, np.int64(4), "rule", here=1.0, there=math.nan)
    assert (done, post.waiting, post.view) == ([(task, 4, "rule")], (), (2, 1))
    assert post.at(11 * MS).view == (2, 2)
    with pytest.raises(PolicyFault, match="start: task 7 does not wait at the manager of node 2"):
        post.start(task, 4, "rule")


def test_a_waiting_task_is_not_moved_to_a_node_that_is_closed():
    """Node 4 is closed; node 2, its own, is too, but stands in."""
    post, done = post_of(closed=(2, 4))
    task = SimpleNamespace(task=7, job=3)
    post.at(10 * MS).held[7] = task
    assert not post.move(task, Decision(4, "best bid"))
    assert (done, post.waiting) == ([], (task,))
    assert post.move(task, Decision(2, "stays"))
    assert (done, post.waiting) == ([(task, 2, "stays")], ())


def test_a_task_that_was_handed_over_no_longer_waits_here():
    post, done = post_of()
    task = SimpleNamespace(task=7, job=3)
    post.at(10 * MS).held[7] = task
    post.hand(task, 0, "yours")
    assert (done, post.waiting) == ([("yours", 0, task, 10.0)], ())
    with pytest.raises(PolicyFault, match="hand: task 7 does not wait"):
        post.hand(task, 0, "yours")


@pytest.mark.parametrize(("after_ms", "at_ns"), [(0, 10_000_000), (0.5, 10_500_000), (1e12, 10**18 + 10_000_000)])
def test_a_reminder_is_due_after_the_given_time(after_ms, at_ns):
    """It is set at 10 ms."""
    post, done = post_of()
    post.at(10 * MS).remind(after_ms, "now")
    assert done == [("now", 2, at_ns)]


@pytest.mark.parametrize("after_ms", [-1e-9, 1.001e12, math.nan, math.inf, True, "1"])
def test_a_reminder_after_an_impossible_time_is_refused(after_ms):
    post, _ = post_of()
    with pytest.raises(PolicyFault, match="remind: after_ms"):
        post.remind(after_ms, "now")


@pytest.mark.parametrize("node", [-1, 5, 1.0, True, "1", None])
def test_a_node_that_does_not_exist_is_refused(node):
    post, _ = post_of()
    with pytest.raises(PolicyFault, match="allowed are 0 to 4"):
        post.send(node, "hello")
