"""Prequal, step by step, worked by hand (Wydrowski et al. 2024, section 4)."""

from __future__ import annotations

import math

import pytest
from post_by_hand import Manager, Sent, Started, task
from support import finished

from cluster_abm.policies.prequal import CameWith, Prequal, Probed


def holder_of(*answers: tuple[int, float, float]) -> Manager:
    """A manager that holds answers, (node, in flight, latency), one ms apart. That of node n is at place n."""
    manager = Manager(Prequal(), nodes=100)
    manager.notes.pool.extend(Probed(*answer, float(place), 1) for place, answer in enumerate(answers))
    assert nodes_in_pool(manager) == list(range(len(answers)))
    return manager


def test_of_the_cold_ones_the_least_latency_wins():
    """Threshold 4: node 2 is hot though it is the fastest."""
    here = holder_of((0, 1.0, 80.0), (1, 4.0, 50.0), (2, 5.0, 1.0))
    assert Prequal().best(4.0, here) == 1
    assert Prequal().worst(4.0, here) == 2


def test_if_all_are_hot_the_fewest_in_flight_win():
    here = holder_of((0, 9.0, 1.0), (1, 7.0, 90.0), (2, 8.0, 5.0))
    assert Prequal().best(4.0, here) == 1
    assert Prequal().worst(4.0, here) == 0


def test_without_a_hot_one_the_slowest_is_the_worst():
    assert Prequal().worst(4.0, holder_of((0, 1.0, 80.0), (1, 2.0, 50.0))) == 0


@pytest.mark.parametrize(("nodes", "uses"), [(100, 2), (32, 4), (16, 1)])
def test_reuse_by_the_papers_equation_1(nodes, uses):
    """2 / ((1 - 16/n) 3 - 1): n = 100: 2/1.52 = 1.32, up to 2; n = 32: 2/0.5 = 4; n = 16: negative, so 1."""
    assert Prequal().reuse(nodes) == uses


def test_an_answer_is_used_once_at_least():
    """2 / ((1 - 16/100) 4 - 1) = 0.85, up to 1."""
    assert Prequal(probes=4).reuse(100) == 1


def test_the_threshold_is_the_quantile_of_what_was_seen():
    """Of 1..100 the 0.84 quantile is 84."""
    here = Manager(Prequal(), nodes=100)
    here.notes.seen.extend(float(count) for count in range(100, 0, -1))
    assert Prequal().threshold(here) == 84.0


def test_answers_that_are_too_old_are_dropped_and_the_oldest_and_the_worst_by_turns():
    here = holder_of((0, 1.0, 10.0), (1, 1.0, 20.0), (2, 9.0, 5.0), (3, 1.0, 30.0))
    here.notes.seen.extend([1.0] * 10)
    here.now_ms = 1000.5
    here.policy.drop_old(here)
    assert nodes_in_pool(here) == [1, 2, 3]
    here.policy.remove(here)
    assert nodes_in_pool(here) == [2, 3]
    here.policy.remove(here)
    assert nodes_in_pool(here) == [3]


def test_a_node_tells_the_median_latency_at_its_present_number_of_tasks():
    """Tasks that came with 1, 1, 1, 3 in flight took 10, 30, 20, 500 ms; with 2 now, 3 is nearest to 2 + 1; with none,
    1 is nearest to 0 + 1."""
    node = Manager(Prequal(), tasks_here=4)
    node.notes.on_node.extend([CameWith(1, 1), CameWith(2, 1), CameWith(3, 1), CameWith(4, 3)])
    for number, here_ms in (1, 10.0), (2, 30.0), (3, 20.0), (4, 500.0):
        node.ended(task(number), here_ms=here_ms)
    assert node.hears(7, "probe") == [Sent(7, "answer", 20.0, 0)]
    node.tasks_here = 2
    assert node.hears(7, "probe") == [Sent(7, "answer", 500.0, 2)]


# ---- a manager to which tasks come ---------------------------------------------------------------------------------

COLD, HOT, RANDOM = "the cold one of least latency", "all are hot: fewest in flight", "random: the pool is too small"


def manager_of(*answers: tuple[int, int, float], **given) -> Manager:
    """The manager of node 0 of 100; it draws nodes 7, 8, ..., and has got answers: (node, in flight, latency)."""
    manager = Manager(Prequal(**given), nodes=100, order=range(7, 100))
    for node, in_flight, latency_ms in answers:
        assert manager.hears(node, "answer", latency_ms, about=in_flight) == []
    return manager


