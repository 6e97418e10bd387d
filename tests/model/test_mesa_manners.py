"""The model as a Mesa user expects it."""

import gc
import weakref

import mesa
import numpy as np
import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel, InputError, Scenario
from cluster_abm.model import Job, LoadManager, Node


@pytest.fixture
def half_way():
    model = ClusterModel(scenario(**busy()), seed=1)
    for _ in range(800):
        model.step()
    return model


def test_it_is_a_mesa_model_with_three_kinds_of_agents(half_way):
    assert isinstance(half_way, mesa.Model)
    assert all(isinstance(agent, mesa.Agent) for agent in half_way.agents)
    assert {type(agent) for agent in half_way.agents} == {Node, LoadManager, Job}
    assert set(half_way.agents_by_type) == {Node, LoadManager, Job}
    assert set(half_way.agent_types) == {Node, LoadManager, Job}
    assert len(half_way.agents_by_type[Node]) == len(half_way.agents_by_type[LoadManager]) == 4
    assert half_way.steps == 800
    assert half_way.now_ms == 8000


def test_agent_sets_select_get_aggregate_and_group(half_way):
    nodes = half_way.agents_by_type[Node]
    assert sum(nodes.get("tasks")) == half_way.engine.live
    assert len(nodes.select(lambda node: node.is_idle)) == sum(node.tasks == 0 for node in nodes)
    assert nodes.agg("tasks", max) == max(nodes.get("tasks"))
    homes = half_way.agents_by_type[Job].groupby("home").count()
    assert sum(homes.values()) == len(half_way.agents_by_type[Job])
    with pytest.raises(AttributeError):
        nodes.get("no_such_property")


def test_agent_sets_act_on_every_agent_in_them(half_way):
    nodes = half_way.agents_by_type[Node]
    chosen = nodes.select(at_most=2)
    assert len(chosen.do("drain")) == 2
    assert [node.is_draining for node in nodes] == [True, True, False, False]
    chosen.shuffle_do(lambda node: node.recover())
    assert not any(node.is_draining for node in nodes)
    jobs = half_way.agents_by_type[Job]
    killed = sorted(job.job for job in jobs)
    jobs.shuffle_do("kill")
    assert len(jobs) == 0
    half_way.run()
    frame = half_way.jobs_frame()
    assert sorted(set(frame.loc[frame["outcome"] == "killed", "job"])) == killed


def test_groups_of_agents_are_counted_and_aggregated(half_way):
    nodes = half_way.agents_by_type[Node]
    by_load = nodes.groupby("is_idle")
    assert sum(by_load.count().values()) == 4
    most, total = by_load.agg("tasks", max), by_load.agg("tasks", sum)
    assert sum(total.values()) == half_way.engine.live
    assert max(most.values()) == max(nodes.get("tasks"))
    assert most.get(True, 0) == 0


def test_agents_have_unique_numbers_and_keep_their_identity(half_way):
    numbers = [agent.unique_id for agent in half_way.agents]
    assert len(set(numbers)) == len(numbers)
    again = {agent.unique_id: agent for agent in half_way.agents}
    assert all(again[agent.unique_id] is agent for agent in half_way.agents)


def test_jobs_join_when_they_arrive_and_leave_when_they_finish():
    model = ClusterModel(scenario(**busy()), seed=1)
    assert Job not in model.agents_by_type or not len(model.agents_by_type[Job])
    first_seen = {}
    while model.running:
        model.step()
        for job in model.agents_by_type.get(Job, ()):
            first_seen.setdefault(job.job, job)
            assert job.arrival_ms < model.now_ms
            assert job.state == "running"
    assert len(model.agents) == 8
    counts = model.jobs["tasks"]
    frame = model.jobs_frame()
    for number, job in first_seen.items():
        # A kept reference tells of the finished job what the table does.
        own = frame[frame["job"] == number]
        assert job.state == "finished"
        assert job.finished_tasks == job.width == counts[number] == len(own)
        assert job.cpu_received_ms == pytest.approx(own["cpu_ms"].sum())
        assert job.response_ms == pytest.approx(own["finish_ms"].max() - job.arrival_ms)
        assert job.slowdown == pytest.approx(own["slowdown"].mean())
    # Only a job that came and went inside one slice is never seen.
    unseen = frame[~frame["job"].isin(list(first_seen))]
    assert (unseen["response_ms"] < 10).all()


def test_looking_at_agents_changes_nothing():
    watched = ClusterModel(scenario(**busy()), seed=2)
    while watched.running:
        watched.step()
        assert len(watched.agents) >= 8
    assert same_records(watched, finished(2, **busy()))


def test_a_kept_agent_set_stays_live(half_way):
    jobs = half_way.agents_by_type[Job]
    before = len(jobs)
    half_way.run()
    assert before > 0
    assert len(jobs) == 0


def test_a_running_job_reports_what_its_tasks_received(half_way):
    for job in half_way.agents_by_type[Job]:
        assert 0 <= job.cpu_received_ms <= job.cpu_ms * job.width * 1.0001
        assert job.response_ms is None
        assert job.slowdown is None
        assert len(job.task_states) + job.finished_tasks == job.width
    total = sum(job.cpu_received_ms for job in half_way.agents_by_type[Job])
    done = sum(
        record["cpu_ns"]
        for record in half_way.engine.records
        if record["job"] not in {job.job for job in half_way.agents_by_type[Job]}
    )
    assert total + done / 1e6 == pytest.approx(sum(node.cpu_busy_ms for node in half_way.agents_by_type[Node]))


