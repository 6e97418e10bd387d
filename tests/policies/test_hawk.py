"""Hawk, one manager, message by message, worked by hand (Delgado et al. 2015, sections 3.2 to 3.6).

Of eight nodes 0 and 1 are kept for short tasks; a task of more than 150 ms is long.
"""

from __future__ import annotations

import numpy as np
import pytest
from post_by_hand import NODE, Handed, Manager, Sent, Started, task

from cluster_abm.errors import InputError
from cluster_abm.policies.hawk import Hawk
from cluster_abm.policy.tasks import ArrivingTask, Demands

LEFT, NEXT, NOTHING = "long tasks left", "next in the node's queue", "nothing to steal"


def manager_of(
    me: int = 4, *, cores: int = 1, nodes: int = 8, given: dict | None = None, policy=Hawk, kind=Manager, **more
) -> Manager:
    """The manager of a node, under a policy with these parameters; the head is node 7.

    Of the general partition nodes 2, 3, 5, 6 and 7 are drawn in this order.
    """
    policy = policy(**{"long_ms": 150.0, "short_share": 0.25, "probe_ratio": 1.0} | (given or {}))
    policy.prepare(demands([(1, 100.0)]), nodes)
    hardware = [NODE._replace(cores=cores)] * nodes
    return kind(policy, me=me, head=7, nodes=nodes, **{"hardware": hardware} | more)


def demands(jobs: list[tuple[int, float]]) -> Demands:
    """Demands of jobs (number of tasks, CPU per task [ms])."""
    tasks, cpu_ms = np.array(sorted(jobs, key=lambda job: job[1]), float).reshape(-1, 2).T
    return Demands(tasks, cpu_ms, np.zeros(len(cpu_ms)), np.zeros(len(cpu_ms)))


def long(number: int, cpu_ms: float = 200.0, **more) -> ArrivingTask:
    return task(number, cpu_ms=cpu_ms, **more)


def takes_places(manager: Manager, *jobs: int | str) -> None:
    """Fill the queue of a busy node: 1 is a place of short job 1 of node 0, "L1" is long task 1."""
    for job in jobs:
        if isinstance(job, str):
            assert manager.hears(7, "queue", task=long(int(job[1:]))) == []
        else:
            assert manager.hears(0, "probe", about=job, nodes=[0]) == []


def queue_of(manager: Manager) -> list[int | str]:
    return [f"L{place.number}" if place.home < 0 else place.number for place in manager.notes.places]


def queued(*tasks_and_nodes: tuple[int, int]) -> list[Handed]:
    return [Handed(number, node, "queue") for number, node in tasks_and_nodes]


# ---- long tasks, and the nodes that are kept for short ones --------------------------------------------------------


def test_a_task_above_the_ninth_decile_is_long_and_short_jobs_have_their_share_of_the_work():
    """Demands are 1 to 10 ms: the ninth decile is 9. The job of 10 ms has five tasks: 50 of 95 ms of work are long."""
    policy = Hawk()
    policy.prepare(demands([*((1, float(cpu_ms)) for cpu_ms in range(1, 10)), (5, 10.0)]), 4)
    assert policy.long_ms == 9.0
    assert (policy.is_long(task(1, cpu_ms=9.0)), policy.is_long(task(1, cpu_ms=9.1))) == (False, True)
    assert policy.short_share == pytest.approx(45.0 / 95.0)


def test_a_parameter_that_is_set_is_not_estimated():
    """Above 8 ms are two jobs, with 9 and 50 ms of work: the other 36 of 95 ms are short."""
    jobs = demands([*((1, float(cpu_ms)) for cpu_ms in range(1, 10)), (5, 10.0)])
    for given, long_ms, share in ({"long_ms": 8.0}, 8.0, 36 / 95), ({"short_share": 0.1}, 9.0, 0.1):
        policy = Hawk(**given)
        policy.prepare(jobs, 4)
        assert (policy.long_ms, policy.short_share) == (long_ms, pytest.approx(share))


@pytest.mark.parametrize("jobs", [2, 3])
def test_equal_demands_are_refused_unless_long_ms_is_set(jobs):
    alike = demands([(1, 10.0)] * jobs)
    with pytest.raises(InputError, match="needs tasks of different sizes"):
        Hawk().prepare(alike, 4)
    Hawk(long_ms=5.0).prepare(alike, 4)
    Hawk().prepare(demands([(1, 5.0), *[(1, 10.0)] * jobs]), 4)


