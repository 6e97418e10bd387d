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
    """A task that was started on a node of so many tasks, the fewest of so many nodes."""
    return [Started(number, node, f"shortest of {probed}", "tasks", there=tasks)]


def test_a_node_tells_how_many_tasks_it_has():
    node = head_of(me=4, tasks_here=3)
    assert node.hears(0, ASKS, about=7) == [Sent(0, TELLS, 3, 7)]


def test_it_says_again_what_was_not_heard_as_it_is_then():
    node = head_of(me=4, tasks_here=3)
    node.hears(0, ASKS, about=7)
    node.tasks_here = 2
    assert node.unanswered(0, TELLS, 3, about=7) == [Sent(0, TELLS, 2, 7)]


def test_the_task_goes_to_the_shortest_once_all_have_answered_and_that_is_probed_again():
    """4 has five tasks and 6 has three: four with the task, still the fewest."""
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
    assert head.notes["remembered"] == [1]


def test_the_task_that_was_sent_counts_for_what_is_remembered():
    """Of three, one and two tasks the one is the fewest; with the task it is as short as the other that has two, of
    which the one that answered first is remembered."""
    head = head_of(d=3, memory=2, order=[4, 6, 5])
    head.arrives(task(1))
    head.hears(4, TELLS, 3, about=1)
    head.hears(6, TELLS, 2, about=1)
    assert head.hears(5, TELLS, 1, about=1) == started(1, 5, 3, 1.0)
    assert head.notes["remembered"] == [6, 5]


def test_of_equal_queues_the_first_to_answer_is_the_shortest():
    head = head_of(order=[4, 6])
    head.arrives(task(1))
    head.hears(6, TELLS, 2, about=1)
    assert head.hears(4, TELLS, 2, about=1) == started(1, 6, 2, 2.0)
    assert head.notes["remembered"] == [4]


@pytest.mark.parametrize("silent_last", [True, False])
def test_it_does_not_wait_for_a_node_that_does_not_answer_and_forgets_it(silent_last):
    head = head_of(d=2, memory=2, order=[4, 6])
    head.notes["remembered"] = [7]
    assert head.arrives(task(1)) == asks(1, 7, 4, 6)
    assert head.hears(4, TELLS, 2, about=1) == []
    steps = [lambda: head.hears(6, TELLS, 3, about=1), lambda: head.unanswered(7, ASKS, about=1)]
    first, last = steps if silent_last else reversed(steps)
    assert first() == []
    assert last() == started(1, 4, 2, 2.0)
    assert head.notes["remembered"] == [4, 6]


def test_a_node_that_does_not_answer_is_not_probed_again_for_being_remembered():
    """Two tasks probe: the silence about the first one is enough for a third one."""
    head = head_of(d=1, order=[4])
    head.notes["remembered"] = [7]
    head.arrives(task(1), task(2))
    assert head.unanswered(7, ASKS, about=1) == []
    assert head.arrives(task(3)) == asks(3, 4)


def test_where_none_answers_others_are_probed():
    head = head_of(order=[4, 6])
    head.arrives(task(1))
    assert head.unanswered(4, ASKS, about=1) == []
    head.order = [5, 3]
    assert head.unanswered(6, ASKS, about=1) == asks(1, 5, 3)
    head.hears(5, TELLS, 1, about=1)
    assert head.hears(3, TELLS, 2, about=1) == started(1, 5, 2, 1.0)


def test_what_is_said_about_a_task_that_has_started_changes_nothing():
    head = head_of(d=1, order=[4])
    head.notes["remembered"] = [7]
    head.arrives(task(1))
    head.hears(4, TELLS, 2, about=1)
    head.unanswered(7, ASKS, about=1)
    assert head.hears(7, TELLS, 0, about=1) == []
    assert head.unanswered(4, ASKS, about=1) == []
    assert head.notes["remembered"] == [4]


@pytest.mark.parametrize("answers", [True, False])
def test_a_task_that_has_gone_is_not_started_and_is_no_reason_to_probe_again(answers):
    """It was killed while a node was asked about it."""
    head = head_of(d=1, order=[4])
    head.arrives(task(1))
    head.loses(task(1))
    assert (head.hears(4, TELLS, 2, about=1) if answers else head.unanswered(4, ASKS, about=1)) == []
    assert not head.notes["probes"]
    assert not head.notes["asked"]


def test_a_node_that_has_failed_is_forgotten():
    head = head_of(d=1, memory=2, order=[4])
    head.notes["remembered"] = [6, 7]
    head.node_failed(6)
    head.node_failed(8)
    assert head.arrives(task(1)) == asks(1, 7, 4)


def test_each_task_of_a_job_has_probes_of_its_own():
    head = head_of(d=1, order=[4])
    assert head.arrives(task(1, job=9), task(2, job=9)) == [*asks(1, 4), *asks(2, 4)]
    assert head.hears(4, TELLS, 2, about=2) == started(2, 4, 1, 2.0)


# ---- several tasks probe at once -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("answered_ms", "target"), [(10.0, 6), (10.1, 4)])
def test_a_task_that_was_sent_after_an_answer_counts(answered_ms, target):
    """Node 4 has two tasks and 6 has two and a half; the first task is sent to 4 at 10 ms. What 4 answered then, or
    before, does not count it; what it answered later does."""
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


def test_what_was_sent_is_kept_as_long_as_a_task_is_probing_that_asked_before():
    """Tasks 1 to 3 ask at 0 ms and task 4 at 15 ms; they are sent at 10, 20, 30 and 40 ms, one after another."""
    head = head_of(d=1, order=[4])
    head.arrives(task(1), task(2), task(3))
    for now_ms, number, kept in (10.0, 1, [10.0]), (20.0, 2, [10.0, 20.0]), (30.0, 3, [20.0, 30.0]), (40.0, 4, []):
        if number == 2:
            head.now_ms = 15.0
            head.arrives(task(4))
        head.now_ms = now_ms
        head.hears(4, TELLS, 0, about=number)
        assert head.notes["sent"] == [(at_ms, 4) for at_ms in kept]
