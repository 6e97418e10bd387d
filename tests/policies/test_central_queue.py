"""A central queue: slots that nodes announce, and the head that fills them, step by step, worked by hand."""

from __future__ import annotations

import pytest
from post_by_hand import NODE, Manager, Sent, Started, task

from cluster_abm.policies.central_queue import CentralQueue

FREE, TOGETHER = "free slots", "together: its job meets at barriers"


def node_of(cores: int = 1, slots_per_core: int = 1, **more) -> Manager:
    """The manager of node 2; the head is node 1."""
    hardware = [NODE._replace(cores=cores)] * 4
    return Manager(CentralQueue(slots_per_core=slots_per_core), me=2, head=1, hardware=hardware, **more)


def head_of(*free: tuple[int, int], **more) -> Manager:
    """The head, node 0; `free` has the announcements that it has heard: (node, slots)."""
    head = Manager(CentralQueue(), nodes=10, **more)
    for node, slots in free:
        head.hears(node, FREE, slots)
    return head


def started(*tasks: tuple[int, int]) -> list[Started]:
    return [Started(number, node, "oldest to the first free slot") for number, node in tasks]


# ---- at a node -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cores", "slots_per_core", "tasks_here", "free"), [
    (1, 1, 0, 1), (4, 1, 0, 4), (4, 3, 0, 12), (4, 3, 5, 7), (2, 1, 1, 1),
])  # fmt: skip
def test_a_node_announces_all_its_free_slots_when_it_begins(cores, slots_per_core, tasks_here, free):
    assert node_of(cores, slots_per_core, tasks_here=tasks_here).begins() == [Sent(1, FREE, free)]


@pytest.mark.parametrize("tasks_here", [2, 3])
def test_a_node_without_a_free_slot_announces_none(tasks_here):
    assert node_of(2, tasks_here=tasks_here).begins() == []


def test_a_node_announces_one_slot_per_ended_task():
    node, one, two, three = node_of(3), task(1), task(2), task(3)
    assert node.begins() == [Sent(1, FREE, 3)]
    assert node.came(one) == node.came(two) == []
    assert node.ended(one) == [Sent(1, FREE, 1)]
    node.came(three)
    assert node.ended(two, three) == [Sent(1, FREE, 2)]


def test_the_end_of_a_recovered_task_frees_no_slot_while_the_task_of_the_slot_runs():
    """A recovered task starts here without the head, beside the one that the head has sent."""
    node, sent, recovered = node_of(1), task(1), task(2)
    node.begins()
    node.came(sent)
    node.tasks_here += 1
    assert node.ended(recovered) == []
    assert node.ended(sent) == [Sent(1, FREE, 1)]


def test_an_announced_slot_is_not_announced_again_when_a_recovered_task_ends():
    node = node_of(1)
    node.begins()
    node.tasks_here += 1
    assert node.ended(task(2)) == []


def test_an_announced_slot_is_not_announced_again_when_a_task_of_a_job_with_barriers_ends():
    """The head sends tasks of jobs with barriers to any node, and counts no slot for them."""
    node, together, other = node_of(1, barriers=[7]), task(1, job=7), task(2)
    node.begins()
    node.came(together)
    assert node.ended(together) == []
    node.came(other)
    assert node.ended(other) == [Sent(1, FREE, 1)]


def test_the_end_of_a_task_frees_no_slot_while_another_task_fills_it():
    """One slot, two tasks: one of a job with barriers, and one that the head has sent for the announced slot."""
    node, together, other = node_of(1, barriers=[7]), task(1, job=7), task(2)
    node.begins()
    node.came(together)
    node.came(other)
    assert node.ended(other) == []
    assert node.ended(together) == [Sent(1, FREE, 1)]


