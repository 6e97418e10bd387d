"""The mission, literally: "each node and job is a Mesa agent stepping in fixed time slices".

Two nodes and two jobs, small enough to follow by hand. Slices are 10 ms long. Nodes have no cost of their own.

    job 0: two tasks of 30 ms of CPU each, both on node 0; they meet at a barrier after 15 ms of their CPU
    job 1: one task of 25 ms of CPU, on node 1

Node 0 serves one task after the other: the first comes to the barrier at 15 ms, the second at 30 ms. What happens at
30 ms belongs to the slice that begins then, so the barrier opens at its end, at 40 ms. Then each task has 15 ms of CPU
left: the first ends at 55 ms, the second at 70 ms. On node 1 the task of job 1 ends at 25 ms.
"""

from __future__ import annotations

import mesa
import pytest
from support import traced_model

from cluster_abm.model import Job, LoadManager, Node

JOBS = ["0,0,30,2", "0,1,25,1"]


@pytest.fixture
def model(tmp_path):
    return traced_model(
        tmp_path, "none", JOBS, cluster__nodes=2, workload__tasks__barrier_ms=15.0,
        workload__tasks__communication_ms=0.0,
    )  # fmt: skip


@pytest.fixture
def noted(monkeypatch):
    """What each call of a shipped agent's `step` found and left: (class, number, state before, state after)."""
    calls = []

    def listen(kind, number, state):
        step = kind.step

        def noting(agent):
            before = state(agent)
            step(agent)
            calls.append((kind, number(agent), before, state(agent)))

        monkeypatch.setattr(kind, "step", noting)

    listen(LoadManager, lambda manager: manager.index, lambda manager: None)
    listen(Node, lambda node: node.index, lambda node: node.tasks)
    listen(Job, lambda job: job.job, lambda job: int(job.model.engine.tables.barriers["waiting"][job.job]))
    return calls


def test_each_node_job_and_load_manager_is_a_mesa_agent(model):
    model.step()
    assert isinstance(model, mesa.Model)
    assert all(isinstance(agent, mesa.Agent) for agent in model.agents)
    assert [node.index for node in model.agents_by_type[Node]] == [0, 1]
    assert [manager.index for manager in model.agents_by_type[LoadManager]] == [0, 1]
    assert [job.job for job in model.agents_by_type[Job]] == [0, 1]


@pytest.mark.slow
def test_time_is_cut_into_slices_of_10_ms(model):
    for slices in range(1, 8):
        model.step()
        assert (model.now_ms, model.steps) == (10.0 * slices, slices)


def test_in_a_slice_each_agent_steps_once_managers_then_nodes_then_jobs(model, noted):
    model.step()
    assert [(kind, number) for kind, number, _, _ in noted] == [
        (LoadManager, 0), (LoadManager, 1), (Node, 0), (Node, 1), (Job, 0), (Job, 1),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_job_steps_until_it_has_ended(model, noted):
    while model.running:
        model.step()
    steps = [number for kind, number, _, _ in noted if kind is Job]
    # Job 1 ends in the third slice, job 0 at 70 ms, in the eighth: they step in the two and in the seven before.
    assert steps.count(1) == 2
    assert steps.count(0) == 7
    assert sum(kind is Node for kind, *_ in noted) == 2 * 8


def test_a_node_serves_its_tasks_in_its_step(model, noted):
    for _ in range(3):
        model.step()
    tasks = [(before, after) for kind, number, before, after in noted if (kind, number) == (Node, 1)]
    # In its first step the task enters; in its third one, from 20 to 30 ms, it ends. Nothing else changes its tasks.
    assert tasks == [(0, 1), (1, 1), (1, 0)]
    assert model.jobs_frame()["finish_ms"].tolist() == [25.0]


def test_a_job_opens_its_barrier_in_its_step(model, noted):
    for _ in range(4):
        model.step()
    waiting = [(before, after) for kind, number, before, after in noted if (kind, number) == (Job, 0)]
    # Tasks at the barrier: none at 10 ms, one at 20 and 30 ms, both at 40 ms: then the job's step lets them go on.
    assert waiting == [(0, 0), (1, 1), (1, 1), (2, 0)]


def test_the_run_is_what_was_computed_by_hand(model):
    while model.running:
        model.step()
    ends = model.jobs_frame().set_index("task")["finish_ms"]
    assert ends.to_dict() == {0: 55.0, 1: 70.0, 2: 25.0}


def test_run_leaps_to_the_same_end(model, noted):
    model.run()
    assert noted == []
    assert model.jobs_frame().set_index("task")["finish_ms"].to_dict() == {0: 55.0, 1: 70.0, 2: 25.0}
