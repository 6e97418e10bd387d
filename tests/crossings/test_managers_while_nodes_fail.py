"""Load managers that hold jobs, know by reports, or act periodically while nodes fail and drain and jobs are killed.

Timelines of crossings.managers, worked by hand; a link moves 10 MB/s. A task that has lost its node goes elsewhere in e
and the way, 53 ms, or from a checkpoint with its image of 1 MB in f, the way and 100 ms: 203.
"""

from __future__ import annotations

import pytest
from crossings.managers import column, ends, job, model_of
from crossings.own_policies import (
    ByReports,
    HeldAgain,
    HeldForEver,
    HeldForEverByReports,
    HeldInOneQueue,
    HeldWhileHomeIsBusy,
    LeastKnown,
    Relieving,
    RelievingNoted,
    Rotating,
)
from crossings.table import crosses
from support import act_at, run_within
from test_talk_while_nodes_fail import CHECKPOINTS, down, kill

SLOW = {"interconnect__bandwidth_mbps": 80.0}
MODES = pytest.mark.parametrize("compiled", [True, False])


def reasons(model, rule):
    """Time and reason of each offer of a rule."""
    found = model.decisions_frame()
    found = found[found["rule"] == rule]
    return list(zip(found["time_ms"].tolist(), found["reason"].tolist(), strict=True))


# ---- held jobs -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@crosses("holding", "failure", "checkpoint", "priorities")
@pytest.mark.parametrize(("on_failure", "first_ms", "starts_ms"), [
    # The task comes back at 353 and begins anew; its end at 1353 is known at 1360.
    ("restart", 1353, 1360),
    # By 200 it had 199.5 ms: from 503 on it has the other 800.5.
    ("checkpoint", 1303.5, 1310),
    # The job is lost as its node fails; the other one starts when the node is back.
    ("lost", 210, 300),
])  # fmt: skip
def test_a_task_that_has_lost_its_node_gets_one_before_the_job_that_is_held(tmp_path, on_failure, first_ms, starts_ms):
    """Node 1 is down all the time. A task runs on node 0 from 0.5 ms on, and another job is held. Node 0 fails at 210,
    and is back at 300."""
    events = down((1, 0, None), (0, 210, 300))
    model = model_of(
        tmp_path, Rotating(), [job(0.5, 1000), job(13.5, 100)], **SLOW | CHECKPOINTS | events
        | {"failures__on_failure": on_failure},
    )  # fmt: skip
    model.run()
    assert ends(model) == [first_ms, starts_ms + 100]
    assert column(model, "blocked_ms") == [0 if on_failure == "lost" else 90, starts_ms - 13.5]


@pytest.mark.slow
@crosses("holding", "failure")
def test_a_job_is_held_while_a_task_that_has_turned_back_has_its_node(tmp_path):
    """Job 0 is on node 0 until 100.5, job 1 on node 1, where it comes at 54.5. Job 2 is on its way to node 2, which
    fails at 30: it turns back to node 0, where it waits for job 0, and is until 150.5. Job 3 is held until 160, for
    node 0, job 4 until job 3 has ended there, at 360: node 2 comes back at 400 alone."""
    jobs = [job(0.5, 100), job(1.5, 1000), job(2.5, 50), job(3.5, 200), job(120.5, 10)]
    model = model_of(tmp_path, Rotating(), jobs, cluster__nodes=3, **SLOW, **down((2, 30, 400)))
    model.run()
    assert column(model, "node") == [0, 1, 0, 0, 0]
    assert ends(model) == [100.5, 1054.5, 150.5, 360, 380]


@pytest.mark.slow
@crosses("holding", "drain")
@pytest.mark.parametrize("policy", ["batch-system", "easy", "conservative", "own"])
def test_a_job_is_held_while_the_only_empty_node_drains(tmp_path, policy):
    """Node 1 drains from the beginning: the second job waits for the end of the first, at 100.5, and starts at 110. The
    third is held until node 1, its home, accepts again at 150."""
    jobs = [job(0.5, 100), job(5.5, 100), job(20.5, 100, home=1)]
    jobs = [one | {"requested_ms": 100} for one in jobs]
    model = model_of(tmp_path, Rotating() if policy == "own" else policy, jobs)
    model.node_agents[1].drain()
    model.run(until_ms=150.0)
    model.node_agents[1].recover()
    model.run()
    assert ends(model) == [100.5, 210, 250]
    assert column(model, "node") == [0, 0, 1]


