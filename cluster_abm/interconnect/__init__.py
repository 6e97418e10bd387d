"""The network between the nodes: a networkx graph, and what a transfer over it takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import networkx as nx

from cluster_abm.scenario.schema import Interconnect

MBIT_PER_MB = 8.0


@dataclass(frozen=True)
class Network:
    """Nodes 0..nodes-1, all alike in bandwidth and latency, no contention (mode `delay`, as in the papers).

    Attributes:
        settings: the scenario's section.
        nodes: number of nodes.
    """

    settings: Interconnect
    nodes: int

    @cached_property
    def graph(self) -> nx.Graph:
        """The graph, edges with `bandwidth_mbps` and `latency_ms`; a star has its switch as node "switch".

        Made when first asked for: a complete graph of 1,000 nodes has half a million edges.
        """
        if self.settings.kind == "complete":
            graph = nx.complete_graph(self.nodes)
        else:
            graph = nx.Graph()
            graph.add_nodes_from(range(self.nodes))
            graph.add_edges_from((node, "switch") for node in range(self.nodes))
        nx.set_edge_attributes(graph, self.settings.bandwidth_mbps, "bandwidth_mbps")
        nx.set_edge_attributes(graph, self.settings.latency_ms, "latency_ms")
        return graph

    @property
    def mb_per_s(self) -> float:
        """Bandwidth between any two nodes [MB/s]; 1 MB = 8 Mb, and 1 Gbps = 1024 Mbps."""
        return self.settings.bandwidth_mbps / MBIT_PER_MB

    @property
    def latency_ms(self) -> float:
        """Time of a message between any two nodes [ms]: one link, or two through a star's switch."""
        return self.settings.latency_ms * (1 if self.settings.kind == "complete" else 2)