def nodes_in_pool(manager: Manager) -> list[int]:
    return [one.node for one in manager.notes.pool]


def probes(count: int) -> list[Sent]:
    return [Sent(node, "probe") for node in range(7, 7 + count)]


def starts(manager: Manager, *numbers: int) -> list[tuple[int, str]]:
    """Tasks arrive together: node and rule of each start."""
    done = manager.arrives(*(task(number) for number in numbers))
    return [(one.node, one.rule) for one in done if isinstance(one, Started)]


def test_the_parameters_are_those_published():
    """Three probes a task, 16 answers, the quantile 0.84; one answer is removed a task; two are needed."""
    given = Prequal().parameters
    assert (given.probes, given.pool, given.hot_quantile, given.removed, given.fewest) == (3, 16, 0.84, 1, 2)


def test_with_one_answer_in_the_pool_the_node_is_drawn_and_the_task_probes_three():
    manager = manager_of((1, 0, 10.0))
    assert manager.arrives(task(1)) == [Started(1, 7, RANDOM), *probes(3)]


def test_each_task_that_arrives_is_placed_and_probes_and_drops_an_answer():
    """The threshold is nine tasks, the most of all answers, so no answer is hot. Node 2, the fastest, gets both tasks:
    its answer is used twice, as often as it may. The first task drops the oldest answer, of node 1; the second one the
    worst, of node 4, the slowest."""
    manager = manager_of((1, 0, 30.0), (2, 0, 10.0), (3, 0, 20.0), (4, 0, 90.0), (5, 9, 40.0), hot_quantile=1.0)
    assert manager.arrives(task(1), task(2)) == [Started(1, 2, COLD), *probes(3), Started(2, 2, COLD), *probes(3)]
    assert nodes_in_pool(manager) == [3, 5]


def test_a_started_task_counts_as_in_flight():
    """The threshold is 0 tasks. Nodes 2, 3 and 1, in the order of their latency, get a task each, and are hot then; the
    next task goes to the oldest answer of equal ones, of node 1."""
    manager = manager_of((1, 0, 30.0), (2, 0, 10.0), (3, 0, 20.0), probes=1, removed=0)
    assert starts(manager, 1, 2, 3) == [(2, COLD), (3, COLD), (1, COLD)]
    assert manager.arrives(task(4)) == [Started(4, 1, HOT, "tasks", there=1.0), *probes(1)]


def test_an_answer_is_used_as_often_as_equation_1_says():
    """2 / ((1 - 16/100) 1 - 0) = 2.4, up to 3 uses, with one probe a task and none removed. The threshold is nine,
    the tasks of node 3: the tasks that node 2 gets do not make it hot."""
    manager = manager_of((1, 0, 30.0), (2, 0, 10.0), (3, 9, 90.0), probes=1, removed=0)
    assert starts(manager, 1, 2, 3) == [(2, COLD)] * 3
    assert nodes_in_pool(manager) == [1, 3]
    assert starts(manager, 4) == [(1, COLD)]


@pytest.mark.parametrize(("fewest", "rule"), [(1, COLD), (3, COLD), (4, RANDOM)])
def test_with_fewer_answers_than_are_needed_the_node_is_drawn(fewest, rule):
    """There are three answers."""
    manager = manager_of((1, 0, 30.0), (2, 0, 10.0), (3, 0, 20.0), fewest=fewest)
    assert starts(manager, 1)[0][1] == rule


@pytest.mark.parametrize(("removed", "left"), [(0, [1, 2, 3, 4]), (1, [2, 3, 4]), (2, [2, 3]), (3, [3]), (9, [])])
def test_each_task_drops_the_set_number_of_answers(removed, left):
    """The oldest and the slowest are dropped by turns: of nodes 1, 4, 2, and at last 3."""
    manager = manager_of((1, 0, 20.0), (2, 0, 30.0), (3, 0, 10.0), (4, 0, 90.0), removed=removed, fewest=9)
    starts(manager, 1)
    assert nodes_in_pool(manager) == left


def test_the_oldest_and_the_worst_are_dropped_by_turns_from_one_task_to_the_next():
    """Node 1 is the oldest, then node 4 the slowest, then node 2 the oldest; then node 3 is left."""
    manager = manager_of((1, 0, 20.0), (2, 0, 30.0), (3, 0, 40.0), (4, 0, 90.0), fewest=9)
    for number, left in enumerate(([2, 3, 4], [2, 3], [3], [])):
        starts(manager, number)
        assert nodes_in_pool(manager) == left


