"""Managers that talk, and know loads, act periodically, or make jobs wait: timelines worked by hand."""

from __future__ import annotations

import pytest
from crossings.managers import column, ends, job, model_of
from crossings.own_policies import Looking, OneByOne, Spreading, SpreadingByReports, TalkingAndRelieving
from crossings.table import crosses

from cluster_abm import ClusterModel
from cluster_abm.errors import PolicyFault
from cluster_abm.policies import Holding


def test_of_two_tasks_started_in_one_turn_the_second_sees_the_first(tmp_path):
    """All know the true loads. Three tasks of a job come to node 0, which has two: the first two go to node 1, and with
    two on each the third stays. The loads are those of the slice's beginning, and what has been started since."""
    policy = Spreading()
    jobs = [job(3.5, 500), job(3.75, 500), job(103.5, 40, tasks=3)]
    model = model_of(tmp_path, policy, jobs, negotiation__mode="papers")
    model.run()
    assert policy.knew == [
        (3.5, 0.0, 0, 0), (3.75, 0.0, 1, 0), (103.5, 100.0, 1, 1), (103.5, 100.0, 2, 1), (103.5, 100.0, 2, 2),
    ]  # fmt: skip
    assert column(model, "node") == [0, 1, 0, 1, 0]


@crosses("talking", "stale-reports")
def test_a_manager_that_talks_knows_of_others_what_they_reported_and_its_own_node_as_it_is(tmp_path):
    """Node 1 has a task from 20.5 on. A job of two comes to node 0 at 30.5: for all it knows both nodes are empty, the
    first stays, so the second goes to node 1. Node 1 reports at 100 two tasks, the one that comes among them, which
    node 0 knows at 110; node 1's first ends at 120.5. At 203.5, in the slice before the next report, node 0 sees one
    task here, two there; at 213.5 one there."""
    policy = SpreadingByReports()
    jobs = [job(20.5, 100, home=1), job(30.5, 500, tasks=2), job(203.5, 10), job(213.5, 10)]
    model = model_of(tmp_path, policy, jobs)
    model.run()
    assert policy.knew == [
        (20.5, 20.0, 0, 0), (30.5, 30.0, 0, 0), (30.5, 30.0, 1, 0), (203.5, 200.0, 1, 2), (213.5, 210.0, 2, 1),
    ]  # fmt: skip
    assert column(model, "node") == [1, 0, 1, 0, 1]
    assert model.parts.reports.messages == 2 * (model.now_ms // 100 + 1)


@crosses("talking", "stale-reports")
def test_a_manager_that_looks_again_sees_the_reports_that_have_come_since(tmp_path):
    """Node 1 has a task from 130 on; its report of 200 says so at 203, and so does not that of 100. What is due at a
    boundary is told in the slice that begins there."""
    policy = Looking()
    model = model_of(tmp_path, policy, [job(0, 1000, home=1), job(93.5, 10)])
    model.run()
    assert policy.knew == [(30.0, 30.0, 0, 0), (123.5, 120.0, 0, 0), (130.0, 130.0, 0, 0), (223.5, 220.0, 0, 1)]


@crosses("talking", "periodic", "stale-reports", "drain")
def test_managers_that_talk_act_at_their_period_by_what_was_reported(tmp_path):
    """Reports are sent every 80 ms, and node 0 looks every 100. It has two tasks from 150.5 on, when the first has been
    kept for 150 ms, and another one from 353.5; node 1 has one from 165.5 to 205.5. At 200 node 0 thinks by the report
    of 160 that node 1 has none: that drains, and refuses. At 300 it knows the report of 240, and node 1 accepts again:
    asking takes 6 ms, f and the way 103, 1 MB at 10 MB/s 100; the task of 100 ms begins there at 509. At 700 the report
    of 640 says that it has ended: the next one goes, and comes at 909."""
    policy = TalkingAndRelieving()
    jobs = [job(0.5, 600), job(3.5, 100), job(15.5, 40, home=1), job(203.5, 10)]
    keys = {"interconnect__bandwidth_mbps": 80.0, "cluster__exchange_period_ms": 80.0}
    model = model_of(tmp_path, policy, jobs, **keys)
    model.run(until_ms=180.0)
    model.node_agents[1].drain()
    model.run(until_ms=250.0)
    model.node_agents[1].recover()
    model.run()
    decided = model.decisions_frame()
    sent = decided[decided["rule"] == "relieved"]
    assert sent["time_ms"].tolist() == [200.0, 300.0, 700.0]
    assert sent["reason"].tolist() == ["drains: it accepts no further task", "", ""]
    assert ends(model) == [750.5, 609, 205.5, 919]
    assert column(model, "blocked_ms") == [150.0, 147.0, 150.0, 150.0]


@crosses("talking", "holding")
def test_jobs_wait_at_managers_until_the_node_that_they_are_for_says_so(tmp_path):
    """Of three jobs that come at 13.5, 14.5 and 15.5 one after another is on node 1, 53 ms after it was let go: the
    first from 66.5 to 106.5, known at 110 there and 113 at node 0; the second from 166 to 206, known at 213."""
    model = model_of(tmp_path, OneByOne(), [job(at, 40) for at in (13.5, 14.5, 15.5)])
    model.run()
    assert column(model, "blocked_ms") == [0.0, 113 - 14.5, 213 - 15.5]
    assert ends(model) == [106.5, 206, 306]
    assert model.parts.mail.sent == 2


@crosses("talking", "holding")
def test_a_job_waits_in_a_queue_or_at_a_manager_and_not_at_both(tmp_path):
    class Both(OneByOne, Holding):
        name = "test-both"

    with pytest.raises(PolicyFault, match="policy 'test-both': it talks, so that tasks wait at its load managers: cl"):
        model_of(tmp_path, Both(), [job(13.5, 40)])
    assert isinstance(model_of(tmp_path, OneByOne(), [job(13.5, 40)]), ClusterModel)
