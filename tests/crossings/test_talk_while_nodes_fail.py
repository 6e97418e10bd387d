"""Tasks that wait at load managers, or in their mail, when nodes fail, drain and are back, or their job is killed.

Timelines of crossings.managers, worked by hand. A manager of `Patient` keeps a task for 150 ms.
"""

from __future__ import annotations

import pytest
from crossings.managers import column, ends, job, known_ms, model_of
from crossings.own_policies import Handing, OneByOne, Patient, PatientHead
from crossings.table import crosses
from support import act_at

BEGIN = [(0.0, 0, "begins"), (0.0, 1, "begins")]
CHECKPOINTS = {"failures__on_failure": "checkpoint", "failures__checkpoint_period_ms": 40.0}


def down(*events):
    """Outages of (node, from, until) [ms]; until None: for good."""
    return {
        "failures__event": [
            {"node": node, "at_s": at / 1000} | ({} if until is None else {"for_s": (until - at) / 1000})
            for node, at, until in events
        ]
    }


def kill(model, job):
    """An agent kills a job."""
    next(agent for agent in model.agents_by_type[model.job_class] if agent.job == job).kill()


@crosses("talking", "failure", "checkpoint", "priorities")
@pytest.mark.parametrize(("on_failure", "first_ms", "second_ms", "found", "told"), [
    # From scratch after e and the way, at 553; the other one behind it.
    ("restart", 553 + 1000, 553 + 1000 + 100, 1, [(1560.0, 1, 0, 150 + 1000)]),
    # From 150 on it has had 130 ms by 280, when it was last saved; f, the way and 1 MB at 10 MB/s take until 703, when
    # the other one has begun, and has 47 ms to go.
    ("checkpoint", 750 + 870, 650 + 100, 1, [(760.0, 1, 1, 100)]),
    # Its job is lost with its node, which is told of no end; the other one has node 1 to itself.
    ("lost", 300, 650 + 100, 0, []),
])  # fmt: skip
def test_while_no_node_is_up_tasks_wait_and_arrive_anew_behind_what_has_lost_its_node(
    tmp_path, on_failure, first_ms, second_ms, found, told
):
    """Node 1 runs the first task from 150 ms on, and at node 0 waits the second. Both nodes fail at 300. Node 1 is back
    at 500: first the task that ran gets it, then node 0's task arrives there, for another 150 ms. What its manager is
    told of an end is the time on nodes: without the waits and the journey."""
    policy = Patient()
    model = model_of(
        tmp_path, policy, [job(0, 1000, home=1), job(213.5, 100)], interconnect__bandwidth_mbps=80.0,
        **CHECKPOINTS | {"failures__on_failure": on_failure}, **down((0, 300, 2000), (1, 300, 500)),
    )  # fmt: skip
    model.run()
    assert ends(model) == [first_ms, second_ms]
    assert column(model, "blocked_ms") == [150 + 200 * found, 650 - 213.5]
    assert policy.log[2:] == [(0.0, 1, "arrives", 0, 0), (213.5, 0, "arrives", 1, 0), (500.0, 1, "begins"),
                              (500.0, 1, "arrives", 1, found)]  # fmt: skip
    assert policy.ends == told


@crosses("talking", "failure", "drain")
def test_while_all_nodes_that_are_up_drain_tasks_wait_until_one_accepts(tmp_path):
    """Node 1 runs a task from 150 ms on and drains; node 0 fails at 300 with one that waits. Another job comes at
    400.5. Node 1 accepts again at 500: both arrive there at 500, the new job first. They start at 650, at one instant,
    at which the task of lower number comes first; the task that runs ends at 1150."""
    policy = Patient()
    jobs = [job(0, 1000, home=1), job(213.5, 100), job(400.5, 10, home=1)]
    model = model_of(tmp_path, policy, jobs)
    model.run(until_ms=290.0)
    model.node_agents[1].drain()
    model.run(until_ms=300.0)
    model.node_agents[0].fail()
    model.run(until_ms=500.0)
    assert policy.log[2:] == [(0.0, 1, "arrives", 0, 0), (213.5, 0, "arrives", 1, 0)]
    assert model.summary()["jobs"]["blocked"] == 2
    model.node_agents[1].recover()
    model.run()
    assert policy.log[4:] == [(500.0, 1, "failed", 0), (500.0, 1, "arrives", 2, 1), (500.0, 1, "arrives", 1, 1)]
    assert ends(model) == [1150, 1150 + 100, 1150 + 100 + 10]


