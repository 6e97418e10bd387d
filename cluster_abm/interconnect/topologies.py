"""The graphs of the kinds of networks, and how many nodes each holds.

Vertices are the nodes 0..nodes-1, switches strings; an edge has `bandwidth_mbps` and `latency_ms`. Nodes have the
number of the part that they belong to as `cluster`, where a kind has parts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.scenario.interconnect import Interconnect

# Of a graph that is made. The largest cluster's fat tree has 300,000 links; more take minutes and gigabytes.
MOST_VERTICES = 250_000
MOST_LINKS = 600_000
RACK_NODES = 16
CLUSTERS = 2


def complete(settings: Interconnect, nodes: int) -> nx.Graph:
    """Every two nodes joined."""
    _bound(nodes, nodes * (nodes - 1) // 2, f"cluster.nodes = {nodes}: every two nodes of it joined")
    graph = nx.complete_graph(nodes)
    _equip(graph, settings.bandwidth_mbps, settings.latency_ms)
    return graph


def bus(settings: Interconnect, nodes: int) -> nx.Graph:
    """Make one medium, the vertex "bus", with a capacity that all share; half its latency leads to it, half from it."""
    graph = _empty(nodes)
    graph.add_edges_from(((node, "bus") for node in range(nodes)), shared=True)
    _equip(graph, settings.bandwidth_mbps, settings.latency_ms / 2)
    return graph


def star(settings: Interconnect, nodes: int) -> nx.Graph:
    """Every node at the vertex "switch"."""
    graph = _empty(nodes)
    graph.add_edges_from((node, "switch") for node in range(nodes))
    _equip(graph, settings.bandwidth_mbps, settings.latency_ms)
    return graph


def tree(settings: Interconnect, nodes: int) -> nx.Graph:
    """Two levels: nodes at the switches of their racks, "rack 0", "rack 1" ..., and these at "root"."""
    in_rack = settings.rack_nodes or RACK_NODES
    graph = _empty(nodes)
    _attach(graph, ((node, f"rack {node // in_rack}", node // in_rack) for node in range(nodes)))
    _equip(graph, settings.bandwidth_mbps, settings.latency_ms)
    for rack in range(-(-nodes // in_rack)):
        _trunk(graph, settings, f"rack {rack}", "root")
    return graph


def fat_tree(settings: Interconnect, nodes: int) -> nx.Graph:
    """The k-ary fat tree (Al-Fares, Loukissas and Vahdat 2008) of equal links: k pods of k/2 edge and k/2 aggregation
    switches, (k/2)^2 cores; k/2 places for nodes at each edge switch, filled in order. A pod is a part."""
    arity = settings.arity or next(k for k in itertools.count(2, 2) if k**3 // 4 >= nodes)
    half = arity // 2
    _hold(nodes, arity**3 // 4, f"interconnect.arity = {arity}: a fat tree of this arity")
    switches, uplinks = 2 * arity * half + half**2, 2 * arity * half**2
    _bound(nodes + switches, nodes + uplinks, f"interconnect.arity = {arity}: a fat tree of this arity")
    graph = _empty(nodes)
    places = ((node, *divmod(node // half, half)) for node in range(nodes))
    _attach(graph, ((node, f"pod {pod} edge {edge}", pod) for node, pod, edge in places))
    for pod, upper in itertools.product(range(arity), range(half)):
        here = f"pod {pod} aggregation {upper}"
        graph.add_edges_from((f"pod {pod} edge {edge}", here) for edge in range(half))
        graph.add_edges_from((here, f"core {upper * half + core}") for core in range(half))
    _equip(graph, settings.bandwidth_mbps, settings.latency_ms)
    return graph


def torus(settings: Interconnect, nodes: int) -> nx.Graph:
    """A grid closed in itself, the last dimension varying fastest; along a dimension of two there is one link."""
    sides = settings.dimensions or most_even(nodes)
    if math.prod(sides) != nodes:
        raise InputError(
            f"interconnect.dimensions = {list(sides)}: {math.prod(sides)} nodes, but cluster.nodes is {nodes}; "
            f"their product must be the number of nodes"
        )
    _bound(nodes, sum(side > 1 for side in sides) * nodes, f"interconnect.dimensions = {list(sides)}: such a torus")
    # networkx has the fastest dimension first in its argument, and a ring of one would be a loop.
    graph = nx.grid_graph([side for side in reversed(sides) if side > 1] or [1], periodic=nodes > 1)
    graph = nx.convert_node_labels_to_integers(graph, ordering="sorted")
    _equip(graph, settings.bandwidth_mbps, settings.latency_ms)
    return graph


def dragonfly(settings: Interconnect, nodes: int) -> nx.Graph:
    """The canonical dragonfly (Kim, Dally, Scott and Abts 2008): a h + 1 groups of a routers, joined every two within a
    group, and every two groups by one global link, of which each router has h; p places for nodes at each router,
    filled in order. A group is a part. Balanced: a = 2 p = 2 h."""
    routers, at_router = settings.routers_per_group, settings.nodes_per_router
    if at_router is None:
        balanced = (p for p in itertools.count(1) if (2 * p * p + 1) * 2 * p * p >= nodes)
        at_router = max(1, routers // 2) if routers else next(balanced)
    routers = routers or 2 * at_router
    globals_ = max(1, routers // 2)
    groups = routers * globals_ + 1
    what = f"interconnect.routers_per_group = {routers}, nodes_per_router = {at_router}: a dragonfly of {groups} groups"
    _hold(nodes, groups * routers * at_router, what)
    trunks = groups * (groups - 1) // 2
    _bound(nodes + groups * routers, nodes + groups * routers * (routers - 1) // 2 + trunks, what)
    graph = _empty(nodes)
    in_group = routers * at_router
    places = ((node, node // in_group, node % in_group // at_router) for node in range(nodes))
    _attach(graph, ((node, f"group {group} router {router}", group) for node, group, router in places))
    for group in range(groups):
        names = [f"group {group} router {router}" for router in range(routers)]
        graph.add_nodes_from(names)
        graph.add_edges_from(itertools.combinations(names, 2))
    _equip(graph, settings.bandwidth_mbps, settings.latency_ms)
    for group, other in itertools.combinations(range(groups), 2):
        # Link l of a group leads l + 1 groups on, and is the other's link that leads as far back.
        there, back = other - group - 1, groups - 1 - (other - group)
        _trunk(graph, settings, f"group {group} router {there // globals_}", f"group {other} router {back // globals_}")
    return graph


def clusters(settings: Interconnect, nodes: int) -> nx.Graph:
    """Stars around "cluster 0", "cluster 1" ..., the switches joined every two by a wide-area link."""
    sizes = settings.cluster_nodes
    if sizes is None:
        count = settings.clusters or CLUSTERS
        if count > nodes:
            raise InputError(f"interconnect.clusters = {count}: more than the nodes, cluster.nodes = {nodes}")
        sizes = tuple(nodes // count + (cluster < nodes % count) for cluster in range(count))
    if sum(sizes) != nodes:
        raise InputError(
            f"interconnect.cluster_nodes = {list(sizes)}: {sum(sizes)} nodes, but cluster.nodes is {nodes}; "
            f"their sum must be the number of nodes"
        )
    trunks = len(sizes) * (len(sizes) - 1) // 2
    _bound(nodes + len(sizes), nodes + trunks, f"interconnect: {len(sizes)} clusters, every two of them joined")
    graph = _empty(nodes)
    member = itertools.chain.from_iterable([cluster] * size for cluster, size in enumerate(sizes))
    _attach(graph, ((node, f"cluster {cluster}", cluster) for node, cluster in enumerate(member)))
    _equip(graph, settings.bandwidth_mbps, settings.latency_ms)
    for cluster, other in itertools.combinations(range(len(sizes)), 2):
        _trunk(graph, settings, f"cluster {cluster}", f"cluster {other}")
    return graph


BUILDERS: dict[str, Callable[[Interconnect, int], nx.Graph]] = {
    "complete": complete,
    "bus": bus,
    "star": star,
    "tree": tree,
    "fat-tree": fat_tree,
    "torus": torus,
    "dragonfly": dragonfly,
    "clusters": clusters,
}
"""Of each kind, what makes its graph; each raises InputError where the scenario's numbers do not fit together."""


