"""The contract net: bids as the papers' formulas have them, the protocol message by message, and whole runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from by_hand import LONG, Drawn, E, F, on
from four_nodes import Case, Job, decided
from post_by_hand import Manager, Moved, Refused, Reminded, Sent, task
from support import busy, finished, same_records

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import LOAD
from cluster_abm.errors import PolicyFault
from cluster_abm.policies import Announced, ArrivingTask, Bid, Bidding, CallForBids, Candidate, Hardware, Paths, View
from cluster_abm.policies.contract_net import ContractNet
from cluster_abm.policy.parts.bids import NONE, Reply
from cluster_abm.policy.parts.own_loads import with_task, without_task
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.testing.runs import FAILING

ALL = {"policy__d": "all"}

# ---- what a node bids ----------------------------------------------------------------------------------------------

# A disk of 8 ms + size / 40 MB/s, no page faults.
DISK = Hardware(1.0, 1000.0, 0.0, math.inf, False, 8.0, 8.0, 40.0, 0.0)
# t 2000, a 500, lambda .02/ms of 100 KB, w .25, re-access 1, d_INIT 20 MB, m 4 MB: it has written .125 MB.
A = Candidate(0, 0, 0, 1500.0, 0.02, 100.0, 4.0, 20.0, 1.0, 0.25, 500.0, True)


def view_of(me: int = 1, **columns: Any) -> View:
    """Two nodes 1 Gbps apart, e = f = 100 ms."""
    loads = np.zeros(2, LOAD)
    for name, values in columns.items():
        loads[name] = values
    return View(me, loads, (DISK, DISK), Paths.alike(2, 128.0), 100.0, lambda task, draw: 0.5, migration_ms=100.0)


def called(*announced: Announced, asker: int = 0, latency_ms: float = 0.0) -> CallForBids:
    return CallForBids(1, asker, 128.0, latency_ms, 40.0, announced)


@pytest.mark.parametrize("formula", ["iolb", "wal-pm"])
def test_a_bid_is_the_response_there_and_the_cost(formula):
    """A from a node with {A, B, C} to one with {C}: E(L) there is 1 + 1/(1 + .02 10.5) = 1.82645, nothing at the disk:
    1500 1.82645 + 1500 .02 10.5 = 3054.67. c = 100 + 4/128 s + 20.125 (1/128 + 2/40) s = 1294.73 ms. Together 4349.40,
    below the 4405.51 that staying takes."""
    view = view_of(queue=[2.7, 1.0], cpu_queue=[3.0, 1.0], io_ms=[900.0, 0.0])
    announced = Announced(A, 4405.51, "io_ms", 600.0)
    call = called(announced)
    assert call.cost_ms(A, view) == pytest.approx(1294.73, abs=0.01)
    bid = ContractNet(formula=formula).bid(announced, call, view)
    assert bid == pytest.approx(3054.67 + 1294.73, abs=0.02)
    assert ContractNet(formula=formula).bid(announced._replace(response_here_ms=4349.0), call, view) == (
        "no gain in response"
    )
    # 2 ms of latency are part of the cost.
    assert call._replace(latency_ms=2.0).cost_ms(A, view) == pytest.approx(1296.73, abs=0.01)


def test_an_arriving_task_costs_a_remote_execution():
    """e + d_INIT (1/b + 2/b_disk) = 100 + 20 (1/128 + 2/40) s = 1256.25 ms."""
    arriving = Candidate(0, 0, 0, 2000.0, 0.02, 100.0, 4.0, 20.0, 1.0, 0.25)
    assert called().cost_ms(arriving, view_of()) == pytest.approx(1256.25)


def test_by_iolb_a_node_declines_where_the_gap_would_not_narrow():
    """A has 1500 .02 10.5 = 315 ms of I/O. 315 < 600 - 284 = 316 narrows the gap, 600 - 285 = 315 does not."""
    announced = Announced(A, 1e6, "io_ms", 600.0)
    assert not isinstance(ContractNet().bid(announced, called(announced), view_of(io_ms=[900.0, 284.0])), str)
    refusal = ContractNet().bid(announced, called(announced), view_of(io_ms=[900.0, 285.0]))
    assert refusal == "the gap in load would not narrow"


def test_by_wal_pm_a_node_declines_that_is_not_below_the_mean():
    """Half of 4 tasks is as much as the mean of 4 and 4, and more than that of 4 and 5."""
    announced, policy = Announced(A, 1e6), ContractNet(formula="wal-pm")
    assert policy.bid(announced, called(announced), view_of(cpu_queue=[4, 4])) == "its load is not below the mean"
    assert not isinstance(policy.bid(announced, called(announced), view_of(cpu_queue=[5, 4])), str)


def test_its_own_tasks_are_announced_by_mce_eight_at_most():
    """MCE = a lambda / c of tasks that differ in their age alone: the oldest first."""
    rows = np.zeros(10, CANDIDATE)
    rows["task"], rows["age_ms"] = np.arange(10), [3, 9, 1, 4, 0, 8, 2, 6, 5, 7]
    rows["cpu_ms"], rows["io_per_ms"], rows["request_kb"], rows["running"] = 1e4, 0.02, 100.0, True
    view = view_of(0, io_ms=[900.0, 0.0], cpu_ms=[1e5, 0.0])
    view.tasks_of_mine = lambda: rows
    announced = ContractNet().call_for_bids(None, view)
    assert [one.task.task for one in announced] == [1, 5, 9, 7, 8, 3, 0, 6]


def test_a_node_that_knows_of_no_lighter_one_calls_for_no_bids():
    view = view_of(0, io_ms=[900.0, 900.0], cpu_ms=[10.0, 10.0])
    assert not ContractNet().call_for_bids(task(1), view)
    assert not ContractNet(formula="wal-pm").call_for_bids(task(1), view_of(0, cpu_queue=[3, 4]))


def test_by_wal_pm_an_arriving_task_counts_at_its_node():
    """Half the CPU queue and half the I/O load: with a task of .02/ms node 0 has 2 + .01 of 1.5 + 0 before, and node 1
    has 2. The load that is announced is without the task."""
    policy = ContractNet(formula="wal-pm")
    view = view_of(0, cpu_queue=[3, 4], tasks=[3, 4])
    (announced,) = policy.call_for_bids(task(1, io_per_ms=0.02), view)
    assert announced.load_here == pytest.approx(1.5)
    assert not policy.call_for_bids(task(1, io_per_ms=0.02), view_of(0, cpu_queue=[2, 4], tasks=[2, 4]))
    assert not policy.call_for_bids(None, view)
    # A task with the rates of the node's own leaves 2 in the queue and .04/ms: 1.02.
    rows = np.zeros(1, CANDIDATE)
    rows["cpu_ms"], rows["io_per_ms"], rows["request_kb"], rows["running"] = 1e4, 0.02, 100.0, True
    view = view_of(0, cpu_queue=[3, 2], tasks=[3, 2], io_load=[0.06, 0.0])
    view.tasks_of_mine = lambda: rows
    (announced,) = policy.call_for_bids(None, view)
    assert announced.load_here == pytest.approx(1.02)


def test_by_wal_pm_an_arriving_task_counts_with_its_page_faults():
    """Memory of 100 MB, mu = .01/ms: two tasks of 60 MB fault .01 1.2 each; with a third of 30 MB .01 1.5 each."""
    paging = DISK._replace(user_memory_mb=100.0, fault_rate_per_ms=0.01)
    view = replace(view_of(0, tasks=[2, 0], memory_mb=[120, 0], faults_per_ms=[0.012, 0], io_load=[0.024, 0]),
                   hardware=(paging, paging))  # fmt: skip
    third = ArrivingTask(1, 1, 0, 100.0, 0.0, 100.0, 30.0, 0.0)
    joined = with_task(third, view)
    assert joined.loads["io_load"].tolist() == pytest.approx([0.045, 0.0])
    assert joined.loads["memory_mb"].tolist() == [150.0, 0.0]
    left = without_task(third, joined)
    assert left.loads["io_load"].tolist() == pytest.approx([0.024, 0.0])
    assert left.loads["cpu_queue"].tolist() == [0.0, 0.0]
    assert view.loads["io_load"].tolist() == [0.024, 0.0]


# ---- the protocol, message by message ------------------------------------------------------------------------------


class Told(Bidding):
    """Calls for the tasks, and bids what a test has put into these attributes."""

    name = "told"
    source = summary = "test"
    calls_for: tuple[Announced, ...] = ()
    bids: dict[int, float | str]
    counters: Any = None

    def call_for_bids(self, task, view):
        return self.calls_for if task is None else [Announced(task, 300.0), *self.calls_for]

    def bid(self, announced, call, view):
        return self.bids[announced.task.task]

    def counter(self, call, view):
        return self.counters


def manager_of(me: int = 0, **given: Any) -> Manager:
    """The manager of one of four nodes, with the tasks 20 and 21 on it; a slice is 10 ms, the latency 5 ms."""
    manager = Manager(Told(**given), me=me, tasks_here=2)
    rows = np.zeros(2, CANDIDATE)
    rows["task"], rows["cpu_ms"], rows["running"] = [20, 21], 100.0, True
    manager.view = View(
        me, np.zeros(4, LOAD), (DISK,) * 4, Paths.alike(4, 128.0, 5.0), 100.0, lambda task, draw: 0.5,
        tasks_of_mine=lambda: rows, migration_ms=100.0,
    )  # fmt: skip
    manager.begins()
    return manager


def candidate(number: int, response_here_ms: float = 300.0) -> Announced:
    return Announced(Candidate(number, number, 0, 100.0, 0.0, 0.0, 0.0, 0.0, running=True), response_here_ms)


def asks(number: int = 1, *nodes: int) -> list[tuple[int, str, int]]:
    return [(node, "call for bids", number) for node in nodes or (1, 2, 3)]


def briefly(done: list[Any]) -> list[Any]:
    return [(one.node, one.topic, one.about) if isinstance(one, Sent) else one for one in done]


ANSWERS_DUE = Reminded(20.0, "answers are due", 0.0, 1)


def due(node: int, number: int = 1) -> Reminded:
    return Reminded(20.0, "award is due", float(node), number)


def answers(manager: Manager, node: int, ms: float, place: int = 0, **more: Any) -> list[Any]:
    return manager.hears(node, "answer", about=1, note=Reply(place, ms, **more))


def test_the_lowest_bid_gets_the_task_and_the_task_starts_there():
    manager = manager_of()
    assert briefly(manager.arrives(task(1))) == [*asks(), ANSWERS_DUE]
    assert answers(manager, 1, 250.0) == answers(manager, 2, 200.0) == []
    award, reminder = answers(manager, 3, 220.0)
    assert (award.node, award.topic, award.value, reminder) == (2, "award", 200.0, due(2))
    assert manager.hears(2, "accepts", about=1) == [Moved(1, 2, "best bid")]
    # The deadlines of what is over, and answers that come late, mean nothing.
    assert manager.hears(0, "answers are due", about=1) == manager.hears(0, "award is due", 2.0, about=1) == []
    assert answers(manager, 3, 1.0) == manager.hears(2, "accepts", about=1) == []


def test_no_bid_below_staying_and_no_bid_at_all_mean_that_it_stays():
    manager = manager_of()
    manager.arrives(task(1))
    answers(manager, 1, 300.0)
    answers(manager, 2, 400.0)
    assert answers(manager, 3, math.nan, NONE, reason="full") == [Moved(1, 0, "stays", "no bid beats staying")]
    manager.arrives(task(2))
    for node in (1, 2):
        manager.hears(node, "answer", about=2, note=Reply(NONE, reason="full"))
    assert manager.hears(3, "answer", about=2, note=Reply(NONE, reason="hot")) == [Moved(2, 0, "stays", "full")]


def test_bids_that_do_not_come_are_waited_for_as_long_as_the_way_takes_and_a_slice():
    """There and back are 10 ms, a slice is 10 ms. One bid has come; no node answers the award."""
    manager = manager_of()
    assert manager.arrives(task(1))[-1] == ANSWERS_DUE
    answers(manager, 1, 250.0)
    assert [one.topic for one in manager.hears(0, "answers are due", about=1)] == ["award", "award is due"]
    assert manager.hears(0, "award is due", 1.0, about=1) == [
        Refused(1, 1, "no answer"), Moved(1, 0, "stays", "no answer"),
    ]  # fmt: skip


def test_messages_that_are_known_to_be_lost_count_as_declined():
    manager = manager_of(d=1)
    manager.arrives(task(1))
    assert manager.unanswered(1, "call for bids", about=1) == [Moved(1, 0, "stays", "no answer")]
    manager.arrives(task(2))
    manager.hears(1, "answer", about=2, note=Reply(0, 5.0))
    assert manager.unanswered(1, "award", about=2) == [Refused(2, 1, "no answer"), Moved(2, 0, "stays", "no answer")]


def cut_off(manager: Manager, node: int) -> None:
    """The last route to a node fails."""
    mb_per_s, latency_ms = manager.view.paths
    here = np.arange(4) == node
    paths = Paths(np.where(here, 0.0, mb_per_s), np.where(here, math.inf, latency_ms))
    manager.view = replace(manager.view, paths=paths)


def test_a_bid_of_a_node_that_cannot_be_reached_any_more_is_no_bid():
    """Node 2 bids least and would not get the award: the manager would wait for its answer without end."""
    manager = manager_of()
    manager.arrives(task(1))
    answers(manager, 1, 250.0)
    answers(manager, 2, 200.0)
    cut_off(manager, 2)
    award, reminder = answers(manager, 3, 220.0)
    assert (award.node, award.value, reminder) == (3, 220.0, due(3))


def test_answers_are_due_by_the_nodes_that_can_be_reached():
    manager = manager_of()
    cut_off(manager, 2)
    assert briefly(manager.arrives(task(1))) == [*asks(), ANSWERS_DUE]
    assert manager.unanswered(2, "call for bids", about=1) == []
    alone = manager_of(d=1)
    cut_off(alone, 1)
    assert alone.arrives(task(1))[-1] == Reminded(10.0, "answers are due", 0.0, 1)


def test_a_refused_award_goes_to_the_next_best_bid():
    manager = manager_of(d=2)
    manager.arrives(task(1))
    answers(manager, 1, 250.0)
    answers(manager, 2, 200.0)
    refused, award, reminder = manager.hears(2, "refuses", about=1, note=("no gain any more",))
    assert (refused, award.node, award.value, reminder) == (Refused(1, 2, "no gain any more"), 1, 250.0, due(1))
    # What the refusing node says of the award that is over, means nothing.
    assert manager.hears(2, "accepts", about=1) == []
    assert manager.hears(1, "accepts", about=1) == [Moved(1, 1, "best bid")]


def test_a_counter_offer_is_awarded_where_no_bid_beats_staying_and_the_arriving_task_stays():
    manager = manager_of(d=2)
    manager.policy.calls_for = (candidate(20), candidate(21, 500.0))
    manager.arrives(task(1))
    answers(manager, 1, 250.0, 1, reason="full")
    stays, award, _ = answers(manager, 2, 350.0, 2, reason="hot")
    # Gains are 300 - 250 and 500 - 350.
    assert stays == Moved(1, 0, "stays", "full")
    assert (award.node, award.topic, [one.task.task for one in award.note.tasks]) == (2, "award", [21])
    assert manager.hears(2, "accepts", about=1) == [Moved(21, 2, "counter-offer")]


def test_a_bid_for_the_task_that_was_announced_goes_before_a_counter_offer():
    manager = manager_of(d=2)
    manager.policy.calls_for = (candidate(20, 5000.0),)
    manager.arrives(task(1))
    answers(manager, 1, 100.0, 1, reason="full")
    assert answers(manager, 2, 299.0)[0].note.tasks[0].task.task == 1


def test_a_task_is_in_one_award_at_a_time():
    """Two calls are open, and both get a counter-offer for task 20."""
    manager = manager_of(d=1)
    manager.policy.calls_for = (candidate(20),)
    manager.arrives(task(1), task(2))
    assert briefly(answers(manager, 1, 10.0, 1, reason="full"))[1:] == [(1, "award", 1), due(1)]
    second = manager.hears(1, "answer", about=2, note=Reply(1, 10.0, "full"))
    assert second == [Moved(2, 0, "stays", "full")]


def test_a_task_that_has_ended_or_was_killed_meanwhile_goes_nowhere():
    manager, one = manager_of(d=1), task(1)
    manager.arrives(one)
    answers(manager, 1, 10.0)
    manager.loses(one)
    assert manager.hears(1, "accepts", about=1) == []
    manager.arrives(two := task(2))
    manager.loses(two)
    assert manager.hears(1, "answer", about=2, note=Reply(0, 5.0)) == []


def test_a_node_that_takes_no_tasks_any_more_does_not_get_the_task():
    manager = manager_of(d=1)
    manager.arrives(task(1))
    answers(manager, 1, 10.0)
    manager.can_move = False
    reason = "its node takes no tasks any more"
    assert manager.hears(1, "accepts", about=1) == [Refused(1, 1, reason), Moved(1, 0, "stays", reason)]


def test_as_many_calls_are_open_as_may_be_and_the_next_task_has_its_turn_then():
    manager = manager_of(d=1, calls=2)
    assert [one[0] for one in briefly(manager.arrives(task(1), task(2), task(3))) if isinstance(one, tuple)] == [1, 1]
    stays, call, _ = answers(manager, 1, math.nan, NONE, reason="full")
    assert (stays, call.about) == (Moved(1, 0, "stays", "full"), 3)


def test_once_a_period_a_call_for_own_tasks_unless_one_is_open():
    manager = manager_of(period_ms=500.0)
    assert manager.hears(0, "period") == [Reminded(500.0, "period")]
    manager.policy.calls_for = (candidate(20),)
    assert briefly(manager.hears(0, "period")) == [Reminded(500.0, "period"), *asks(), ANSWERS_DUE]
    assert manager.hears(0, "period") == [Reminded(500.0, "period")]


def test_a_node_may_say_when_it_would_take_a_task_and_is_asked_again_then():
    manager = manager_of(d=1)
    manager.arrives(task(1))
    later = answers(manager, 1, math.nan, NONE, reason="full", after_ms=70.0)
    assert later == [Moved(1, 0, "stays", "full"), Reminded(70.0, "later")]
    manager.policy.calls_for = (candidate(20),)
    assert briefly(manager.hears(0, "later"))[0] == (1, "call for bids", 2)


# ---- the bidder ----------------------------------------------------------------------------------------------------


def bidder_of(**bids: float | str) -> Manager:
    """The manager of node 1, which bids so for t1, t2 ..."""
    manager = manager_of(1)
    manager.policy.bids = {int(name[1:]): bid for name, bid in bids.items()}
    return manager


def hears_call(manager: Manager, *numbers: int, topic: str = "call for bids", value: float = 0.0) -> list[Any]:
    call = CallForBids(7, 0, 128.0, 5.0, 40.0, tuple(candidate(number) for number in numbers))
    return manager.hears(0, topic, value, about=7, note=call)


def said(answer: Reply) -> list[Sent]:
    return [Sent(0, "answer", 0.0, 7, (), answer)]


def test_an_asked_node_bids_or_declines_or_offers_something_else():
    manager = bidder_of(t1=120.0, t2="full", t3=80.0)
    assert hears_call(manager, 1, 2, 3) == said(Reply(0, 120.0))
    (sent,) = hears_call(manager, 2, 1, 3)
    assert (sent.note.place, sent.note.reason, math.isnan(sent.note.ms)) == (NONE, "full", True)
    manager.policy.counters = candidate(3).task
    assert hears_call(manager, 2, 1, 3) == said(Reply(2, 80.0, "full"))
    manager.policy.counters = 40.0
    (sent,) = hears_call(manager, 2, 1, 3)
    assert (sent.note.place, sent.note.after_ms) == (NONE, 40.0)
    # A counter-offer of a task that it does not take is none.
    manager.policy.counters = candidate(2).task
    assert hears_call(manager, 2, 1)[0].note.place == NONE


def test_a_time_of_a_counter_offer_is_one_that_can_be_waited_for():
    manager = bidder_of(t1="full")
    manager.policy.counters = math.inf
    (sent,) = hears_call(manager, 1)
    assert (sent.note.place, sent.note.reason, math.isnan(sent.note.after_ms)) == (NONE, "full", True)
    for wrong in (1e300, -1.0, -math.inf):
        manager.policy.counters = wrong
        with pytest.raises(ValueError, match=r"counter returned -?(1e\+300|1|inf); allowed is 0 to 1e\+12 ms"):
            hears_call(manager, 1)


def test_by_default_the_counter_offer_is_the_task_that_gains_most():
    call = called(candidate(1), candidate(2, 300.0), candidate(3, 500.0), candidate(4, 900.0), candidate(5, 1.0))
    policy = Told()
    policy.bids = {1: "full", 2: 100.0, 3: 250.0, 4: "full", 5: 2.0}
    assert Bidding.counter(policy, call, view_of()).task == 3
    policy.bids |= {2: "full", 3: 500.0}
    assert Bidding.counter(policy, call, view_of()) is None


def test_an_award_is_refused_if_the_state_has_changed():
    """It has bid 120, and staying takes 300: 299 is still a gain, 300 is not; and one award at a time."""
    for bid, said_then in ((299.0, "accepts"), (300.0, "refuses"), ("full", "refuses")):
        manager = bidder_of(t1=bid)
        assert [one.topic for one in hears_call(manager, 1, topic="award", value=120.0)] == [said_then]


def test_a_node_accepts_one_award_at_a_time_until_the_task_is_sent_or_the_asker_has_given_up():
    manager = bidder_of(t1=10.0, t2=10.0)
    hears_call(manager, 1, topic="award")
    (refusal,) = hears_call(manager, 2, topic="award")
    assert (refusal.topic, refusal.note) == ("refuses", ("another award is on its way",))
    # The asker waits 20 ms, of which 8 have passed.
    manager.now_ms = 8.0
    (sent,) = hears_call(manager, 2)
    assert (sent.note.place, sent.note.after_ms) == (NONE, 12.0)
    manager.came(candidate(1).task)
    assert hears_call(manager, 2, topic="award")[0].topic == "accepts"
    manager.now_ms = 28.0
    assert hears_call(manager, 1, topic="award")[0].topic == "accepts"


@pytest.mark.parametrize(("wrong", "words"), [(None, "bid returned None"), (math.nan, "bid returned nan"), ("", "bid")])
def test_a_bid_that_is_neither_a_number_nor_a_reason_is_said_to_be_wrong(wrong, words):
    with pytest.raises(TypeError, match=words):
        hears_call(bidder_of(t1=wrong), 1)


# ---- on four nodes -------------------------------------------------------------------------------------------------

BIDS = {**ALL, E: 20.0, F: 50.0}
# Remaining CPU 900, 750, 450 and 750 ms.
ONE_TOO_LARGE = [Job(0, 600.0), Job(0, 200.0), Job(0, 100.0), Job(1, 750.0), Job(2, 450.0), Job(3, 750.0)]
CASES = [
    # Of n tasks, itself included, R left is expected to take R n: 100 at node 1, 200 at 2 and 3, 300 at home.
    Case("contract-net", "the lowest bid", on(2, 0, 1, 1), [Job(0)], [1], rules=["best bid"], given=BIDS),
    # 2 R > R + 20 from R = 20 on; the gap is 200.
    Case("contract-net", "more than it costs", on(1, 0, 1, 1), [Job(0, 20.5)], [1], rules=["best bid"], given=BIDS),
    Case("contract-net", "no more than it costs", on(1, 0, 1, 1), [Job(0, 19.5)], [0], rules=["stays"], given=BIDS),
    Case("contract-net", "not overloaded", on(1, 2, 0, 0), [Job(0)], [0], rules=["stays"], given=BIDS),
    # 250 < 300 - 60 does not hold at node 1, nor elsewhere.
    Case("contract-net", "the gap does not narrow", [Job(0, 300.0), Job(1, 60.0), Job(2, 90.0), Job(3, 90.0)],
         [Job(0, 250.0)], [0], rules=["stays"], given=BIDS | {"policy__period_ms": LONG}),
    Drawn("contract-net", on(3, 1, 1, 1), [Job(0, LONG / 1e3)], {1, 2, 3}, given=ALL | {"policy__formula": "wal-pm"}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_by_hand(case):
    case.check()


def test_only_a_counter_offer_ends_the_overload(monkeypatch):
    """Node 0 has 600, 200 and 100 ms of CPU left, nodes 1 and 3 have 750 each, node 2 has 450.

    Node 0 is overloaded, 900 being the most. It announces the task of 600. Without it node 0 has 300, less than any
    other: no node can take it. Without the task of 200 it has 700, and 200 < 700 - 450: node 2 can take that one; it
    gains 3 200 - 2 200 - c = 142.2 ms, c being 50 ms and 7.8 for an image of 1 MB. The task of 100 would gain 42.2.
    Nodes 1 and 3 take neither: 200 > 700 - 750, 100 > 800 - 750. Afterwards loads are 700, 750, 650 and 750: node 0 is
    not overloaded any more. Without counter-offers all three decline, and nothing happens.
    """
    given = {**BIDS, "policy__period_ms": 10.0, "policy__formula": "iolb"}
    seen = decided("contract-net", ONE_TOO_LARGE, (), until_ms=20.0, **given)
    (row,) = seen.decisions
    assert (row.task, row.source, row.target, row.rule, row.index) == (1, 0, 2, "counter-offer", "cpu_ms")
    assert row.response_here_ms == pytest.approx(600.0)
    assert row.response_there_ms + row.cost_ms == pytest.approx(400.0 + 57.8125)
    assert row.load_here == pytest.approx(690.0)
    monkeypatch.setattr(ContractNet, "counter", lambda self, call, view: None)
    assert decided("contract-net", ONE_TOO_LARGE, (), until_ms=300.0, **given).decisions == []


def test_messages_are_counted_and_their_latencies_paid():
    """Three calls, answers, an award and its acceptance. The task comes at 1 ms, and waits for four ways of 3 ms."""
    seen = decided("contract-net", on(2, 0, 1, 1), [Job(0)], until_ms=500.0, interconnect__latency_ms=3.0,
                   negotiation__mode="negotiated", **BIDS)  # fmt: skip
    row = seen.model.jobs_frame().set_index("task").loc[seen.first]
    assert (row["node"], row["blocked_ms"]) == (1, pytest.approx(12.0))
    assert row["migration_ms"] == pytest.approx(23.0)
    assert seen.model.conversation.mail.sent == 3 + 3 + 2


def test_nodes_as_loaded_as_each_other_send_each_other_nothing():
    seen = decided("contract-net", on(2, 2, 2, 2), (), until_ms=190.0, policy__period_ms=10.0, **ALL)
    assert seen.decisions == []


# ---- whole runs ----------------------------------------------------------------------------------------------------

RUN = {"policy__name": "contract-net", "policy__period_ms": 100.0, "workload__duration_s": 4.0}
HARD = {
    "zero latency": {"interconnect__latency_ms": 0.0},
    "long latency": {"interconnect__latency_ms": 300.0},
    "losses": {"interconnect__loss_share": 0.3},
    "failures": {**FAILING, "workload__duration_s": 3.0},
}


@pytest.mark.slow
@pytest.mark.parametrize("what", HARD)
@pytest.mark.parametrize("formula", ["iolb", "wal-pm"])
def test_nothing_is_lost_or_run_twice_and_tasks_do_not_go_round(what, formula):
    given = busy(**{**RUN, **HARD[what], "policy__formula": formula})
    model = finished(**given)
    jobs = model.summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 0
    frame = model.jobs_frame()
    assert frame["task"].is_unique
    # A task could move once in a period, and more often by its arrival; a run without an end would show here.
    assert frame["migrations"].mean() < 3


def test_steps_leave_the_same_bytes():
    given = busy(interconnect__loss_share=0.1, **RUN)
    stepped = ClusterModel(finished(**given).setup, seed=1)
    while stepped.running:
        stepped.step()
    ran = finished(**given)
    assert same_records(stepped, ran)
    assert stepped.decisions_frame().equals(ran.decisions_frame())


class Wrong(Told):
    """Moves what is not there."""

    def arrives(self, tasks, post):
        post.move(candidate(99).task, Bid(0, candidate(99), 1.0, False))


def test_what_is_moved_wrongly_is_the_policys_fault():
    with pytest.raises(PolicyFault, match=r"move: Bid.*a Decision is needed"):
        ClusterModel("quickstart", policy=Wrong(), seed=1).run()
