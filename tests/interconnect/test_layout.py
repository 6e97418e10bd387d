"""Every vertex of every network has a place of its own inside the picture."""

import itertools
import math

import networkx as nx
import pytest

from cluster_abm.interconnect import Network
from cluster_abm.interconnect.layout import STUB, course, links, positions, wires
from cluster_abm.scenario.interconnect import Interconnect

KINDS = ("complete", "bus", "star", "tree", "fat-tree", "torus", "dragonfly", "clusters")


@pytest.mark.parametrize("nodes", [1, 2, 7, 32, 72])
@pytest.mark.parametrize("kind", KINDS)
def test_all_are_inside_and_apart(kind, nodes):
    network = Network(Interconnect(kind=kind, **({"clusters": 1} if kind == "clusters" and nodes < 2 else {})), nodes)
    at = positions(network)
    assert set(range(nodes)) <= set(at)
    assert {end for link in links(network) for end in link} <= set(at)
    assert all(-1e-9 <= value <= 1 + 1e-9 for point in at.values() for value in point)
    nearest = min((math.dist(*pair) for pair in itertools.combinations(at.values(), 2)), default=1.0)
    assert nearest > 0.01


def test_a_ring_goes_clockwise_from_the_top():
    at = positions(Network(Interconnect(), 4))
    expected = [(0.5, 0.0), (1.0, 0.5), (0.5, 1.0), (0.0, 0.5)]
    assert [at[node] for node in range(4)] == [pytest.approx(point) for point in expected]


def test_a_torus_is_its_grid():
    at = positions(Network(Interconnect(kind="torus", dimensions=(2, 3)), 6))
    assert [at[node] for node in (0, 1, 2, 3)] == [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 1.0)]


def test_a_graph_from_a_file_has_always_the_same_places(tmp_path):
    file = tmp_path / "petersen.graphml"
    nx.write_graphml(nx.petersen_graph(), file)
    settings = Interconnect(file=str(file))
    at = positions(Network(settings, 10))
    assert set(at) == set(range(10))
    assert at == positions(Network(settings, 10))


def test_a_complete_network_of_many_nodes_is_drawn_without_its_links():
    assert len(links(Network(Interconnect(), 8))) == 28
    assert links(Network(Interconnect(), 256)) == []


@pytest.mark.parametrize(("kind", "passed"), [("complete", 0), ("star", 1), ("bus", 1)])
def test_a_way_is_drawn_over_what_it_passes(kind, passed):
    network = Network(Interconnect(kind=kind), 6)
    at = positions(network)
    between = [at[vertex] for vertex in at if isinstance(vertex, str)]
    assert len(between) == passed
    assert course(network, at, 4, 1) == [[at[4], *between, at[1]]]


@pytest.mark.parametrize("kind", ["tree", "fat-tree", "dragonfly", "clusters"])
def test_a_way_follows_lines_that_are_drawn(kind):
    network = Network(Interconnect(kind=kind), 24)
    at = positions(network)
    lines = {frozenset(line) for line in wires(network, at)}
    for source, target in ((0, 1), (0, 23), (23, 0), (5, 17)):
        (points,) = course(network, at, source, target)
        assert (points[0], points[-1]) == (at[source], at[target])
        assert len(points) == 1 + len(network.links_between(source, target))
        assert {frozenset(pair) for pair in itertools.pairwise(points)} <= lines


def test_round_the_back_of_a_torus_is_out_on_one_side_and_in_on_the_other():
    network = Network(Interconnect(kind="torus", dimensions=(2, 4)), 8)
    at = positions(network)
    # 4 5 6 7 below 0 1 2 3: from 3 to 0 by the link that closes the row; not along 2 and 1.
    assert course(network, at, 3, 0) == [[(1.0, 0.0), (1.0 + STUB, 0.0)], [(-STUB, 0.0), (0.0, 0.0)]]
    assert course(network, at, 0, 1) == [[at[0], at[1]]]
    # Three links along each row and four between the rows, and two stubs for the one that closes a row.
    assert len(wires(network, at)) == 2 * 3 + 4 + 2 * 2


def test_a_torus_whose_sides_nobody_gave_is_its_grid_too():
    network = Network(Interconnect(kind="torus"), 12)
    at = positions(network)
    assert all(math.dist(*line) <= 0.5 + 1e-9 for line in wires(network, at))


def test_a_way_leads_around_what_failed_and_is_straight_where_none_is_left():
    network = Network(Interconnect(), 4)
    at = positions(network)
    around = network.without(links=[(0, 1)])
    ((first, middle, last),) = course(around, at, 0, 1)
    assert (first, last) == (at[0], at[1])
    assert middle in (at[2], at[3])
    assert course(network.without(nodes=[1]), at, 0, 1) == [[at[0], at[1]]]
