"""Agents acted upon between slices: worked by hand, and with everything downstream right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import breakdown_sum_ns, busy, finished, same_records, scenario

from cluster_abm import ClusterModel, InputError
from cluster_abm.engine.tables import FINISHED, FREE, KILLED
from cluster_abm.model import Job, Node
from cluster_abm.policy.tasks import CANDIDATE

HEAD = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks\n"
# Switches cost nothing, migration 100 ms and 10 MB over 100 Mbps.
EXACT = {"cluster__context_switch_ms": 0.0, "negotiation__migration_ms": 100.0, "cluster__buffer_mb": 0.0}


def model_of(tmp_path, jobs, **more):
    """Jobs (arrival_ms, home, cpu_ms, io_per_ms, memory_mb, tasks) on two nodes."""
    path = tmp_path / "jobs.csv"
    path.write_text(HEAD + "".join(",".join(map(str, job)) + "\n" for job in jobs))
    settings_of = {
        "cluster__nodes": 2, "workload": {"kind": "trace", "trace": {"file": str(path)}},
        "interconnect__bandwidth_mbps": 100.0, "policy__name": "none",
    }  # fmt: skip
    return ClusterModel(scenario(**settings_of | EXACT | more), seed=1)


def node(model, index):
    return model.node_agents[index]


def ended(model, task=0):
    frame = model.jobs_frame().set_index("task")
    return frame.loc[task]


# ---- nodes -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_cpu_of_twice_the_speed_takes_half_the_rest(tmp_path):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 1, 1), (0, 1, 1000, 0, 1, 1)])
    model.run(until_ms=500)
    node(model, 0).cpu_speed = 2.0
    assert node(model, 0).cpu_speed == 2.0
    assert model.load_managers[1].known_loads()["cpu_ms"][0] >= 0.0
    model.run()
    assert ended(model, 0)["finish_ms"] == 750.0
    assert ended(model, 1)["finish_ms"] == 1000.0
    # The base of its slowdown is the node as it was when the job was submitted.
    assert ended(model, 0)["slowdown"] == 0.75


def test_a_slower_cpu_stretches_everything_that_a_task_has_still_to_receive(tmp_path):
    """Two tasks share a CPU; at 400 ms each has 800 left, then 1600 at half the speed: both end by 400 + 3200."""
    model = model_of(tmp_path, [(0, 0, 1000, 0, 1, 1), (0, 0, 1000, 0, 1, 1)])
    model.run(until_ms=400)
    node(model, 0).cpu_speed = 0.5
    model.run()
    finish = model.jobs_frame()["finish_ms"]
    assert finish.max() == 400 + 3200
    assert finish.min() >= 3600 - 10


@pytest.mark.slow
def test_less_memory_makes_tasks_page_and_more_ends_it(tmp_path):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 100, 1)], cluster__buffer_in_memory=False)
    assert node(model, 0).memory_mb == 640.0
    model.run(until_ms=200)
    assert node(model, 0).page_faults == 0
    node(model, 0).memory_mb = 50.0
    assert node(model, 0).user_memory_mb == 50.0
    model.run(until_ms=600)
    faults = node(model, 0).page_faults
    # mu = 0.5 faults per ms of CPU, times demand over memory = 2; each takes seek, rotation and 4 KB: 8.1 ms.
    assert faults == pytest.approx(400 / (1 + 8.1), abs=2)
    node(model, 0).memory_mb = 640.0
    model.run()
    assert node(model, 0).page_faults <= faults + 1


@pytest.mark.slow
def test_where_ram_and_swap_are_exceeded_the_newest_task_is_killed(tmp_path):
    jobs = [(0, 0, 1000, 0, 300, 1), (100, 0, 1000, 0, 300, 1)]
    model = model_of(tmp_path, jobs, cluster__swap_mb=0.0, cluster__buffer_in_memory=False)
    model.run(until_ms=500)
    node(model, 0).memory_mb = 400.0
    assert model.summary()["jobs"]["killed"] == 1
    model.run()
    assert model.summary()["jobs"] == {
        "submitted": 2, "finished": 1, "killed": 1, "lost": 0, "blocked": 0, "running": 0,
    }  # fmt: skip
    frame = model.jobs_frame()
    assert frame[frame["outcome"] == "killed"][["task", "finish_ms"]].to_numpy().tolist() == [[1, 500]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("on_failure", "finish_ms", "lost_cpu_ms"),
    [("restart", 500 + 1000, 500), ("checkpoint", 500 + 100 + 600, 100), ("lost", 500, 500)],
)
def test_a_failure_follows_on_failure_though_nothing_else_can_fail(tmp_path, on_failure, finish_ms, lost_cpu_ms):
    """A task of 1 s has 500 ms when its node fails; checkpoints are taken every 400 ms and cost f = 100 ms to fetch."""
    model = model_of(
        tmp_path, [(0, 0, 1000, 0, 0, 1)], failures__on_failure=on_failure, failures__checkpoint_period_ms=400.0,
        negotiation__remote_execution_ms=0.0, interconnect__latency_ms=0.0,
    )  # fmt: skip
    model.run(until_ms=500)
    node(model, 0).fail()
    assert not node(model, 0).is_up
    model.run()
    task, metrics = ended(model), model.summary()["metrics"]
    assert task["finish_ms"] == finish_ms
    assert metrics["lost_cpu_ms"] == lost_cpu_ms
    assert metrics["node_failures"] == 1
    assert task["outcome"] == ("lost" if on_failure == "lost" else "finished")
    assert task["node"] == (0 if on_failure == "lost" else 1)


def test_arrivals_of_a_failed_node_go_to_the_next_until_it_recovers(tmp_path):
    model = model_of(tmp_path, [(at, 0, 10, 0, 1, 1) for at in (0, 1000, 2000)])
    model.run(until_ms=500)
    node(model, 0).fail()
    model.run(until_ms=1500)
    node(model, 0).recover()
    model.run()
    assert model.jobs_frame().sort_values("task")["node"].tolist() == [0, 1, 0]


def test_where_all_nodes_have_failed_jobs_wait_for_one_to_recover(tmp_path):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 0, 1), (600, 1, 100, 0, 0, 1), (5000, 0, 1, 0, 0, 1)])
    model.run(until_ms=500)
    node(model, 0).fail()
    node(model, 1).fail()
    model.step()
    assert not model.running
    assert model.summary()["jobs"]["blocked"] == 1


def test_a_draining_node_finishes_its_tasks_and_takes_no_other(tmp_path):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 1, 1), (500, 0, 100, 0, 1, 1), (3000, 0, 100, 0, 1, 1)])
    model.run(until_ms=200)
    node(model, 0).drain()
    assert node(model, 0).is_draining
    assert node(model, 0).is_up
    model.run(until_ms=2000)
    node(model, 0).recover()
    model.run()
    assert model.jobs_frame().sort_values("task")["node"].tolist() == [0, 1, 0]
    assert ended(model, 0)["finish_ms"] == 1000.0
    assert ended(model, 1)["finish_ms"] == 600.0


@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_no_offer_reaches_a_draining_node(mode):
    model = ClusterModel(scenario(**busy(policy__name="jsq", negotiation__mode=mode)), seed=1)
    model.run(until_ms=5000)
    model.node_agents[2].drain()
    model.run()
    frame = model.decisions_frame()
    late = frame[frame["time_ms"] >= 5000]
    assert not late[late["accepted"]]["target"].eq(2).any()
    refused = late[(late["target"] == 2) & ~late["accepted"]]
    # In mode papers all managers know; negotiated, the node is asked and refuses.
    assert (len(refused) > 10) == (mode == "negotiated")
    assert set(refused["reason"]) <= {"drains: it accepts no further task"}
    assert model.summary()["jobs"]["running"] == 0


# ---- tasks and jobs ----------------------------------------------------------------------------------------------


def test_sending_a_task_costs_what_a_migration_costs(tmp_path):
    """10 MB over 100 Mbps (1 MB = 8 Mb) take 800 ms, f is 100 ms: 300 ms here, 900 on the way, 700 there."""
    model = model_of(tmp_path, [(0, 0, 1000, 0, 10, 1)])
    model.run(until_ms=300)
    assert model.load_managers[0].send(0, 1) == "accepted"
    model.run()
    task = ended(model)
    assert (task["node"], task["migrations"], task["migration_ms"], task["finish_ms"]) == (1, 1, 900.0, 1900.0)
    assert model.summary()["metrics"]["migrations"] == 1
    assert model.decisions_frame()[["rule", "accepted", "target"]].to_numpy().tolist() == [["sent", True, 1]]


def test_the_target_may_refuse_and_the_task_stays(tmp_path):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 1, 1)], policy__name="jsq")
    model.load_managers[1].policy.accept = lambda task, decision, view: "I am tired" if view.me else ""
    model.run(until_ms=300)
    assert model.load_managers[0].send(0, 1) == "I am tired"
    node(model, 1).fail()
    assert model.load_managers[0].send(0, 1) == "no answer"
    assert model.summary()["metrics"]["refused_offers"] == 2


def test_a_killed_job_ends_at_once_and_counts_as_killed(tmp_path):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 1, 2), (0, 1, 1000, 0, 1, 1)])
    model.run(until_ms=300)
    job = next(job for job in model.agents_by_type[Job] if job.width == 2)
    job.kill()
    assert job.state == "killed"
    model.run()
    frame = model.jobs_frame()
    assert frame[frame["job"] == job.job]["finish_ms"].tolist() == [300.0, 300.0]
    assert model.summary()["jobs"]["killed"] == 1
    with pytest.raises(InputError, match="it has ended already"):
        job.kill()


def test_the_last_job_killed_ends_the_run_with_that_slice(tmp_path):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 1, 1)])
    model.run(until_ms=300)
    next(iter(model.agents_by_type[Job])).kill()
    model.run()
    assert (model.now_ms, model.running) == (310.0, False)


def test_a_held_job_can_be_killed_and_the_next_one_starts(tmp_path):
    jobs = [(0, 0, 1000, 0, 1, 2), (10, 0, 1000, 0, 1, 2), (20, 0, 100, 0, 1, 1)]
    model = model_of(tmp_path, jobs, policy__name="batch-system", negotiation__remote_execution_ms=0.0)
    model.run(until_ms=300)
    assert model.held_jobs == {1, 2}
    held = next(job for job in model.agents_by_type[Job] if job.job == 1)
    held.kill()
    assert held.state == "killed"
    model.run()
    assert model.summary()["jobs"]["killed"] == 1
    third = ended(model, 4)
    # The first job ends at 1000 ms, which is known at the end of that slice.
    assert third["finish_ms"] == 1110.0
    killed = model.jobs_frame().set_index("job").loc[1]
    assert (killed["blocked_ms"] == 290.0).all()


def test_a_user_whose_job_is_killed_submits_the_next_one():
    closed = {
        "workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 3,
        "workload__arrivals__users_per_node": 1, "workload__cpu_ms__mean": 500.0, "workload__duration_s": None,
    }  # fmt: skip
    closed.pop("workload__duration_s")
    model = ClusterModel(scenario(cluster__nodes=1, policy__name="none", **closed), seed=2)
    model.run(until_ms=50)
    first = next(iter(model.agents_by_type[Job]))
    first.kill()
    model.run()
    assert model.summary()["jobs"]["submitted"] == 3
    assert model.summary()["jobs"]["finished"] == 2


def test_a_user_who_does_not_think_submits_the_next_one_at_once():
    closed = {
        "workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 2,
        "workload__arrivals__users_per_node": 1, "workload__arrivals__think_s": {"kind": "fixed", "mean": 0.0},
        "workload__cpu_ms__kind": "fixed", "workload__cpu_ms__mean": 500.0,
    }  # fmt: skip
    settings = scenario(cluster__nodes=1, cluster__context_switch_ms=0.0, policy__name="none", **closed)
    model = ClusterModel(settings, seed=2)
    model.run(until_ms=50)
    next(iter(model.agents_by_type[Job])).kill()
    model.run()
    assert model.jobs_frame()[["job", "arrival_ms", "finish_ms"]].to_numpy().tolist() == [[0, 0, 50], [1, 50, 550]]


# ---- what makes no sense -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda m: setattr(node(m, 0), "cpu_speed", 0), r"cpu_speed = 0: must be a number above 0"),
        (lambda m: setattr(node(m, 0), "cpu_speed", float("nan")), r"cpu_speed = nan: must be"),
        (lambda m: setattr(node(m, 0), "memory_mb", "much"), r"memory_mb = 'much': must be"),
        (lambda m: setattr(node(m, 0), "memory_mb", 5.0), r"must be above the 160 MB that the system"),
        (lambda m: node(m, 0).recover(), r"node 0: recover\(\): it has neither failed nor does it drain"),
        (lambda m: (node(m, 0).fail(), node(m, 0).fail()), r"it has failed already; recover\(\) brings it back"),
        (lambda m: (node(m, 0).fail(), node(m, 0).drain()), r"drain\(\): it has failed"),
        (lambda m: (node(m, 0).drain(), node(m, 0).drain()), r"it drains already; recover\(\) ends it"),
        (lambda m: m.load_managers[0].send(0, 2), r"no such node; allowed are 0 to 1"),
        (lambda m: m.load_managers[0].send(0, 0), r"the task is on node 0; name another node"),
        (lambda m: m.load_managers[1].send(0, 0), r"no such task can be sent from node 1; there are none"),
        (lambda m: m.load_managers[0].send("0", 1), r"no such task can be sent from node 0; there are 0"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_says_what_to_do(tmp_path, act, words):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 1, 1)], cluster__buffer_mb=160.0)
    model.run(until_ms=100)
    with pytest.raises(InputError, match=words):
        act(model)


def test_nodes_of_a_pooled_cluster_cannot_be_acted_upon(tmp_path):
    model = model_of(tmp_path, [(0, 0, 1000, 0, 1, 1)], policy__name="pooled")
    with pytest.raises(InputError, match="policy 'pooled' makes all nodes one station"):
        node(model, 0).fail()


def test_no_agent_acts_while_nodes_live_their_slice():
    class Selfish(Node):
        def step(self):
            if self.model.now_ms == 100.0:
                self.fail()
            super().step()

    class Mine(ClusterModel):
        node_class = Selfish

    with pytest.raises(InputError, match="the nodes are living their slice"):
        Mine(scenario(**busy()), seed=1).run()


# ---- anything at any time ----------------------------------------------------------------------------------------

ACTS = st.tuples(
    st.integers(1, 120),
    st.sampled_from(["speed", "memory", "fail", "recover", "drain", "send", "kill"]),
    st.integers(0, 3),
    st.floats(0.3, 3.0),
)


def act_upon(model, what, index, amount):
    """Carry out an act that makes sense; others are left out."""
    agent = model.node_agents[index]
    others_accept = model.parts.availability.accepting.sum() > 1
    if what == "speed":
        agent.cpu_speed = amount
    elif what == "memory":
        agent.memory_mb = 40.0 * amount
    elif what == "fail" and agent.is_up and others_accept:
        agent.fail()
    elif what == "drain" and agent.is_up and not agent.is_draining and others_accept:
        agent.drain()
    elif what == "recover" and not (agent.is_up and not agent.is_draining):
        agent.recover()
    elif what == "send":
        tasks = model.engine.candidates(index, model.now_ns, CANDIDATE)["task"].tolist()
        if tasks:
            agent.load_manager.send(tasks[len(tasks) // 2], (index + 1) % 4)
    elif what == "kill":
        jobs = sorted(model.agents_by_type[Job], key=lambda job: job.job)
        if jobs:
            jobs[int(amount * 7) % len(jobs)].kill()


SLOW = [pytest.param(policy, marks=pytest.mark.slow) for policy in ("iolb", "batch-system", "pf-rate")]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["wal-pm", *SLOW])
@settings(max_examples=15, deadline=None)
@given(acts=st.lists(ACTS, max_size=8), seed=st.integers(0, 2**32), more=st.sampled_from([{}, {"swap": 60.0}]))
def test_whatever_is_done_run_and_step_agree_and_nothing_is_lost(policy, acts, seed, more):
    overrides = busy(
        policy__name=policy, workload__duration_s=6.0, failures__on_failure="checkpoint",
        failures__checkpoint_period_ms=700.0, workload__tasks__barrier_ms=40.0,
        **({"cluster__swap_mb": more["swap"]} if more else {}),
    )  # fmt: skip
    overrides["cluster__memory_mb"] = 60.0
    ran, stepped = (ClusterModel(scenario(**overrides), seed=seed) for _ in range(2))
    for tenths, what, index, amount in sorted(acts):
        ran.run(until_ms=50.0 * tenths)
        while stepped.running and stepped.now_ms < 50.0 * tenths:
            stepped.step()
        for model in (ran, stepped):
            if model.running:
                act_upon(model, what, index, amount)
    ran.run()
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()
    assert ran.decisions_frame().equals(stepped.decisions_frame())
    records = ran.engine.sorted_records()
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])
    counts = ran.summary()["jobs"]
    assert sum(counts.values()) == 2 * counts["submitted"]
    live = ran.engine.tasks[~np.isin(ran.engine.tasks["state"], [FREE, 5])]
    tasks = np.concatenate([records["task"], live["task"]])
    assert len(np.unique(tasks)) == len(tasks)
    assert set(records["outcome"]) <= {FINISHED, KILLED}


@pytest.mark.slow
def test_acts_that_change_nothing_leave_the_same_bytes():
    plain = finished(1, **busy())
    model = ClusterModel(scenario(**busy()), seed=1)
    for _ in range(10):
        model.run(until_ms=model.now_ms + 1000)
        for agent in model.node_agents:
            agent.cpu_speed = agent.cpu_speed
            agent.memory_mb = agent.memory_mb
    model.run()
    assert same_records(plain, model)