@crosses("talking", "drain")
def test_a_node_that_drains_gets_no_task_and_its_own_waiting_ones_start_elsewhere(tmp_path):
    """Node 0 drains at 100 with a task that waits there: at 163.5 that starts on node 1, its home now: no journey. Node
    1's task, to be started on node 0, does too."""
    policy = Patient()
    model = model_of(tmp_path, policy, [job(13.5, 100)])
    model.run(until_ms=100.0)
    model.node_agents[0].drain()
    model.run()
    assert (column(model, "node"), ends(model), column(model, "migration_ms")) == ([1], [263.5], [0.0])


@crosses("talking", "failure")
def test_when_the_head_fails_its_stand_in_is_told_all_anew_and_again_when_it_is_back(tmp_path):
    """Node 2 tells the head, 0, at 13.5 of its job, node 1 from 100 to 200, and 0 again: three messages of 3 ms. From
    203 on node 0 keeps the task; it tells node 2 to send it: 3 ms, e and the way. Managers forget all when their node
    fails, or is the head no more."""
    policy = PatientHead()
    model = model_of(tmp_path, policy, [job(13.5, 100, home=2)], cluster__nodes=3, **down((0, 100, 200)))
    model.run()
    assert policy.log[3:] == [
        (16.5, 0, "arrives", 0, 0),
        (100.0, 1, "begins", "has begun"), (100.0, 2, "begins", "has begun"), (103.0, 1, "arrives", 0, 0),
        (200.0, 0, "begins"), (200.0, 1, "begins"), (200.0, 2, "begins", "has begun"), (203.0, 0, "arrives", 0, 0),
        (300.0, 1, "failed", 0), (300.0, 2, "failed", 0),
    ]  # fmt: skip
    assert model.parts.mail.sent == 3
    assert (column(model, "node"), ends(model)) == ([0], [203 + 150 + 56 + 100])
    assert (column(model, "blocked_ms"), column(model, "migration_ms")) == ([203 + 150 - 13.5], [56.0])


@crosses("talking", "drain")
def test_while_the_head_drains_its_stand_in_is_told_all_anew_and_the_head_again_when_it_accepts(tmp_path):
    """As above, but node 0 drains from 100 to 200: it is up, so that its manager begins anew with the others."""
    policy = PatientHead()
    model = model_of(tmp_path, policy, [job(13.5, 100, home=2)], cluster__nodes=3)
    act_at(model, (100.0, 0, "drain"), (200.0, 0, "recover"))
    model.run()
    assert policy.log[3:] == [
        (16.5, 0, "arrives", 0, 0),
        (100.0, 0, "begins"), (100.0, 1, "begins", "has begun"), (100.0, 2, "begins", "has begun"),
        (103.0, 1, "arrives", 0, 0),
        (200.0, 0, "begins", "has begun"), (200.0, 1, "begins"), (200.0, 2, "begins", "has begun"),
        (203.0, 0, "arrives", 0, 0),
    ]  # fmt: skip
    assert model.parts.mail.sent == 3
    assert (column(model, "node"), ends(model)) == ([0], [203 + 150 + 56 + 100])


# ---- tasks in the mail ---------------------------------------------------------------------------------------------

FAR = {"interconnect__latency_ms": 40.0}


