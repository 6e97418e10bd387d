"""The model as a Mesa user expects it."""

import gc
import warnings
import weakref

import mesa
import networkx as nx
import numpy as np
import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel, InputError, Scenario
from cluster_abm.model import Job, LoadManager, Node
from cluster_abm.model.space import drawn_graph


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


@pytest.mark.slow
def test_jobs_join_when_they_arrive_and_leave_when_they_finish():
    model = ClusterModel(scenario(**busy(workload__duration_s=6.0)), seed=1)
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


@pytest.mark.slow
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
        model_reporters={"live": lambda m: len(m.agents)}, agenttype_reporters={Node: {"tasks": "tasks"}}
    )
    model.run()
    table = model.datacollector.get_model_vars_dataframe()
    by_node = model.datacollector.get_agenttype_vars_dataframe(Node)
    assert len(table) == len(model.nodes_frame()["time_ms"].unique())
    assert len(by_node) == 4 * len(table)
    assert by_node["tasks"].to_numpy().reshape(-1, 4).sum() == model.nodes_frame()["tasks"].sum()


@pytest.mark.slow
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


def nodes_over_time(model):
    """Tasks and load of each node by step and number of the agent."""
    return model.datacollector.get_agenttype_vars_dataframe(Node)


def test_nodes_are_reported_by_default_as_they_are_measured():
    model = finished(**busy(measure__period_ms=1000.0))
    found, measured = nodes_over_time(model), model.nodes_frame()
    assert list(found.columns) == ["tasks", "load"]
    assert found.index.names == ["Step", "AgentID"]
    assert found["tasks"].tolist() == measured["tasks"].tolist()
    ahead = measured["load_cpu_ms"] + measured["load_page_ms"] + measured["load_io_ms"]
    assert found["load"].tolist() == ahead.tolist()

    class Watched(Node):
        """A type of a user's own, whose table is that of Node as well."""

    class WithWatched(ClusterModel):
        node_class = Watched

    model = WithWatched(scenario(**busy(measure__period_ms=1000.0)), seed=1)
    model.run()
    assert nodes_over_time(model).equals(found)
    assert model.datacollector.get_agenttype_vars_dataframe(Watched).equals(found)
    with pytest.warns(UserWarning, match="Agent"):
        assert model.datacollector.get_agenttype_vars_dataframe(mesa.Agent).empty
    steps = found.index.get_level_values("Step")
    assert (steps * 10.0).tolist() == measured["time_ms"].tolist()
    ids = [node.unique_id for node in model.node_agents]
    assert found.index.get_level_values("AgentID").tolist() == ids * (len(found) // 4)


def test_nodes_are_reported_at_every_moment():
    """Before the first step, between two measurements, with a failed node and after the end: as the agents say."""
    model = ClusterModel(scenario(**busy(measure__period_ms=1000.0)), seed=1)
    assert len(nodes_over_time(model)) == 0
    said = {}

    def collect():
        said[model.steps] = [(node.tasks, node.load) for node in model.agents_by_type[Node]]
        model.datacollector.collect(model)

    collect()
    for _ in range(150):
        model.step()
    collect()
    model.run(until_ms=3505.0)
    model.node_agents[1].fail()
    collect()
    model.run()
    collect()
    found = nodes_over_time(model)
    assert found.index.is_unique
    assert found.index.is_monotonic_increasing
    assert list(said) == [0, 150, 351, model.steps]
    for step, rows in said.items():
        at_step = found.loc[step]
        # A task in transit to a node belongs to it, and is not on it.
        assert at_step["load"].tolist() == [load for _, load in rows]
        assert (at_step["tasks"] >= [tasks for tasks, _ in rows]).all()
    assert found.loc[351]["load"].iloc[1] == 0.0
    assert found.loc[150]["load"].sum() > 0.0


def test_of_a_long_run_fewer_rows_of_nodes_are_kept(monkeypatch):
    monkeypatch.setattr("cluster_abm.model.observing.measurements.FEWEST_KEPT", 8)
    monkeypatch.setattr("cluster_abm.model.observing.measurements.MOST_ROWS", 8)
    model = finished(**busy(measure__period_ms=100.0))
    assert nodes_over_time(model)["tasks"].tolist() == model.nodes_frame()["tasks"].tolist()
    assert len(nodes_over_time(model)) < 8 * 4


def test_collecting_nodes_asks_no_agent(monkeypatch):
    monkeypatch.setattr(Node, "tasks", property(lambda node: pytest.fail("asked")))
    monkeypatch.setattr(Node, "load", property(lambda node: pytest.fail("asked")))
    model = finished(**busy(measure__period_ms=1000.0))
    assert len(nodes_over_time(model)) > 4
    assert not model.jobs_register.is_kept


def test_another_reporter_of_nodes_is_asked_as_mesa_does():
    model = ClusterModel(scenario(**busy(measure__period_ms=1000.0)), seed=1)
    model.datacollector._new_agenttype_reporter(Node, "up", "is_up")
    model.run()
    assert nodes_over_time(model)["up"].all()


@pytest.mark.slow
def test_no_model_outlives_its_last_user():
    model = finished(**busy())
    assert len(model.agents) == 8
    assert len(model.space.agents) == 4
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


SHORT = {"workload__duration_s": 15.0, "workload__io_per_ms__mean": 0.05}


def batch(parameters, **given):
    """What Mesa's batch_run makes of short runs."""
    short = {"scenario": "quickstart", **SHORT, **parameters}
    return mesa.batch_run(ClusterModel, short, display_progress=False, number_processes=1, **given)


def alone(**keys):
    """A run by itself, to its end."""
    model = ClusterModel("quickstart", **SHORT | keys)
    model.run()
    return model


@pytest.mark.slow
@pytest.mark.parametrize("period_ms", [10.0, 1000.0, 1e6])
def test_batch_run_as_documented_gives_one_final_row_a_run(period_ms):
    """However seldom a run is measured: what it says is what the run says at its end."""
    parameters = {"policy__name": ["none", "iolb"], "measure__period_ms": period_ms}
    found = batch(parameters, max_steps=100_000)
    assert [row["policy__name"] for row in found] == ["none", "iolb"]
    for row in found:
        model = alone(policy=row["policy__name"])
        assert row["now_ms"] == model.now_ms
        assert row["finished_tasks"] == model.engine.finished == len(model.jobs_frame())
        assert row["live_tasks"] == 0
        busy_ns = model.busy_ns()[0].sum()
        assert row["cpu_utilisation"] == pytest.approx(busy_ns / (model.now_ns * model.engine.nodes["cores"].sum()))


@pytest.mark.slow
def test_batch_run_that_is_cut_short_warns_and_says_the_state_then():
    longer = {"measure__period_ms": 1e6}
    words = r"max_steps ended a run at 1\.0\d s of \d+\.\d\d s; give max_steps=\d+$"
    with pytest.warns(UserWarning, match=words) as said:
        (row,) = batch(longer, max_steps=100)
    model = ClusterModel("quickstart", **SHORT)
    for _ in range(round(row["now_ms"] / 10)):
        model.step()
    assert row["now_ms"] in (1000.0, 1010.0)
    assert row["finished_tasks"] == model.engine.finished
    assert row["live_tasks"] == model.engine.live
    model.run()
    most = int(str(said[0].message).split("max_steps=")[1])
    assert most == model.steps
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (row,) = batch(longer, max_steps=most)
    assert row["live_tasks"] == 0


@pytest.mark.slow
def test_batch_run_of_a_run_with_an_end_says_exactly_how_many_steps_it_has():
    with pytest.warns(UserWarning, match=r"ended a run at 10\.0\d s of 16\.00 s; give max_steps=1600$"):
        batch({"run__until": 16_000.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (row,) = batch({"run__until": 16_000.0}, max_steps=1600)
    assert row["now_ms"] == 16_000.0


@pytest.mark.slow
def test_batch_run_with_a_period_has_the_state_at_its_steps():
    """Mesa counts steps from 0; a row is the newest measurement up to then."""
    found = batch({"measure__period_ms": 100.0}, max_steps=100_000, data_collection_period=50)
    rows = {row["Step"]: row for row in found}
    end = alone().parts.clock.slices - 1
    # Since 3.5 Mesa takes every 50th row, and not that of every 50th step.
    assert rows.get(end, {"live_tasks": 0})["live_tasks"] == 0
    for step, row in rows.items():
        if 10 < step < end:
            assert (step + 1) * 10.0 - 100.0 < row["now_ms"] <= (step + 1) * 10.0


class Counting(ClusterModel):
    """With a DataCollector of its own, which tells of agents too."""

    def __init__(self, **given):
        super().__init__(**given)
        self.datacollector = mesa.DataCollector(
            model_reporters={"slices": lambda model: model.steps},
            agenttype_reporters={Node: {"done": lambda node: node.model.engine.finished}},
            agent_reporters={"kind": lambda agent: type(agent).__name__},
        )


@pytest.mark.slow
def test_batch_run_reads_a_collector_of_ones_own():
    parameters = {"scenario": "quickstart", "cluster__nodes": 3, **SHORT}
    found = mesa.batch_run(Counting, parameters, max_steps=100_000, display_progress=False, number_processes=1)
    steps = alone(cluster__nodes=3).steps
    assert {row["slices"] for row in found} == {steps}
    assert sorted(row["kind"] for row in found if "kind" in row) == ["LoadManager"] * 3 + ["Node"] * 3


def test_what_others_read_of_the_collector_is_mesas_own():
    model = alone()
    assert isinstance(model.datacollector, mesa.DataCollector)
    assert len(model.datacollector.model_vars["now_ms"]) == len(model.datacollector.get_model_vars_dataframe())


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


@pytest.mark.parametrize(("kind", "switches"), [("complete", 0), ("star", 1), ("bus", 1), ("tree", 3)])
def test_each_node_is_in_a_cell_of_mesas_space(kind, switches):
    """A tree of four nodes in racks of two has two switches, and one above them."""
    rack = {"interconnect__rack_nodes": 2} if kind == "tree" else {}
    model = ClusterModel(scenario(**busy(), interconnect__kind=kind, **rack), seed=1)
    space = model.space
    assert isinstance(space, mesa.discrete_space.Network)
    assert space is model.space
    assert [space[node].agents for node in range(4)] == [[node] for node in model.node_agents]
    assert all(node.cell is space[node.index] for node in model.node_agents)
    assert set(space.agents) == set(model.node_agents)
    graph, whole = space.G, model.network.graph
    assert list(graph) == list(range(4 + switches))
    assert graph.number_of_edges() == whole.number_of_edges()
    names = {vertex: graph.nodes[vertex]["name"] for vertex in graph}
    assert {frozenset((names[one], names[other])) for one, other in graph.edges} == {
        frozenset((str(one), str(other))) for one, other in whole.edges
    }


def test_a_complete_network_of_more_than_500_nodes_is_drawn_without_its_links():
    few, many = (ClusterModel(scenario(cluster__nodes=nodes)).space for nodes in (20, 501))
    assert few.G.number_of_edges() == 20 * 19 // 2
    assert all(len(cell.connections) == 0 for cell in many.all_cells)
    # Mesa draws no network without any link.
    assert list(many.G.edges) == [(0, 1)]


def test_so_is_any_other_network_with_too_many_links(monkeypatch):
    monkeypatch.setattr("cluster_abm.model.space.MOST_LINKS", 5)
    graphs = nx.complete_graph(4), nx.star_graph(5)
    nx.set_node_attributes(graphs[1], {0: "switch"}, "kind")
    few, full = (drawn_graph(ClusterModel("cpu-bound", network=graph).network) for graph in graphs[::-1])
    assert (len(few), few.number_of_edges()) == (6, 5)
    # Six links.
    assert (len(full), full.number_of_edges()) == (4, 0)
    assert set(full.nodes[0]) == {"name", "pos"}


def test_a_space_changes_nothing():
    model = ClusterModel(scenario(**busy()), seed=1)
    assert len(model.space.agents) == 4
    model.run()
    assert same_records(model, finished(1, **busy()))


def test_mesas_own_scenario_is_none_so_that_a_reset_of_its_page_keeps_ours():
    model = ClusterModel("cpu-bound", cluster__nodes=2)
    assert model.scenario is None
    assert model.setup.name == "cpu-bound"
