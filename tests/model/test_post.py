"""The post of a load manager alone: how it draws nodes, what it looks at anew, and what it lets a policy say."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from cluster_abm.errors import PolicyFault
from cluster_abm.model.talking.post import ManagersPost

MS = 1_000_000


def post_of(*draws: float, closed: tuple[int, ...] = (), without_jobs: tuple[int, ...] = ()):
    """The post of manager 2 of five, and what it has done; its draws are these."""
    done: list[tuple] = []
    views = iter(range(100))
    conversation = SimpleNamespace(
        nodes=5, closed_to=lambda manager: set(closed), without_jobs=lambda: set(without_jobs),
        draw=lambda manager, number: draws[number - 1], view_of=lambda manager: (manager, next(views)),
        remind=lambda message, at_ns: done.append((message.topic, message.target, at_ns)),
        send=lambda message: done.append((message.topic, message.target, message.task, message.sent_ms)),
        start=lambda post, task, node, rule, index, here, there: done.append((task, node, rule)),
    )  # fmt: skip
    return ManagersPost(conversation, 2, "test"), done


@pytest.mark.parametrize(
    ("closed", "excluded", "draws", "count", "nodes"),
    [
        # Of 0 to 4 a fifth of the numbers each.
        ((), (), [0.0], 1, [0]),
        ((), (), [0.199], 1, [0]),
        ((), (), [0.2], 1, [1]),
        ((), (), [0.999], 1, [4]),
        # Of 0, 2 and 4 the second; then of 0 and 4 the second; then 0 is left. More there are not.
        ((1,), (3,), [0.5, 0.9, 0.999], 9, [2, 4, 0]),
        # None twice, whichever comes first.
        ((), (), [0.0, 0.0, 0.0], 3, [0, 1, 2]),
        ((), (), [0.999, 0.999, 0.999], 3, [4, 3, 2]),
        ((0, 1, 2, 3, 4), (), [], 2, []),
    ],
)
def test_nodes_are_drawn_among_those_that_are_open_each_once(closed, excluded, draws, count, nodes):
    post, _ = post_of(*draws, closed=closed)
    assert post.draw_nodes(count, excluded) == nodes


def test_homes_are_drawn_among_the_nodes_that_have_jobs():
    """Of 0 to 4, 1 takes no task, 0 and 4 have no jobs, and 2 is excluded: 3 is left."""
    post, _ = post_of(0.999, closed=(1,), without_jobs=(0, 4))
    assert post.draw_homes(2, [2]) == [3]


def test_a_view_is_asked_for_once_an_instant_and_again_once_a_task_has_started():
    post, done = post_of()
    task = SimpleNamespace(task=7, job=3)
    post.at(10 * MS).held[7] = task
    assert (post.now_ms, post.view, post.view) == (10.0, (2, 0), (2, 0))
    post.start(task, np.int64(4), "rule", here=1.0, there=math.nan)
    assert (done, post.waiting, post.view) == ([(task, 4, "rule")], (), (2, 1))
    assert post.at(11 * MS).view == (2, 2)
    with pytest.raises(PolicyFault, match="start: task 7 does not wait at the manager of node 2"):
        post.start(task, 4, "rule")


def test_a_task_that_is_handed_over_waits_here_no_more():
    post, done = post_of()
    task = SimpleNamespace(task=7, job=3)
    post.at(10 * MS).held[7] = task
    post.hand(task, 0, "yours")
    assert (done, post.waiting) == ([("yours", 0, task, 10.0)], ())
    with pytest.raises(PolicyFault, match="hand: task 7 does not wait"):
        post.hand(task, 0, "yours")


@pytest.mark.parametrize("after_ms", [0, 0.5, 1e12])
def test_a_reminder_comes_so_long_after_now(after_ms):
    post, done = post_of()
    post.at(10 * MS).remind(after_ms, "now")
    assert done == [("now", 2, round((10 + after_ms) * MS))]


@pytest.mark.parametrize("after_ms", [-1e-9, 1.001e12, math.nan, math.inf, True, "1"])
def test_a_reminder_of_no_time_is_refused(after_ms):
    post, _ = post_of()
    with pytest.raises(PolicyFault, match="remind: after_ms"):
        post.remind(after_ms, "now")


@pytest.mark.parametrize("node", [-1, 5, 1.0, True, "1", None])
def test_a_node_that_there_is_not_is_refused(node):
    post, _ = post_of()
    with pytest.raises(PolicyFault, match="allowed are 0 to 4"):
        post.send(node, "hello")
