"""Every vertex of every network has a place of its own inside the picture."""

import itertools
import math

import networkx as nx
import pytest

from cluster_abm.interconnect import Network
from cluster_abm.interconnect.layout import links, positions
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
