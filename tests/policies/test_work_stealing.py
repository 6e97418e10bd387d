"""Work stealing: what an idle node gets, step by step, and that none idles while another has tasks waiting."""

from __future__ import annotations

import pytest
from post_by_hand import NODE, Handed, Manager, Reminded, Sent, Started, task
from support import scenario, traced

from cluster_abm import ClusterModel
from cluster_abm.policies.work_stealing import WorkStealing

SETTINGS = {
    "policy__name": "work-stealing", "cluster__nodes": 6, "cluster__quantum_ms": "inf", "workload__duration_s": 20.0,
    "cluster__context_switch_ms": 0.0, "interconnect__latency_ms": 0.0, "negotiation__remote_execution_ms": 0.0,
    "workload__utilisation": 0.9, "workload__cpu_ms__mean": 100.0, "workload__io_per_ms__mean": 0.0,
    "workload__home__kind": "weights", "workload__home__weights": [20.0, 1.0, 1.0, 1.0, 1.0, 1.0],
}  # fmt: skip


def idle_while_another_has_two(**more) -> int:
    """Slices that a node has been idle through, while the same two tasks have waited elsewhere all the time."""
    model = ClusterModel(scenario(**(SETTINGS | more)), seed=2)
    found, idle_before, waited, served_ns = 0, set(), [set()] * 6, model.busy_ns()[0]
    while model.running:
        model.step()
        # Compiled managers keep their tasks elsewhere.
        model.conversation.come_back()
        waiting = [{task.task for task in post.waiting} for post in model.conversation.posts]
        before_ns, served_ns = served_ns, model.busy_ns()[0]
        idle = {node for node in range(6) if served_ns[node] == before_ns[node]}
        both = max(len(now & before) for now, before in zip(waiting, waited, strict=True))
        found += bool(idle & idle_before) and both >= 2
        idle_before, waited = idle, waiting
    assert model.summary()["jobs"]["finished"] == model.summary()["jobs"]["submitted"]
    return found


@pytest.mark.slow
def test_where_all_are_asked_no_node_idles_while_another_has_two_waiting():
    assert idle_while_another_has_two(policy__victims="all", policy__retry_slices=1) == 0


@pytest.mark.slow
def test_if_no_thief_asks_again_some_nodes_idle_while_another_has_two_waiting():
    assert idle_while_another_has_two(policy__victims=1, policy__retry_slices=0) > 0


def test_half_of_what_waits_or_one_task_is_handed_over(tmp_path):
    """Node 0 has one task running and four waiting when node 1 asks: it gets the newest two, or the newest."""
    for amount, stolen in (("half", 2), ("one", 1)):
        rows = ["0,0,1000,1"] * 5 + ["0,1,5,1"]
        model = traced(tmp_path, "work-stealing", rows, cluster__nodes=2, policy__amount=amount, policy__retry_slices=0)
        # The first decision about a task that node 1 took from node 0 is of 10 ms, when the end of its own is known.
        decided = model.decisions_frame()
        taken = decided[(decided["time_ms"] == 10.0) & (decided["target"] == 1)]
        assert taken["task"].tolist() == [5 - stolen]
        frame = model.jobs_frame()
        assert set(range(5 - stolen, 5)) <= set(frame.loc[frame["node"] == 1, "job"])


# ---- step by step --------------------------------------------------------------------------------------------------

ASKS, NONE, STOLEN, AGAIN = "any work?", "none waits", "stolen", "ask again"
OWN = "next of those that wait here"


def manager_of(*, cores: int = 1, given: dict | None = None, **more) -> Manager:
    """The manager of node 0 of ten; a slice is 10 ms."""
    return Manager(WorkStealing(**(given or {})), nodes=10, hardware=[NODE._replace(cores=cores)] * 10, **more)


def asks(*nodes: int) -> list[Sent]:
    return [Sent(node, ASKS) for node in nodes]


def own(*numbers: int) -> list[Started]:
    return [Started(number, 0, OWN) for number in numbers]


def test_an_idle_node_asks_one_other_node_and_after_ten_slices_again():
    manager = manager_of(order=[0, 6, 4])
    assert manager.begins() == asks(6)
    assert manager.hears(6, NONE) == [Reminded(100.0, AGAIN)]
    assert manager.ended() == asks(6)
    assert manager.hears(6, NONE) == []
    assert manager.hears(0, AGAIN) == asks(6)
    assert manager.hears(6, NONE) == [Reminded(100.0, AGAIN)]


def test_a_node_that_waits_for_an_answer_asks_no_other():
    manager = manager_of(order=[6, 4])
    manager.begins()
    assert manager.ended() == []
    assert manager.hears(0, AGAIN) == []


@pytest.mark.parametrize(("victims", "asked"), [(1, [6]), (3, [6, 4, 9]), (4, [6, 4, 9, 1]), ("all", [6, 4, 9, 1])])
def test_an_idle_node_asks_the_set_number_of_victims_or_all(victims, asked):
    """Nodes 6, 4, 9 and 1 accept tasks beside the own one."""
    manager = manager_of(order=[6, 4, 0, 9, 1], given={"victims": victims})
    assert manager.begins() == asks(*asked)