def test_a_task_that_starts_here_in_place_of_a_failed_node_frees_no_slot():
    """The node has one slot, which the task that the head has sent for it fills already."""
    node, sent, instead = node_of(1), task(1), task(2)
    node.begins()
    node.came(sent)
    node.came(instead)
    assert node.ended(sent) == []
    assert node.ended(instead) == [Sent(1, FREE, 1)]


def test_a_node_announces_all_free_slots_to_a_new_head():
    node, one = node_of(3), task(1)
    node.begins()
    node.came(one)
    node.head = 0
    assert node.begins() == [Sent(0, FREE, 2)]
    assert node.ended(one) == [Sent(0, FREE, 1)]


def test_a_lost_announcement_is_repeated_with_the_slots_that_are_free_then():
    """The announcement of three slots is lost twice; meanwhile a task of a job with barriers fills one of them."""
    node, together = node_of(3, barriers=[7]), task(1, job=7)
    node.begins()
    assert node.unanswered(1, FREE, 3) == [Sent(1, FREE, 3)]
    node.came(together)
    assert node.unanswered(1, FREE, 3) == [Sent(1, FREE, 2)]
    assert node.ended(together) == [Sent(1, FREE, 1)]


def test_a_lost_announcement_is_repeated_without_the_slots_of_earlier_ones():
    """The head has heard of two slots, and has sent a task to one. The task ends; that announcement is lost."""
    node, one = node_of(2), task(1)
    node.begins()
    node.came(one)
    assert node.ended(one) == [Sent(1, FREE, 1)]
    assert node.unanswered(1, FREE, 1) == [Sent(1, FREE, 1)]


def test_slots_that_the_old_head_did_not_hear_of_are_announced_once_to_the_new_one():
    node = node_of(2)
    node.begins()
    node.head, node.now_ms = 0, 50.0
    node.begins()
    assert node.unanswered(1, FREE, 2, sent_ms=0.0) == []
    # An announcement to the new head that is lost is repeated.
    assert node.unanswered(0, FREE, 2, sent_ms=50.0) == [Sent(0, FREE, 2)]


# ---- at the head ---------------------------------------------------------------------------------------------------


def test_the_oldest_tasks_get_the_slots_that_were_announced_first():
    """Two slots of node 3 and one of node 5 for four tasks; the fourth gets the slot that node 4 announces later."""
    head = head_of((3, 2), (5, 1))
    assert head.arrives(task(1, job=9), task(2, job=9)) == started((1, 3), (2, 3))
    assert head.arrives(task(3), task(4)) == started((3, 5))
    assert head.hears(4, FREE, 1) == started((4, 4))
    assert head.hears(6, FREE, 1) == []
    assert head.arrives(task(5)) == started((5, 6))


def test_tasks_that_wait_start_oldest_first():
    head = head_of()
    assert head.arrives(task(7), task(8)) == []
    assert head.arrives(task(3)) == []
    assert head.hears(5, FREE, 2) == started((7, 5), (8, 5))
    assert head.hears(6, FREE, 3) == started((3, 6))
    assert head.arrives(task(9)) == started((9, 6))


def test_slots_of_a_node_that_has_failed_are_gone():
    head = head_of((3, 2), (5, 1), (3, 1))
    head.node_failed(3)
    assert head.arrives(task(1), task(2)) == started((1, 5))
    assert head_of().node_failed(3) == []


def test_tasks_that_meet_at_barriers_start_together_and_use_no_slot():
    """Four tasks and three nodes: one node is drawn twice. The announced slot stays free for the next job."""
    head = head_of((3, 1), barriers=[7], order=[4, 6, 8])
    starts = head.arrives(*(task(number, job=7) for number in (1, 2, 3, 4)))
    assert [(start.task, start.rule) for start in starts] == [(number, TOGETHER) for number in (1, 2, 3, 4)]
    assert sorted(start.node for start in starts[:3]) == [4, 6, 8]
    assert starts[3].node in (4, 6, 8)
    assert head.arrives(task(5)) == started((5, 3))