def test_the_pool_keeps_the_newest_answers():
    manager = manager_of((1, 0, 30.0), (2, 0, 10.0), (1, 0, 20.0), pool=2)
    assert [(one.node, one.latency_ms) for one in manager.notes.pool] == [(2, 10.0), (1, 20.0)]


def test_an_answer_expires_longest_ms_after_it_has_arrived():
    manager = manager_of(longest_ms=50.0)
    for manager.now_ms in (10.0, 20.0):
        manager.hears(1, "answer", 10.0, about=0)
    manager.now_ms = 60.0
    manager.policy.drop_old(manager)
    assert len(manager.notes.pool) == 2
    manager.now_ms = 60.1
    manager.policy.drop_old(manager)
    assert len(manager.notes.pool) == 1


def test_the_threshold_is_the_quantile_of_the_last_128_answers():
    manager = manager_of((1, 9, 10.0), *[(2, 0, 10.0)] * 127, hot_quantile=1.0)
    assert manager.policy.threshold(manager) == 9.0
    manager.hears(2, "answer", 10.0, about=0)
    assert manager.policy.threshold(manager) == 0.0


def test_the_least_and_the_greatest_quantile():
    for quantile, threshold in (0.0, 1.0), (0.34, 2.0), (1.0, 3.0):
        manager = manager_of((1, 3, 10.0), (2, 1, 10.0), (3, 2, 10.0), hot_quantile=quantile)
        assert manager.policy.threshold(manager) == threshold
    assert Prequal().threshold(manager_of()) == math.inf


def test_answers_of_a_failed_node_are_dropped():
    manager = manager_of((1, 0, 30.0), (2, 0, 10.0), (1, 0, 20.0))
    manager.node_failed(1)
    assert nodes_in_pool(manager) == [2]


# ---- answers to probes ---------------------------------------------------------------------------------------------


def test_a_node_on_which_no_task_has_ended_tells_no_latency():
    node = Manager(Prequal(), me=3, tasks_here=2)
    assert node.hears(1, "probe") == [Sent(1, "answer", 0.0, 2)]


def test_a_latency_is_noted_with_the_tasks_that_were_in_flight_when_it_came():
    """Task 1 came to an empty node and took 10 ms, task 2 came while task 1 was there and took 500. A probe that finds
    no task gets the first latency, one that finds a task the second."""
    node, one, two = Manager(Prequal(), me=3), task(1), task(2)
    node.came(one)
    node.came(two)
    node.ended(one, here_ms=10.0)
    node.ended(two, here_ms=500.0)
    assert node.hears(1, "probe") == [Sent(1, "answer", 10.0, 0)]
    node.came(task(3))
    assert node.hears(1, "probe") == [Sent(1, "answer", 500.0, 1)]


def test_a_task_that_was_not_seen_to_come_counts_as_one_that_came_alone():
    """Task 9 was there before and took 20 ms, task 1 came alone and took 10: the median at an empty node is 15."""
    node = Manager(Prequal(), me=3, tasks_here=1)
    node.ended(task(9), here_ms=20.0)
    node.came(task(1))
    node.ended(task(1), here_ms=10.0)
    assert node.hears(1, "probe") == [Sent(1, "answer", 15.0, 0)]


def test_the_median_is_of_the_last_16_latencies():
    """A latency of 90 ms is followed by eight of 10 and eight of 20: the median of 16 is 15, that of all 17 is 20."""
    node = Manager(Prequal(), me=3)
    for number, here_ms in enumerate([90.0, *[10.0] * 8, *[20.0] * 8]):
        node.came(task(number))
        node.ended(task(number), here_ms=here_ms)
    assert node.hears(1, "probe") == [Sent(1, "answer", 15.0, 0)]


def test_probes_are_counted_and_paid_for():
    """Three probes and three answers a job, but for those to the own node."""
    model = finished(1, policy__name="prequal", cluster__nodes=8, workload__duration_s=30.0)
    per_job = model.summary()["metrics"]["messages_per_job"]
    assert 6.0 * 0.7 < per_job <= 6.0
    rules = set(model.decisions_frame()["rule"])
    assert {COLD} <= rules <= {COLD, HOT, RANDOM}
