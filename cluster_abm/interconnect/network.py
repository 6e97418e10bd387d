"""The network between the nodes: a networkx graph, and what a transfer over it takes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

import networkx as nx
import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.graphs.handed import as_handed
from cluster_abm.interconnect import alike
from cluster_abm.interconnect.arcs import Arcs, Floats, Integers, arcs_of
from cluster_abm.interconnect.graph_file import graph_from_file
from cluster_abm.interconnect.routes import ShortestRoutes
from cluster_abm.interconnect.topologies import BUILDERS
from cluster_abm.scenario.interconnect import Interconnect

Link = tuple[Hashable, Hashable]


class Network:
    """Nodes 0..nodes-1 and what joins them. Immutable: what fails is left out of another one (`without`).

    Links are full duplex: each edge of the graph is two links, one a direction, with a capacity each. A bus is
    one link, the medium that all nodes share.

    Raises InputError: a file that does not exist, holds no graph or does not fit, numbers that do not fit together.

    Attributes:
        notes: what was assumed on reading a file, a line each.
        vertices: the vertex that each node is, or is at, as the user's graph calls it; () where there is no such graph.
        files_of_nodes: names of the files that each node holds at first, by the vertices of the user's graph.
    """

    def __init__(self, settings: Interconnect, nodes: int) -> None:
        self.settings = settings
        self.nodes = nodes
        self.notes: tuple[str, ...] = ()
        self.vertices: tuple[Hashable, ...] = ()
        self.files_of_nodes: tuple[tuple[str, ...], ...] = ((),) * nodes
        self._down: frozenset[int] = frozenset()
        self._cut: frozenset[Link] = frozenset()
        self._wiring = _Wiring(settings, nodes)
        if settings.kind == "file":
            found = graph_from_file(settings, nodes)
            self._wiring.whole, self._wiring.read, self.notes = found.graph, found.read, found.notes
            self.vertices, self.files_of_nodes = found.vertices, found.files
        elif settings.kind not in alike.KINDS:
            # Now rather than when first asked for: numbers that do not fit together are found here.
            self._wiring.whole = BUILDERS[settings.kind](settings, nodes)

    @cached_property
    def graph(self) -> nx.Graph:
        """Nodes as 0..nodes-1, other vertices as strings, edges with `bandwidth_mbps` and `latency_ms`.

        The edges of what has failed are not in it. Those of a bus lead to its medium, the vertex "bus", and are marked
        `shared`. The graph of a complete network, a bus or a star is made when first asked for: a complete one of 1,000
        nodes has half a million edges.
        """
        if not self._down and not self._cut:
            return self._wiring.whole
        graph = self._wiring.whole.copy()
        graph.remove_edges_from(self._cut)
        graph.remove_edges_from(list(graph.edges(self._down)))
        return graph

    @property
    def node_names(self) -> tuple[str, ...]:
        """What tables and pictures call the nodes besides their numbers: the vertices of a graph that was handed over;
        () where none was."""
        return self.names_of_vertices if self.settings.graph is not None else ()

    @property
    def names_of_vertices(self) -> tuple[str, ...]:
        """The vertex of each node as a text, shape (nodes,); () where there is no user's graph."""
        return tuple(map(str, self.vertices))

    def users_graph(self) -> tuple[nx.Graph, dict[Hashable, Hashable]]:
        """A copy of the whole graph with the user's own names, and what each vertex of `graph` is called in it.

        Where several nodes are at a vertex, they are vertices beside it, ("node", 0), ("node", 1) ... by number. Where
        no graph was given, it has the names of `graph`.
        """
        whole, read = self._wiring.whole, self._wiring.read
        if read is None:
            return whole.copy(), {vertex: vertex for vertex in whole}
        graph = as_handed(read)
        names: dict[Hashable, Hashable] = {str(vertex): vertex for vertex in graph}
        if len(self.vertices) == len(set(self.vertices)):
            return graph, names | dict(enumerate(self.vertices))
        word = "node"
        while any((word, node) in graph for node in range(self.nodes)):
            word += "_"
        for node, site in enumerate(self.vertices):
            called = names[node] = (word, node)
            graph.add_node(called, name=str(site))
            for ends in ((site, called), (called, site))[: 1 + graph.is_directed()]:
                graph.add_edge(*ends, **whole.edges[node, str(site)])
        return graph, names

    @property
    def is_alike(self) -> bool:
        """Whether the routes between every two nodes are alike."""
        return self.settings.kind in alike.KINDS and not self._down and not self._cut

    @property
    def down(self) -> frozenset[int]:
        """Nodes that have failed."""
        return self._down

    @property
    def has_cuts(self) -> bool:
        """Whether a link has failed."""
        return bool(self._cut)

    def whole_routes_from(self, source: int) -> tuple[Floats, Floats]:
        """Return `routes_from` as with nothing failed, of a complete network, a bus or a star."""
        return alike.AlikeRoutes(self.settings, self.nodes).routes_from(source)

    @property
    def is_whole(self) -> bool:
        """Whether nothing has failed."""
        return not self._down and not self._cut

    def routes_from(self, source: int) -> tuple[Floats, Floats]:
        """Return bandwidth [MB/s] and latency [ms] of the route from a node to every node, shape (nodes,) each.

        Bandwidth is that of the narrowest link (1 MB = 8 Mb, 1 Gbps = 1024 Mbps): infinite to the node itself, 0 where
        no route leads. Latency is the sum of the links': 0 to the node itself, infinite where no route leads. Read
        only.
        """
        return self._routes.routes_from(source)

    def links_between(self, source: int, target: int) -> tuple[int, ...]:
        """Return the numbers of the links on the route from a node to another, in order; none to itself.

        Raises ValueError: no route leads there.
        """
        return self._routes.links_between(source, target)

    @property
    def link_mb_per_s(self) -> Floats:
        """Capacity of each link [MB/s], shape (links,), those that failed included. Read only."""
        return self._wiring.link_mb_per_s

    @property
    def link_ends(self) -> list[Link]:
        """The vertices that each link leads from and to, those that failed included; of a bus, its medium twice."""
        return self._wiring.arcs.link_ends

    @cached_property
    def longest_latency_ms(self) -> float:
        """The longest latency between two nodes that a route joins [ms]; 0 if none does."""
        return self._routes.longest_latency_ms

    @property
    def siblings(self) -> Integers:
        """Which nodes are equally far from all others, shape (nodes,): a number each group, from 0 on.

        With nothing down: those that hang on one vertex by links alike.
        """
        if self.settings.kind in alike.KINDS:
            return np.zeros(self.nodes, np.int64)
        return self._wiring.arcs.siblings(self.nodes)

    @property
    def cluster_of(self) -> Integers:
        """The cluster that each node belongs to, shape (nodes,), numbered from 0 in the order of the nodes.

        Of a tree the rack, of a fat tree the pod, of a dragonfly the group; of a file what its vertices say, or where
        several nodes are at a vertex, that. Else there is one cluster.
        """
        return self._wiring.cluster_of

    @property
    def cluster_names(self) -> list[str]:
        """The name of each node's cluster in the user's graph, shape (nodes,); empty where it has none."""
        if not self.vertices:
            return []
        names = [self._wiring.whole.nodes[node].get("cluster_name") for node in range(self.nodes)]
        return [] if None in names else names

    def without(self, nodes: Iterable[int] = (), links: Iterable[Link] = ()) -> Network:
        """Return the same network while these are down: links keep their numbers, routes lead around.

        A node that failed forwards nothing, and no route leads to it.

        Raises InputError: no such node, no such link.

        Args:
            nodes: numbers of nodes.
            links: pairs of vertices of the graph, joined by an edge; both directions fail. Of a bus (node, "bus").
        """
        down, pairs = frozenset(nodes), list(links)
        for node in sorted(down - set(range(self.nodes))):
            raise InputError(f"node {node}: not in the network; allowed 0..{self.nodes - 1}")
        for one, other in pairs:
            if not self._wiring.whole.has_edge(one, other):
                raise InputError(f"link {one!r} - {other!r}: not in the network; allowed are the edges of its graph")
        left = Network.__new__(Network)
        left.settings, left.nodes, left.notes, left._wiring = self.settings, self.nodes, self.notes, self._wiring
        left.vertices, left.files_of_nodes = self.vertices, self.files_of_nodes
        left._down = self._down | down
        left._cut = self._cut.union(*(((one, other), (other, one)) for one, other in pairs))
        return left

    @cached_property
    def _routes(self) -> alike.AlikeRoutes | ShortestRoutes:
        if self.settings.kind in alike.KINDS and not self._cut:
            return alike.AlikeRoutes(self.settings, self.nodes, self._down)
        symmetric = self.settings.kind == "torus"
        return ShortestRoutes(self._wiring.arcs, self.nodes, self._down, self._cut, symmetric)


class _Wiring:
    """What a network and those without this or that share: the whole graph."""

    def __init__(self, settings: Interconnect, nodes: int) -> None:
        self._settings, self._nodes = settings, nodes
        # The user's graph, as it was read.
        self.read: nx.MultiGraph | nx.MultiDiGraph | None = None

    @cached_property
    def whole(self) -> nx.Graph:
        """The graph with nothing failed."""
        return BUILDERS[self._settings.kind](self._settings, self._nodes)

    @cached_property
    def arcs(self) -> Arcs:
        """Its arcs."""
        return arcs_of(self.whole, self._nodes)

    @cached_property
    def link_mb_per_s(self) -> Floats:
        """Capacities of its links."""
        if self._settings.kind in alike.KINDS:
            return alike.link_capacities(self._settings, self._nodes)
        return self.arcs.link_mb_per_s

    @cached_property
    def cluster_of(self) -> Integers:
        """The cluster of each node."""
        clusters = np.zeros(self._nodes, np.int64)
        if self._settings.kind not in alike.KINDS:
            for node, cluster in self.whole.nodes(data="cluster", default=0):
                if isinstance(node, int):
                    clusters[node] = cluster
        clusters.flags.writeable = False
        return clusters
