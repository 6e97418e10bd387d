"""A networkx graph that is handed over: taken as it is, left alone, kept, and the same as in a file."""

from __future__ import annotations

import copy
import json
import pickle

import networkx as nx
import numpy as np
import pytest

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.results.columns import described
from cluster_abm.scenario import scenario_files, scenario_from, scenario_to_toml

LYON = ("Lyon", 1)
# Ten seconds of short jobs, which jsq spreads over the nodes.
SMALL = {
    "workload.duration_s": 10.0, "workload.cpu_ms.mean": 200.0, "workload.utilisation": 0.7, "policy.name": "jsq",
    "measure.period_ms": 2000.0,
}  # fmt: skip

# What vertices hold needs a size.
SIZES = [{"name": name, "size_mb": 1.0} for name in "xyz"]


def triangle(**vertices):
    """Paris, Lyon and 7, joined by three unlike links; attributes of "paris", "lyon", "seven"."""
    graph = nx.Graph(name="mine")
    for vertex, called in (("Paris", "paris"), (LYON, "lyon"), (7, "seven")):
        graph.add_node(vertex, **vertices.get(called, {}))
    graph.add_edge("Paris", LYON, bandwidth_mbps=80.0, latency_ms=2.5)
    graph.add_edge(LYON, 7, bandwidth_mbps=8.0, latency_ms=1.0, colour="red")
    graph.add_edge("Paris", 7, bandwidth_mbps=800.0, latency_ms=10.0)
    return graph


def model_on(graph, **keywords):
    return ca.ClusterModel("cpu-bound", network=graph, overrides=SMALL, **keywords)


def tables(model):
    """All that a run leaves, without the names of vertices."""
    model.run()
    frames = model.jobs_frame(), model.nodes_frame(), model.decisions_frame()
    assert len(frames[0]) > 20
    plain = [frame.drop(columns=[name for name in frame if name.endswith("_vertex")]) for frame in frames]
    return [model.summary(), *(frame.to_csv() for frame in plain)]


def test_its_links_are_the_routes():
    model = model_on(triangle())
    assert model.setup.cluster.nodes == 3
    assert model.network.vertices == ("Paris", LYON, 7)
    # Paris - Lyon - 7 takes 3.5 ms, the direct link 10.
    bandwidths, latencies = model.network.routes_from(0)
    assert (bandwidths.tolist(), latencies.tolist()) == ([np.inf, 10.0, 1.0], [0.0, 2.5, 3.5])
    assert model.network.notes == ()


def test_the_graph_is_copied_and_keeps_its_names():
    graph = triangle(paris={"position": (0.5, np.float64(2.0)), "owner": object()})
    before = copy.deepcopy(dict(graph.nodes(data="position"))), [*graph.edges(data=True)]
    model = model_on(graph)
    shown = model.graph
    assert shown is not graph
    assert type(shown) is nx.Graph
    assert list(shown) == ["Paris", LYON, 7]
    assert shown.graph == {"name": "mine"}
    assert shown.edges[7, LYON] == {"bandwidth_mbps": 8.0, "latency_ms": 1.0, "colour": "red", "up": True}
    # What JSON does not hold is left out.
    assert shown.nodes["Paris"] == {"position": [0.5, 2.0], "node": 0, "up": True}
    shown.nodes["Paris"]["mine"] = 1
    model.run()
    assert (dict(graph.nodes(data="position")), [*graph.edges(data=True)]) == before
    assert (model.graph is shown, model.graph.nodes["Paris"]["mine"]) == (True, 1)
    assert set(graph.nodes["Paris"]) == {"position", "owner"}


