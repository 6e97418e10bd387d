"""The two directions of each edge of a graph, as arrays."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.clock import whole_ns
from cluster_abm.interconnect.units import mb_per_s


@dataclass(frozen=True, eq=False)
class Arcs:
    """Every arc of the network, in the order of its head and then its tail; vertices by number.

    Links are full duplex: edge e of the graph is link 2e in one direction and 2e + 1 in the other, each an arc with a
    capacity of its own. A shared medium is one link, 0, however many arcs lead to it and from it.
    """

    vertices: tuple[Hashable, ...]  # the vertices; first the nodes 0..nodes-1, then the others as the graph has them
    # tail, head, link: of each arc, shape (arcs,).
    tail: Integers
    head: Integers
    link: Integers
    latency_ns: Floats  # of each arc, whole numbers [ns]
    link_mb_per_s: Floats  # capacity of each link [MB/s], shape (links,)
    link_ends: list[tuple[Hashable, Hashable]]  # the vertices that each link leads from and to

    @cached_property
    def number_of(self) -> dict[Hashable, int]:
        """The number of each vertex."""
        return {vertex: number for number, vertex in enumerate(self.vertices)}

    def siblings(self, nodes: int) -> Integers:
        """Number the groups of nodes that hang on one vertex by links alike, shape (nodes,), from 0 on."""
        links = np.bincount(self.tail, minlength=len(self.vertices))
        # Of each node the vertex that it hangs on, and its link; a node with several links is a group of its own.
        hangs = np.stack([-1.0 - np.arange(nodes), np.zeros(nodes), np.zeros(nodes)])
        leaf = (links[self.tail] == 1) & (self.tail < nodes)
        hangs[:, self.tail[leaf]] = self.head[leaf], self.latency_ns[leaf], self.link_mb_per_s[self.link[leaf]]
        _, group = np.unique(hangs, axis=1, return_inverse=True)
        # In the order of the nodes.
        _, first, numbers = np.unique(group.reshape(-1), return_index=True, return_inverse=True)
        return np.asarray(first.argsort().argsort()[numbers.reshape(-1)])


def arcs_of(graph: nx.Graph, nodes: int) -> Arcs:
    """The arcs of a graph that has the nodes 0..nodes-1, and edges with `bandwidth_mbps` and `latency_ms`."""
    vertices = (*range(nodes), *(vertex for vertex in graph if not isinstance(vertex, int)))
    number = {vertex: position for position, vertex in enumerate(vertices)}
    edges = list(graph.edges(data=True))
    ends = [pair for tail, head, _ in edges for pair in ((tail, head), (head, tail))]
    tail, head = np.array([[number[tail], number[head]] for tail, head in ends], np.int64).reshape(-1, 2).T
    link, ns = np.arange(len(ends)), np.repeat([float(whole_ns(edge["latency_ms"])) for *_, edge in edges], 2)
    capacities = np.repeat([mb_per_s(edge["bandwidth_mbps"]) for *_, edge in edges], 2)
    if any(edge.get("shared") for *_, edge in edges):
        # Crossing the medium takes its latency once: all of it on the arcs out of it, so that no half ns arise.
        medium_ms = 2.0 * edges[0][2]["latency_ms"]
        link, capacities = np.zeros_like(link), capacities[:1]
        ns, ends = np.where(head < nodes, float(whole_ns(medium_ms)), 0.0), [(vertices[-1], vertices[-1])]
    order = np.lexsort((tail, head))
    return Arcs(vertices, tail[order], head[order], link[order], ns[order], capacities, ends)