def test_a_thief_that_gets_half_asks_any_node_and_one_that_gets_one_task_asks_homes_only():
    for amount, asked in ("half", [6, 4]), ("one", [4, 9]):
        manager = manager_of(order=[6, 4, 0, 9], homes=[0, 4, 9], given={"victims": 2, "amount": amount})
        assert manager.begins() == asks(*asked)


def test_a_thief_asks_again_when_all_victims_have_nothing_or_are_silent():
    manager = manager_of(given={"victims": 3, "retry_slices": 4})
    assert manager.begins() == asks(1, 2, 3)
    assert manager.hears(2, NONE) == []
    assert manager.unanswered(1, ASKS) == []
    assert manager.hears(3, NONE) == [Reminded(40.0, AGAIN)]


def test_with_retry_slices_of_0_a_thief_does_not_ask_again():
    manager = manager_of(given={"retry_slices": 0})
    manager.begins()
    assert manager.unanswered(1, ASKS) == []


def test_if_no_other_node_accepts_tasks_a_thief_asks_later():
    assert manager_of(order=[0]).begins() == [Reminded(100.0, AGAIN)]


def test_a_node_with_a_task_asks_no_other_until_the_task_ends():
    manager = manager_of(tasks_here=1, cores=2)
    assert manager.begins() == []
    manager.hears(0, AGAIN)
    assert manager.ended(task(1)) == asks(1)


def test_a_node_that_has_a_task_ignores_its_reminder_and_asks_when_the_task_ends():
    manager, one = manager_of(), task(1)
    manager.begins()
    manager.hears(1, NONE)
    assert manager.arrives(one) == own(1)
    assert manager.hears(0, AGAIN) == []
    assert manager.ended(one) == asks(1)
    assert manager.hears(1, NONE) == [Reminded(100.0, AGAIN)]


def test_tasks_that_wait_start_oldest_first_in_free_slots():
    manager = manager_of(cores=2)
    one, two = task(1), task(2)
    assert manager.arrives(one, two, task(3)) == own(1, 2)
    assert manager.arrives(task(4), task(5)) == []
    assert manager.ended(two) == own(3)
    assert manager.ended(one, task(3)) == own(4, 5)


@pytest.mark.parametrize(("amount", "waiting", "handed"), [
    ("half", 4, [3, 4]), ("half", 2, [2]), ("half", 1, [1]), ("one", 4, [4]), ("one", 1, [1]),
])  # fmt: skip
def test_the_newest_tasks_are_handed_over(amount, waiting, handed):
    manager = manager_of(tasks_here=1, given={"amount": amount})
    manager.arrives(*(task(number) for number in range(1, waiting + 1)))
    assert manager.hears(7, ASKS) == [Handed(number, 7, STOLEN) for number in handed]


@pytest.mark.parametrize("amount", ["half", "one"])
def test_a_node_without_waiting_tasks_answers_so_and_repeats_a_lost_answer(amount):
    manager = manager_of(tasks_here=1, given={"amount": amount})
    assert manager.hears(7, ASKS) == [Sent(7, NONE)]
    assert manager.unanswered(7, NONE) == [Sent(7, NONE)]


def test_a_thief_starts_stolen_and_own_tasks_in_their_order_as_slots_are_free():
    """It gets two tasks of node 7 for its one slot, and then a task of its own."""
    manager, one, two = manager_of(), task(1, home=7), task(2, home=7)
    manager.begins()
    assert manager.hears(7, STOLEN, task=one) == [Started(1, 0, "stolen")]
    assert manager.hears(7, STOLEN, task=two) == []
    assert manager.arrives(task(3)) == []
    assert manager.ended(one) == [Started(2, 0, "stolen")]
    assert manager.ended(two) == own(3)


def test_a_thief_that_has_got_a_task_ignores_late_answers_of_other_victims():
    """Of three victims one hands over a task. Answers of the others change nothing; when the task ends, the thief asks
    three again."""
    manager, one = manager_of(given={"victims": 3}), task(1, home=2)
    manager.begins()
    manager.hears(2, STOLEN, task=one)
    assert manager.hears(1, NONE) == []
    assert manager.unanswered(3, ASKS) == []
    assert manager.ended(one) == asks(1, 2, 3)


def test_a_task_that_could_not_be_handed_over_waits_here_again_and_starts_in_a_free_slot():
    manager, one, two = manager_of(), task(1), task(2)
    manager.arrives(one, two)
    manager.hears(7, ASKS)
    assert manager.unanswered(7, STOLEN, task=two) == []
    manager.hears(7, ASKS)
    manager.ended(one)
    assert manager.unanswered(7, STOLEN, task=two) == own(2)


def test_tasks_that_meet_at_barriers_start_at_once_and_do_not_wait():
    manager = manager_of(tasks_here=1, barriers=[7], order=[4, 6])
    starts = manager.arrives(task(1, job=7), task(2, job=7))
    assert sorted(start.node for start in starts) == [4, 6]
    assert manager.waiting == ()
