"""Submission of jobs: which tasks appear in a slice, when users submit again, and when a run ends."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support import run_within, traced_model

from cluster_abm import ClusterModel
from cluster_abm.clock import Clock
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.waiting.holding import News
from cluster_abm.model.waiting.users import Users

MS = 1_000_000


def model_of(folder, *rows: str) -> ClusterModel:
    """A model of a trace on two nodes, whose tasks start at home."""
    return traced_model(folder, "none", rows, cluster__nodes=2)


def appearing(model: ClusterModel, boundary_ms: float) -> list[list[tuple[int, int, int]]]:
    """Groups of tasks that appear before a boundary: job, rank inside the job, how long it was held [ns]."""
    groups = model.parts.submissions.arrive(round(boundary_ms * 1e6))
    return [list(zip(*(column.tolist() for column in group), strict=True)) for group in groups]


def test_tasks_of_all_jobs_of_a_slice_appear_together_each_with_its_rank(tmp_path):
    """Jobs of 2, 1 and 3 tasks come before 10 ms, one of 1 at 10 itself, one of 2 after it."""
    model = model_of(tmp_path, "1,0,5,2", "2,1,5,1", "9.5,0,5,3", "10,1,5,1", "10.5,0,5,2")
    expected = [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1), (2, 2)]
    assert appearing(model, 10) == [[(job, rank, 0) for job, rank in expected]]
    assert appearing(model, 10) == []
    assert appearing(model, 20) == [[(3, 0, 0), (4, 0, 0), (4, 1, 0)]]
    assert model.parts.submissions.all_started


def test_jobs_that_come_while_no_node_is_up_appear_together_when_one_is(tmp_path):
    """Both nodes are down when jobs of 2 and 1 tasks come, at 1 and 2 ms: at 50 ms they were held for 49 and 48 ms."""
    model = model_of(tmp_path, "1,0,5,2", "2,1,5,1")
    for node in model.node_agents:
        node.fail()
    model.run(until_ms=50)
    assert model.held_jobs == {0, 1}
    model.node_agents[1].recover()
    assert appearing(model, 60) == [[(0, 0, 49_000_000), (0, 1, 49_000_000), (1, 0, 48_000_000)]]
    assert model.held_jobs == set()
    assert appearing(model, 70) == []


def test_a_step_takes_a_run_one_slice_on_and_a_run_to_its_end(tmp_path):
    """A task from 1 to 26 ms: a step is 10 ms, and the run ends with the slice of the task's end."""
    model = model_of(tmp_path, "1,0,25,1")
    model.step()
    assert (model.now_ms, model.steps, model.running) == (10, 1, True)
    run_within(model, 1000)
    assert (model.now_ms, model.steps, model.running) == (30, 3, False)
    model.step()
    assert (model.now_ms, model.steps, model.time) == (30, 3, 4)


def test_a_user_thinks_from_the_latest_end_of_the_tasks_of_a_job():
    """Job 0 has two tasks: one ends at 9 ms; the record of the other, which ended at 4, comes later. The user thinks 20
    ms, and submits job 1 at 29. Job 2 is of another user, and comes at 6 ms."""
    jobs = np.array([(0, 2, 0), (NEVER, 1, 20 * MS), (6 * MS, 1, 7 * MS)], "i8,i8,i8")
    jobs.dtype.names = ("arrival_ns", "tasks", "think_ns")
    submitted = []
    ends = np.array([(0, 9 * MS), (0, 4 * MS)], "i8,i8")
    ends.dtype.names = ("job", "finish_ns")
    engine = SimpleNamespace(jobs=jobs, records=ends[:1], submit=lambda *given: submitted.append(given))
    users = Users(engine=engine, clock=Clock(10 * MS), work=SimpleNamespace(initial=0, late=None))
    assert users.take(10 * MS).tolist() == [0, 2]
    users.note_ends()
    assert (submitted, users.is_over) == ([], True)
    engine.records = ends
    users.note_ends()
    users.note_ends()
    assert (submitted, users.is_over) == ([(1, 29 * MS)], False)
    assert (users.first_after(0), users.first_after(29 * MS)) == (29 * MS, NEVER)
    assert users.take(29 * MS).tolist() == []
    assert users.take(29 * MS + 1).tolist() == [1]
    assert users.taken(0, 3) == [0, 2, 1]


def test_news_are_ends_of_tasks_and_changes_of_nodes_and_of_links_each_once():
    engine, live = SimpleNamespace(finished=0), SimpleNamespace(routes=object())
    availability = SimpleNamespace(accepting=np.ones(2, bool))
    news = News(engine=engine, availability=availability, live=live)
    # The first call always finds news.
    assert [news.have_come() for _ in range(2)] == [True, False]
    engine.finished = 1
    assert [news.have_come() for _ in range(2)] == [True, False]
    availability.accepting = np.array([True, False])
    assert [news.have_come() for _ in range(2)] == [True, False]
    live.routes = object()
    assert [news.have_come() for _ in range(2)] == [True, False]


@pytest.mark.parametrize("by_steps", [True, False])
def test_a_run_whose_nodes_all_drain_ends_with_its_last_running_task(by_steps, tmp_path):
    """A task runs on node 0 from 1 to 101 ms. Both nodes drain from 20 on: the job that comes at 50 waits for ever."""
    model = model_of(tmp_path, "1,0,100,1", "50,1,5,1")
    model.run(until_ms=20)
    for node in model.node_agents:
        node.drain()
    while by_steps and model.running and model.now_ms < 5000:
        model.step()
    run_within(model, 5000)
    assert model.summary()["jobs"] == {
        "submitted": 2, "finished": 1, "killed": 0, "lost": 0, "blocked": 1, "running": 0,
    }  # fmt: skip
    assert model.now_ms == 110
