"""Eagle, one manager, message by message, worked by hand (Delgado et al. 2016, sections 3 and 4).

Of eight nodes 0 and 1 are kept for short tasks; a task of more than 150 ms is long. The head is node 7.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import test_hawk
from post_by_hand import Handed, Manager, Sent, Started, task
from test_hawk import LEFT, long

from cluster_abm.policies.eagle import Eagle
from cluster_abm.policies.hawk import LongTask

REFUSED, ON, OVER = "refused", "long tasks are on", "a long task has ended"
BOUND = "late binding: a slot is free"


class ManagerOfLists(Manager):
    """A message keeps a copy of its nodes, as in the model: Eagle gives a queue, and changes it later."""

    def send(self, node: int, topic: str, value: float = 0.0, about: int = -1, nodes: Iterable[int] = (),
             note: tuple[Any, ...] = ()) -> None:  # fmt: skip
        super().send(node, topic, value, about, tuple(nodes), note)


def manager_of(me: int = 4, *, probe_ratio: float = 1.0, **more) -> Manager:
    return test_hawk.manager_of(me, policy=Eagle, given={"probe_ratio": probe_ratio}, kind=ManagerOfLists, **more)


def probe(node: Manager, job: int, tried: float = 0.0, home: int = 3) -> list:
    """A probe of a job comes from its home."""
    return node.hears(home, "probe", tried, job, [home])


def probes(job: int, *nodes: int, tried: float = 0.0, home: int = 4) -> list[Sent]:
    return [Sent(node, "probe", tried, job, (home,)) for node in nodes]


def told(nodes: list[int], on: tuple[int, ...]) -> list[Sent]:
    return [Sent(node, ON, nodes=on) for node in nodes]


# ---- a node with a long task ---------------------------------------------------------------------------------------


def test_a_node_with_a_long_task_refuses_a_probe_and_says_where_long_tasks_are():
    """Until the head sends the list, it knows of its own long task only."""
    node = manager_of()
    node.came(long(1))
    assert probe(node, 5) == [Sent(3, REFUSED, 0.0, 5, (4,))]
    assert node.hears(7, ON, nodes=[2, 4, 6]) == []
    assert probe(node, 5, tried=1.0) == [Sent(3, REFUSED, 1.0, 5, (2, 4, 6))]


def test_a_probe_that_was_refused_twice_is_not_refused_again():
    node = manager_of()
    node.came(long(1))
    assert probe(node, 5, tried=2.0) == []
    assert node.ended(long(1)) == [Sent(7, OVER, about=1), Sent(7, LEFT, 0.0), Sent(3, "ready", about=5)]


def test_a_node_where_a_long_task_waits_refuses_too():
    """A short task runs; a short job's place and a long task stand in the queue."""
    node = manager_of(tasks_here=1)
    assert probe(node, 5) == []
    assert node.hears(7, "queue", task=long(1)) == []
    assert probe(node, 6) == [Sent(3, REFUSED, 0.0, 6, (4,))]


def test_a_node_without_a_long_task_refuses_no_probe():
    node = manager_of(tasks_here=1)
    node.came(task(9))
    assert probe(node, 5, home=0) == probe(node, 6, home=0) == probe(node, 8) == []
    node = manager_of()
    node.came(long(1))
    node.ended(long(1))
    assert probe(node, 5) == [Sent(3, "ready", about=5)]


def test_lost_refusals_and_messages_to_the_head_are_sent_again():
    node = manager_of()
    assert node.unanswered(3, REFUSED, 1.0, 5, [2, 4]) == [Sent(3, REFUSED, 1.0, 5, (2, 4))]
    assert node.unanswered(7, OVER, about=1) == [Sent(7, OVER, about=1)]
    assert node.unanswered(7, LEFT) == [Sent(7, LEFT, 0.0)]


# ---- the home of a job that is refused -----------------------------------------------------------------------------