def test_with_one_job_or_none_no_task_is_long():
    for jobs in [], [(1, 10.0)]:
        policy = Hawk()
        policy.prepare(demands(jobs), 4)
        assert not policy.is_long(task(1, cpu_ms=10.0))


@pytest.mark.parametrize(("share", "nodes", "kept"), [
    (0.25, 8, 2), (0.3, 8, 2), (0.32, 8, 3), (0.0, 8, 1), (1.0, 8, 7), (0.0, 2, 1), (1.0, 2, 1), (0.5, 1, 0),
])  # fmt: skip
def test_each_partition_has_at_least_one_node_unless_there_is_one_node_only(share, nodes, kept):
    manager = manager_of(0, nodes=nodes, given={"short_share": share})
    assert manager.policy.short_nodes(manager) == kept


# ---- where tasks go ------------------------------------------------------------------------------------------------


def test_a_short_job_probes_nodes_of_both_partitions():
    manager = manager_of(given={"probe_ratio": 3.0})
    assert manager.arrives(task(1, cpu_ms=150.0)) == [Sent(node, "probe", about=1, nodes=(4,)) for node in (0, 1, 2)]


def test_a_long_job_is_handed_to_the_head_task_by_task():
    manager = manager_of()
    assert manager.arrives(long(1, 150.1, job=9), long(2, job=9)) == [Handed(1, 7, "place"), Handed(2, 7, "place")]


@pytest.mark.parametrize(("cpu_ms", "goes"), [
    ((100.0, 201.0), [Handed(1, 7, "place"), Handed(2, 7, "place")]),
    ((201.0, 99.0), [Sent(0, "probe", about=1, nodes=(4,)), Sent(1, "probe", about=1, nodes=(4,))]),
])  # fmt: skip
def test_a_job_of_unlike_tasks_is_long_by_their_mean(cpu_ms, goes):
    """Means of 150.5 and 150 ms: the first job is long as a whole, the second is not."""
    assert manager_of().arrives(*(task(1 + rank, cpu_ms=ms, job=1) for rank, ms in enumerate(cpu_ms))) == goes


def test_the_head_hears_of_the_end_of_a_task_that_it_gave_however_short_that_is():
    node, one = manager_of(), task(1, cpu_ms=20.0, job=3)
    assert node.hears(7, "queue", task=one) == [Started(1, 4, NEXT)]
    node.came(one)
    assert node.ended(one)[0] == Sent(7, LEFT, 0.0)


def test_a_task_that_a_node_has_asked_for_is_short_however_long_it_is():
    """Places behind it are not stolen, and its end is no news for the head."""
    node, one = manager_of(), long(1, job=5)
    assert node.hears(0, "probe", about=5, nodes=[0]) == [Sent(0, "ready", about=5)]
    node.came(one)
    assert not node.notes.long
    assert Sent(7, LEFT, 0.0) not in node.ended(one)


def test_the_head_gives_long_tasks_to_the_nodes_of_least_long_work_in_the_general_partition():
    """Five tasks of 300 ms go to nodes 2 to 6, one of 200 to node 7. The next of 200 goes to node 7 too, which has the
    least work, and makes it 400; so the last goes to node 2, the first of those with 300."""
    head = manager_of(7)
    assert head.arrives(*(long(number, 300.0) for number in range(5))) == queued(*((n, n + 2) for n in range(5)))
    assert head.hears(1, "place", task=long(5, 200.0)) == queued((5, 7))
    assert head.hears(1, "place", task=long(6, 200.0)) == queued((6, 7))
    assert head.arrives(long(7, 200.0)) == queued((7, 2))


def test_a_long_job_that_meets_at_barriers_starts_together():
    head = manager_of(7, barriers=[9], order=[3])
    assert head.arrives(long(1, job=9)) == [Started(1, 3, "together: its job meets at barriers")]


def test_a_message_from_a_node_corrects_the_account_of_the_head():
    """Nodes 2 and 3 got 200 ms each. Node 2 had 50 left at 20 ms, so at 30 ms they have 40 and 170. A task of 160 goes
    to node 2: 200 and 170. One of 200 goes to node 3: 200 and 370. The last goes to node 2."""
    head = manager_of(7, nodes=4, given={"short_share": 0.5})
    assert head.arrives(long(1), long(2)) == queued((1, 2), (2, 3))
    head.now_ms = 30.0
    assert head.hears(2, LEFT, 50.0, sent_ms=20.0) == []
    assert head.arrives(long(3, 160.0), long(4), long(5)) == queued((3, 2), (4, 3), (5, 2))