@pytest.mark.slow
@crosses("holding", "failure", "drain", "priorities")
def test_a_task_without_node_waits_while_all_nodes_that_are_up_drain_and_goes_before_the_held_job(tmp_path):
    """Tasks run on node 0 from 0.5 and on node 1 from 54.5 ms on; a third is held. Node 1 drains, node 0 fails at 150.
    When node 1 accepts again, at 300, node 0's task comes there in 53 ms and has all its 1000 ms to do, behind the
    other one; its end is known at 2060."""
    model = model_of(tmp_path, Rotating(), [job(0.5, 1000), job(1.5, 1000), job(120.5, 10)], **SLOW)
    act_at(model, (140, 1, "drain"), (150, 0, "fail"), (300, 1, "recover"))
    model.run()
    assert ends(model) == [2054.5, 1054.5, 2070]
    assert column(model, "blocked_ms") == [150, 0, 2060 - 120.5]


@crosses("holding", "kill")
def test_a_held_job_that_is_killed_lets_the_next_one_pass(tmp_path):
    """On one node a job runs until 200.5; the one behind it, held, is killed at 50: it has had nothing. At 80 what runs
    is killed, too, and the third starts at once."""
    model = model_of(tmp_path, Rotating(), [job(0.5, 200), job(13.5, 500), job(14.5, 40)], cluster__nodes=1)
    model.run(until_ms=50.0)
    kill(model, 1)
    model.run(until_ms=80.0)
    kill(model, 0)
    model.run()
    assert ends(model) == [80, 50, 80 + 40]
    assert column(model, "blocked_ms") == [0, 36.5, 65.5]


@pytest.mark.slow
@crosses("holding", "stale-reports", "periodic", "drain")
def test_a_job_that_is_refused_is_held_again_and_those_behind_it_too(tmp_path):
    """Node 1 drains from 50 to 250. A job comes at 63.5, and is refused then, at 100 and at 200, by each of three
    offers; at 300 it goes: 6 ms, e and the way. It ends at 399. Reports are sent every 80 ms: that of 400 comes at 403,
    and node 0 looks at 500."""
    model = model_of(tmp_path, HeldAgain(), [job(63.5, 40), job(64.5, 40)], cluster__exchange_period_ms=80.0)
    model.run(until_ms=50.0)
    model.node_agents[1].drain()
    model.run(until_ms=250.0)
    assert model.summary()["jobs"]["blocked"] == 2
    model.node_agents[1].recover()
    model.run()
    assert ends(model) == [399, 500 + 59 + 40]
    assert column(model, "blocked_ms") == [300 - 63.5, 500 - 64.5]
    drains = [(at, "drains: it accepts no further task") for at in (60, 100, 200) for _ in range(3)]
    offers = model.decisions_frame()
    offers = offers[offers["target"] == 1]
    assert list(zip(offers["time_ms"], offers["reason"], strict=True)) == [*drains, (300, ""), (500, "")]


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "last_ms"), [(HeldWhileHomeIsBusy(), 40), (HeldInOneQueue(), 110)])
def test_in_a_queue_of_its_own_a_job_waits_for_no_job_of_another_node(tmp_path, policy, last_ms):
    """Jobs run on node 0 until 100.5, on node 1 until 31.5; for each of them one more waits, that for node 0 first."""
    jobs = [job(0.5, 100), job(1.5, 30, home=1), job(13.5, 10), job(14.5, 10, home=1)]
    model = model_of(tmp_path, policy, jobs)
    model.run()
    assert ends(model) == [100.5, 31.5, 110 + 10, last_ms + 10]


@pytest.mark.slow
@crosses("holding", "failure")
@crosses("holding", "stale-reports", "periodic", "failure")
@pytest.mark.parametrize(("policy", "arrivals", "events", "end_ms"), [
    # The head node knows all: the run ends with the slice in which the job is held, or nothing is to come any more.
    (HeldForEver(), [13.5], [], 20),
    (HeldForEver(), [13.5, 700.5], [], 710),
    (HeldForEver(), [13.5], [(1, 2000, None)], 2010),
    # It was held when all was as it is at 100, and at 2100; four periods and 3 ms later the reports of that have come,
    # and node 0 looks again at 600, and at 2600.
    (HeldForEverByReports(), [13.5], [], 610),
    (HeldForEverByReports(), [13.5], [(1, 2000, 2100)], 2610),
])  # fmt: skip
def test_a_run_ends_when_nothing_is_to_come_that_frees_a_held_job(tmp_path, policy, arrivals, events, end_ms):
    model = model_of(tmp_path, policy, [job(at, 40) for at in arrivals], **down(*events))
    run_within(model, 5_000)
    assert model.now_ms == end_ms
    assert model.summary()["jobs"]["blocked"] == len(arrivals)


