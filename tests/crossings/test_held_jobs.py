"""Jobs that wait in queues: which of several queues goes first, and how long a run waits for what may free them.

Timelines of crossings.managers, worked by hand.
"""

from __future__ import annotations

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
    """Each node holds its jobs until it hears that node 1 works."""

    name = "test-held-while-node-1-is-down"
    uses_reports = True
    is_down = True

    def holds(self, task, tasks, view):
        return self.is_down


def test_of_two_queues_that_wait_for_one_node_that_of_the_lower_node_goes_first(tmp_path):
    """Job 0 is on node 2 until 153.5, which is known at 160. Job 1 waits at node 1, job 2 at node 0, and is the first
    to go: 53 ms, and its own 10. That is known at 230."""
    jobs = [job(0.5, 100), job(13.5, 10, home=1), job(14.5, 10)]
    model = model_of(tmp_path, HeldForNode2(), jobs, cluster__nodes=3, negotiation__mode="papers")
    model.run()
    assert ends(model) == [153.5, 230 + 53 + 10, 160 + 53 + 10]


@crosses("holding", "stale-reports", "failure")
def test_a_run_that_has_waited_for_reports_goes_on_when_something_frees_its_jobs(tmp_path):
    """Node 1 is out. A job is held at 13.5, and nothing is to come: reports of that would have come at 413, and the run
    would end then. At 400 node 1 is back: the job starts, and ends after its 1000 ms."""
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


def test_a_run_whose_held_job_nothing_frees_ends_when_reports_of_that_would_have_come(tmp_path):
    """The same, and node 1 stays out: four periods of 100 ms and 3 ms of latency after 10, where the slice begins."""
    model = model_of(tmp_path, HeldWhileNode1IsDown(), [job(13.5, 1000)])
    model.node_agents[1].fail()
    run_within(model, 5_000)
    assert model.summary()["jobs"]["blocked"] == 1
    assert model.now_ms == 430


def test_a_run_whose_jobs_wait_for_the_end_of_a_held_one_ends_when_no_other_is_to_come(tmp_path):
    """Job 1 waits for the end of job 0, which is held for ever; job 2 is still to come until 700.5, and is held too."""
    jobs = [job(13.5, 40, job="a", after=""), job(13.5, 40, job="b", after="a"), job(700.5, 40, job="c", after="")]
    model = model_of(tmp_path, HeldForEver(), jobs)
    run_within(model, 5_000)
    assert model.now_ms == 710
    assert (model.submitted_jobs, model.summary()["jobs"]["blocked"]) == (2, 2)
