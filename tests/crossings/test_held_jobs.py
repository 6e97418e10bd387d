"""Held jobs: which of several queues goes first, and how long a run waits for events that may free its held jobs.

Timelines of crossings.managers, worked by hand.
"""

from __future__ import annotations

import pytest
from crossings.managers import column, ends, job, model_of
from crossings.own_policies import HeldForEver, HeldWhileHomeIsBusy
from crossings.table import crosses
from support import run_within

from cluster_abm.policies import Decision


class HeldForNode2(HeldWhileHomeIsBusy):
    """Each node holds its jobs until node 2 is empty, and starts them there."""

    name = "test-held-for-node-2"
    rules = (("sent to 2", ""),)

    def holds(self, task, tasks, view):
        return bool(view.load("tasks", 2) > 0)

    def place(self, task, view):
        return Decision(2, "sent to 2")


class HeldWhileNode1IsDown(HeldWhileHomeIsBusy):
    """Each node holds its jobs until a test sets `is_down` to False."""

    name = "test-held-while-node-1-is-down"
    uses_reports = True
    is_down = True

    def holds(self, task, tasks, view):
        return self.is_down


def test_the_queue_of_the_lower_node_goes_first_when_two_queues_wait_for_one_node(tmp_path):
    """Job 0 runs on node 2 until 153.5, which is known at 160. Job 1 waits at node 1, job 2 at node 0. Job 2 goes
    first: its start takes 53 ms, and its CPU 10. Its end is known at 230; then job 1 goes."""
    jobs = [job(0.5, 100), job(13.5, 10, home=1), job(14.5, 10)]
    model = model_of(tmp_path, HeldForNode2(), jobs, cluster__nodes=3, negotiation__mode="papers")
    model.run()
    assert ends(model) == [153.5, 230 + 53 + 10, 160 + 53 + 10]


@crosses("holding", "stale-reports", "failure")
def test_a_run_that_waits_for_reports_goes_on_when_a_node_is_back(tmp_path):
    """Node 1 is down, and a job is held at 13.5. The last reports that could free it would come at 413 (next test). At
    400 node 1 is back: the job starts, and takes 1000 ms."""
    policy = HeldWhileNode1IsDown()
    model = model_of(tmp_path, policy, [job(13.5, 1000)])
    model.node_agents[1].fail()
    model.run(until_ms=400)
    assert (model.running, model.held_jobs) == (True, {0})
    model.node_agents[1].recover()
    policy.is_down = False
    run_within(model, 5_000)
    assert (ends(model), column(model, "blocked_ms")) == ([1400], [400 - 13.5])
    assert model.now_ms == 1410


def test_a_run_with_a_held_job_ends_when_the_last_reports_that_could_free_it_have_come(tmp_path):
    """The same, but node 1 stays down. The slice of the job begins at 10. All reports of that time have come four
    periods of 100 ms and 3 ms of latency later, at 413: node 0 looks at 420, and the run ends with that slice."""
    model = model_of(tmp_path, HeldWhileNode1IsDown(), [job(13.5, 1000)])
    model.node_agents[1].fail()
    run_within(model, 5_000)
    assert model.summary()["jobs"]["blocked"] == 1
    assert model.now_ms == 430


@pytest.mark.slow
def test_a_run_with_a_job_that_waits_for_a_held_one_ends_with_the_last_arrival(tmp_path):
    """Job 0 is held for ever, and job 1 waits for its end, so it is never submitted. Job 2 comes at 700.5, and is held
    too: the run ends with that slice."""
    jobs = [job(13.5, 40, job="a", after=""), job(13.5, 40, job="b", after="a"), job(700.5, 40, job="c", after="")]
    model = model_of(tmp_path, HeldForEver(), jobs)
    run_within(model, 5_000)
    assert model.now_ms == 710
    assert (model.submitted_jobs, model.summary()["jobs"]["blocked"]) == (2, 2)