@pytest.mark.parametrize("made", [nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_its_class_is_kept(made):
    graph = made(triangle())
    keyed = graph.is_multigraph()
    if keyed:
        for ends in [("Paris", LYON), (LYON, "Paris")][: 1 + graph.is_directed()]:
            graph.add_edge(*ends, "second", bandwidth_mbps=16.0, latency_ms=9.0)
    model = model_on(graph)
    assert type(model.graph) is made
    assert set(model.graph.edges) == set(graph.edges)
    # Parallel edges are one link: 80 + 16 Mbps. A directed edge counts in both directions.
    assert model.network.routes_from(0)[0][1] == (12.0 if keyed else 10.0)
    assert model.network.routes_from(1)[1][0] == 2.5


def test_tables_have_the_names_beside_the_numbers():
    model = model_on(triangle())
    model.run()
    names = np.array(["Paris", "('Lyon', 1)", "7"], object)
    for frame, table, columns in (
        (model.jobs_frame(), "jobs", ["home", "node"]),
        (model.nodes_frame(), "nodes", ["node"]),
        (model.decisions_frame(), "decisions", ["source", "target"]),
    ):
        assert len(frame)
        assert set(frame) <= set(described(table))
        assert [name for name in frame if name.endswith("_vertex")] == [f"{name}_vertex" for name in columns]
        for name in columns:
            assert frame[f"{name}_vertex"].tolist() == names[frame[name]].tolist()
    assert not any(name.endswith("_vertex") for name in ca.ClusterModel("cpu-bound").nodes_frame())


def test_vertices_say_what_their_nodes_are_as_groups_do():
    fast = {"cpu_speed": 2.0, "cores": np.int64(2), "memory_mb": 2000}
    by_vertices = model_on(triangle(paris=fast, seven={"cores": 4.0}))
    groups = [{"count": 1, "cpu_speed": 2.0, "cores": 2, "memory_mb": 2000.0}, {"count": 1}, {"count": 1, "cores": 4}]
    by_groups = model_on(triangle(), cluster__group=groups)
    assert by_vertices.engine.nodes["speed"].tolist() == [2.0, 1.0, 1.0]
    assert by_vertices.engine.nodes["cores"].tolist() == [2, 1, 4]
    assert tables(by_vertices) == tables(by_groups) != tables(model_on(triangle()))
    assert [note.partition(": ")[2] for note in by_vertices.network.notes] == [
        "2 of 3 vertices have no cpu_speed: that of [cluster] taken",
        "1 of 3 vertices have no cores: that of [cluster] taken",
        "2 of 3 vertices have no memory_mb: that of [cluster] taken",
    ]


def test_they_win_over_the_cluster_and_suffer_no_groups_beside_them():
    graph = triangle(lyon={"cpu_speed": 3.0})
    model = model_on(graph, cluster__cpu_speed=0.5, cluster__nodes=3)
    assert model.engine.nodes["speed"].tolist() == [0.5, 3.0, 0.5]
    message = r"network: its vertices say the cpu_speed of their nodes, and so does cluster.group: leave \[\[cluster"
    with pytest.raises(InputError, match=message):
        model_on(graph, cluster__group=[{"count": 1, "cores": 2}])
    # A graph in the place of another one brings its own.
    scenario = ca.load_scenario("cpu-bound", network=graph)
    assert len(scenario.cluster.group) == 2
    assert scenario_from({}, "test", {"cluster.nodes": 3}).cluster.group == ()
    assert ca.ClusterModel(scenario, network=triangle()).engine.nodes["speed"].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(InputError, match=r"buffer_mb 160.0: must be below .*\(cluster.group is what the vertices of"):
        ca.load_scenario("cpu-bound", cluster__buffer_mb=160.0, network=triangle(lyon={"memory_mb": 10}))


def test_several_nodes_at_a_vertex_are_alike():
    graph = triangle(paris={"cores": 2, "files": ["x"]})
    model = model_on(graph, interconnect__nodes_per_vertex=2, data__file=SIZES[:1])
    assert model.engine.nodes["cores"].tolist() == [2, 2, 1, 1, 1, 1]
    # The first node of a site holds its files.
    assert model.network.files_of_nodes == (("x",), (), (), (), (), ())
    assert model.network.node_names[:3] == ("Paris", "Paris", "('Lyon', 1)")
    # The user's vertices and edges keep their names and attributes; the nodes hang on them.
    shown = model.graph
    assert list(shown) == ["Paris", LYON, 7, *(("node", node) for node in range(6))]
    assert shown.nodes["Paris"]["cores"] == 2
    assert shown.edges[LYON, 7]["colour"] == "red"
    assert [set(shown[vertex]) - set(graph[vertex]) for vertex in graph] == [
        {("node", 0), ("node", 1)}, {("node", 2), ("node", 3)}, {("node", 4), ("node", 5)}
    ]  # fmt: skip
    assert shown.nodes["node", 0]["files"] == ["x"]
    model.node_agents[3].fail()
    assert [vertex for vertex, up in model.graph.nodes(data="up") if not up] == [("node", 3)]
    assert [ends for *ends, up in model.graph.edges(data="up") if not up] == [[LYON, ("node", 3)]]
    directed = model_on(nx.DiGraph(triangle()), interconnect__nodes_per_vertex=2).graph
    assert directed.has_edge("Paris", ("node", 1))
    assert directed.has_edge(("node", 1), "Paris")


def test_switches_clusters_and_files_of_vertices():
    graph = nx.star_graph(3)
    nx.set_node_attributes(graph, {0: "switch"}, "kind")
    nx.set_node_attributes(graph, {1: "a", 2: "b", 3: "a"}, "cluster")
    nx.set_node_attributes(graph, {1: ["x", "y"], 3: "x; z"}, "files")
    network = model_on(graph, data__file=SIZES).network
    assert (network.nodes, network.vertices) == (3, (1, 2, 3))
    assert network.cluster_of.tolist() == [0, 1, 0]
    assert network.files_of_nodes == (("x", "y"), (), ("x", "z"))
    assert network.without(nodes=[0]).files_of_nodes == network.files_of_nodes
    assert network.notes == (
        "network: 3 of 3 links have no bandwidth_mbps: 1024 taken", "network: 3 of 3 links have no latency_ms: 0 taken"
    )  # fmt: skip
    graph.nodes[0]["files"] = ["z"]
    with pytest.raises(InputError, match=r"network: vertex 0 only forwards: files are held by nodes"):
        model_on(graph)


def test_a_number_that_is_a_node_and_another_vertex():
    graph = nx.path_graph([1, 2, 3, 0])
    # Vertices by their names, nodes by number where that is not another vertex.
    file = {"name": "x", "size_mb": 1.0, "at": ["1", 3]}
    with pytest.raises(InputError, match=r"data.file.0.at 3: .*'x': node 3 is at vertex '0', and there is a vertex 3"):
        model_on(graph, data__file=[file])
    model = model_on(graph, data__file=[file | {"at": ["1", "0"]}])
    assert [model.graph.nodes[vertex]["files"] for vertex in graph] == [["x"], [], [], ["x"]]
    named = model_on(nx.path_graph(["a", "b"]), data__file=[file | {"at": [1]}])
    assert named.graph.nodes["b"]["files"] == ["x"]


def test_another_network_takes_its_place(tmp_path):
    path = ca.save_scenario(ca.load_scenario("cpu-bound", network=triangle(paris={"cores": 2})), tmp_path / "a.toml")
    two_pairs = ca.load_scenario(path, interconnect__file="two-pairs")
    assert (two_pairs.interconnect.file, two_pairs.interconnect.graph) == ("two-pairs", None)
    assert (two_pairs.cluster.nodes, two_pairs.cluster.group) == (4, ())
    star = ca.load_scenario(path, interconnect__kind="star")
    assert (star.interconnect.kind, star.interconnect.graph, star.cluster.nodes) == ("star", None, 3)
    assert ca.load_scenario(path, interconnect__kind="file").interconnect.graph is not None


def test_groups_of_more_nodes_than_it_has():
    says = r"counts add up to 8, but cluster.nodes is 6, .* vertices of network: leave \[\[cluster.group\]\] out"
    with pytest.raises(InputError, match=says):
        ca.load_scenario("unlike-nodes", network=nx.path_graph(6))


def with_edge(**attributes):
    graph = triangle()
    graph.edges["Paris", 7].update(attributes)
    return graph


def there_and_back():
    graph = nx.DiGraph(triangle())
    graph.edges["Paris", LYON]["latency_ms"] = 3.0
    return graph


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        ([("a", "b")], r"network = \[\('a', 'b'\)\]: a networkx graph is needed"),
        (nx.Graph(), "network: no vertex in it"),
        (nx.Graph([(1.5, 2)]), r"vertex 1.5: allowed names are texts, whole numbers, and tuples of them"),
        (nx.Graph([(1, "1")]), r"vertex '1': there are two of this id"),
        (nx.Graph([(1, 2), (3, 4)]), "2 parts that nothing joins"),
        (there_and_back(), r"edge .*Lyon.* - .*: 80 Mbps and 2.5 ms, but 80 and 3 back: links must be alike"),
        (with_edge(bandwidth_mbps=0), r"edge 'Paris' - 7: bandwidth_mbps = 0: allowed 0.001"),
        (with_edge(bandwidth_mbps="fast"), "bandwidth_mbps = 'fast'"),
        (with_edge(latency_ms=float("inf")), "latency_ms = inf: allowed 0 to 1e"),
        (with_edge(latency_ms=object()), "latency_ms = <object object>: a number or a text is needed"),
        (triangle(lyon={"cpu_speed": -1}), r"vertex \('Lyon', 1\): cpu_speed = -1: allowed 0.001 to 1e"),
        (triangle(lyon={"cores": 1.5}), "cores = 1.5: allowed a whole number from 1 to 1024"),
        (triangle(lyon={"memory_mb": "8 GB"}), "memory_mb = '8 GB': allowed above 0"),
        (triangle(lyon={"cores": True}), "cores = True: allowed"),
        (triangle(lyon={"files": 7}), "files = 7: allowed a list of names"),
        (triangle(lyon={"files": ["a;b"]}), "allowed a list of names of up to 200 letters without ';'"),
        (triangle(lyon={"files": "a;a"}), "files = 'a;a': allowed: names of files, \";\" between them, each once"),
        (triangle(lyon={"files": "a;;b"}), "files = 'a;;b': allowed: names of files"),
        (triangle(lyon={"files": ["a", "a"]}), "a name is there twice"),
        (triangle(lyon={"files": ["a" * 201]}), "allowed a list of names of up to 200 letters"),
        (triangle(lyon={"cluster": "north"}), "names no cluster"),
        (triangle(lyon={"host": "perhaps"}), "host = 'perhaps': allowed true"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(graph, says):
    with pytest.raises(InputError, match=says):
        model_on(graph)


def test_a_scenario_refuses_what_vertices_may_not_say():
    """Read without a model, too: else a wrong value of a vertex would be left out."""
    for attributes in ({"cpu_speed": "fast"}, {"memory_mb": -1}, {"cores": 2.5}, {"files": 7}, {"host": "perhaps"}):
        with pytest.raises(InputError, match=f"network: vertex .*Lyon.*: {next(iter(attributes))} = "):
            ca.load_scenario("cpu-bound", network=triangle(lyon=attributes))


def test_a_graph_stands_alone():
    for key in ("interconnect.kind", "interconnect.file"):
        with pytest.raises(InputError, match=f"network = a graph, and {key}: give one of them"):
            ca.load_scenario("cpu-bound", {key: "star"}, network=triangle())
    with pytest.raises(InputError, match=r"3 vertices for nodes, but cluster.nodes is 4"):
        model_on(triangle(), cluster__nodes=4)
    # What the scenario's own network needs goes with it.
    tree = ca.load_scenario("quickstart", {"interconnect.kind": "tree", "interconnect.rack_nodes": 4})
    assert ca.ClusterModel(tree, network=triangle()).setup.interconnect.rack_nodes is None


def test_what_failed_is_marked():
    graph = nx.path_graph(["a", "b", "c"])
    event = {"at_s": 1.0, "link": [0, 1], "for_s": 2.0}
    model = model_on(graph, failures__event=[event])
    assert all(up for *_, up in [*model.graph.nodes(data="up"), *model.graph.edges(data="up")])
    model.run(until_ms=1500.0)
    assert dict(model.graph.nodes(data="up")) == {"a": True, "b": True, "c": True}
    assert (model.graph.edges["a", "b"]["up"], model.graph.edges["b", "c"]["up"]) == (False, True)
    model.node_agents[2].fail()
    assert (model.graph.nodes["c"]["up"], model.graph.edges["b", "c"]["up"]) == (False, False)
    model.node_agents[2].recover()
    model.run(until_ms=4000.0)
    assert all(up for *_, up in [*model.graph.nodes(data="up"), *model.graph.edges(data="up")])
    assert "up" not in graph.nodes["a"]


def test_networks_that_are_made_have_a_graph_too():
    model = ca.ClusterModel("cpu-bound", interconnect__kind="star", cluster__nodes=3)
    model.node_agents[1].fail()
    assert dict(model.graph.nodes(data="up")) == {0: True, 1: False, 2: True, "switch": True}
    assert model.graph.edges["switch", 1]["up"] is False
    assert (model.network.vertices, model.network.node_names) == ((), ())


def test_a_scenario_keeps_it(tmp_path):
    graph = triangle(paris={"cores": 2, "files": ["x"]})
    keys = SMALL | {"data.file": SIZES[:1]}
    scenario = ca.load_scenario("cpu-bound", keys, network=graph)
    assert scenario == ca.load_scenario("cpu-bound", keys, network=copy.deepcopy(graph))
    assert scenario != ca.load_scenario("cpu-bound", keys, network=triangle(paris={"cores": 2}))
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    path = ca.save_scenario(scenario, tmp_path / "mine.toml")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.network.json", "mine.toml"]
    assert 'file = "mine.network.json"' in path.read_text()
    assert (
        nx.node_link_graph(json.loads((tmp_path / "mine.network.json").read_text()), edges="edges").edges[LYON, 7][
            "colour"
        ]
        == "red"
    )
    read = ca.load_scenario(path)
    assert read == scenario
    assert tables(ca.ClusterModel(read)) == tables(model_on(graph, data__file=SIZES[:1]))
    assert scenario_files(read) == scenario_files(scenario)
    # As one text it is the same, too.
    (tmp_path / "one.toml").write_text(scenario_to_toml(scenario))
    assert ca.load_scenario(tmp_path / "one.toml") == scenario
    # What the file says is what holds.
    document = (tmp_path / "mine.network.json").read_text()
    (tmp_path / "mine.network.json").write_text(document.replace('"cores": 2', '"cores": 3'))
    assert ca.load_scenario(path).cluster.group[0].cores == 3
    (tmp_path / "mine.network.json").write_text("{")
    with pytest.raises(InputError, match=r"mine\.network\.json: not a JSON document"):
        ca.load_scenario(path)
    with pytest.raises(InputError, match=r"a scenario's file ends in .toml"):
        ca.save_scenario(scenario, tmp_path / "mine.json")


def compared(graph, seeds=2, workers=1, **keywords):
    return ca.compare("cpu-bound", ["none", "jsq"], seeds, workers, True, overrides=SMALL, network=graph, **keywords)


def test_a_comparison_on_it():
    found = compared(triangle(paris={"cpu_speed": 2.0}))
    by_groups = compared(triangle(), cluster__group=[{"count": 1, "cpu_speed": 2.0}])
    assert found.runs.equals(by_groups.runs)
    assert not found.runs.equals(compared(triangle()).runs)


@pytest.mark.slow
def test_a_study_that_goes_on_and_workers_have_it(tmp_path):
    graph = triangle(paris={"cpu_speed": 2.0})
    found = compared(graph)
    assert compared(graph, workers=2, out=tmp_path / "kept").as_json() == found.as_json()
    scenario = ca.load_scenario("cpu-bound", SMALL, network=graph)
    study = ca.Study(
        name="mine", scenario=str(ca.save_scenario(scenario, tmp_path / "mine.toml")), policies=("none", "jsq"),
        replications=2,
    )  # fmt: skip
    results = ca.run_batch(study, tmp_path / "out", executor="inline", quiet=True)
    assert sorted(results["mean_slowdown"]) == sorted(found.runs["mean_slowdown"])
    assert (tmp_path / "out" / "scenario.network.json").is_file()
    assert ca.load_scenario(tmp_path / "out" / "scenario.toml") == scenario
    again = ca.run_batch(study, tmp_path / "out", executor="inline", quiet=True)
    assert again.equals(results)