def test_after_one_refusal_a_node_without_long_tasks_is_probed_and_after_two_one_kept_for_short_tasks():
    """Nodes are drawn in the order 6, 2, 5, 3, 1, 0; the first refusal says that long tasks are on 2, 5 and 6."""
    home = manager_of(order=[6, 2, 5, 3, 1, 0])
    assert home.arrives(task(1)) == probes(1, 6)
    assert home.hears(6, REFUSED, 0.0, 1, [2, 5, 6]) == probes(1, 3, tried=1.0)
    assert home.hears(3, REFUSED, 1.0, 1, [2, 3]) == probes(1, 1, tried=2.0)
    assert home.hears(1, "ready", about=1) == [Started(1, 1, BOUND)]


def test_a_refusal_of_a_place_that_the_job_does_not_have_changes_nothing():
    home = manager_of(order=[6, 5])
    home.arrives(task(1))
    assert home.hears(2, REFUSED, 0.0, 1, [2]) == []
    assert home.hears(6, REFUSED, 0.0, 9, [6]) == []
    assert home.hears(6, REFUSED, 0.0, 1, [6]) == probes(1, 5, tried=1.0)
    assert home.hears(6, REFUSED, 0.0, 1, [6]) == []


def test_a_refusal_after_the_last_task_has_started_changes_nothing():
    home = manager_of(probe_ratio=2.0, order=[6, 5])
    home.arrives(task(1))
    home.hears(6, "ready", about=1)
    assert home.hears(5, REFUSED, 0.0, 1, [5]) == []


def test_the_job_has_its_place_at_the_node_that_was_probed_after_a_refusal():
    """Node 6 refuses, and node 5 is probed. The failure of node 6 changes nothing; that of node 5 costs the place."""
    home = manager_of(order=[6, 5, 3])
    home.arrives(task(1))
    home.hears(6, REFUSED, 0.0, 1, [6])
    assert home.node_failed(6) == []
    home.order = [3]
    assert home.node_failed(5) == probes(1, 3)


@pytest.mark.parametrize(("order", "on", "node"), [([6, 5], [5, 6], 5), ([6], [5, 6], 6)])
def test_if_all_nodes_have_long_tasks_any_other_one_is_probed_or_else_the_same(order, on, node):
    home = manager_of(order=order)
    home.arrives(task(1))
    assert home.hears(6, REFUSED, 0.0, 1, on) == probes(1, node, tried=1.0)


def test_in_a_cluster_of_one_node_the_probe_goes_to_it_again():
    """No node is kept for short tasks in this cluster."""
    home = manager_of(0, nodes=1)
    home.arrives(task(1))
    for tried in 0.0, 1.0:
        assert home.hears(0, REFUSED, tried, 1, [0]) == probes(1, 0, tried=tried + 1.0, home=0)


def test_a_lost_probe_goes_to_another_node():
    home = manager_of(order=[6, 5])
    home.arrives(task(1))
    assert home.unanswered(6, "probe", 0.0, 1, [4]) == probes(1, 5)


# ---- a node on which a task has ended ------------------------------------------------------------------------------


def test_a_free_node_asks_for_another_task_of_the_same_job_before_it_serves_its_queue():
    node = manager_of()
    node.came(task(11, job=1, home=2))
    assert probe(node, 5) == []
    assert node.ended(task(11, job=1)) == [Sent(2, "ready", about=1)]
    node.came(task(12, job=1, home=2))
    assert node.ended(task(12, job=1)) == [Sent(2, "ready", about=1)]
    assert node.hears(2, "none", about=1) == [Sent(3, "ready", about=5)]


def test_a_node_asks_for_one_task_per_open_slot():
    """Two tasks have ended on a node of two slots; a task that was recovered there fills one slot."""
    node = manager_of(cores=2)
    one, two = task(11, job=1, home=2), task(21, job=2, home=0)
    node.came(one)
    node.came(two)
    node.tasks_here = 3
    assert node.ended(one, two) == [Sent(2, "ready", about=1)]
    assert node.hears(2, "none", about=1) == []


