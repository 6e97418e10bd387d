"""JSQ(d) with memory, one manager, step by step, worked by hand (Mitzenmacher, Prabhakar, Shah 2002, section 1)."""

from __future__ import annotations

import pytest
from post_by_hand import Manager, Sent, Started, task

from cluster_abm.policies.jsq_memory import JoinShortestWithMemory

ASKS, TELLS = "how many tasks?", "so many"


def head_of(d: int = 2, memory: int = 1, **more) -> Manager:
    """The head, node 0, of ten."""
    return Manager(JoinShortestWithMemory(d=d, memory=memory), nodes=10, **more)


def asks(number: int, *nodes: int) -> list[Sent]:
    return [Sent(node, ASKS, about=number) for node in nodes]


def started(number: int, node: int, probed: int, tasks: float) -> list[Started]:
    """A task that was started on a node; it had the fewest tasks, `tasks`, of the `probed` nodes."""
    return [Started(number, node, f"shortest of {probed}", "tasks", there=tasks)]


def test_a_node_tells_how_many_tasks_it_has():
    node = head_of(me=4, tasks_here=3)
    assert node.hears(0, ASKS, about=7) == [Sent(0, TELLS, 3, 7)]


def test_a_node_repeats_a_lost_answer_with_its_present_number_of_tasks():
    node = head_of(me=4, tasks_here=3)
    node.hears(0, ASKS, about=7)
    node.tasks_here = 2
    assert node.unanswered(0, TELLS, 3, about=7) == [Sent(0, TELLS, 2, 7)]


def test_a_task_goes_to_the_node_of_fewest_tasks_and_the_next_task_probes_that_node_too():
    """Node 4 has five tasks. Node 6 has three, and four with the new one: still the fewest, so it is remembered."""
    head = head_of(order=[4, 6])
    assert head.arrives(task(1)) == asks(1, 4, 6)
    assert head.hears(4, TELLS, 5, about=1) == []
    assert head.hears(6, TELLS, 3, about=1) == started(1, 6, 2, 3.0)
    head.order = [6, 5, 3, 2]
    assert head.arrives(task(2)) == asks(2, 6, 5, 3)


def test_by_default_two_are_drawn_and_one_is_remembered():
    head = Manager(JoinShortestWithMemory(), order=[3, 1, 2])
    assert head.arrives(task(1)) == asks(1, 3, 1)
    head.hears(3, TELLS, 0, about=1)
    head.hears(1, TELLS, 0, about=1)
    assert list(head.notes.remembered) == [1]


def test_the_started_task_counts_in_the_choice_of_remembered_nodes():
    """Nodes 4, 6 and 5 have three, two and one tasks. The task goes to node 5, which then has two, like node 6. Both
    are remembered, node 6 first, for it answered first."""
    head = head_of(d=3, memory=2, order=[4, 6, 5])
    head.arrives(task(1))
    head.hears(4, TELLS, 3, about=1)
    head.hears(6, TELLS, 2, about=1)
    assert head.hears(5, TELLS, 1, about=1) == started(1, 5, 3, 1.0)
    assert list(head.notes.remembered) == [6, 5]


def test_of_equal_nodes_the_first_to_answer_gets_the_task():
    head = head_of(order=[4, 6])
    head.arrives(task(1))
    head.hears(6, TELLS, 2, about=1)
    assert head.hears(4, TELLS, 2, about=1) == started(1, 6, 2, 2.0)
    assert list(head.notes.remembered) == [4]


@pytest.mark.parametrize("silent_last", [True, False])
def test_the_head_does_not_wait_for_a_silent_node_and_forgets_it(silent_last):
    head = head_of(d=2, memory=2, order=[4, 6])
    head.notes.remembered.append(7)
    assert head.arrives(task(1)) == asks(1, 7, 4, 6)
    assert head.hears(4, TELLS, 2, about=1) == []
    steps = [lambda: head.hears(6, TELLS, 3, about=1), lambda: head.unanswered(7, ASKS, about=1)]
    first, last = steps if silent_last else reversed(steps)
    assert first() == []
    assert last() == started(1, 4, 2, 2.0)
    assert list(head.notes.remembered) == [4, 6]