# ---- reports -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@crosses("stale-reports", "failure")
@MODES
def test_a_node_that_failed_is_asked_in_vain_until_three_reports_are_missing_and_known_again_by_the_next(
    tmp_path, compiled
):
    """The way takes 10 ms, the timeout is 20. Node 1 reports at 0 and 100, and fails at 150. The report of 100 counts
    for three periods and the way, until 410, when it is still asked. Node 1 is back at 450 and reports at 500, which is
    known at 510."""
    arrivals = [213.5, 413.5, 423.5, 463.5, 503.5, 513.5]
    model = model_of(
        tmp_path, ByReports(), [job(at, 5) for at in arrivals], compiled, negotiation__timeout_ms=20.0,
        interconnect__latency_ms=10.0, **down((1, 150, 450)),
    )  # fmt: skip
    model.run()
    # Decided when their slices begin. The last is asked about for 20 ms, and sent in 60.
    assert ends(model) == [213.5 + 25, 413.5 + 25, 423.5 + 5, 463.5 + 5, 503.5 + 5, 513.5 + 80 + 5]
    offers = model.decisions_frame()
    assert offers[offers["reason"] == "no answer"]["time_ms"].tolist() == [210.0, 410.0]


@pytest.mark.slow
@crosses("stale-reports", "drain")
@MODES
def test_what_a_node_that_drains_answers_is_known_until_its_next_report(tmp_path, compiled):
    """Node 1 has a task from 50.5 to 150.5, of which the report of 0 says nothing. It drains from 60 to 300: asked at
    63.5 it refuses, which takes 6 ms, and answers that it has a task. So node 0 does not ask it until its report of 200
    comes, at 203: it reports though it drains. Then it is asked in vain once more."""
    arrivals = [63.5, 73.5, 203.5, 213.5, 313.5]
    model = model_of(tmp_path, ByReports(), [job(50.5, 100, home=1), *(job(at, 5) for at in arrivals)], compiled)
    act_at(model, (60, 1, "drain"), (300, 1, "recover"))
    model.run()
    assert ends(model) == [150.5, 69.5 + 5, 73.5 + 5 + 1, 203.5 + 5, 219.5 + 5, 313.5 + 59 + 5]


@crosses("stale-reports", "kill")
@MODES
def test_the_place_of_a_task_that_was_killed_is_known_by_the_next_report(tmp_path, compiled):
    """200 MB do not fit into 100 MB and 50 MB of swap: the first task dies as it enters node 1, at 72.5. By the answer
    node 0 thinks that it is there, until the report of 100, which comes at 103."""
    keys = {"cluster__memory_mb": 100.0, "cluster__swap_mb": 50.0}
    jobs = [job(13.5, 45, memory_mb=200), job(83.5, 5), job(103.5, 5), job(113.5, 5)]
    model = model_of(tmp_path, ByReports(), jobs, compiled, **keys)
    model.run()
    assert ends(model) == [72.5, 83.5 + 5, 103.5 + 5, 113.5 + 59 + 5]


@pytest.mark.slow
@crosses("stale-reports", "failure", "checkpoint", "priorities")
@MODES
@pytest.mark.parametrize(("on_failure", "orphan_ms"), [("restart", 203 + 1000), ("checkpoint", 353 + 880.5)])
def test_a_task_without_node_goes_by_what_all_answer_and_an_arriving_one_by_reports(
    tmp_path, compiled, on_failure, orphan_ms
):
    """Node 3 fails at 150, with a task that was saved at 120. Reports of 100: one task on node 0, and on node 2, where
    it ends at 120.5; none on node 1, which has one since 110.5. The orphan is answered the truth, and goes to node 2;
    the task that comes to node 0 at 155.5 goes to node 1, and waits there behind the other one."""
    jobs = [job(0.5, 1000, home=3), job(10.5, 110, home=2), job(50.5, 1000), job(110.5, 600, home=1), job(155.5, 5)]
    model = model_of(
        tmp_path, LeastKnown(), jobs, compiled, cluster__nodes=4, **SLOW | CHECKPOINTS | down((3, 150, None))
        | {"failures__on_failure": on_failure},
    )  # fmt: skip
    model.run()
    assert column(model, "node") == [2, 2, 0, 1, 1]
    assert ends(model) == [orphan_ms, 120.5, 1050.5, 710.5, 715.5]


# ---- policies with a period ----------------------------------------------------------------------------------------

MOVE_MS = 6 + 100 + 3 + 100