def test_data_collectors_of_the_user_work():
    model = ClusterModel(scenario(**busy(measure__period_ms=1000)), seed=1)
    model.datacollector = mesa.DataCollector(
        model_reporters={"live": lambda m: len(m.agents)},
        agenttype_reporters={Node: {"tasks": "tasks"}},
    )
    model.run()
    table = model.datacollector.get_model_vars_dataframe()
    by_node = model.datacollector.get_agenttype_vars_dataframe(Node)
    assert len(table) == len(model.nodes_frame()["time_ms"].unique())
    assert len(by_node) == 4 * len(table)
    assert by_node["tasks"].to_numpy().reshape(-1, 4).sum() == model.nodes_frame()["tasks"].sum()


def test_reporters_of_all_agents_and_of_a_type_agree():
    class Watched(Node):
        """A type of a user's own."""

    class WithWatched(ClusterModel):
        node_class = Watched

    model = WithWatched(scenario(**busy(measure__period_ms=1000)), seed=1)
    model.datacollector = mesa.DataCollector(
        model_reporters={"live": lambda m: m.engine.live},
        # Mesa 3.5 asks every agent for an attribute by name, and not all have this one.
        agent_reporters={
            "tasks": lambda agent: getattr(agent, "tasks", None),
            "kind": lambda agent: type(agent).__name__,
        },
        agenttype_reporters={Watched: {"tasks": "tasks"}, Job: {"received_ms": "cpu_received_ms", "home": "home"}},
    )
    model.run()
    everyone = model.datacollector.get_agent_vars_dataframe()
    assert set(everyone["kind"]) == {"Watched", "LoadManager", "Job"}
    of_nodes = everyone.loc[everyone["kind"] == "Watched", "tasks"]
    by_node = model.datacollector.get_agenttype_vars_dataframe(Watched)
    assert of_nodes.astype(int).tolist() == by_node["tasks"].tolist() == model.nodes_frame()["tasks"].tolist()
    live = model.datacollector.get_model_vars_dataframe()["live"]
    assert of_nodes.astype(int).groupby(level="Step").sum().tolist() == live.tolist()
    by_job = model.datacollector.get_agenttype_vars_dataframe(Job)
    assert (by_job["received_ms"] >= 0).all()
    assert by_job["home"].between(0, 3).all()


def test_the_default_collector_measures_at_the_measuring_period():
    model = finished(measure__period_ms=2000.0)
    table = model.datacollector.get_model_vars_dataframe()
    assert table["now_ms"].iloc[:-1].tolist() == [2000.0 * k for k in range(1, len(table))]
    assert table["finished_tasks"].iloc[-1] == len(model.jobs_frame())
    assert table["cpu_utilisation"].between(0, 1).all()


def test_no_model_outlives_its_last_user():
    model = finished(**busy())
    assert len(model.agents) == 8
    kept = weakref.ref(model)
    del model
    gc.collect()
    assert kept() is None


class Probe(mesa.Agent):
    """A user's own agent."""


def test_a_users_own_agents_count_with_ours_and_keep_no_model_alive():
    model = ClusterModel(scenario(**busy()), seed=1)
    probes = Probe.create_agents(model, 3)
    numbers = [agent.unique_id for agent in model.agents]
    assert len(set(numbers)) == len(numbers) == 11
    assert set(model.agents_by_type[Probe]) == set(probes)
    kept = weakref.ref(model)
    del model, probes
    gc.collect()
    assert kept() is None


def test_keywords_reach_the_scenario_as_mesas_tools_pass_them():
    model = ClusterModel(scenario(), rng=5, cluster__nodes=3, policy__name="random")
    assert model.run_seed == 5
    assert len(model.node_agents) == 3
    assert model.policy.name == "random"
    assert model.params["cluster__nodes"] == 3
    assert ClusterModel(scenario(run__seed=8)).run_seed == 8
    assert ClusterModel(scenario(), rng=np.int64(4)).run_seed == 4
    assert ClusterModel(scenario(), cluster__nodes=np.int64(3), workload__duration_s=np.float64(2)).engine.live == 0
    assert ClusterModel(Scenario(), workload__duration_s=5).setup.workload.duration_s == 5


@pytest.mark.parametrize("seed", [-1, 1.7, "5", True, 2**63])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match="seed = "):
        ClusterModel(scenario(), seed=seed)
    with pytest.raises(InputError, match="rng = "):
        ClusterModel(scenario(), rng=seed)


@pytest.mark.slow
def test_mesas_batch_run_merely_works():
    # Mesa 3.3 takes the n-th collected row for the n-th step: measure every slice.
    parameters = {
        "scenario": "quickstart",
        "workload__duration_s": 20.0,
        "measure__period_ms": 10.0,
        "policy__name": ["none", "iolb"],
    }
    found = mesa.batch_run(
        ClusterModel, parameters, max_steps=100_000, display_progress=False, number_processes=1,
        data_collection_period=-1,
    )  # fmt: skip
    assert {row["policy__name"] for row in found} == {"none", "iolb"}
    assert all(row["live_tasks"] == 0 for row in found)


def test_mesas_batch_run_of_a_run_to_which_nobody_comes():
    parameters = {"scenario": "quickstart", "workload__duration_s": 0.01, "measure__period_ms": 10.0}
    (found,) = mesa.batch_run(ClusterModel, parameters, display_progress=False, number_processes=1)
    assert (found["live_tasks"], found["finished_tasks"], found["now_ms"]) == (0, 0, 0)


def test_step_after_the_end_does_nothing():
    model = finished(workload__duration_s=1.0)
    now, steps = model.now_ns, model.steps
    model.step()
    model.run()
    model.step()
    assert model.now_ns == now
    assert model.steps == steps == now // model.slice_ns
    assert model.running is False
