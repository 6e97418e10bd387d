"""GML and lists of edges, and what vertices of files say of their nodes: as in a graph that is handed over."""

from __future__ import annotations

import json

import networkx as nx
import pytest

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.graphs.reading import MOST_EDGES
from cluster_abm.interconnect import Network
from cluster_abm.scenario.interconnect import Interconnect

# As the Topology Zoo writes it, with speeds as a text and as a number, entities, and parallel edges not announced.
ZOO = """graph [
  directed 0
  Network "Small"
  node [
    id 5
    label "Z&#252;rich"
    files "x;y"
  ]
  node [
    id 6
    label "Bern"
    cores 4
    graphics [
      x 1.5
    ]
  ]
  node [
    id 7
    label "Basel"
  ]
  edge [
    source 5
    target 6
    bandwidth_mbps "80"
    latency_ms 2.5
  ]
  edge [
    source 6
    target 7
    bandwidth_mbps 8.0
    latency_ms 1
  ]
  edge [
    source 6
    target 7
    LinkLabel "also"
  ]
]
"""
TABLE = "source,target,bandwidth_mbps,latency_ms,label\nZürich,Bern,80,2.5,a\nBern,Basel,8, 1,b\nBern,Basel,,,c\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a file into the folder in which the test is, and return its name."""
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    return write


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.gml", ZOO), ("a.csv", TABLE), ("a.tsv", TABLE.replace(",", "\t")), ("b.csv", "\ufeff" + TABLE)],
)
def test_links_by_hand(written, name, text):
    keys = {"file": written(name, text), "trunk_bandwidth_mbps": 16.0, "trunk_latency_ms": 9.0}
    network = Network(Interconnect(**keys), 3)
    assert network.vertices == ("Zürich", "Bern", "Basel")
    # 80 Mbps are 10 MB/s, 8 + 16 of two parallel links 3; latencies 2.5 and 1.
    bandwidths, latencies = network.routes_from(0)
    assert (bandwidths.tolist()[1:], latencies.tolist()) == ([10.0, 3.0], [0.0, 2.5, 3.5])
    notes = [note.removeprefix(f"{name}: ") for note in network.notes]
    about_vertices = ["a list of edges says nothing of its 3 vertices: all are nodes"]
    assert notes == (about_vertices if name[2:] != "gml" else []) + [
        "1 of 3 links have no bandwidth_mbps: 16 taken",
        "1 of 3 links have no latency_ms: 9 taken",
        "1 parallel edge merged: bandwidths added, the least latency taken",
        *(["2 of 3 vertices have no cores: that of [cluster] taken"] if name[2:] == "gml" else []),
    ]
    if name[2:] == "gml":
        assert network.files_of_nodes == (("x", "y"), (), ())
        assert network.users_graph()[0].nodes["Bern"]["graphics"] == {"x": 1.5}


