"""Routes against networkx on random graphs, whole and with failures, and against what is known of alike networks."""

from __future__ import annotations

import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.interconnect.arcs import arcs_of
from cluster_abm.interconnect.routes import ShortestRoutes
from cluster_abm.scenario.interconnect import Interconnect

KINDS = ("complete", "bus", "star", "tree", "fat-tree", "torus", "dragonfly", "clusters")


@st.composite
def graphs(draw):
    """Up to 8 nodes and 5 switches, some joined; few latencies, zero among them, so that many ways are as long."""
    nodes, others = draw(st.integers(2, 8)), draw(st.integers(0, 5))
    vertices = [*range(nodes), *(f"switch {number}" for number in range(others))]
    graph = nx.Graph()
    graph.add_nodes_from(vertices)
    pairs = list(itertools.combinations(vertices, 2))
    for pair in draw(st.lists(st.sampled_from(pairs), unique=True, min_size=len(pairs) // 4)):
        graph.add_edge(
            *pair,
            bandwidth_mbps=draw(st.sampled_from([8.0, 80.0, 1024.0])),
            latency_ms=draw(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1e-6, 40.0])),
        )
    return graph, nodes


def left_of(graph, down, cut):
    """The graph when these are out of order, all vertices still there."""
    left = graph.copy()
    left.remove_edges_from(cut)
    left.remove_edges_from(list(left.edges(down)))
    return left


def check_routes(routes, arcs, graph, nodes):
    """Every way leads along edges, is the shortest by latency and then by hops, and is as narrow as its links say."""
    for *_, data in graph.edges(data=True):
        # One number for both: hops are fewer than a million.
        data["length"] = round(data["latency_ms"] * 1e6) * 10**6 + 1
    for source in range(nodes):
        best = nx.single_source_dijkstra_path_length(graph, source, weight="length")
        bandwidths, latencies = routes.routes_from(source)
        assert (bandwidths[source], latencies[source], routes.links_between(source, source)) == (np.inf, 0.0, ())
        for target in set(range(nodes)) - {source}:
            if target not in best:
                assert (bandwidths[target], latencies[target]) == (0.0, np.inf)
                with pytest.raises(ValueError, match="no way leads"):
                    routes.links_between(source, target)
                continue
            links = routes.links_between(source, target)
            ends = [arcs.link_ends[link] for link in links]
            assert [ends[0][0], ends[-1][1]] == [source, target]
            assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(ends))
            assert sum(graph.edges[pair]["length"] for pair in ends) == best[target]
            assert bandwidths[target] == min(arcs.link_mb_per_s[link] for link in links)
            assert bandwidths[target] == min(graph.edges[pair]["bandwidth_mbps"] for pair in ends) / 8
            assert latencies[target] == best[target] // 10**6 / 1e6
    longest = max((ms for source in range(nodes) for ms in routes.routes_from(source)[1] if ms < np.inf), default=0.0)
    assert routes.longest_latency_ms == longest


@pytest.mark.slow
@given(graphs())
def test_shortest_by_latency_then_by_hops(case):
    graph, nodes = case
    arcs = arcs_of(graph, nodes)
    check_routes(ShortestRoutes(arcs, nodes), arcs, graph, nodes)


@pytest.mark.slow
@given(graphs(), st.data())
def test_around_what_failed(case, data):
    graph, nodes = case
    down = data.draw(st.sets(st.integers(0, nodes - 1), max_size=3))
    cut = data.draw(st.lists(st.sampled_from(sorted(graph.edges, key=str)), max_size=4)) if graph.edges else []
    arcs = arcs_of(graph, nodes)
    both_ways = frozenset(pair for one, other in cut for pair in ((one, other), (other, one)))
    check_routes(ShortestRoutes(arcs, nodes, frozenset(down), both_ways), arcs, left_of(graph, down, cut), nodes)


@pytest.mark.slow
@given(st.sampled_from(KINDS), st.integers(2, 20), st.data())
def test_networks_without_this_and_that(kind, nodes, data):
    settings_ = Interconnect(kind=kind, latency_ms=0.5, bandwidth_mbps=80.0)
    whole = Network(settings_, nodes)
    down = data.draw(st.sets(st.integers(0, nodes - 1), max_size=2))
    cut = data.draw(st.lists(st.sampled_from(sorted(whole.graph.edges, key=str)), max_size=2))
    left = whole.without(down, cut)
    assert left.is_alike == (kind in ("complete", "bus", "star") and not down and not cut)
    assert nx.utils.graphs_equal(left.graph, left_of(whole.graph, down, cut))
    assert left.link_ends == whole.link_ends
    assert left.link_mb_per_s.tolist() == whole.link_mb_per_s.tolist()
    assert left.cluster_of.tolist() == whole.cluster_of.tolist()
    if kind != "bus":
        check_routes(left, left, left.graph.copy(), nodes)
    # The whole one is as it was, and many steps are as good as one.
    assert whole.longest_latency_ms == Network(settings_, nodes).longest_latency_ms
    again = whole.without(links=cut)
    for node in down:
        again = again.without([node])
    for node in range(nodes):
        assert [column.tolist() for column in again.routes_from(node)] == [
            column.tolist() for column in left.routes_from(node)
        ]


