"""Least work left: the head's account and what nodes tell it, step by step, worked by hand."""

from __future__ import annotations

import math

import pytest
from post_by_hand import NODE, Manager, Sent, Started, task

from cluster_abm.policies.lwl import LeastWorkLeft
from cluster_abm.policy.parts.work_accounts import WorkAccounts
from cluster_abm.policy.talking import Post
from cluster_abm.policy.tasks import ArrivingTask

RULE, LEFT = "least work left", "work left"


def started(number: int, node: int, here: float, there: float) -> Started:
    """A task that was started on a node, with the work left at its home and on the node."""
    return Started(number, node, RULE, "cpu_ms", here, there)


def head_of(nodes: int = 3, **more) -> Manager:
    return Manager(LeastWorkLeft(), nodes=nodes, **more)


# ---- work ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("hardware", "work"), [
    # 10 accesses of 10 ms.
    ({}, 100.0 + 100.0),
    # The speed concerns the CPU alone: there are as many accesses as before.
    ({"speed": 2.0}, 50.0 + 100.0),
    ({"cores": 4}, 25.0 + 100.0),
    # On two channels the seeks and transfers of two requests go together: 5 ms each.
    ({"disk_channels": 2}, 100.0 + 50.0),
])  # fmt: skip
def test_work_is_cpu_over_the_cores_and_disk_time(hardware, work):
    """100 ms of CPU with 0.1 accesses a ms, each of 8 + 2 ms."""
    head = head_of(hardware=[NODE, NODE._replace(**hardware), NODE])
    assert head.policy.work_ms(task(1, cpu_ms=100.0, io_per_ms=0.1), 1, head) == pytest.approx(work)


# ---- the account ---------------------------------------------------------------------------------------------------


class Accounts(Manager):
    """A dispatcher that keeps account of work on the nodes from `first` on; a test says when it does what [ms]."""

    def __init__(self, nodes: int, first: int = 0) -> None:
        super().__init__(AccountsFrom(first), nodes=nodes)

    def least(self, now_ms: float) -> int:
        self.now_ms = now_ms
        return self.policy.least_work(self)

    def left_ms(self, node: int, now_ms: float) -> float:
        self.now_ms = now_ms
        return self.policy.left_ms(node, self)

    def give(self, task: ArrivingTask, node: int, now_ms: float) -> None:
        self.now_ms = now_ms
        self.policy.give(task, node, self)

    def correct(self, node: int, left_ms: float, told_ms: float) -> None:
        self.policy.correct(node, left_ms, told_ms, self)

    def close(self, node: int) -> None:
        self.policy.close_account(node, self)