@crosses("periodic", "drain")
def test_a_node_that_drains_is_asked_again_a_period_later(tmp_path):
    model = model_of(tmp_path, Relieving(), [job(0.5, 1000), job(13.5, 100)], **SLOW)
    model.run(until_ms=50.0)
    model.node_agents[1].drain()
    model.run(until_ms=150.0)
    model.node_agents[1].recover()
    model.run()
    assert reasons(model, "relieved") == [(100.0, "drains: it accepts no further task"), (200.0, "")]
    assert ends(model) == [1000.5, 200 + MOVE_MS + 100]


@crosses("periodic", "stale-reports")
def test_the_answer_about_a_task_that_went_counts_until_the_next_report(tmp_path):
    """The last of three goes at 100, and ends at 409. Nodes report each second: until then node 0 thinks that it is on
    node 1, and sends no other. At 1100, when it would, it has one task alone."""
    jobs = [job(0.5, 1000), job(13.5, 100), job(14.5, 100)]
    model = model_of(tmp_path, Relieving(), jobs, cluster__exchange_period_ms=1000.0, **SLOW)
    model.run()
    assert ends(model) == [1000.5, 1100.5, 100 + MOVE_MS + 100]
    assert reasons(model, "relieved") == [(100.0, "")]


@crosses("periodic", "failure")
def test_a_task_that_was_sent_turns_back_when_its_target_fails_and_goes_again_when_that_is_back(tmp_path):
    """The task leaves at 100, and is back at 150. At 200 it cannot go, for node 1, which is down, does not answer; its
    manager is not asked to relieve it then. At 300 the task goes."""
    policy = RelievingNoted()
    model = model_of(tmp_path, policy, [job(0.5, 1000), job(13.5, 100)], **SLOW, **down((1, 150, 250)))
    model.run()
    assert reasons(model, "relieved") == [(100.0, ""), (200.0, "no answer"), (300.0, "")]
    assert ends(model) == [1000.5, 300 + MOVE_MS + 100]
    assert column(model, "migration_ms") == [0, 50 + MOVE_MS]
    assert model.summary()["metrics"]["migrations"] == 1
    assert sorted(policy.asked)[:5] == [(100, 0), (100, 1), (200, 0), (300, 0), (300, 1)]


@crosses("periodic", "failure", "checkpoint")
@pytest.mark.parametrize(("on_failure", "sent_ms", "left_ms", "travels_ms"), [
    # By 360, when it was saved, it has had 57 ms; at 593 the image is at node 0, which looks at 600.
    ("checkpoint", 600, 243, 203 + 203 + 203),
    # At 443 it is at node 0, which looks at 500.
    ("restart", 500, 300, 203 + 53 + 203),
])  # fmt: skip
def test_a_task_that_has_lost_its_node_is_sent_on_at_the_next_period(
    tmp_path, on_failure, sent_ms, left_ms, travels_ms
):
    """Sent at 100, it comes to node 1 at 303. That fails at 390, and is back at 420: the task begins anew on node 0."""
    model = model_of(
        tmp_path, Relieving(), [job(0.5, 1000), job(13.5, 300)], negotiation__mode="papers",
        **SLOW | CHECKPOINTS | down((1, 390, 420)) | {"failures__on_failure": on_failure},
    )  # fmt: skip
    model.run()
    assert reasons(model, "relieved") == [(100.0, ""), (sent_ms, "")]
    assert ends(model) == [1000.5, sent_ms + 203 + left_ms]
    assert column(model, "migration_ms") == [0, travels_ms]


@crosses("periodic", "failure", "priorities")
def test_a_task_without_node_is_placed_before_managers_look(tmp_path):
    """Node 2 fails at 100 with a task, which goes to node 1, where there is none: in 53 ms, and until 253. So node 0
    does not send its second one at 100 and 200; at 300 it does, which takes 203 ms."""
    jobs = [job(0.5, 1000), job(13.5, 100), job(14.5, 100, home=2)]
    model = model_of(
        tmp_path, Relieving(), jobs, cluster__nodes=3, negotiation__mode="papers", **SLOW | down((2, 100, None))
    )
    model.run()
    assert ends(model) == [1000.5, 300 + 203 + 100, 253]
    assert reasons(model, "relieved") == [(300.0, "")]


@crosses("periodic", "kill")
def test_when_a_task_is_killed_on_its_way_the_next_one_goes_at_the_next_period(tmp_path):
    """The last of three goes at 100; at 150 its job is killed. At 200 the second one goes."""
    model = model_of(
        tmp_path, Relieving(), [job(0.5, 1000), job(13.5, 100), job(14.5, 100)], negotiation__mode="papers", **SLOW
    )
    model.run(until_ms=150.0)
    kill(model, 2)
    model.run()
    assert ends(model) == [1000.5, 200 + 203 + 100, 150]
    assert reasons(model, "relieved") == [(100.0, ""), (200.0, "")]