def test_labels_that_do_not_tell_vertices_apart(written):
    for text, why in (
        (ZOO.replace('"Basel"', '"Bern"'), "'Bern' labels several"),
        (ZOO.replace('    label "Basel"\n', ""), "1 of 3 vertices have no label"),
    ):
        network = Network(Interconnect(file=written("a.gml", text)), 3)
        assert network.vertices == (5, 6, 7)
        assert network.notes[0] == f"a.gml: {why}: all vertices are called by their ids"
    assert Network(Interconnect(file=written("a.gml", ZOO.replace("    label", "    was"))), 3).vertices == (5, 6, 7)
    numbers = ZOO.replace('"Z&#252;rich"', "1.5").replace('"Bern"', "2.5").replace('"Basel"', "3.5")
    network = Network(Interconnect(file=written("a.gml", numbers)), 3)
    assert network.vertices == (5, 6, 7)
    assert network.notes[0] == "a.gml: no label is a text or a whole number: all vertices are called by their ids"
    # What networkx writes comes back, of tuples the texts.
    nx.write_gml(nx.grid_2d_graph(2, 2), "grid.gml")
    assert Network(Interconnect(file="grid.gml"), 4).vertices == ("(0,0)", "(0,1)", "(1,0)", "(1,1)")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.gml", "", "a.gml: no GML that can be read"),
        ("a.gml", "graph [ node [ id 1 ]", "no GML that can be read"),
        ("a.gml", "graph [ directed 0 ]", "no vertex in it"),
        ("a.gml", ZOO.replace("source 5", "source 50"), "no GML that can be read: .*50"),
        ("a.gml", ZOO.replace('"80"', '"8O"'), "edge 'Zürich' - 'Bern': bandwidth_mbps = '8O'"),
        ("a.gml", "graph [ " + "a [ " * 5000 + "] " * 5000 + "]", "nested too deeply|no GML"),
        ("a.gml", b"[" * 2_000_000, "2,000,000 lists: allowed up to 1,040,000"),
        ("a.csv", "", "a.csv: no table that can be read"),
        ("a.csv", "from,to\na,b\n", r"columns \['from', 'to'\]: source and target are needed"),
        ("a.csv", "source,target\n", "no vertex in it"),
        ("a.csv", "source,target\na,b\na\n", r"vertex '': no id"),
        ("a.csv", "source,target\na,b,c,d\n", "no table|columns|no id"),
        ("a.csv", "source,target,latency_ms\na,b,1 s\n", "edge 'a' - 'b': latency_ms = '1 s'"),
        ("a.csv", b"source,target\n\xff\xfe,b\n", "no table that can be read"),
        ("a.csv", "source,target\n" + "\n" * (MOST_EDGES + 2), "lines: allowed up to 500,001"),
        ("a.tsv", "source,target\na,b\n", "source and target are needed"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(written, name, text, says):
    with pytest.raises(InputError, match=says):
        Network(Interconnect(file=written(name, text)), 3)


def test_a_file_and_a_graph_that_is_handed_over_behave_alike(written, tmp_path):
    graph = nx.path_graph(["a", "b", "c"])
    nx.set_edge_attributes(graph, 40.0, "bandwidth_mbps")
    nx.set_node_attributes(graph, {"a": 2.0, "c": 0.5}, "cpu_speed")
    nx.set_node_attributes(graph, {"a": 2}, "cores")
    nx.set_node_attributes(graph, {"b": "x;y"}, "files")
    sizes = [{"name": "x", "size_mb": 1.0}, {"name": "y", "size_mb": 2.0}]
    keys = {"workload.duration_s": 5.0, "workload.cpu_ms.mean": 100.0, "policy.name": "jsq", "data.file": sizes}
    handed = ca.ClusterModel("cpu-bound", network=graph, overrides=keys)
    handed.run()
    nx.write_graphml(graph, "g.graphml")
    nx.write_gml(graph, "g.gml")
    written("g.json", json.dumps(nx.node_link_data(graph, edges="links")))
    for name in ("g.graphml", "g.gml", "g.json"):
        model = ca.ClusterModel("cpu-bound", overrides=keys | {"interconnect.file": name})
        model.run()
        assert model.summary() == handed.summary()
        assert model.network.files_of_nodes == ((), ("x", "y"), ())
        assert (list(model.graph), model.graph.nodes["a"]["cores"]) == (["a", "b", "c"], 2)
        # Tables of files are as they were.
        named = handed.jobs_frame()
        assert model.jobs_frame().equals(named.drop(columns=["home_vertex", "node_vertex"]))
        with pytest.raises(InputError, match=rf"{name}: its vertices say the cores, cpu_speed of their nodes"):
            ca.load_scenario("cpu-bound", keys | {"interconnect.file": name, "cluster.group": [{"count": 1}]})
    # The resolved scenario of one with a file has the groups, and is read again.
    (tmp_path / "resolved.toml").write_text(ca.scenario.scenario_to_toml(model.setup))
    assert ca.load_scenario("resolved.toml") == model.setup
    assert ca.load_scenario("resolved.toml", {"cluster.cpu_speed": 3.0}).cluster.kinds[1][0].cpu_speed == 3.0