def test_a_silent_node_is_forgotten_while_another_task_still_probes_it():
    """Tasks 1 and 2 probe node 7; when it has not answered about task 1, task 3 no longer probes it."""
    head = head_of(d=1, order=[4])
    head.notes.remembered.append(7)
    head.arrives(task(1), task(2))
    assert head.unanswered(7, ASKS, about=1) == []
    assert head.arrives(task(3)) == asks(3, 4)


def test_if_no_node_answers_others_are_probed():
    head = head_of(order=[4, 6])
    head.arrives(task(1))
    assert head.unanswered(4, ASKS, about=1) == []
    head.order = [5, 3]
    assert head.unanswered(6, ASKS, about=1) == asks(1, 5, 3)
    head.hears(5, TELLS, 1, about=1)
    assert head.hears(3, TELLS, 2, about=1) == started(1, 5, 2, 1.0)


def test_late_answers_about_a_started_task_change_nothing():
    head = head_of(d=1, order=[4])
    head.notes.remembered.append(7)
    head.arrives(task(1))
    head.hears(4, TELLS, 2, about=1)
    head.unanswered(7, ASKS, about=1)
    assert head.hears(7, TELLS, 0, about=1) == []
    assert head.unanswered(4, ASKS, about=1) == []
    assert list(head.notes.remembered) == [4]


@pytest.mark.parametrize("answers", [True, False])
def test_a_killed_task_is_not_started_and_probes_no_more(answers):
    """The task is killed while a node is asked about it."""
    head = head_of(d=1, order=[4])
    head.arrives(task(1))
    assert head.notes.open
    head.loses(task(1))
    assert (head.hears(4, TELLS, 2, about=1) if answers else head.unanswered(4, ASKS, about=1)) == []
    assert not head.notes.answers
    assert not head.notes.open


def test_a_failed_node_is_forgotten():
    head = head_of(d=1, memory=2, order=[4])
    head.notes.remembered.extend([6, 7])
    head.node_failed(6)
    head.node_failed(8)
    assert head.arrives(task(1)) == asks(1, 7, 4)


def test_each_task_of_a_job_has_probes_of_its_own():
    head = head_of(d=1, order=[4])
    assert head.arrives(task(1, job=9), task(2, job=9)) == [*asks(1, 4), *asks(2, 4)]
    assert head.hears(4, TELLS, 2, about=2) == started(2, 4, 1, 2.0)


# ---- several tasks probe at once -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("answered_ms", "target"), [(10.0, 6), (10.1, 4)])
def test_a_task_that_was_started_on_a_node_after_its_answer_is_added_to_it(answered_ms, target):
    """Node 4 answers two tasks, node 6 two and a half (so that no tie comes up). Task 1 starts on node 4 at 10 ms. An
    answer of node 4 of 10 ms or before does not include it: three are more than 2.5. A later one does."""
    head = head_of(order=[4, 6])
    head.arrives(task(1), task(2))
    head.hears(4, TELLS, 2, about=1, sent_ms=5.0)
    head.now_ms = 10.0
    assert head.hears(6, TELLS, 2.5, about=1, sent_ms=5.0) == started(1, 4, 2, 2.0)
    head.now_ms = 20.0
    head.hears(6, TELLS, 2.5, about=2, sent_ms=5.0)
    [start] = head.hears(4, TELLS, 2, about=2, sent_ms=answered_ms)
    assert start.node == target
    assert start.there == {6: 2.5, 4: 2.0}[target]


def test_a_start_is_remembered_while_a_task_probes_that_asked_before_it():
    """Tasks 1 to 3 ask at 0 ms and task 4 at 15 ms. They start at 10, 20, 30 and 40 ms, one after another."""
    head = head_of(d=1, order=[4])
    head.arrives(task(1), task(2), task(3))
    for now_ms, number, kept in (10.0, 1, [10.0]), (20.0, 2, [10.0, 20.0]), (30.0, 3, [20.0, 30.0]), (40.0, 4, []):
        if number == 2:
            head.now_ms = 15.0
            head.arrives(task(4))
        head.now_ms = now_ms
        head.hears(4, TELLS, 0, about=number)
        assert list(head.notes.sent) == [(at_ms, 4) for at_ms in kept]