@crosses("talking", "failure")
@pytest.mark.parametrize(("fails", "log", "end_ms"), [
    # The target fails at 30: the task arrives anew, and is handed over in vain, which is known 200 ms later.
    (1, [(30.0, 0, "arrives", 0), (230.0, 0, "failed", 1), (230.0, 0, "unanswered", 0)], 330),
    # The source fails: the task is under way, and starts where it comes at 53.5.
    (0, [(53.5, 1, "take", 0)], 153.5),
])  # fmt: skip
def test_a_task_under_way_to_a_manager_when_one_of_both_nodes_fails(tmp_path, fails, log, end_ms):
    policy = Handing()
    model = model_of(tmp_path, policy, [job(13.5, 100)], **FAR, **down((fails, 30, None)))
    model.run()
    assert policy.log[2:] == [(13.5, 0, "arrives", 0), *log]
    assert ends(model) == [end_ms]


def test_what_a_manager_hands_to_itself_comes_at_once_and_is_no_message(tmp_path):
    model = model_of(tmp_path, Handing(), [job(13.5, 100)], cluster__nodes=1)
    model.run()
    assert (ends(model), model.parts.mail.sent) == ([113.5], 0)


@crosses("talking", "kill")
@pytest.mark.parametrize(("policy", "at_ms", "blocked_ms", "other_ms"), [
    # At its manager: the other one, which waits behind it, starts 150 ms after the first came.
    (Patient(), 50.0, 50 - 13.5, 13.5 + 150 + 60),
    # In the mail, until 53.5: the other one goes on to node 1, which tells its home to send it: 40 ms, e and the way.
    (Handing(), 50.0, 50 - 13.5, 33.25 + 40 + 130 + 60),
    # Begun on node 0 at 163.5, the other one behind it.
    (Patient(), 200.0, 150, 200 + 60),
])  # fmt: skip
def test_a_job_that_is_killed_where_it_waits_is_never_started(tmp_path, policy, at_ms, blocked_ms, other_ms):
    model = model_of(tmp_path, policy, [job(13.5, 100), job(33.25, 60)], **FAR)
    model.run(until_ms=at_ms)
    kill(model, 0)
    model.run()
    assert ends(model) == [at_ms, other_ms]
    assert column(model, "outcome") == ["killed", "finished"]
    assert column(model, "blocked_ms")[0] == blocked_ms
    assert model.now_ms == known_ms(other_ms)
    assert model.summary()["jobs"] == {
        "submitted": 2, "finished": 1, "killed": 1, "lost": 0, "blocked": 0, "running": 0,
    }  # fmt: skip


@crosses("talking", "kill", "failure", "drain")
def test_a_job_that_is_killed_while_it_has_no_node_to_wait_at_is_never_started(tmp_path):
    """As above, with a task that runs on node 1, and two that wait at node 0."""
    policy = Patient()
    model = model_of(tmp_path, policy, [job(0, 1000, home=1), job(213.5, 100), job(214.5, 60)])
    model.run(until_ms=290.0)
    model.node_agents[1].drain()
    model.run(until_ms=300.0)
    model.node_agents[0].fail()
    model.run(until_ms=320.0)
    kill(model, 1)
    model.run(until_ms=500.0)
    model.node_agents[1].recover()
    model.run()
    assert ends(model) == [1150, 320, 1150 + 60]
    assert (column(model, "task"), column(model, "outcome")) == ([0, 1, 2], ["finished", "killed", "finished"])
    assert column(model, "blocked_ms") == [150, 320 - 213.5, 650 - 214.5]
    assert policy.log[-1] == (500.0, 1, "arrives", 2, 1)


@crosses("talking", "kill")
def test_the_end_of_a_task_that_is_killed_for_want_of_memory_is_told(tmp_path):
    """200 MB do not fit into 100 MB and 50 MB of swap: the first task dies as it enters node 1, at 66.5, which node 1
    knows at 70 and node 0 at 73."""
    policy = OneByOne()
    keys = {"cluster__memory_mb": 100.0, "cluster__swap_mb": 50.0}
    model = model_of(tmp_path, policy, [job(13.5, 45, memory_mb=200), job(21.25, 45)], **keys)
    model.run()
    assert ends(model) == [66.5, 73 + 53 + 45]
    assert column(model, "outcome") == ["killed", "finished"]
    assert policy.told[0] == (70.0, 0.0)
