"""Graphs from files: what is read, what is assumed and said, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from cluster_abm.errors import InputError
from cluster_abm.graphs import reading as graph_reading
from cluster_abm.interconnect import Network
from cluster_abm.scenario import shipped_path
from cluster_abm.scenario.interconnect import Interconnect

HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = (
    '<key id="b" for="edge" attr.name="bandwidth_mbps" attr.type="double"/>'
    '<key id="l" for="edge" attr.name="latency_ms" attr.type="double"/>'
)
DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
ZOO = DATA / "topologies"


@pytest.fixture
def network(tmp_path):
    """A network of a file with this content: text, or a graph to write, or what JSON takes."""

    def of(content, nodes, name=None, **keys):
        path = tmp_path / (name or ("graph.graphml" if isinstance(content, str | nx.Graph) else "graph.json"))
        if isinstance(content, nx.Graph):
            nx.write_graphml(content, path)
        elif isinstance(content, str | bytes):
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        else:
            path.write_text(json.dumps(content))
        return Network(Interconnect(file=str(path), **keys), nodes)

    return of


def triangle(**changes):
    """Sites a, b, c in a node-link document; changes replace the links."""
    link = {"source": "a", "target": "b", "bandwidth_mbps": 80, "latency_ms": 2.5}
    links = [link, link | {"target": "c"}, {"source": "b", "target": "c", "bandwidth_mbps": 8.0, "latency_ms": 1}]
    return {"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "links": links} | changes


def test_a_file_makes_the_kind_and_its_vertices_are_the_nodes_in_order(network):
    net = network(triangle(), 3)
    assert net.settings.kind == "file"
    assert [net.graph.nodes[node]["name"] for node in range(3)] == ["a", "b", "c"]
    bandwidths, latencies = net.routes_from(1)
    assert bandwidths.tolist() == [10.0, np.inf, 1.0]
    assert latencies.tolist() == [2.5, 0.0, 1.0]
    assert net.notes == ()
    assert (net.cluster_of.max(), net.is_alike) == (0, False)


@pytest.mark.parametrize("called", ["links", "edges"])
@pytest.mark.parametrize("made", [nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph])
def test_node_link_json_goes_round(network, made, called):
    graph = made(nx.cycle_graph(5))
    nx.set_edge_attributes(graph, 16.0, "bandwidth_mbps")
    nx.set_edge_attributes(graph, 3.0, "latency_ms")
    net = network(nx.node_link_data(graph, edges=called), 5)
    assert net.routes_from(0)[1].tolist() == [0.0, 3.0, 6.0, 6.0, 3.0]
    assert set(net.link_mb_per_s) == {2.0}
    assert nx.is_isomorphic(net.graph, nx.cycle_graph(5))


@pytest.mark.parametrize("made", [nx.Graph, nx.MultiGraph, nx.DiGraph])
def test_graphml_goes_round(network, made):
    graph = made(nx.path_graph(4))
    nx.set_edge_attributes(graph, 16.0, "bandwidth_mbps")
    nx.set_edge_attributes(graph, 3, "latency_ms")
    net = network(graph, 4)
    assert net.routes_from(0)[1].tolist() == [0.0, 3.0, 6.0, 9.0]
    assert set(net.link_mb_per_s) == {2.0}


def test_parallel_edges_add_up_and_loops_go(network):
    link = {"source": "a", "target": "b"}
    links = [
        link | {"bandwidth_mbps": 80, "latency_ms": 5},
        {"source": "b", "target": "a", "bandwidth_mbps": 16, "latency_ms": 2},
        link,
        {"source": "a", "target": "a", "bandwidth_mbps": -5},
    ]
    document = {"nodes": [{"id": "a"}, {"id": "b"}], "links": links}
    # Whether or not the document says so, and even if it gives them one key: nothing may get lost.
    for more in ({}, {"multigraph": False}, {"multigraph": True}):
        net = network(document | more, 2, bandwidth_mbps=8.0, latency_ms=7.0)
        assert net.routes_from(0)[0][1] == (80 + 16 + 8) / 8
        assert net.routes_from(0)[1][1] == 2.0
        assert [note.partition(": ")[2] for note in net.notes] == [
            "1 of 3 links have no bandwidth_mbps: 8 taken",
            "1 of 3 links have no latency_ms: 7 taken",
            "2 parallel edges merged: bandwidths added, the least latency taken",
            "1 loop left out",
        ]
    keyed = {"links": [entry | {"key": 0} for entry in links], "multigraph": True}
    assert network(document | keyed, 2, bandwidth_mbps=8.0).routes_from(0)[0][1] == 13.0


def test_parallel_edges_of_graphml_are_not_lost_for_their_ids(network):
    # networkx writes them all with id="0", and takes two of one id for one.
    edge = '<edge id="0" source="a" target="b"><data key="b">80</data><data key="l">1</data></edge>'
    text = f'{HEAD}{KEYS}<graph edgedefault="undirected"><node id="a"/><node id="b"/>{edge * 3}</graph></graphml>'
    assert network(text, 2).routes_from(0)[0][1] == 30.0


def test_directed_edges_are_links_in_both_directions(network):
    document = triangle(directed=True)
    net = network(document, 3)
    assert net.routes_from(2)[1].tolist() == [2.5, 1.0, 0.0]
    assert [note.partition(": ")[2] for note in net.notes] == [
        "its edges are directed: taken as links in both directions"
    ]
    # Each direction written down, alike.
    back = [entry | {"source": entry["target"], "target": entry["source"]} for entry in document["links"]]
    both = network(document | {"links": document["links"] + back}, 3)
    assert both.link_mb_per_s.tolist() == net.link_mb_per_s.tolist()
    back[1]["latency_ms"] = 2.0
    with pytest.raises(InputError, match=r"'c' - 'a': 80 Mbps and 2 ms, but 80 and 2\.5 back: links must be alike"):
        network(document | {"links": document["links"] + back}, 3)


def test_what_is_missing_is_taken_from_the_trunks_and_said(network):
    keys = KEYS.replace('"double"/>', '"double"><default>3</default></key>', 1).replace("bandwidth_mbps", "speed")
    edges = '<edge source="a" target="b"/><edge source="b" target="c"><data key="l"></data></edge>'
    vertices = '<node id="a"/><node id="b"/><node id="c"/>'
    text = f'{HEAD}{keys}<graph edgedefault="undirected">{vertices}{edges}</graph></graphml>'
    net = network(text, 3, bandwidth_mbps=80.0, trunk_bandwidth_mbps=16.0, latency_ms=1.0)
    assert net.routes_from(0)[0].tolist() == [np.inf, 2.0, 2.0]
    assert net.routes_from(0)[1].tolist() == [0.0, 1.0, 2.0]
    assert [note.partition("graph.graphml: ")[2] for note in net.notes] == [
        "2 of 2 links have no bandwidth_mbps: 16 taken",
        "2 of 2 links have no latency_ms: 1 taken",
    ]
    null = [{"source": "a", "target": "b", "latency_ms": None}, {"source": "a", "target": "c", "latency_ms": 4}]
    assert network(triangle(links=null), 3, latency_ms=1.5).routes_from(0)[1].tolist() == [0.0, 1.5, 4.0]


def test_a_default_of_graphml_holds(network):
    keys = KEYS.replace('"double"/>', '"double"><default>80</default></key>', 1)
    edges = '<edge source="a" target="b"/><edge source="b" target="c"><data key="b">8</data></edge>'
    vertices = '<node id="a"/><node id="b"/><node id="c"/>'
    net = network(f'{HEAD}{keys}<graph edgedefault="undirected">{vertices}{edges}</graph></graphml>', 3)
    assert net.routes_from(1)[0].tolist() == [10.0, np.inf, 1.0]


def test_vertices_that_only_forward(network):
    for attributes in ({"host": False}, {"host": "false"}, {"kind": "switch"}, {"host": True, "kind": "Switch"}):
        document = triangle()
        document["nodes"][1] |= attributes
        net = network(document, 2)
        assert sorted(map(str, net.graph)) == ["0", "1", "b"]
        assert [net.graph.nodes[node]["name"] for node in (0, 1)] == ["a", "c"]
    star = nx.star_graph(4)
    nx.set_node_attributes(star, {0: False} | dict.fromkeys(range(1, 5), True), "host")
    assert network(star, 4).longest_latency_ms == 0.0
    assert sorted(network(star, 4).graph["0"]) == [0, 1, 2, 3]


def test_vertices_name_their_clusters_all_or_none(network):
    document = triangle()
    for vertex, name in zip(document["nodes"], ("Lyon", "Lille", "Lyon"), strict=True):
        vertex["cluster"] = name
    net = network(document, 3)
    assert net.cluster_of.tolist() == [0, 1, 0]
    assert network(document, 6, nodes_per_vertex=2).cluster_of.tolist() == [0, 0, 1, 1, 0, 0]
    del document["nodes"][1]["cluster"]
    with pytest.raises(InputError, match="vertex 'b' names no cluster"):
        network(document, 3)


def test_a_vertex_is_a_site_of_several_nodes(network):
    net = network(triangle(), 6, nodes_per_vertex=2, bandwidth_mbps=800.0, latency_ms=0.25)
    assert net.cluster_of.tolist() == [0, 0, 1, 1, 2, 2]
    bandwidths, latencies = net.routes_from(0)
    assert bandwidths.tolist() == [np.inf, 100.0, 10.0, 10.0, 10.0, 10.0]
    assert latencies.tolist() == [0.0, 0.5, 3.0, 3.0, 3.0, 3.0]
    assert net.graph.number_of_edges() == 6 + 3


def test_a_shipped_network_by_its_name():
    keys = {"nodes_per_vertex": 2, "bandwidth_mbps": 100.0, "trunk_bandwidth_mbps": 8.0}
    net = Network(Interconnect(file="two-pairs", **keys), 8)
    # MB/s from node 0: itself, its site, the near one, and the two beyond the slow link.
    assert net.routes_from(0)[0].tolist() == [np.inf, 12.5, 12.5, 12.5, 1.0, 1.0, 1.0, 1.0]
    path = str(shipped_path("networks", "two-pairs.json"))
    assert net.routes_from(5)[1].tolist() == Network(Interconnect(file=path, **keys), 8).routes_from(5)[1].tolist()
    with pytest.raises(InputError, match=r"two-pears: no such shipped network; did you mean .two-pairs"):
        Network(Interconnect(file="two-pears"), 4)


@pytest.mark.skipif(not ZOO.is_dir(), reason="the real topologies are not here")
@pytest.mark.parametrize(("name", "vertices"), [("Abilene", 11), ("Geant2012", 40), ("Renater2010", 43)])
def test_real_ones(name, vertices):
    path = ZOO / f"{name}.graphml"
    raw = nx.Graph(nx.read_graphml(path))
    net = Network(Interconnect(file=str(path), trunk_latency_ms=1.0, trunk_bandwidth_mbps=10.0), vertices)
    assert nx.is_isomorphic(net.graph, raw)
    assert net.longest_latency_ms == nx.diameter(raw)
    assert any("links have no bandwidth_mbps: 10 taken" in note for note in net.notes)
    sites = Network(Interconnect(file=str(path), nodes_per_vertex=3), 3 * vertices)
    assert sites.cluster_of.max() == vertices - 1


def graphml(body, before=""):
    """A document of two vertices, a and b, and this."""
    return f'{before}{HEAD}{KEYS}<graph edgedefault="undirected">{PAIR}{body}</graph></graphml>'


def edge(key, value):
    """One edge of it with this value."""
    return graphml(f'<edge source="a" target="b"><data key="{key}">{value}</data></edge>')


def vertices(*vertices):
    """A node-link document of these, without links."""
    return {"nodes": list(vertices), "links": []}


PAIR = '<node id="a"/><node id="b"/>'
LAUGHS = '<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
OUTSIDE = '<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
DTD = '<!DOCTYPE g SYSTEM "none.dtd">'
INSIDE = '<node id="c"><graph edgedefault="undirected"><node id="d"/></graph></node>'
A, B, C = {"id": "a"}, {"id": "b"}, {"id": "c"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (edge("b", "0"), ["edge 'a' - 'b'", "bandwidth_mbps = 0.0", "allowed 0.001 to 1e+09"]),
        (edge("b", "fast"), ["edge 'a' - 'b'", "bandwidth_mbps = 'fast'"]),
        (edge("b", "nan"), ["bandwidth_mbps = nan", "allowed"]),
        (edge("l", "-1"), ["latency_ms = -1.0", "allowed 0 to 1e+09"]),
        (triangle(links=[{"source": "a", "target": "b", "latency_ms": "7"}]), ["'a' - 'b'", "latency_ms = '7'"]),
        (triangle(links=[{"source": "a", "target": "b", "bandwidth_mbps": True}]), ["bandwidth_mbps = True"]),
        (json.dumps(triangle()).replace("2.5", "Infinity").encode(), ["latency_ms = inf"]),
        (graphml(""), ["2 parts that nothing joins", "1 vertex (with 'a')", "1 vertex (with 'b')"]),
        (triangle(links=[{"source": "c", "target": "b"}]), ["2 vertices (with 'b'), 1 vertex (with 'a')"]),
        (graphml("").replace(PAIR, ""), ["no vertex"]),
        (vertices(), ["no vertex"]),
        (graphml('<node id="a"/>'), ["vertex 'a'", "two of this id"]),
        (vertices(A, B, C, B), ["vertex 'b'", "two of this id"]),
        (vertices({"id": 1}, {"id": "1"}), ["vertex '1'", "two of this id"]),
        (graphml("<node/>"), ["vertex None: no id"]),
        (graphml('<edge source="a" target="z"/>'), ["edge 'a' - 'z'", "no vertex 'z'"]),
        (triangle(links=[{"source": "a", "target": 7}]), ["edge 'a' - 7", "no vertex 7"]),
        (vertices({"id": [1.5]}), ["nodes[0].id = [1.5]", "string or a whole number"]),
        (vertices({"id": []}), ["nodes[0].id = []", "or a list of them"]),
        (vertices(A, {"name": "a"}), ["nodes[1].id = None"]),
        (vertices("a"), ["nodes[0].id = None"]),
        (triangle(links=[{"source": "a"}]), ["links[0].target = None"]),
        (triangle(edges=[]), ["one of the lists"]),
        ({"nodes": [A]}, ["one of the lists"]),
        ([1, 2], ["no node-link graph"]),
        (b'{"nodes": [', ["not a JSON document"]),
        (b"\xff\xfe\x00", ["not a JSON document"]),
        (b"[" * 100_000, ["nested too deeply"]),
        ("<graphml><graph>", ["not an XML document", "line 1"]),
        ("", ["not an XML document"]),
        ("<svg/>", ["0 graphs in a <svg>"]),
        (f"{HEAD}</graphml>", ["0 graphs in a <graphml>"]),
        (f'{HEAD}<graph id="1"/><graph id="2"/></graphml>', ["2 graphs"]),
        (graphml('<node id="&b;"/>', LAUGHS), ["entity 'a'", "refused"]),
        (graphml("", OUTSIDE), ["entity 'a'", "refused"]),
        (graphml('<node id="&c;"/>', DTD), ["vertex '': no id"]),
        (graphml('<edge source="a" target="b"><data key="b">&c;</data></edge>', DTD), ["XML", "undefined entity"]),
        (edge("x", "1"), ["no GraphML that can be read", "no key x"]),
        (graphml("<hyperedge/>"), ["hyperedges"]),
        (graphml('<edge source="a" target="b" directed="true"/>'), ["directed=true"]),
        (graphml(INSIDE), ["of 4 vertices", "3 and 0 can be read"]),
        (triangle(nodes=[A | {"host": [1]}, B, C]), ["vertex 'a'", "host = [1]", "a text or a number"]),
        (triangle(nodes=[A | {"kind": {}}, B, C]), ["vertex 'a'", "kind = {}"]),
        (triangle(nodes=[{"id": "\ud800"}, B, C]), ["its id is no text"]),
        (
            json.dumps(triangle()).replace('"id": "a"', '"id": "a", "host": ' + "[" * 500 + "]" * 500).encode(),
            ["host = [["],
        ),
        (json.dumps(triangle()).replace("2.5", "9" * 5000).encode(), ["not a JSON document", "4300"]),
        (json.dumps(triangle()).replace("2.5", "9" * 4000).encode(), ["latency_ms = 99", "..."]),
        (b"[" + b"[]," * 3_000_000 + b"[]]", ["3,000,002 objects and lists: allowed up to 3,000,000"]),
        (edge("b", "1_000"), ["bandwidth_mbps = '1_000'"]),
        (edge("b", "٣"), ["bandwidth_mbps = '٣'"]),
        (edge("b", "9" * 5000), ["bandwidth_mbps = inf"]),
        ("<a>" * 101 + "</a>" * 101, ["nested too deeply: allowed up to 100"]),
        (
            "<a " + " ".join(f"a{number}=''" for number in range(300_000)) + "/>",
            ["a tag or remark of more than 1,000,000"],
        ),
        ("<a>" + "<b/>" * 3_000_000 + "</a>", ["more than 3,000,000 elements and attributes"]),
        ('<?xml version="1.0" encoding="hex"?><a/>', ["not an XML document"]),
        (triangle(nodes=[A | {"host": 0}, B | {"host": "no"}, C | {"kind": "switch"}]), ["3 vertices only forward"]),
        (triangle(nodes=[A | {"host": "maybe"}, B, C]), ["vertex 'a'", "host = 'maybe'", "allowed true"]),
        (triangle(), ["3 vertices for nodes, but cluster.nodes is 12", "cluster.nodes = 3", "nodes_per_vertex = 4"]),
    ],
)
def test_what_is_refused_is_named(network, content, expected):
    with pytest.raises(InputError) as caught:
        network(content, 12)
    message = str(caught.value)
    assert "graph." in message
    for part in expected:
        assert part in message, message


def test_many_bad_edges_are_listed_up_to_ten(network):
    vertices = [{"id": number} for number in range(30)]
    links = [{"source": number, "target": number + 1, "bandwidth_mbps": 0} for number in range(29)]
    with pytest.raises(InputError) as caught:
        network({"nodes": vertices, "links": links}, 30)
    assert len(caught.value.problems) == 11
    assert "and 19 more" in caught.value.problems[-1]


def test_too_large_and_not_there(network, tmp_path):
    with pytest.raises(InputError, match=r"graph\.dot: format not told by the name: allowed \.graphml"):
        network("a,b", 2, "graph.dot")
    with pytest.raises(InputError, match="No such file"):
        Network(Interconnect(file=str(tmp_path / "none.json")), 2)
    vertices = [{"id": number} for number in range(graph_reading.MOST_VERTICES + 1)]
    with pytest.raises(InputError, match="20001 vertices and 0 edges: allowed up to 20000"):
        network({"nodes": vertices, "links": []}, 2)
    with pytest.raises(InputError, match=r"more than 1 MB.*allowed up to 1 MB \(interconnect\.max_mb"):
        network((json.dumps(triangle()) + " " * 2**20).encode(), 3, max_mb=1)


def test_graphml_without_a_namespace_with_ports_and_untyped_keys(network):
    text = (
        '<graphml version="1">'
        '<key id="l" for="edge" attr.name="latency_ms"/><key id="c" for="node" attr.name="cluster"/>'
        '<graph edgedefault="undirected"><node id="a"><port name="p"/><data key="c">x</data></node>'
        '<node id="b"><data key="c">y</data></node>'
        '<edge source="a" target="b"><data key="l">2</data></edge></graph></graphml>'
    )
    net = network(text, 2, "graph.xml")
    assert net.routes_from(0)[1][1] == 2.0
    assert net.cluster_of.tolist() == [0, 1]


@pytest.mark.parametrize("name", ["/dev/zero", "/", "x" * 5000, "a\0b"])
def test_what_is_no_file(tmp_path, name):
    path = Path(f"{name}.json")
    if name.startswith("/"):
        path = tmp_path / "link.json"
        path.symlink_to(name)
    with pytest.raises(InputError, match="cannot be read"):
        Network(Interconnect(file=str(path)), 2)