def test_a_failed_node_gets_no_long_task_until_it_is_back():
    head = manager_of(7, nodes=4, given={"short_share": 0.5})
    head.node_failed(2)
    assert head.arrives(long(1), long(2)) == queued((1, 3), (2, 3))
    head.hears(2, LEFT, 0.0)
    assert head.arrives(long(3)) == queued((3, 2))


def test_a_manager_that_is_not_the_head_keeps_no_account():
    manager, head = manager_of(4), manager_of(7)
    for one in manager, head:
        one.node_failed(2)
    assert not manager.notes.until_ms
    assert head.notes.until_ms


def test_a_long_task_that_could_not_be_handed_over_is_placed_anew():
    """The account of node 2 keeps the work of the task that was sent to it. The own node may have become the head."""
    head = manager_of(7)
    head.arrives(long(1))
    assert head.unanswered(2, "queue", task=long(1)) == queued((1, 3))
    manager = manager_of(4)
    assert manager.unanswered(7, "place", task=long(2)) == [Handed(2, 7, "place")]
    manager.head = 4
    assert manager.unanswered(7, "place", task=long(2)) == queued((2, 2))


# ---- a node's queue ------------------------------------------------------------------------------------------------


def test_a_long_task_starts_where_a_slot_is_free():
    node = manager_of()
    assert node.hears(7, "queue", task=long(1)) == [Started(1, 4, NEXT)]


def test_long_tasks_and_places_are_served_in_their_order():
    node, one = manager_of(tasks_here=1), long(1)
    node.keeps_waiting(task(9))
    takes_places(node, 5, "L1", 6, "L2")
    assert node.ended(task(8)) == [Sent(0, "ready", about=5)]
    assert node.hears(0, "none", about=5) == [Started(1, 4, NEXT)]
    node.came(one)
    # Long task 2 is left. Task 9 does not count: it waits here until a node asks for it.
    assert node.ended(one) == [Sent(7, LEFT, 200.0), Sent(0, "ready", about=6)]


def test_a_long_task_that_was_killed_is_passed_over():
    node = manager_of(tasks_here=1)
    takes_places(node, "L1", "L2")
    node.loses(long(1))
    assert node.ended(task(8)) == [Started(2, 4, NEXT)]


def test_the_start_of_a_long_task_leaves_a_request_for_a_task_of_its_job_open():
    """Of two slots, one is kept for a task of job 5, which the node has requested. The long task is of job 5 too."""
    node, one = manager_of(cores=2), long(1, job=5)
    node.hears(0, "probe", about=5, nodes=[0])
    assert node.hears(7, "queue", task=one) == [Started(1, 4, NEXT)]
    node.came(one)
    takes_places(node, 6)
    # The requested task comes, and then the long one ends.
    assert node.came(task(50, job=5)) == []
    assert node.ended(one) == [Sent(7, LEFT, 0.0), Sent(0, "ready", about=6)]


def test_a_node_tells_the_head_its_waiting_long_work_when_a_long_task_ends():
    """Two cores of speed 2: task 3 has 200 / 4 ms of CPU, and 200 x 0.1 accesses of 10 ms; task 4 has 400 / 4 ms."""
    hardware = [NODE._replace(cores=2, speed=2.0)] * 8
    node, one, two = manager_of(hardware=hardware), long(1), task(2)
    for started in one, two:
        node.came(started)
    for number, cpu_ms, io_per_ms in (3, 200.0, 0.1), (4, 400.0, 0.0):
        node.hears(7, "queue", task=task(number, cpu_ms=cpu_ms, io_per_ms=io_per_ms))
    # Recovered tasks fill the slots.
    node.tasks_here = 4
    assert node.ended(two) == []
    assert node.ended(one) == [Sent(7, LEFT, pytest.approx(50.0 + 200.0 + 100.0))]


def test_a_lost_message_to_the_head_is_repeated_with_the_work_that_is_left_then():
    node, one = manager_of(), long(1)
    node.came(one)
    takes_places(node, "L2")
    node.tasks_here = 2
    node.ended(one)
    assert node.unanswered(7, LEFT, 0.0) == [Sent(7, LEFT, 200.0)]
    node.head = 3
    assert node.unanswered(7, LEFT, 0.0) == [Sent(3, LEFT, 200.0)]


def test_a_node_that_is_back_tells_the_head_but_not_at_the_start_of_a_run():
    assert manager_of().begins() == []
    assert manager_of(now_ms=0.1).begins() == [Sent(7, LEFT, 0.0)]
