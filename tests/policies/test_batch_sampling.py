"""Batch sampling, one manager, message by message, worked by hand (Ousterhout et al. 2013, sections 3.1 to 3.4)."""

from __future__ import annotations

import pytest
from post_by_hand import NODE, Manager, Sent, Started, task

from cluster_abm.policies.batch_sampling import BatchSampling

BOUND = "late binding: a slot is free"


def home_of(probe_ratio: float = 1.0, **more) -> Manager:
    return Manager(BatchSampling(probe_ratio=probe_ratio), **{"nodes": 10} | more)


def node_of(cores: int = 1, **more) -> Manager:
    """The manager of node 3, which is probed."""
    return Manager(BatchSampling(), me=3, nodes=10, hardware=[NODE._replace(cores=cores)] * 10, **more)


def job(number: int, *tasks: int):
    return [task(one, job=number) for one in tasks]


def probes(number: int, *nodes: int, home: int = 0) -> list[Sent]:
    return [Sent(node, "probe", about=number, nodes=(home,)) for node in nodes]


def probed(node: Manager, number: int, home: int = 7) -> list:
    """The home of a job probes a node: the job takes a place in its queue."""
    return node.hears(home, "probe", about=number, nodes=[home])


def ready(number: int, tries: int = 0, home: int = 7) -> list[Sent]:
    return [Sent(home, "ready", tries, number)]


def none(number: int, *nodes: int) -> list[Sent]:
    return [Sent(node, "none", about=number) for node in nodes]


# ---- at the home of a job ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ratio", "tasks", "nodes"), [
    (2.0, 1, [9, 8]), (2.0, 2, [9, 8, 7, 6]), (1.5, 1, [9, 8]), (1.5, 2, [9, 8, 7]), (1.5, 3, [9, 8, 7, 6, 5]),
    (0.5, 1, [9]), (0.5, 2, [9]), (0.5, 3, [9, 8]),
])  # fmt: skip
def test_the_number_of_probed_nodes_is_rounded_up(ratio, tasks, nodes):
    home = home_of(ratio, order=range(9, -1, -1))
    assert home.arrives(*job(1, *range(tasks))) == probes(1, *nodes)


def test_by_default_two_nodes_are_probed_per_task():
    assert Manager(BatchSampling(), order=[3, 1, 2]).arrives(task(1)) == probes(1, 3, 1)


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 2]])
def test_where_there_are_fewer_nodes_all_are_probed_several_times(order):
    """Five probes for three nodes; or for two, when one has failed."""
    home = home_of(5.0, nodes=3, order=order)
    assert home.arrives(task(1)) == probes(1, *(order * 3)[:5])


def test_the_first_ready_nodes_get_the_tasks_and_the_others_a_message_that_none_is_left():
    home = home_of(2.0)
    home.arrives(*job(1, 11, 12))
    assert home.hears(2, "ready", about=1) == [Started(11, 2, BOUND)]
    assert home.hears(0, "ready", about=1) == [Started(12, 0, BOUND)]
    assert home.hears(1, "ready", about=1) == none(1, 1)
    assert home.hears(3, "ready", about=1) == none(1, 3)


def test_a_ready_node_gets_a_task_of_the_job_that_it_names():
    home = home_of()
    home.arrives(*job(1, 11, 12))
    home.arrives(*job(2, 21, 22))
    assert home.hears(5, "ready", about=2) == [Started(21, 5, BOUND)]
    assert home.hears(5, "ready", about=1) == [Started(11, 5, BOUND)]
    assert home.hears(5, "ready", about=3) == none(3, 5)


def test_another_node_is_probed_when_a_probe_was_lost_or_its_node_has_failed():
    home = home_of(2.0, order=[4, 5, 6])
    home.arrives(task(1))
    assert home.unanswered(4, "probe", about=1, nodes=[0]) == probes(1, 5)
    # The job has two places at node 5 now, and none elsewhere.
    assert home.node_failed(5) == probes(1, 4, 4)
    assert home.node_failed(5) == []


def test_no_node_is_probed_for_a_job_without_waiting_tasks():
    home = home_of(3.0)
    home.arrives(task(1))
    home.hears(0, "ready", about=1)
    assert home.unanswered(1, "probe", about=1, nodes=[0]) == []
    assert home.node_failed(2) == []


def test_no_node_is_probed_for_a_killed_job():
    home = home_of(2.0)
    home.arrives(task(1))
    home.loses(task(1))
    assert home.node_failed(0) == []
    assert home.unanswered(1, "probe", about=1, nodes=[0]) == []


def test_a_place_that_was_used_is_not_lost_when_its_node_fails():
    """The job has two places at node 0, and one at node 1. Its first task has used one of those at node 0."""
    home = home_of(1.5, nodes=2, order=[0, 1])
    assert home.arrives(*job(1, 11, 12)) == probes(1, 0, 1, 0)
    home.hears(0, "ready", about=1)
    assert home.node_failed(0) == probes(1, 1)


def test_when_a_node_fails_all_jobs_lose_their_places_there_and_keep_those_elsewhere():
    """Jobs 1 and 3 have their place at node 4, job 2 at node 6."""
    home = home_of(order=[4, 5])
    home.arrives(task(1))
    home.order = [6, 5]
    home.arrives(task(2))
    home.order = [4, 5]
    home.arrives(task(3))
    assert home.node_failed(4) == [*probes(1, 5), *probes(3, 5)]


