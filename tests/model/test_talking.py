"""Managers that hold tasks and talk: when messages arrive, what they cost, and what failures do to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import PolicyFault
from cluster_abm.policies import Decision, Migrating, available
from cluster_abm.policy import base
from cluster_abm.policy.talking import Talking

TALKING = sorted(name for name, policy in available().items() if policy.talks)
# Two nodes, 3 ms apart, that do nothing but what the trace says.
APART = {
    "cluster__nodes": 2, "cluster__context_switch_ms": 0.0, "interconnect__latency_ms": 3.0,
    "negotiation__remote_execution_ms": 50.0, "negotiation__timeout_ms": 200.0,
}  # fmt: skip


class Asking(Talking):
    """Asks the next node, waits for its answer, and starts the task there."""

    name = "test-asking"
    source = summary = "test"

    def arrives(self, tasks, post):
        post.notes.setdefault("heard", [])
        post.send((post.me + 1) % post.nodes, "may I?", 7.0, tasks[0].task)

    def hears(self, message, post):
        post.notes.setdefault("heard", []).append((post.now_ms, message.topic, message.value))
        if message.topic == "may I?":
            post.send(message.source, "yes", message.value + 1.0, message.about)
        elif message.topic == "yes":
            post.start(post.waiting[0], message.source, "it may")

    def unanswered(self, message, post):
        post.notes.setdefault("heard", []).append((post.now_ms, "unanswered", message.value))
        if message.topic == "may I?" and post.waiting:
            post.start(post.waiting[0], post.me, "no answer")

    def ended(self, tasks, post):
        post.notes.setdefault("ended", []).append((post.now_ms, tasks[0].here_ms))


class Moving(Talking, Migrating):
    """Starts a task at home, and sends it on to the other node 2 ms later."""

    name = "test-moving"
    source = summary = "test"

    def arrives(self, tasks, post):
        post.move(tasks[0], Decision(post.me, "stays"))
        post.remind(2.0, "go")

    def hears(self, message, post):
        post.move(post.view.candidates[0], Decision(1 - post.me, "goes"))


class Faulty(Asking):
    """Does what is told it in a variable."""

    name = "test-faulty"
    does: Any = None

    def arrives(self, tasks, post):
        type(self).does(tasks, post)


@pytest.fixture(autouse=True)
def _policies(monkeypatch):
    known = dict(available()) | {"test-asking": Asking, "test-faulty": Faulty, "test-moving": Moving}
    monkeypatch.setattr("cluster_abm.policy.finding.registry.available", lambda: known)
    monkeypatch.setattr(base, "Policy", base.Policy)


def trace(tmp_path, *rows: str) -> dict[str, Any]:
    """A trace of sequential jobs without I/O: arrival_ms,home,cpu_ms."""
    path = tmp_path / "jobs.csv"
    lines = [f"{row},0,1" for row in rows]
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n" + "\n".join(lines) + "\n")
    return {"workload__kind": "trace", "workload__trace__file": str(path)}


def model_of(policy: str, tmp_path, *rows: str, **more: Any) -> ClusterModel:
    settings = {**APART, **trace(tmp_path, *rows), "policy__name": policy, **more}
    setup = scenario(**{key: value for key, value in settings.items() if not key.startswith("workload__u")})
    return ClusterModel(setup, seed=1)


def test_messages_arrive_after_the_latency_at_their_exact_instant(tmp_path):
    """The job comes at 13.5 ms: the question is heard at 16.5, its answer at 19.5; e = 50 ms and 3 ms of latency later
    it begins, and ends after 100 ms at 172.5, which its node knows at the end of that slice."""
    model = model_of("test-asking", tmp_path, "13.5,0,100", "900,0,1")
    model.run()
    notes = [manager.notes for manager in model.load_managers]
    assert notes[1]["heard"][0] == (16.5, "may I?", 7.0)
    assert notes[0]["heard"][0] == (19.5, "yes", 8.0)
    job = model.jobs_frame().iloc[0]
    assert job["node"] == 1
    assert job["finish_ms"] == pytest.approx(172.5, abs=1e-6)
    assert job["blocked_ms"] == pytest.approx(6.0)
    assert job["migration_ms"] == pytest.approx(53.0)
    assert notes[1]["ended"] == [(180.0, pytest.approx(100.0))]
    assert model.summary()["metrics"]["messages_per_job"] == 2.0


def test_a_message_that_is_lost_is_known_after_the_timeout(tmp_path):
    model = model_of("test-asking", tmp_path, "13.5,0,100", interconnect__loss_share=0.99)
    model.run()
    assert model.load_managers[0].notes["heard"] == [(213.5, "unanswered", 7.0)]
    assert model.jobs_frame()["finish_ms"].iloc[0] == pytest.approx(313.5, abs=1e-6)


def test_a_message_to_a_failed_node_is_not_answered(tmp_path):
    model = model_of("test-asking", tmp_path, "13.5,0,100")
    model.node_agents[1].fail()
    model.run()
    assert model.load_managers[0].notes["heard"][0] == (213.5, "unanswered", 7.0)
    assert model.jobs_frame()["node"].iloc[0] == 0


def test_tasks_that_wait_at_a_failed_node_arrive_anew_where_another_stands_in(tmp_path):
    """Node 0 fails at 15 ms with the task waiting; node 1 stands in for it, asks node 0 and gets no answer."""
    model = model_of("test-asking", tmp_path, "13.5,0,100", interconnect__latency_ms=40.0)
    model.run(until_ms=20.0)
    model.node_agents[0].fail()
    model.run()
    assert model.jobs_frame()["node"].tolist() == [1]
    assert model.summary()["jobs"]["finished"] == 1


def test_a_task_that_is_sent_on_before_it_enters_its_node_leaves_when_it_is_sent(tmp_path):
    """It comes at 1 ms, in a slice that begins at 0, and is sent on at 3 ms: 2 ms, and then 50 ms and 3 of latency."""
    model = model_of("test-moving", tmp_path, "1,0,100")
    model.run()
    (row,) = model.jobs_frame().to_dict("records")
    assert (row["node"], row["response_ms"]) == (1, pytest.approx(2.0 + 53.0 + 100.0))


@pytest.mark.slow
@pytest.mark.parametrize("name", TALKING)
def test_jobs_that_are_held_through_an_outage_of_all_nodes_finish(name):
    """When the nodes are back, managers are told of these jobs before anything else: they have no notes yet."""
    outage = [{"at_s": 2.0, "for_s": 1.0, "node": node} for node in range(4)]
    model = ClusterModel(
        "quickstart", policy=name, seed=1, cluster__nodes=4, workload__duration_s=4.0, workload__jobs_per_s=3.0,
        workload__tasks__maximum=8, failures__event=outage,
    )  # fmt: skip
    model.run(until_ms=2990.0)
    assert len(model.parts.submissions.held) > 1
    model.run()
    jobs = model.summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"]


def test_a_run_whose_tasks_are_never_started_ends(tmp_path):
    Faulty.does = lambda tasks, post: None
    model = model_of("test-faulty", tmp_path, "13.5,0,100")
    model.run()
    assert model.summary()["jobs"] | {"running": 0} == {
        "submitted": 1, "finished": 0, "killed": 0, "lost": 0, "blocked": 1, "running": 0,
    }  # fmt: skip


def test_a_waiting_job_can_be_killed(tmp_path):
    Faulty.does = lambda tasks, post: post.remind(1000.0, "later")
    model = model_of("test-faulty", tmp_path, "13.5,0,100")
    model.run(until_ms=50.0)
    next(iter(model.agents_by_type[model.job_class])).kill()
    model.run()
    assert model.summary()["jobs"]["killed"] == 1


@pytest.mark.parametrize(("does", "said"), [
    (lambda tasks, post: post.start(tasks[0], 9, "there"), "start: node 9: allowed are 0 to 1"),
    (lambda tasks, post: [post.start(tasks[0], 0, "a"), post.start(tasks[0], 0, "b")], "task 0 does not wait at the"),
    (lambda tasks, post: post.start("x", 0, "a"), "task None does not wait at the manager of node 0"),
    (lambda tasks, post: post.send(1, 3), "send: topic 3: a text is needed"),
    (lambda tasks, post: post.send(1, "x", value="y"), "send: value 'y', about -1"),
    (lambda tasks, post: post.remind(-1.0, "x"), r"remind: after_ms = -1.0: allowed is 0 to 1e\+12"),
    (lambda tasks, post: post.hand(tasks[0], 1.5, "x"), "hand: node 1.5"),
    (lambda tasks, post: post.start(tasks[0], 0, None), "rule None"),
])  # fmt: skip
def test_what_a_policy_does_wrong_is_its_fault_by_name(tmp_path, does, said):
    Faulty.does = does
    with pytest.raises(PolicyFault, match=f"policy 'test-faulty': .*{said}"):
        model_of("test-faulty", tmp_path, "13.5,0,100").run()


LATE = {"interconnect__latency_ms": 0.7, "negotiation__timeout_ms": 30.0}
FAILING = {
    "failures__node__kind": "exponential", "failures__node__mean_up_s": 6.0, "failures__node__mean_down_s": 1.0,
    "workload__duration_s": 8.0,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", TALKING)
@pytest.mark.parametrize("more", [LATE, LATE | {"cluster__cores": 3}, LATE | {"interconnect__loss_share": 0.2},
                                  LATE | FAILING | {"interconnect__loss_share": 0.05}])  # fmt: skip
def test_all_work_is_done_slice_by_slice_as_in_leaps(name, more):
    settings = busy(policy__name=name, workload__duration_s=4.0) | more
    leaping = finished(4, **settings)
    stepping = ClusterModel(scenario(**settings), seed=4)
    while stepping.running:
        stepping.step()
    assert same_records(leaping, stepping)
    jobs = leaping.summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 0
    metrics = leaping.summary()["metrics"]
    assert metrics["messages_per_job"] == stepping.summary()["metrics"]["messages_per_job"] > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", TALKING)
def test_the_parts_of_a_tasks_time_are_its_wall_time(name):
    frame = finished(2, **busy(policy__name=name, workload__duration_s=6.0), **LATE).jobs_frame()
    parts = ("cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier", "blocked")
    total = sum(frame[f"{part}_ms"] for part in parts)
    assert np.allclose(total, frame["finish_ms"] - frame["arrival_ms"], atol=1e-5)


@pytest.mark.parametrize("name", TALKING)
def test_parallel_jobs_meet_at_barriers_under_each(name):
    """In slots kept at a barrier, tasks would wait for those that wait for the slots."""
    given = busy(policy__name=name, cluster__nodes=2, workload__tasks__barrier_ms=30.0, workload__duration_s=4.0)
    jobs = finished(3, **given).summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", TALKING)
def test_a_timeout_of_nothing_takes_a_slice(name):
    given = busy(policy__name=name, workload__duration_s=4.0, interconnect__loss_share=0.3, negotiation__timeout_ms=0.0)
    jobs = finished(3, **given).summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", TALKING)
def test_background_programs_take_no_slot_and_make_no_node_busy(name):
    """On one node with a program that never ends all tasks start and end."""
    program = {"node": 0, "cpu_share": 0.4, "period_ms": 70.0, "memory_mb": 3.0}
    given = busy(policy__name=name, cluster__nodes=1, workload__duration_s=2.0, workload__background=[program])
    jobs = finished(3, **given).summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 0


def test_the_example_of_the_guide_runs(monkeypatch):
    guide = (Path(__file__).parents[2] / "docs" / "concepts" / "talking.md").read_text()
    space: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", guide, re.DOTALL)[0], space)
    model = ClusterModel(scenario(workload__duration_s=10.0), seed=1, policy=space["AskTwo"])
    model.run()
    frame = model.decisions_frame()
    assert len(frame) == model.summary()["jobs"]["finished"] > 0
    # Of 4 nodes two are drawn: the own one is among them every other time.
    assert 2.0 < model.summary()["metrics"]["messages_per_job"] < 4.0


def test_reports_and_questions_count_as_messages():
    """Four nodes, a report a second to three others each from 0 s on; two messages for each question."""
    model = finished(1, policy__name="jsq", workload__duration_s=3.0, run__until=3500.0)
    questions = model.parts.questions.messages
    asked = (model.decisions_frame()["source"] != model.decisions_frame()["target"]).sum()
    assert questions == 2 * asked > 0
    assert model.parts.reports.messages == 4 * 3 * 4
    jobs = model.summary()["jobs"]["submitted"]
    assert model.summary()["metrics"]["messages_per_job"] == (questions + 48) / jobs


def test_compiled_decisions_count_their_questions_too():
    settings = {"policy__name": "jsq", "workload__duration_s": 3.0}
    compiled = finished(1, **settings)
    python = ClusterModel(scenario(**settings), seed=1, compile_decisions=False)
    python.run()
    assert not compiled.decides_in_python
    assert compiled.parts.questions.messages == python.parts.questions.messages > 0
