"""Tasks that wait at managers for long: when a run of which nothing else is left goes on, and when it ends.

Timelines of crossings.managers, worked by hand.
"""

from __future__ import annotations

import pytest
from crossings.managers import column, ends, job, model_of
from crossings.own_policies import Patient
from crossings.table import crosses
from support import run_within

from cluster_abm.model.talking import conversation
from cluster_abm.policies.talking import TalkingPolicy


class Late(TalkingPolicy):
    """A manager starts job 0 at once, and all others when so much time has passed; it looks every 100 ms."""

    name, source, summary = "test-late", "test", "test"
    after_ms = 2500.0

    def arrives(self, tasks, post):
        if tasks[0].job == 0:
            post.start(tasks[0], post.me, "at once")
        else:
            post.remind(100.0, "look")

    def hears(self, message, post):
        if post.now_ms >= self.after_ms:
            for task in post.waiting:
                post.start(task, post.me, "late")
        if post.waiting:
            post.remind(100.0, "look")


class InPairs(TalkingPolicy):
    """A manager starts its tasks when two wait."""

    name, source, summary = "test-in-pairs", "test", "test"

    def arrives(self, tasks, post):
        if len(post.waiting) == 2:
            for task in post.waiting:
                post.start(task, post.me, "a pair")


@pytest.mark.parametrize(
    ("after_ms", "ended", "now_ms"),
    [
        # Reminders come at 113.5, 213.5, ...: at 2513.5 the other one starts.
        (2500.0, [2000.5, 2513.5 + 40], 2560),
        # Since 2000, when the last slice with a task began, more than a second has passed at 3010.
        (9000.0, [2000.5], 3020),
    ],
)
@crosses("talking")
def test_managers_that_talk_for_long_while_none_runs_start_no_task_any_more(
    after_ms, ended, now_ms, tmp_path, monkeypatch
):
    """Here a second is long. A task runs from 0.5 to 2000.5 while another one waits: that is no talk for nothing."""
    monkeypatch.setattr(conversation, "LONGEST_TALK_NS", 1_000_000_000)
    monkeypatch.setattr(Late, "after_ms", after_ms)
    model = model_of(tmp_path, Late(), [job(0.5, 2000), job(13.5, 40)])
    run_within(model, 20_000)
    assert ends(model) == ended
    assert model.now_ms == now_ms
    assert model.summary()["jobs"]["blocked"] == 2 - len(ended)


@pytest.mark.parametrize(
    ("arrivals", "ended", "now_ms"),
    [
        ([13.5, 213.5], [213.5 + 40, 213.5 + 80], 300),
        # No other one is to come: the run ends with the slice in which the last one has come to wait.
        ([13.5], [], 20),
        ([13.5, 213.5, 300.5], [213.5 + 40, 213.5 + 80], 310),
    ],
)
@crosses("talking")
def test_a_task_waits_for_another_one_that_is_to_come_and_no_longer(arrivals, ended, now_ms, tmp_path):
    model = model_of(tmp_path, InPairs(), [job(at_ms, 40) for at_ms in arrivals])
    run_within(model, 20_000)
    assert (ends(model) if ended else len(model.jobs_frame())) == (ended or 0)
    assert model.now_ms == now_ms
    assert model.summary()["jobs"]["blocked"] == len(arrivals) - len(ended)


@crosses("talking")
def test_managers_are_told_of_the_ends_of_a_slice_in_the_order_of_their_nodes(tmp_path):
    """Kept until 150.5 and 152.5, tasks run to 255.5 on node 0, and to 252.5 on node 1: both know it at 260. A third
    job comes later."""
    policy = Patient()
    model = model_of(tmp_path, policy, [job(0.5, 105), job(2.5, 100, home=1), job(400.5, 1)])
    model.run()
    assert policy.ends == [(260.0, 0, 0, 105.0), (260.0, 1, 1, 100.0)]
    assert column(model, "blocked_ms") == [150, 150, 150]


def test_nodes_without_jobs_are_neither_homes_nor_stand_ins(tmp_path):
    """Jobs come at nodes 0 and 2 of four; when node 0 drains node 1 stands in for it, and when node 2 does, node 3."""
    model = model_of(tmp_path, Patient(), [job(0.5, 10), job(0.5, 10, home=2)], cluster__nodes=4)
    found = [model.conversation.without_jobs()]
    for node in (0, 2):
        model.node_agents[node].drain()
        found.append(model.conversation.without_jobs())
    assert found == [{1, 3}, {0, 3}, {0, 2}]


@pytest.mark.parametrize(("barrier_ms", "meets"), [(0.0, [False, False]), (5.0, [False, True])])
def test_tasks_meet_at_barriers_where_there_are_some_and_several_tasks(barrier_ms, meets, tmp_path):
    jobs = [job(0.5, 10), job(0.5, 10, tasks=2)]
    model = model_of(tmp_path, Patient(), jobs, workload__tasks__barrier_ms=barrier_ms)
    assert [model.conversation.meets_at_barriers(number) for number in (0, 1)] == meets