def test_if_no_node_accepts_tasks_the_same_one_is_probed_until_it_answers():
    """The own node accepts no more tasks, and the only other one has failed."""
    home = home_of(nodes=2, order=[1])
    home.arrives(task(1))
    home.order = []
    assert home.node_failed(1) == probes(1, 1)
    assert home.unanswered(1, "probe", about=1, nodes=[0]) == probes(1, 1)


def test_a_lost_message_that_no_task_is_left_is_sent_again_a_hundred_times_at_most():
    home = home_of()
    home.hears(5, "ready", about=1)
    assert home.unanswered(5, "none", about=1) == [Sent(5, "none", 1.0, 1)]
    assert home.unanswered(5, "none", 99.0, about=1) == [Sent(5, "none", 100.0, 1)]
    assert home.unanswered(5, "none", 100.0, about=1) == []


def test_tasks_that_meet_at_barriers_start_together_without_a_probe():
    home = home_of(order=[4, 6], barriers=[1])
    starts = home.arrives(*job(1, 11, 12))
    assert {start.rule for start in starts} == {"together: its job meets at barriers"}
    assert {start.node for start in starts} == {4, 6}


# ---- at a node that is probed --------------------------------------------------------------------------------------


def test_a_node_asks_for_a_task_when_a_slot_is_free():
    node, one = node_of(tasks_here=1), task(1)
    assert probed(node, 5) == probed(node, 6, home=8) == []
    assert node.ended(one) == ready(5)


def test_a_slot_is_kept_for_a_requested_task_until_that_task_has_ended():
    node = node_of()
    assert probed(node, 5) == ready(5)
    assert probed(node, 6, home=8) == []
    assert node.came(task(50, job=5)) == []
    assert probed(node, 9) == []
    assert node.ended(task(50, job=5)) == ready(6, home=8)


def test_a_slot_stays_kept_when_a_task_comes_without_a_request():
    """Of two slots, one is kept for job 5, and a task that comes without a request has the other. This one ends."""
    node = node_of(cores=2)
    probed(node, 5)
    node.came(task(99))
    assert probed(node, 6) == []
    assert node.ended(task(99)) == ready(6)
    assert probed(node, 7) == []


def test_a_node_requests_as_many_tasks_as_it_has_slots():
    """It requests two tasks of job 5: one comes, and the home has no second one."""
    node = node_of(cores=2)
    assert probed(node, 5) == ready(5)
    assert probed(node, 5) == ready(5)
    assert probed(node, 6) == []
    assert node.came(task(50, job=5)) == []
    assert probed(node, 8) == []
    assert node.hears(7, "none", about=5) == ready(6)
    assert node.hears(7, "none", about=6) == ready(8)
    assert probed(node, 9) == []


def test_after_a_home_without_a_task_the_next_place_is_served():
    node = node_of(tasks_here=1)
    for number in 5, 6, 8:
        probed(node, number)
    assert node.ended(task(1)) == ready(5)
    assert node.hears(7, "none", about=5) == ready(6)
    assert node.hears(7, "none", about=6) == ready(8)
    assert node.hears(7, "none", about=8) == []


def test_an_answer_that_arrives_twice_frees_one_slot():
    node = node_of()
    probed(node, 5)
    node.hears(7, "none", about=5)
    assert probed(node, 6) == ready(6)
    assert node.hears(7, "none", about=5) == []
    assert probed(node, 8) == []


def test_a_home_that_does_not_answer_is_asked_again_before_the_others():
    node = node_of()
    probed(node, 5)
    probed(node, 6)
    assert node.unanswered(7, "ready", about=5) == ready(5, tries=1)
    assert node.unanswered(7, "ready", 1.0, about=5) == ready(5, tries=2)
    assert node.hears(7, "none", about=5) == ready(6)


def test_a_home_is_asked_a_hundred_times_and_then_the_next_one():
    """The value of a request says how many times its home was asked in vain before."""
    node = node_of()
    probed(node, 5)
    probed(node, 6, home=8)
    assert node.unanswered(7, "ready", 98.0, about=5) == ready(5, tries=99)
    assert node.unanswered(7, "ready", 99.0, about=5) == ready(6, home=8)


def test_a_home_that_has_failed_is_not_asked_again():
    node = node_of()
    probed(node, 5)
    probed(node, 6, home=8)
    assert node.node_failed(7) == []
    assert node.unanswered(7, "ready", about=5) == ready(6, home=8)
    assert node.unanswered(8, "ready", about=6) == ready(6, tries=1, home=8)


def test_a_home_that_is_back_is_asked_again():
    node = node_of()
    node.node_failed(7)
    assert probed(node, 5) == ready(5)
    assert node.unanswered(7, "ready", about=5) == ready(5, tries=1)


def test_places_for_jobs_of_a_home_that_has_failed_are_forgotten():
    node = node_of(tasks_here=1)
    for number, home in (4, 8), (5, 7), (6, 8), (9, 7):
        probed(node, number, home)
    node.node_failed(7)
    assert node.ended(task(1)) == ready(4, home=8)
    assert node.hears(8, "none", about=4) == ready(6, home=8)
    assert node.hears(8, "none", about=6) == []