@pytest.mark.parametrize("kind", ["complete", "bus", "star"])
@pytest.mark.parametrize("nodes", [1, 2, 3, 8])
@pytest.mark.parametrize("down", [(), (0,), (1, 2)])
def test_what_is_alike_is_as_the_search_would_have_it(kind, nodes, down):
    down = frozenset(down) & set(range(nodes))
    net = Network(Interconnect(kind=kind, latency_ms=0.3, bandwidth_mbps=100.0), nodes)
    arcs = arcs_of(net.graph, nodes)
    searched, left = ShortestRoutes(arcs, nodes, down), net.without(down)
    assert net.link_mb_per_s.tolist() == arcs.link_mb_per_s.tolist()
    assert left.longest_latency_ms == searched.longest_latency_ms
    for source in range(nodes):
        for found, expected in zip(left.routes_from(source), searched.routes_from(source), strict=True):
            assert found.tolist() == expected.tolist()
        for target in set(range(nodes)) - down if source not in down else ():
            assert left.links_between(source, target) == searched.links_between(source, target)


def test_a_bus_crosses_its_medium_once_whole_or_not():
    bus = Network(Interconnect(kind="bus", latency_ms=3.0, bandwidth_mbps=80.0), 4)
    for net in (bus, bus.without([3]), bus.without(links=[(3, "bus")])):
        assert net.routes_from(0)[1].tolist()[:3] == [0.0, 3.0, 3.0]
        assert net.routes_from(0)[0].tolist()[:3] == [np.inf, 10.0, 10.0]
        assert net.links_between(0, 2) == net.links_between(2, 1) == (0,)
        assert net.longest_latency_ms == 3.0
        assert net is bus or net.routes_from(0)[1][3] == np.inf


def test_half_a_nanosecond_is_not_made_two():
    bus = Network(Interconnect(kind="bus", latency_ms=1e-6), 3).without(links=[(2, "bus")])
    assert bus.routes_from(0)[1][1] == 1e-6


def test_a_complete_network_goes_round_a_broken_link():
    net = Network(Interconnect(latency_ms=1.0), 4).without(links=[(0, 1)])
    assert net.routes_from(0)[1].tolist() == [0.0, 2.0, 1.0, 1.0]
    assert net.routes_from(1)[1].tolist() == [2.0, 0.0, 1.0, 1.0]
    (first, second) = (net.link_ends[link] for link in net.links_between(0, 1))
    assert first[1] == second[0]
    assert net.without([2, 3]).routes_from(0)[1].tolist() == [0.0, np.inf, np.inf, np.inf]


def test_what_is_not_there_cannot_fail():
    net = Network(Interconnect(kind="star"), 4)
    for arguments, expected in (
        ({"nodes": [4]}, "node 4"),
        ({"links": [(0, 1)]}, "link 0 - 1"),
        ({"nodes": [-1]}, "node -1"),
    ):
        with pytest.raises(InputError, match=expected):
            net.without(**arguments)


def test_a_thousand_alike_nodes_make_no_graph(monkeypatch):
    def refuse(*_):
        raise AssertionError("a graph was made")

    monkeypatch.setattr("cluster_abm.interconnect.network.BUILDERS", dict.fromkeys(KINDS, refuse))
    for kind in ("complete", "star", "bus"):
        net = Network(Interconnect(kind=kind, latency_ms=1.0), 1000)
        assert net.routes_from(999)[0][0] == 128.0
        assert len(net.links_between(3, 4)) == (2 if kind == "star" else 1)
        assert net.without([5]).routes_from(0)[1][5] == np.inf
        assert net.longest_latency_ms > 0
        assert net.cluster_of.sum() == 0
        assert len(net.link_mb_per_s) > 0


def test_rows_cannot_be_written_on():
    for kind in ("complete", "tree"):
        for column in Network(Interconnect(kind=kind), 4).routes_from(1):
            with pytest.raises(ValueError, match="read-only"):
                column[0] = 5.0


def test_a_network_crosses_a_process_border():
    net = Network(Interconnect(kind="tree", latency_ms=1.0), 20).without([3])
    net.routes_from(0)
    assert pickle.loads(pickle.dumps(net)).routes_from(17)[1].tolist() == net.routes_from(17)[1].tolist()