def test_the_home_of_an_ended_task_can_be_node_0():
    node = manager_of()
    node.came(task(11, job=1, home=0))
    assert node.ended(task(11, job=1)) == [Sent(0, "ready", about=1)]


def test_after_the_end_of_a_recovered_task_no_home_is_asked():
    """The node knows the homes of the tasks that came, and a recovered task did not."""
    assert manager_of(tasks_here=1).ended(task(11, job=1, home=2)) == []


def test_after_a_long_task_the_node_tells_the_head_and_asks_no_home():
    node = manager_of(cores=2)
    for number in 3, 1:
        node.came(long(number, job=9, home=2))
    assert node.ended(long(3), long(1)) == [Sent(7, OVER, about=1), Sent(7, OVER, about=3), Sent(7, LEFT, 0.0)]


def test_a_node_does_not_steal():
    node = manager_of()
    node.came(task(1, home=2))
    node.ended(task(1))
    assert node.hears(2, "none", about=1) == []


# ---- the head ------------------------------------------------------------------------------------------------------


def queued(number: int, node: int) -> Handed:
    return Handed(number, node, "queue")


def test_the_head_sends_each_change_of_the_list_to_all_nodes_with_long_tasks():
    head = manager_of(7)
    assert head.hears(3, "place", task=long(1)) == [queued(1, 2), *told([2], (2,))]
    assert head.arrives(long(2)) == [queued(2, 3), *told([2, 3], (2, 3))]
    assert head.hears(2, OVER, about=1) == told([3], (3,))
    assert head.hears(2, OVER, about=1) == []
    # Long tasks go to nodes 4 to 7, and then to node 2 again.
    for number, node in (3, 4), (4, 5), (5, 6), (6, 7):
        on = tuple(range(3, node + 1))
        assert head.arrives(long(number)) == [queued(number, node), *told(list(on), on)]
    head.hears(2, LEFT, 0.0)
    assert head.arrives(long(7)) == [queued(7, 2), *told([2, 3, 4, 5, 6, 7], (2, 3, 4, 5, 6, 7))]


def test_a_node_with_several_long_tasks_is_in_the_list_once_and_until_all_have_ended():
    head = manager_of(7, nodes=2)
    assert head.arrives(long(1), long(2)) == [queued(1, 1), *told([1], (1,)), queued(2, 1)]
    assert list(head.notes.long_tasks) == [LongTask(1, 1), LongTask(2, 1)]
    assert head.hears(1, OVER, about=1) == []
    assert head.hears(1, OVER, about=2) == []
    assert list(head.notes.long_tasks) == []


def test_a_failed_node_leaves_the_list_and_gets_it_anew_with_its_next_long_task():
    """The failed manager has forgotten the list, so it gets it again even if the list is the same."""
    head = manager_of(7)
    head.arrives(long(1), long(2))
    assert head.node_failed(2) == told([3], (3,))
    assert head.node_failed(4) == []
    head.hears(2, LEFT, 0.0)
    head.hears(3, OVER, about=2)
    head.hears(3, LEFT, 1e6)
    for node in 4, 5, 6, 7:
        head.hears(node, LEFT, 1e6)
    assert head.arrives(long(3)) == [queued(3, 2), *told([2], (2,))]


def test_a_long_task_that_is_placed_anew_moves_in_the_list_too():
    head = manager_of(7)
    head.arrives(long(1))
    assert head.unanswered(2, "queue", task=long(1)) == [queued(1, 3), *told([3], (3,))]


def test_a_long_task_that_was_asked_for_belongs_to_a_short_job_and_its_end_asks_for_the_next():
    node, one = manager_of(), long(11, job=1, home=2)
    assert probe(node, 1, home=2) == [Sent(2, "ready", 0.0, 1)]
    node.came(one)
    node.tasks_here = 0
    assert node.ended(one) == [Sent(2, "ready", 0.0, 1)]
