"""Tasks that wait long at load managers: when a run with no other task goes on, and when it ends.

Timelines of crossings.managers, worked by hand.
"""

from __future__ import annotations

import pytest
from crossings.managers import column, ends, job, model_of
from crossings.own_policies import Patient
from crossings.table import crosses
from support import run_within

from cluster_abm.model.talking import conversation
from cluster_abm.policy.talking import Talking


class Late(Talking):
    """A manager starts job 0 at once, and others at the first of its reminders, 100 ms apart, from `after_ms` on."""

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


class InPairs(Talking):
    """A manager starts its tasks when two wait."""

    name, source, summary = "test-in-pairs", "test", "test"

    def arrives(self, tasks, post):
        if len(post.waiting) == 2:
            for task in post.waiting:
                post.start(task, post.me, "a pair")


@pytest.mark.parametrize(
    ("after_ms", "ended", "now_ms"),
    [
        # Reminders come at 113.5, 213.5, ...: job 1 starts at 2513.5.
        (2500.0, [2000.5, 2513.5 + 40], 2560),
        # The last slice with a running task begins at 2000. More than a second later, at 3010, the run is stuck.
        (9000.0, [2000.5], 3020),
    ],
)
@crosses("talking")
def test_a_run_ends_when_managers_talk_longer_than_the_limit_while_no_task_runs(
    after_ms, ended, now_ms, tmp_path, monkeypatch
):
    """The limit is one second here. Job 0 runs from 0.5 to 2000.5 while job 1 waits: this time does not count."""
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
        # No second task is to come: the run ends with the slice in which the task arrives.
        ([13.5], [], 20),
        ([13.5, 213.5, 300.5], [213.5 + 40, 213.5 + 80], 310),
    ],
)
@crosses("talking")
def test_a_task_waits_for_a_second_one_while_another_job_is_to_come(arrivals, ended, now_ms, tmp_path):
    """Both tasks of a pair start when the second one comes, on one node, one after another."""
    model = model_of(tmp_path, InPairs(), [job(at_ms, 40) for at_ms in arrivals])
    run_within(model, 20_000)
    assert (ends(model) if ended else len(model.jobs_frame())) == (ended or 0)
    assert model.now_ms == now_ms
    assert model.summary()["jobs"]["blocked"] == len(arrivals) - len(ended)


@crosses("talking")
def test_managers_hear_of_the_ends_of_a_slice_in_the_order_of_their_nodes(tmp_path):
    """The managers keep the tasks until 150.5 and 152.5. They end at 255.5 on node 0, and at 252.5 on node 1; both
    managers hear of it at 260. A third job comes later."""
    policy = Patient()
    model = model_of(tmp_path, policy, [job(0.5, 105), job(2.5, 100, home=1), job(400.5, 1)])
    model.run()
    assert policy.ends == [(260.0, 0, 0, 105.0), (260.0, 1, 1, 100.0)]
    assert column(model, "blocked_ms") == [150, 150, 150]


def test_nodes_without_jobs_are_neither_homes_nor_stand_ins(tmp_path):
    """Jobs come at nodes 0 and 2 of four. When node 0 drains, node 1 stands in for it; when node 2 drains, node 3."""
    model = model_of(tmp_path, Patient(), [job(0.5, 10), job(0.5, 10, home=2)], cluster__nodes=4)
    found = [model.conversation.waiting.surroundings.without_jobs()]
    for node in (0, 2):
        model.node_agents[node].drain()
        found.append(model.conversation.waiting.surroundings.without_jobs())
    assert found == [{1, 3}, {0, 3}, {0, 2}]


@pytest.mark.parametrize(("barrier_ms", "meets"), [(0.0, [False, False]), (5.0, [False, True])])
def test_a_job_meets_at_barriers_if_barriers_are_set_and_it_has_several_tasks(barrier_ms, meets, tmp_path):
    jobs = [job(0.5, 10), job(0.5, 10, tasks=2)]
    model = model_of(tmp_path, Patient(), jobs, workload__tasks__barrier_ms=barrier_ms)
    assert [model.conversation.waiting.surroundings.meets_at_barriers(number) for number in (0, 1)] == meets
