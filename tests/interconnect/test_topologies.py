"""Each kind of network against what is known of it."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network, max_min_rates, topologies
from cluster_abm.scenario.interconnect import Interconnect


def network(kind, nodes, **keys):
    return Network(Interconnect(kind=kind, **keys), nodes)


def switches(graph):
    return [vertex for vertex in graph if isinstance(vertex, str)]


def hops(net):
    """Links on the way between every two nodes, shape (nodes, nodes)."""
    return np.array([[len(net.links_between(s, t)) for t in range(net.nodes)] for s in range(net.nodes)])


def test_every_edge_says_what_it_can_do_and_nodes_come_first():
    for kind, nodes in itertools.product(
        ("complete", "bus", "star", "tree", "fat-tree", "torus", "dragonfly", "clusters"), (1, 2, 9)
    ):
        if (kind, nodes) == ("clusters", 1):
            continue
        graph = network(kind, nodes, bandwidth_mbps=80.0, latency_ms=0.5).graph
        assert list(graph)[:nodes] == list(range(nodes))
        assert {data["bandwidth_mbps"] for *_, data in graph.edges(data=True)} <= {80.0}
        assert {data["latency_ms"] for *_, data in graph.edges(data=True)} <= {0.25 if kind == "bus" else 0.5}
        assert nx.is_connected(graph)
        assert nx.number_of_selfloops(graph) == 0


def test_complete_star_bus():
    assert network("complete", 6).graph.number_of_edges() == 15
    star = network("star", 6, latency_ms=2.0)
    assert star.graph.degree("switch") == star.graph.number_of_edges() == 6
    assert star.longest_latency_ms == 4.0
    bus = network("bus", 6, bandwidth_mbps=80.0, latency_ms=2.0)
    assert bus.longest_latency_ms == 2.0
    assert all(data["shared"] for *_, data in bus.graph.edges(data=True))
    # One capacity for all: three transfers have a third of it each.
    assert bus.link_mb_per_s.tolist() == [10.0]
    pairs = [(0, 1), (2, 3), (1, 0)]
    assert max_min_rates(bus.link_mb_per_s, [bus.links_between(*pair) for pair in pairs]).tolist() == [10 / 3] * 3


def test_links_are_full_duplex():
    for kind in ("complete", "star"):
        net = network(kind, 3, bandwidth_mbps=80.0)
        paths = [net.links_between(0, 1), net.links_between(1, 0)]
        assert max_min_rates(net.link_mb_per_s, paths).tolist() == [10.0, 10.0]


def test_a_tree_has_a_switch_a_rack_and_one_above():
    net = network(
        "tree", 10, rack_nodes=4, latency_ms=1.0, bandwidth_mbps=80.0, trunk_bandwidth_mbps=160.0, trunk_latency_ms=3.0
    )
    assert nx.is_tree(net.graph)
    assert sorted(switches(net.graph)) == ["rack 0", "rack 1", "rack 2", "root"]
    assert [net.graph.degree(f"rack {rack}") for rack in range(3)] == [5, 5, 3]
    assert net.graph.edges["rack 1", "root"] == {"bandwidth_mbps": 160.0, "latency_ms": 3.0}
    assert net.cluster_of.tolist() == [0] * 4 + [1] * 4 + [2] * 2
    assert net.cluster_of.max() == 2
    bandwidths, latencies = net.routes_from(0)
    assert bandwidths.tolist() == [np.inf] + [10.0] * 9
    assert latencies.tolist() == [0.0] + [2.0] * 3 + [8.0] * 6
    # Four out of one rack share 20 MB/s of its uplink.
    rates = max_min_rates(net.link_mb_per_s, [net.links_between(node, 4 + node) for node in range(4)])
    assert rates.tolist() == [5.0] * 4
    assert set(network("tree", 40).cluster_of) == {0, 1, 2}


@pytest.mark.parametrize("arity", [2, 4, 6])
def test_a_fat_tree_is_the_published_one(arity):
    # k^3/4 hosts, 5 k^2/4 switches of k ports, full bisection; 6 hops at most.
    hosts = arity**3 // 4
    net = network("fat-tree", hosts)
    assert len(switches(net.graph)) == 5 * arity**2 // 4
    assert net.graph.number_of_edges() == 3 * hosts
    assert {net.graph.degree(switch) for switch in switches(net.graph)} == {arity}
    assert net.cluster_of.tolist() == [node // (arity**2 // 4) for node in range(hosts)]
    half = net.graph.copy()
    half.add_edges_from(("left", node) for node in range(hosts // 2))
    half.add_edges_from(("right", node) for node in range(hosts // 2, hosts))
    nx.set_edge_attributes(half, 1, "capacity")
    assert nx.maximum_flow_value(half, "left", "right") == hosts // 2
    assert hops(net).max() == 6


def test_the_fat_tree_of_arity_4_has_16_hosts_20_switches_48_links():
    net = network("fat-tree", 16)
    assert (len(net.graph), len(switches(net.graph)), net.graph.number_of_edges()) == (36, 20, 48)
    assert len(net.link_mb_per_s) == 96
    # Places for nodes that are not there stay empty; the arity is the smallest that holds the nodes.
    partly = network("fat-tree", 10)
    assert (len(switches(partly.graph)), partly.graph.number_of_edges()) == (20, 10 + 32)
    assert partly.cluster_of.tolist() == [0] * 4 + [1] * 4 + [2] * 2
    assert network("fat-tree", 10, arity=6).cluster_of.max() == 1


@pytest.mark.parametrize("arity", [4, 6])
def test_routes_use_all_cores_of_a_fat_tree_alike(arity):
    net = network("fat-tree", arity**3 // 4)
    crossed = [
        vertex
        for pair in itertools.permutations(range(net.nodes), 2)
        for vertex in (net.link_ends[link][1] for link in net.links_between(*pair))
        if str(vertex).startswith("core")
    ]
    cores, counts = np.unique(crossed, return_counts=True)
    assert len(cores) == (arity // 2) ** 2
    # Everybody to everybody in another pod, spread evenly.
    assert set(counts) == {net.nodes * (net.nodes - arity**2 // 4) // len(cores)}


@pytest.mark.parametrize("arity", [4, 6])
def test_in_a_fat_tree_no_shift_has_to_share(arity):
    # Zahavi 2012: routed by destination, every node may send to the one so many further, all at once, at full rate.
    net = network("fat-tree", arity**3 // 4, bandwidth_mbps=8.0)
    for shift in range(1, net.nodes):
        paths = [net.links_between(node, (node + shift) % net.nodes) for node in range(net.nodes)]
        assert set(max_min_rates(net.link_mb_per_s, paths)) == {1.0}


@pytest.mark.parametrize("sides", [(7,), (2, 2), (3, 5), (4, 4, 4), (2, 3, 4), (1, 6), (1,)])
def test_a_torus_is_a_grid_closed_in_itself(sides):
    nodes = int(np.prod(sides))
    net = network("torus", nodes, dimensions=list(sides))
    # Two links a dimension, one where there are two nodes along it, none where there is one.
    assert {degree for _, degree in net.graph.degree} == {sum(min(2, side - 1) for side in sides)}
    place = np.array(np.unravel_index(np.arange(nodes), sides)).T
    apart = np.abs(place[:, None] - place[None])
    assert (hops(net) == np.minimum(apart, np.array(sides) - apart).sum(axis=2)).all()
    assert network("torus", nodes, dimensions=list(sides), latency_ms=1.0).longest_latency_ms == sum(
        s // 2 for s in sides
    )


def test_a_torus_is_as_even_as_can_be():
    assert {degree for _, degree in network("torus", 12).graph.degree} == {4}  # 3 x 4
    assert sorted(network("torus", 12).graph[0]) == [1, 3, 4, 8]
    assert nx.is_isomorphic(network("torus", 7).graph, nx.cycle_graph(7))


def test_a_dragonfly_is_the_canonical_one():
    net = network("dragonfly", 72, latency_ms=1.0, trunk_bandwidth_mbps=10.0, trunk_latency_ms=5.0)
    graph = net.graph
    # p = h = 2, a = 4: 9 groups; router ports p + (a - 1) + h.
    assert len(switches(graph)) == 36
    assert {graph.degree(router) for router in switches(graph)} == {7}
    assert graph.number_of_edges() == 72 + 9 * 6 + 36
    between = [
        frozenset(" ".join(end.split()[:2]) for end in pair)
        for *pair, data in graph.edges(data=True)
        if data == {"bandwidth_mbps": 10.0, "latency_ms": 5.0}
    ]
    assert len(between) == len(set(between)) == 36
    assert all(len(pair) == 2 for pair in between)
    routers = graph.subgraph(switches(graph))
    assert nx.diameter(routers) == 3
    # Local, global, local, and the links of both nodes.
    assert net.longest_latency_ms == 9.0
    assert net.cluster_of.tolist() == [node // 8 for node in range(72)]


@pytest.mark.parametrize(("nodes", "routers"), [(6, 6), (7, 36), (72, 36), (73, 19 * 6)])
def test_a_dragonfly_is_the_smallest_balanced_one(nodes, routers):
    assert len(switches(network("dragonfly", nodes).graph)) == routers


@pytest.mark.parametrize(
    ("keys", "routers"),
    [
        ({"routers_per_group": 6}, 19 * 6),
        ({"nodes_per_router": 3}, 19 * 6),
        ({"routers_per_group": 3, "nodes_per_router": 8}, 4 * 3),
    ],
)
def test_a_dragonfly_by_its_keys(keys, routers):
    graph = network("dragonfly", 40, **keys).graph
    assert len(switches(graph)) == routers
    assert nx.is_connected(graph)


def test_clusters_are_stars_joined_by_wide_area_links():
    net = network(
        "clusters", 8, clusters=3, bandwidth_mbps=800.0, trunk_bandwidth_mbps=8.0, latency_ms=0.5, trunk_latency_ms=40.0
    )
    assert net.cluster_of.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert nx.is_isomorphic(net.graph.subgraph(switches(net.graph)), nx.complete_graph(3))
    assert net.graph.number_of_edges() == 8 + 3
    bandwidths, latencies = net.routes_from(7)
    assert bandwidths.tolist() == [1.0] * 6 + [100.0, np.inf]
    assert latencies.tolist() == [41.0] * 6 + [1.0, 0.0]
    assert network("clusters", 7, cluster_nodes=[1, 4, 2]).cluster_of.tolist() == [0, 1, 1, 1, 1, 2, 2]
    assert network("clusters", 5).cluster_of.tolist() == [0, 0, 0, 1, 1]
    assert not network("star", 5).cluster_of.any()


@pytest.mark.parametrize(
    ("kind", "nodes", "keys", "expected"),
    [
        ("fat-tree", 17, {"arity": 4}, ["interconnect.arity = 4", "at most 16", "cluster.nodes is 17"]),
        ("torus", 17, {"dimensions": [4, 4]}, ["interconnect.dimensions = [4, 4]", "16 nodes", "is 17"]),
        ("dragonfly", 73, {"routers_per_group": 4}, ["routers_per_group = 4", "9 groups", "at most 72", "is 73"]),
        ("clusters", 3, {"clusters": 4}, ["interconnect.clusters = 4", "cluster.nodes = 3"]),
        ("clusters", 8, {"cluster_nodes": [3, 4]}, ["interconnect.cluster_nodes = [3, 4]", "7 nodes", "is 8"]),
    ],
)  # fmt: skip
def test_numbers_that_do_not_fit_together_are_named_at_once(kind, nodes, keys, expected):
    with pytest.raises(InputError) as caught:
        network(kind, nodes, **keys)
    for part in expected:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "nodes", "words"),
    [
        # 5/4 k^2 switches; k^3/2 links between them.
        ({"kind": "fat-tree", "arity": 1000}, 8, "1,250,008 vertices and 500,000,008 links: allowed up to"),
        ({"kind": "dragonfly", "routers_per_group": 1_000_000}, 8, "interconnect.routers_per_group = 1000000"),
        ({"kind": "dragonfly", "nodes_per_router": 1_000_000}, 8, "nodes_per_router = 1000000"),
        # 801 groups of 40, each with 780 links inside, and a link between every two.
        ({"kind": "dragonfly", "routers_per_group": 40}, 8, f"32,048 vertices and {8 + 801 * 780 + 801 * 400:,} links"),
        ({"kind": "torus", "dimensions": [2] * 16}, 2**16, f"65,536 vertices and {16 * 2**16:,} links"),
        ({"kind": "torus", "dimensions": [10**9] * 16}, 8, "their product must be the number of nodes"),
        ({"kind": "clusters", "clusters": 100_000}, 100_000, "100000 clusters"),
        ({"kind": "clusters", "clusters": 1_000_000}, 8, "more than the nodes"),
    ],
)
def test_what_would_be_too_large_is_refused_before_it_is_made(keys, nodes, words, monkeypatch):
    monkeypatch.setattr(topologies, "_empty", None)
    monkeypatch.setattr(topologies.nx, "grid_graph", None)
    with pytest.raises(InputError) as caught:
        Network(Interconnect(**keys), nodes)
    assert words in str(caught.value)


def test_the_graph_of_a_large_complete_network_is_not_made():
    net = Network(Interconnect(), 100_000)
    assert net.routes_from(0)[1].max() == 0.0
    with pytest.raises(InputError, match="4,999,950,000 links"):
        _ = net.graph


@pytest.mark.parametrize("kind", ["tree", "fat-tree", "torus", "dragonfly", "clusters"])
def test_the_largest_cluster_has_a_network_of_every_kind(kind, monkeypatch):
    class Made(Exception):
        pass

    def made(*_, **__):
        raise Made

    monkeypatch.setattr(topologies, "_empty", made)
    monkeypatch.setattr(topologies.nx, "grid_graph", made)
    with pytest.raises(Made):
        Network(Interconnect(kind=kind), 100_000)