class AccountsFrom(WorkAccounts):
    """Accounts of the work on the nodes from this one on."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self.first = first

    def first_accounted(self, post: Post) -> int:
        return self.first


def test_new_work_ends_after_earlier_work():
    """100 ms of work come at 10 ms and 50 at 20: they end at 160. Later 50 come at 200: they end at 250."""
    accounts = Accounts(2)
    accounts.give(task(1, cpu_ms=100.0), 1, 10.0)
    assert accounts.left_ms(1, 30.0) == 80.0
    accounts.give(task(2, cpu_ms=50.0), 1, 20.0)
    assert (accounts.left_ms(1, 30.0), accounts.left_ms(0, 30.0)) == (130.0, 0.0)
    assert accounts.left_ms(1, 161.0) == 0.0
    accounts.give(task(3, cpu_ms=50.0), 1, 200.0)
    assert accounts.left_ms(1, 220.0) == 30.0


def test_of_nodes_without_work_the_one_that_has_had_none_for_longest_is_chosen():
    accounts = Accounts(3)
    for node, cpu_ms in (0, 90.0), (1, 30.0), (2, 60.0):
        accounts.give(task(node, cpu_ms=cpu_ms), node, 0.0)
    assert accounts.least(200.0) == 1


def test_only_the_given_nodes_are_chosen():
    accounts = Accounts(4, first=2)
    assert accounts.least(0.0) == 2
    accounts.give(task(1), 2, 0.0)
    assert accounts.least(0.0) == 3


def test_work_given_after_a_correction_is_added_to_it():
    """100 ms of work come at 0, at 50 and at 70. At 50, before the second came, the node had 10 ms left: these end at
    60, the second work at 160, the third at 260, 190 ms after 70."""
    accounts = Accounts(1)
    for number, now_ms in enumerate((0.0, 50.0, 70.0)):
        accounts.give(task(number), 0, now_ms)
    assert accounts.left_ms(0, 70.0) == 230.0
    accounts.correct(0, 10.0, 50.0)
    assert accounts.left_ms(0, 70.0) == 190.0
    # At 60 it had 5 left, until 65. The third work comes at 70, after a pause, and ends at 170.
    accounts.correct(0, 5.0, 60.0)
    assert accounts.left_ms(0, 70.0) == 100.0
    accounts.correct(0, 0.0, 71.0)
    assert accounts.left_ms(0, 72.0) == 0.0


def test_a_closed_node_is_not_chosen_until_it_is_corrected():
    accounts = Accounts(2)
    accounts.give(task(1), 0, 0.0)
    accounts.give(task(2, cpu_ms=500.0), 1, 0.0)
    accounts.close(0)
    assert accounts.left_ms(0, 10.0) == math.inf
    assert accounts.least(10.0) == 1
    # The work from before its failure is lost: it has the 30 ms that it reports, of 0 ms, less 10.
    accounts.correct(0, 30.0, 0.0)
    assert accounts.left_ms(0, 10.0) == 20.0
    assert accounts.least(10.0) == 0


# ---- the policy ----------------------------------------------------------------------------------------------------


def test_each_task_of_a_job_goes_to_the_node_of_least_work():
    """Node 2 is twice as fast. Tasks 1 to 3 give nodes 0, 1 and 2 work of 100, 100 and 50 ms. Task 4 goes to node 2,
    which has 100 then, too; task 5 goes to node 0, the lowest of equal ones."""
    head = head_of(hardware=[NODE, NODE, NODE._replace(speed=2.0)])
    tasks = [task(number, job=1) for number in range(1, 6)]
    assert head.arrives(*tasks) == [
        started(1, 0, 0.0, 0.0), started(2, 1, 100.0, 0.0), started(3, 2, 100.0, 0.0), started(4, 2, 100.0, 50.0),
        started(5, 0, 100.0, 100.0),
    ]  # fmt: skip


def test_a_decision_records_the_work_of_home_and_node_at_its_instant():
    """Home 1 has got 100 ms of work at 0: at 30 ms 70 are left."""
    head = head_of()
    head.arrives(task(1, home=0), task(2, home=1))
    head.now_ms = 30.0
    assert head.arrives(task(3, home=1)) == [started(3, 2, 70.0, 0.0)]


def test_a_message_from_a_node_corrects_the_account():
    """All nodes have got 100 ms at 0, so 40 are left at 60. Node 1 had 30 left at 40: 10 at 60."""
    head = head_of()
    head.arrives(task(1), task(2), task(3))
    head.now_ms = 60.0
    assert head.hears(1, LEFT, 30.0, sent_ms=40.0) == []
    assert head.arrives(task(4)) == [started(4, 1, 40.0, 10.0)]


def test_a_node_on_which_a_task_has_ended_tells_its_cpu_and_disk_time():
    node = head_of(me=2, head=1)
    node.loads = {"cpu_ms": 70.0, "io_ms": 5.0}
    assert node.ended(task(1)) == [Sent(1, LEFT, 75.0)]


@pytest.mark.parametrize("work", [0.0, 30.0])
def test_a_new_head_is_told_what_is_left(work):
    """There is no work when the run begins, but there may be some when another node becomes the head."""
    node = head_of(me=2, head=1)
    node.loads = {"cpu_ms": work, "io_ms": work}
    assert node.begins() == [Sent(1, LEFT, 2 * work)]


def test_a_lost_message_to_the_head_is_repeated_with_the_work_that_is_left_then():
    """Otherwise a node that is back would get no work, for the head would never hear of it."""
    node = head_of(me=2, head=1)
    node.loads = {"cpu_ms": 0.0, "io_ms": 0.0}
    node.begins()
    node.loads["cpu_ms"], node.head = 20.0, 0
    assert node.unanswered(1, LEFT) == [Sent(0, LEFT, 20.0)]


def test_a_failed_node_gets_no_task_until_it_is_back():
    head = head_of(nodes=2)
    head.node_failed(0)
    assert head.arrives(task(1), task(2)) == [started(1, 1, math.inf, 0.0), started(2, 1, math.inf, 100.0)]
    head.hears(0, LEFT, 150.0)
    assert head.arrives(task(3)) == [started(3, 0, 150.0, 150.0)]
