"""The nodes in a space of Mesa's, over the graph of the interconnect: for Mesa's own drawing."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from random import Random
from typing import Any

import networkx as nx
from mesa.discrete_space import Network as MesaNetwork

from cluster_abm.interconnect import Network
from cluster_abm.interconnect.layout import positions

# More cannot be drawn, or held as cells that know each other: those of a complete network of 500 nodes.
MOST_LINKS = 500 * 499 // 2


def space_of(network: Network, nodes: Sequence[Any], random: Random) -> MesaNetwork:
    """A space with a cell a vertex of the interconnect, and each node's agent in its cell.

    Args:
        network: the interconnect with nothing failed.
        nodes: agents of the nodes, in the order of their numbers.
        random: Mesa's, of the model.
    """
    graph = drawn_graph(network)
    # Since Mesa 3.5 cells have positions; else a layout that takes long would be made.
    places: dict[str, Any] = {"layout": nx.get_node_attributes(graph, "pos")}
    known = inspect.signature(MesaNetwork).parameters
    space = MesaNetwork(graph, random=random, **{name: value for name, value in places.items() if name in known})
    for node in nodes:
        space[node.index].add_agent(node)
    if not graph.number_of_edges():
        # Mesa fails to draw a network without links: now that the cells are made, one that is hardly seen.
        graph.add_edge(0, min(1, len(graph) - 1))
    return space


def drawn_graph(network: Network) -> nx.Graph:
    """The graph of the interconnect, vertices numbered from 0: nodes keep their numbers, switches follow.

    Mesa finds the place of an agent by the number of its vertex. Each vertex has its name (`name`) and its place in the
    unit square (`pos`), (0, 0) at the lower left. A network of more than MOST_LINKS edges has none here.
    """
    is_complete = network.settings.kind == "complete"
    # The graph of a large complete network is not made for this.
    links = network.nodes * (network.nodes - 1) // 2 if is_complete else network.graph.number_of_edges()
    forwarding = () if is_complete else (vertex for vertex in network.graph if not isinstance(vertex, int))
    number = {vertex: position for position, vertex in enumerate([*range(network.nodes), *forwarding])}
    graph = nx.Graph()
    graph.add_nodes_from((position, {"name": str(vertex)}) for vertex, position in number.items())
    if links <= MOST_LINKS:
        graph.add_edges_from((number[one], number[other], data) for one, other, data in network.graph.edges(data=True))
    places = {number[vertex]: (x, 1.0 - y) for vertex, (x, y) in positions(network).items()}
    nx.set_node_attributes(graph, places, "pos")
    return graph