def _empty(nodes: int) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    return graph


def _attach(graph: nx.Graph, places: Iterable[tuple[int, str, int]]) -> None:
    """Join nodes to their switches: (node, switch, the part they belong to)."""
    for node, switch, part in places:
        graph.add_edge(node, switch)
        graph.nodes[node]["cluster"] = part


def _equip(graph: nx.Graph, bandwidth_mbps: float, latency_ms: float) -> None:
    """What the links there are so far can do."""
    nx.set_edge_attributes(graph, bandwidth_mbps, "bandwidth_mbps")
    nx.set_edge_attributes(graph, latency_ms, "latency_ms")


def _trunk(graph: nx.Graph, settings: Interconnect, switch: str, other: str) -> None:
    graph.add_edge(switch, other, bandwidth_mbps=settings.trunk_mbps, latency_ms=settings.trunk_ms)


def _hold(nodes: int, places: int, what: str) -> None:
    if places < nodes:
        raise InputError(f"{what} holds at most {places} nodes, but cluster.nodes is {nodes}")


def _bound(vertices: int, links: int, what: str) -> None:
    """Raise InputError for a graph that is too large, before it is made."""
    if vertices > MOST_VERTICES or links > MOST_LINKS:
        raise InputError(
            f"{what} has {vertices:,} vertices and {links:,} links: allowed up to {MOST_VERTICES:,} and {MOST_LINKS:,}"
        )


def most_even(nodes: int) -> tuple[int, int]:
    """The two factors of a number that are nearest to each other; of a prime, 1 and itself: a ring."""
    short = next(side for side in range(math.isqrt(nodes), 0, -1) if nodes % side == 0)
    return short, nodes // short
